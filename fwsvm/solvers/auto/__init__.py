"""The default of the kernel machines: a method chosen by what the problem is (ours; none of the papers' methods).

`auto` says what is chosen, `pairs` solves small pairs of classes in compiled code; large and two-class problems are the
other methods' own runs. `nested` trains on growing samples within a time limit.
"""

from typing import Any

import numpy as np

from fwsvm._mapped import is_mapped
from fwsvm.kernels.column_cache import ColumnStore
from fwsvm.problems.binary import Binary
from fwsvm.settings import SEARCHES
from fwsvm.solvers.auto.nested import train_nested
from fwsvm.solvers.auto.pairs import solve_small_pairs
from fwsvm.solvers.chunking import ChunkRun, fits
from fwsvm.solvers.frank_wolfe.iterate import on_simplex
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
    if len(problem.y) >= rule.fewest and not samples:
        support = 0 if warm_start is None else int(np.count_nonzero(warm_start.weights))
        if not fits(support, len(problem.y), resolved):
            return many.family.start(problem, many.rule, many, warm_start, columns)
        of_path = columns is not None
        if not _has_many(warm_start, first=of_path and fits(len(problem.y), len(problem.y), resolved)):
            return ChunkRun(problem, settings, warm_start, columns, many)
    return settings.family.start(problem, settings.rule, settings, warm_start, columns)


def _has_many(warm_start: WarmStart | None, *, first: bool) -> bool:
    """Return whether more rows have weight, for the C before, than a first chunk has rows.

    Newton's columns are over all rows and serve the whole path; those of a chunk serve that chunk. ``first`` is the
    answer for the first run of a path, whose C is the smallest: there most rows have weight.
    """
    if warm_start is None:
        return first
    weights = warm_start.weights
    return bool(np.count_nonzero(weights) > FIRST_CHUNK * len(weights))


def _chosen(solver: Solver) -> str:
    """Return the name of the method that a run came to be."""
    from fwsvm.solvers.decomposition import DecompositionRun
    from fwsvm.solvers.newton.newton import NewtonRun

    if isinstance(solver, DecompositionRun) or (
        isinstance(solver, ChunkRun) and isinstance(solver.inner, DecompositionRun)
    ):
        return "decomposition"
    if isinstance(solver, ChunkRun):
        return "chunking"
    return "newton" if isinstance(solver, NewtonRun) and solver.took_newton_steps else "swap-2o"


FAMILIES["auto"] = on_simplex(
    "auto", _start, searches=SEARCHES, solve_at_once=solve_small_pairs, chosen=_chosen
)
FAMILIES["nested"] = on_simplex("nested", _start, train=train_nested)
