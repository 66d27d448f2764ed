"""Solvers of other installed packages, found through the entry point group ``fwsvm.solvers``.

An entry point names a module that registers its methods as it is imported (see docs/add-a-solver.md):

    [project.entry-points."fwsvm.solvers"]
    pairwise = "pairwise"
"""

import warnings
from importlib.metadata import EntryPoint, entry_points

from fwsvm.solvers.registry import FAMILIES, METHODS

GROUP = "fwsvm.solvers"


def load_plugins() -> None:
    """Import what the installed packages offer; what cannot be imported is named in a warning and left out."""
    for entry in entry_points(group=GROUP):
        methods, families = dict(METHODS), dict(FAMILIES)
        try:
            entry.load()
            _check(set(METHODS) - set(methods))
        except Exception as error:  # noqa: BLE001  (a stranger's code may raise anything)
            for registered, before in ((METHODS, methods), (FAMILIES, families)):
                registered.clear()
                registered.update(before)  # type: ignore[arg-type]
            warnings.warn(_sentence(entry, error), stacklevel=2)


def _check(names: set[str]) -> None:
    for name in sorted(names):
        if METHODS[name].family not in FAMILIES:
            known = ", ".join(sorted(FAMILIES))
            raise ValueError(
                f"its method {name!r} is of the family {METHODS[name].family!r}; there are {known}"
            )


def _sentence(entry: EntryPoint, error: Exception) -> str:
    package = f" of the package {entry.dist.name}" if entry.dist is not None else ""
    return (
        f"the solver plug-in {entry.name!r}{package} ({entry.value}) is left out, it could not be loaded: "
        f"{type(error).__name__}: {error}"
    )
