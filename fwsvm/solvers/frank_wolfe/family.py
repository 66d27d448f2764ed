"""What all families of methods for the problem on the simplex have in common."""

from collections.abc import Callable, Sequence
from typing import Any

from fwsvm.solvers.certify import Candidate, Certified
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
        certify=_certify,
        memory=memory,
    )


def _certify(candidates: Sequence[Candidate[Any]], *, exact: bool) -> list[Certified]:
    from fwsvm.solvers.frank_wolfe.iterate import certify

    return certify(candidates, exact=exact)
