"""A method of ours on the simplex that keeps no kernel columns: solve on a working set, update the gradient, repeat.

`working_set` says which rows are next, `inner` solves on their small matrix in compiled code, `run` is the `Solver`.
"""

from typing import Any

from fwsvm.problems.binary import Binary
from fwsvm.solvers import memory
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.family import on_simplex
from fwsvm.solvers.registry import FAMILIES
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Solver
from fwsvm.solvers.warm_start import WarmStart


def _start(
    problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None,
    columns: SharedColumns | None = None,
) -> Solver:  # fmt: skip
    from fwsvm.solvers.decomposition.run import DecompositionRun

    return DecompositionRun(problem, rule, resolved, warm_start)


FAMILIES["decomposition"] = on_simplex("decomposition", _start, memory.decomposition, keeps_values=False)
