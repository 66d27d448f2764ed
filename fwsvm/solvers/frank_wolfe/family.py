"""What all families of methods for the problem on the simplex have in common."""

from collections.abc import Callable
from typing import Any

from fwsvm.solvers.registry import Family


def on_simplex(
    name: str,
    start: Callable[..., Any],
    memory: Callable[[Any, Any], int],
    searches: tuple[str, ...] = ("full",),
) -> Family:
    """Return a family of methods for min a'K~a on the simplex, with any kernel."""
    return Family(
        name=name,
        problem="min a'K~a on the simplex (squared hinge, bias penalised)",
        kernels=None,
        default_kernel="rbf",
        stops=("relative", "gap", "meb"),
        searches=searches,
        multiclass="one-vs-one",
        start=start,
        memory=memory,
        certify=_certify,
    )


def _certify(*given: Any) -> Any:
    from fwsvm.solvers.frank_wolfe.outcomes import certify_together

    return certify_together(*given)
