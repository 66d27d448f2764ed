"""A method of ours on the simplex: solve on some of the rows, then on those that matter by what that found.

`run` is the `Solver`, over rows in memory, in a mapped file or on a cluster; another method of the simplex solves on
each chunk.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from fwsvm._mapped import is_mapped
from fwsvm.kernels.source import RowSource
from fwsvm.problems.binary import Binary
from fwsvm.solvers.chunking.chunking import ChunkRun
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.iterate import on_simplex
from fwsvm.solvers.registry import FAMILIES, method
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Solver, WarmStart


def _start(
    problem: Binary,
    rule: Any,
    resolved: Resolved,
    warm_start: WarmStart | None = None,
    columns: SharedColumns | None = None,
) -> Solver:
    rule.check()
    settings = inner_settings(rule, resolved)
    if len(problem.y) < rule.fewest and not is_mapped(problem.X):
        if isinstance(problem.X, RowSource):
            problem = problem._replace(X=problem.X.take(np.arange(len(problem.y))))
        return settings.family.start(problem, settings.rule, settings, warm_start, columns)
    return ChunkRun(problem, settings, warm_start, columns)


def inner_settings(rule: Any, resolved: Resolved) -> Resolved:
    """Return the settings of the method that solves on chunks."""
    chosen = method(rule.inner)
    return replace(resolved, method=chosen, rule=chosen.make({}), family=FAMILIES[chosen.family])


FAMILIES["chunking"] = on_simplex("chunking", _start)
