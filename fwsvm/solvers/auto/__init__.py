"""The default of the kernel machines: a method chosen by what the problem is (ours; none of the papers' methods).

`auto` says what is chosen, `small_pairs` solves small pairs of classes in compiled code, `unreached` keeps where it had
to leave them; large and two-class problems are the other methods' own runs. `in_time` meets a time limit on large data
by `samples`.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from fwsvm._mapped import is_mapped
from fwsvm.problems.binary import Binary
from fwsvm.solvers import memory
from fwsvm.solvers.auto.small_pairs import solve_at_once
from fwsvm.solvers.chunking.run import ChunkRun
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.family import on_simplex
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.registry import FAMILIES, method
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Solver
from fwsvm.solvers.tuning import FIRST_CHUNK
from fwsvm.solvers.warm_start import WarmStart


def _start(
    problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None,
    columns: SharedColumns | None = None,
) -> Solver:  # fmt: skip
    rule.check()
    samples = resolved.search == "sampled" or resolved.protocol != PROTOCOLS["default"]
    chosen = method("swap-2o" if samples else "newton")
    given = {} if samples else {"beyond": "steps"}
    settings = replace(resolved, method=chosen, rule=chosen.make(given), family=FAMILIES[chosen.family])
    if is_mapped(problem.X) or (len(problem.y) >= rule.fewest and not samples and not _has_many(warm_start)):
        return ChunkRun(problem, settings, warm_start, columns)
    return settings.family.start(problem, settings.rule, settings, warm_start, columns)


def _has_many(warm_start: WarmStart | None) -> bool:
    """Return whether more rows have weight, for the C before, than a first chunk has rows.

    Newton's columns are over all rows and serve the whole path; those of a chunk serve that chunk.
    """
    if warm_start is None:
        return False
    weights = warm_start.weights
    return bool(np.count_nonzero(weights) > FIRST_CHUNK * len(weights))


def _chosen(solver: Solver) -> str:
    """Return the name of the method that a run came to be."""
    from fwsvm.solvers.newton.run import NewtonRun

    if isinstance(solver, ChunkRun):
        return "chunking"
    return "newton" if isinstance(solver, NewtonRun) and solver.took_newton_steps else "swap-2o"


def _in_time(
    X: Any, codes: Any, classes: Any, weights: Any, settings: Any, resolved: Resolved, watch: Any
) -> Any:
    from fwsvm.solvers.auto.in_time import SampleTrials, suits
    from fwsvm.solvers.auto.samples import Data

    if not suits(len(codes), len(classes), resolved):
        return None
    return SampleTrials(Data(X, codes, classes, weights), settings, resolved, watch).run()


FAMILIES["auto"] = replace(
    on_simplex("auto", _start, memory.chunking, ("full", "sampled")),
    solve_at_once=solve_at_once,
    chosen=_chosen,
    in_time=_in_time,
)
