"""Methods of other installed packages: entry point group ``fwsvm.solvers`` (docs/adding/method.md)."""

from fwsvm import plugins
from fwsvm.solvers.registry import FAMILIES, METHODS

GROUP = "fwsvm.solvers"


def load_solver_plugins() -> None:
    """Import what the installed packages offer; what cannot be imported is named in a warning and left out."""
    plugins.load_plugins(GROUP, "solver", METHODS, FAMILIES, check=_check)


def _check() -> None:
    for name, method in METHODS.items():
        if method.family not in FAMILIES:
            known = ", ".join(sorted(FAMILIES))
            raise ValueError(f"its method {name!r} is of the family {method.family!r}; there are {known}")
