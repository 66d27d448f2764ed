"""A method of ours on the simplex: solve on some of the rows, then on those that matter by what that found.

`working_set` says which rows matter, `run` is the `Solver`, over rows that are `in_memory` or `mapped`; another method
of the simplex solves on each set of rows.
"""

from dataclasses import replace
from typing import Any

from fwsvm._mapped import is_mapped
from fwsvm.problems.binary import Binary
from fwsvm.solvers import memory
from fwsvm.solvers.chunking.run import ChunkRun
from fwsvm.solvers.column_store import SharedColumns
from fwsvm.solvers.frank_wolfe.family import on_simplex
from fwsvm.solvers.registry import FAMILIES, method
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Solver
from fwsvm.solvers.warm_start import WarmStart


def _start(
    problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None,
    columns: SharedColumns | None = None,
) -> Solver:  # fmt: skip
    rule.check()
    settings = inner_settings(rule, resolved)
    if len(problem.y) < rule.fewest and not is_mapped(problem.X):
        return settings.family.start(problem, settings.rule, settings, warm_start, columns)
    return ChunkRun(problem, settings, warm_start, columns)


def inner_settings(rule: Any, resolved: Resolved) -> Resolved:
    """Return the settings of the method that solves on chunks."""
    chosen = method(rule.inner)
    return replace(resolved, method=chosen, rule=chosen.make({}), family=FAMILIES[chosen.family])


FAMILIES["chunking"] = on_simplex("chunking", _start, memory.chunking)
