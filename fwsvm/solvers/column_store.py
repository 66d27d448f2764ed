"""The owner of kernel columns that runs on the same rows share, one run after another."""

import threading
from dataclasses import dataclass, field
from typing import Any

from fwsvm.kernels.column_cache import ColumnCache, column_cache
from fwsvm.kernels.rows import Rows


@dataclass
class ColumnStore:
    """Column caches that outlive a run; `of` gives access to a subproblem's.

    Threads may use it at the same time, each for subproblems of its own.
    """

    caches: dict[int, ColumnCache] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.RLock)

    def of(self, number: int) -> "SharedColumns":
        """Return the place of subproblem ``number``."""
        return SharedColumns(self, number)

    @property
    def nbytes(self) -> int:
        """The memory of all caches kept, once they are full."""
        with self.lock:
            return sum(cache.cached.nbytes for cache in self.caches.values())


@dataclass(frozen=True)
class SharedColumns:
    """A subproblem's place in a `ColumnStore`: the cache over its rows."""

    store: ColumnStore
    number: int

    @property
    def nbytes(self) -> int:
        """The memory of all caches of the store, once they are full."""
        return self.store.nbytes

    def cache(self, kernel: Any, rows: Rows, budget_bytes: int, threads: int) -> ColumnCache:
        """Return the cache of a kernel's columns over ``rows``, with the values it holds already.

        One of another kernel, precision or number of rows gives way to a new one, which is kept for the next run as
        long as all caches of the store fit in the budget of this one.
        """
        found = self.store.caches.get(self.number)
        if found is not None and (
            (found.kernel, found.rows.values.dtype, found.rows.height, len(found.rows.values))
            == (kernel, rows.values.dtype, rows.height, len(rows.values))
        ):
            return found
        made = column_cache(kernel, rows, budget_bytes, threads)
        with self.store.lock:
            self.store.caches.pop(self.number, None)
            if self.store.nbytes + made.cached.nbytes <= budget_bytes:
                self.store.caches[self.number] = made
        return made
