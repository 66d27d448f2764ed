"""Solvers: how the problems are solved. Every module of every family's folder is imported and may register a method.

To add one, write a file in its family's folder with a NamedTuple of its parameters, registered under its name, and
the one function its family asks for; see `fwsvm.solvers.frank_wolfe.fw` for the shortest. Other installed packages
may offer methods too, in the entry point group ``fwsvm.solvers``; docs/adding/method.md shows both.
"""

import importlib
import pkgutil

from fwsvm.plugins import load_plugins
from fwsvm.settings import Settings
from fwsvm.solvers.fit import fit
from fwsvm.solvers.registry import FAMILIES, METHODS, method
from fwsvm.solvers.resolve import resolve
from fwsvm.solvers.result import Result
from fwsvm.status import Status

for _package in pkgutil.iter_modules(__path__):
    if _package.ispkg:
        _folder = importlib.import_module(f"{__name__}.{_package.name}")
        for _module in pkgutil.iter_modules(_folder.__path__):
            importlib.import_module(f"{_folder.__name__}.{_module.name}")


def _check() -> None:
    for name, each in METHODS.items():
        if each.family not in FAMILIES:
            known = ", ".join(sorted(FAMILIES))
            raise ValueError(f"its method {name!r} is of the family {each.family!r}; there are {known}")


load_plugins("fwsvm.solvers", "solver", METHODS, FAMILIES, check=_check)

__all__ = ["FAMILIES", "METHODS", "Result", "Settings", "Status", "fit", "method", "resolve"]
