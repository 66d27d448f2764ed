"""Linear methods: coordinate descent on the dual of the linear SVM, liblinear and AVSF over one engine.

`engine` has the coordinate step, the survey of all rows and the loop; `run` is the `Solver`. A method is one file with
what it does at the beginning and end of a sweep and after a step.
"""

from collections.abc import Sequence
from typing import Any

from fwsvm.problems.binary import Binary
from fwsvm.solvers import memory
from fwsvm.solvers.certify import Candidate, Certified
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.registry import FAMILIES, Family
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Solver
from fwsvm.solvers.warm_start import WarmStart


def _start(
    problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None,
    columns: SharedColumns | None = None,
) -> Solver:  # fmt: skip
    from fwsvm.solvers.dual_coordinate.run import LinearRun

    return LinearRun(problem, rule, resolved, warm_start)


def _certify(candidates: Sequence[Candidate[Any]], *, exact: bool) -> list[Certified]:
    from fwsvm.solvers.dual_coordinate.iterate import certify

    return certify(candidates, exact=exact)


FAMILIES["linear"] = Family(
    name="linear",
    problem="min |w|^2/2 + C sum of losses",
    kernels=("linear",),
    default_kernel="linear",
    stops=("relative", "gap", "eps"),
    multiclass="one-vs-rest",
    start=_start,
    certify=_certify,
    keeps_values=False,
    memory=memory.linear,
)
