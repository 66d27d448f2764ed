"""Methods on the hinge problem of 004: Wolfe's conjugate subgradients, kernel Pegasos, and SCS.

`sample` holds the rows drawn, `sums` their kernel values, kept or computed when needed, `state` the point,
`objective` value and subgradient on a sample, `direction`, `line_search` and `acceptance` what the paper calls so,
`descent` their one iteration, `run` what all methods share as a `Process`. A method is one file with its parameters
and its loop; `walk` is the step of pegasos.
"""

from typing import Any

from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.memory import Size
from fwsvm.solvers.process import Binary, Process
from fwsvm.solvers.registry import FAMILIES, Family
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.warm_start import WarmStart


def _start(
    problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None,
    columns: SharedColumns | None = None,
) -> Process:  # fmt: skip
    """Start a run; every run is cold and computes its own kernel values, so nothing is taken over."""
    from fwsvm.solvers.stochastic.run import begin

    return begin(rule, problem, resolved)


def _memory(size: Size, resolved: Resolved) -> int:
    from fwsvm.solvers.stochastic.run import needs

    return needs(resolved.rule, size, resolved)


FAMILIES["stochastic"] = Family(
    name="stochastic",
    problem="min lambda/2 |w|^2 + mean hinge, no bias",
    kernels=None,
    default_kernel="rbf",
    stops=("relative", "eps"),
    multiclass="one-vs-one",
    start=_start,
    memory=_memory,
    iteration_cap=100_000,
    goes_on=False,
)
