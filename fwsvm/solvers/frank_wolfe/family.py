"""What all families of methods for the problem on the simplex have in common."""

from collections.abc import Callable
from typing import Any

from fwsvm.solvers.frank_wolfe.iterate import certify
from fwsvm.solvers.registry import Family


def on_simplex(
    name: str,
    start: Callable[..., Any],
    memory: Callable[[Any, Any], int],
    searches: tuple[str, ...] = ("full",),
    *,
    keeps_values: bool = True,
) -> Family:
    """Return a family of methods for min a'K~a on the simplex, with any kernel."""
    return Family(
        name=name,
        problem="min a'K~a on the simplex (squared hinge, bias penalised)",
        kernels=None,
        default_kernel="rbf",
        stops=("relative", "gap", "meb"),
        searches=searches,
        keeps_values=keeps_values,
        multiclass="one-vs-one",
        ridge=True,
        start=start,
        certify=certify,
        memory=memory,
    )
