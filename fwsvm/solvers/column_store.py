"""Kernel columns that outlive a run: the next run on the same rows finds them."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from fwsvm.kernels.column_cache import ColumnCache, column_cache
from fwsvm.kernels.rows import Rows

#: The column caches of the subproblems of one training set, by number.
ColumnStore: TypeAlias = dict[int, ColumnCache]


@dataclass
class SharedColumns:
    """The place of a subproblem in a column store; threads may use places of their own at the same time."""

    store: ColumnStore
    number: int

    def cache(self, kernel: Any, rows: Rows, budget_bytes: int, threads: int) -> ColumnCache:
        """Return the cache of a kernel's columns over ``rows``, with the values it holds.

        One of another kernel, precision or number of rows gives way to a new one, which is kept for the next run if
        all that is kept then fits in the budget.
        """
        found = self.store.pop(self.number, None)
        held = found and (found.kernel, *_size(found.table.rows))
        if found is None or held != (kernel, *_size(rows)):
            found = column_cache(kernel, rows, budget_bytes, threads)
        if sum(each.cached.nbytes for each in [found, *self.store.values()]) <= budget_bytes:
            self.store[self.number] = found
        return found


def _size(rows: Rows) -> tuple[Any, int, int]:
    return rows.values.dtype, rows.height, len(rows.values)
