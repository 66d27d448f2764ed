"""The default of the kernel machines: a method chosen by what the problem is (ours; none of the papers' methods).

`auto` says what is chosen, `pairs` solves small pairs of classes in compiled code; large and two-class problems are the
other methods' own runs. `nested` trains on growing samples within a time limit, `cells` a model for each part of the
rows.
"""

from typing import Any

import numpy as np

from fwsvm._mapped import is_mapped
from fwsvm.kernels.column_cache import ColumnStore
from fwsvm.problems.binary import Binary
from fwsvm.settings import SEARCHES
from fwsvm.solvers.auto.cells import divide_rows
from fwsvm.solvers.auto.nested import train_nested
from fwsvm.solvers.auto.pairs import solve_small_pairs
from fwsvm.solvers.chunking import ChunkRun, fits
from fwsvm.solvers.frank_wolfe.iterate import PROBLEM, on_simplex
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.registry import FAMILIES
from fwsvm.solvers.resolve import Resolved, with_method
from fwsvm.solvers.solver import Solver, WarmStart
from fwsvm.solvers.tuning import FIRST_CHUNK


def _start(
    problem: Binary,
    rule: Any,
    resolved: Resolved,
    warm_start: WarmStart | None = None,
    columns: ColumnStore | None = None,
) -> Solver:
    samples = resolved.search == "sampled" or resolved.protocol != PROTOCOLS["default"]
    settings = (
        with_method(resolved, "swap-2o") if samples else with_method(resolved, "newton", beyond="steps")
    )
    many = with_method(resolved, "decomposition")  # for more support vectors than their columns have memory
    if is_mapped(problem.X):
        return ChunkRun(problem, settings, warm_start, columns)
    m = len(problem.y)
    if m >= rule.fewest and not samples:
        support = 0 if warm_start is None else int(np.count_nonzero(warm_start.weights))
        if not fits(support, m, resolved):
            return many.family.start(problem, many.rule, many, warm_start, columns)
        # Newton's columns, over all rows, serve a whole path; for its first C, the smallest, most rows have weight
        is_first = columns is not None and warm_start is None
        if not (fits(m, m, resolved) if is_first else support > FIRST_CHUNK * m):
            return ChunkRun(problem, settings, warm_start, columns, many)
    return settings.family.start(problem, settings.rule, settings, warm_start, columns)


def _chosen(solver: Solver) -> str:
    """Return the name of the method that a run came to be."""
    from fwsvm.solvers.decomposition import DecompositionRun
    from fwsvm.solvers.newton.newton import NewtonRun

    if isinstance(getattr(solver, "inner", solver), DecompositionRun):
        return "decomposition"
    if isinstance(solver, ChunkRun):
        return "chunking"
    return "newton" if isinstance(solver, NewtonRun) and solver.took_newton_steps else "swap-2o"


FAMILIES["auto"] = on_simplex(
    "auto", _start, searches=SEARCHES, solve_at_once=solve_small_pairs, chosen=_chosen
)
FAMILIES["cells"] = on_simplex(
    "cells",
    _start,
    problem=f"{PROBLEM}, for each cell",
    searches=SEARCHES,
    divide=divide_rows,
    chosen=_chosen,
)
FAMILIES["nested"] = on_simplex("nested", _start, train=train_nested)
