"""Methods for the hinge problem of 004: Wolfe's conjugate subgradients, kernel Pegasos, and SCS.

sample         the rows drawn; `sums`: kernel sums over them, from a stored matrix or recomputed
state          the incumbent, direction and subgradient; `objective`: value, subgradient and dual bound on a sample
direction      the shortest combination of subgradients; `line_search`; `acceptance`: the test on independent rows
descent        one iteration of these; `run`: what all methods share; `iterate`: what a point is worth
wolfe, scs, pegasos     a method each, with its parameters and loop (`scs_run`, `pegasos_state`)
one_pass       the step of pegasos once for each row of a portion, from any machine of this problem
"""

from collections.abc import Sequence
from typing import Any

from fwsvm.problems.binary import Binary
from fwsvm.solvers.certify import Candidate, Certified
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.memory import Size
from fwsvm.solvers.registry import FAMILIES, Family
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Solver
from fwsvm.solvers.warm_start import WarmStart


def _start(
    problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None,
    columns: SharedColumns | None = None,
) -> Solver:  # fmt: skip
    """Start a run; every run is cold and computes its own kernel values, so nothing is taken over."""
    from fwsvm.solvers.stochastic.run import begin

    return begin(rule, problem, resolved)


def _certify(candidates: Sequence[Candidate[Any]], *, exact: bool) -> list[Certified]:
    from fwsvm.solvers.stochastic.iterate import certify

    return certify(candidates, exact=exact)


def _memory(size: Size, resolved: Resolved) -> int:
    from fwsvm.solvers.stochastic.run import memory_needed

    return memory_needed(resolved.rule, size, resolved)


FAMILIES["stochastic"] = Family(
    name="stochastic",
    problem="min lambda/2 |w|^2 + mean hinge, no bias",
    kernels=None,
    default_kernel="rbf",
    stops=("relative", "eps"),
    multiclass="one-vs-one",
    start=_start,
    certify=_certify,
    memory=_memory,
    iteration_cap=100_000,
    goes_on=False,
)
