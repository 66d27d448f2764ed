"""Methods on the simplex: FW, MFW, SWAP, SWAP-2o and CVM over one engine.

`moves` has the three moves and their closed-form steps, `sampled` how a vertex is found among all rows or some,
`gradient` what is kept of q, `engine` the loop, `run` the way from starting point to certificate, `iterate` what a
point is worth. A method is one file with its `choose`.
"""

from typing import Any

from fwsvm._mapped import is_mapped
from fwsvm.kernels.column_cache import ColumnStore
from fwsvm.problems.binary import Binary
from fwsvm.settings import SEARCHES
from fwsvm.solvers.frank_wolfe.iterate import on_simplex
from fwsvm.solvers.registry import FAMILIES
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Solver, WarmStart


def _start(
    problem: Binary,
    rule: Any,
    resolved: Resolved,
    warm_start: WarmStart | None,
    columns: ColumnStore | None,
) -> Solver:
    if is_mapped(problem.X):
        from fwsvm.solvers.chunking import ChunkRun

        return ChunkRun(problem, resolved, warm_start, columns)
    from fwsvm.solvers.frank_wolfe.run import SimplexRun

    return SimplexRun(problem, rule, resolved, warm_start, columns)


def _chosen(solver: Solver) -> str:
    """Say where a method solved on chunks of mapped rows, which is no choice of the user's."""
    from fwsvm.solvers.chunking import ChunkRun

    return "on chunks" if isinstance(solver, ChunkRun) else ""


FAMILIES["simplex"] = on_simplex("simplex", _start, searches=SEARCHES, chosen=_chosen)
