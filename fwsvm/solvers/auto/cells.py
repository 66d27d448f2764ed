"""cells: the rows are divided into cells, each of which has an exact model (ours; none of the papers').

A tree of half-spaces divides the rows (`fwsvm.problems.cells`), and `auto` solves the pairs of classes of each cell.
Each row is predicted by the model of its cell. Objective and gap are sums over the cells: the certificate is for the
problem of the cells, not for a single machine over all rows.
"""

from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

from fwsvm.errors import UsageError
from fwsvm.problems.cells import divide
from fwsvm.problems.precomputed import is_given
from fwsvm.solvers.auto.auto import CHUNKS_FROM
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.subproblems import Subproblems


@register(
    "cells",
    family="cells",
    paper="ours",
    tolerance="the Frank-Wolfe gap 2 (R - min q) of each cell's pairs of classes, recomputed from scratch",
)
class CellRule(NamedTuple):
    """Divide the rows into cells and solve each exactly. For more rows than there is time for.

    Problem: min alpha' K~ alpha on the simplex, in each cell. Stops on the Frank-Wolfe gap.

    Parameters
    ----------
    rows : rows of the largest cell, about
    fewest : rows of the smallest pair of classes that is solved in chunks
    """

    rows: int = 4096
    fewest: int = CHUNKS_FROM


def divide_rows(problems: Subproblems, resolved: Resolved) -> Subproblems:
    """Return the pairs of classes of each cell."""
    if is_given(resolved.kernel_name):
        raise UsageError("cells divides rows by their features, and a precomputed kernel has none")
    started = perf_counter()
    cells, members = divide(problems.X, max(1, resolved.rule.rows))
    codes = problems.codes.copy()
    for cell, rows in enumerate(members):
        codes[rows] += cell * problems.K
    pairs = replace(problems, codes=codes, cells=cells, seconds=perf_counter() - started)
    if not len(pairs):
        raise UsageError("each cell has rows of one class only; take more rows a cell, by the parameter rows")
    return pairs
