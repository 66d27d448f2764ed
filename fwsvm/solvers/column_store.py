"""The owner of kernel columns that runs on the same rows share, one run after another."""

import threading
from dataclasses import dataclass, field
from typing import Any

from fwsvm.kernels.column_cache import ColumnCache, column_cache
from fwsvm.kernels.rows import Rows

WORKING_SET = -1  # beside the number of a subproblem


@dataclass
class ColumnStore:
    """Column caches that outlive a run, and the memory reserved beside them; `of` gives access to a subproblem's.

    Threads may use it at the same time, each for subproblems of its own.
    """

    caches: dict[tuple[int, ...], ColumnCache] = field(default_factory=dict)
    reserved: dict[tuple[int, ...], int] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.RLock)

    def of(self, number: int) -> "SharedColumns":
        """Return the place of subproblem ``number``."""
        return SharedColumns(self, (number,))

    @property
    def nbytes(self) -> int:
        """The memory of all caches kept, once they are full."""
        with self.lock:
            return sum(cache.cached.nbytes for cache in self.caches.values())


@dataclass(frozen=True)
class SharedColumns:
    """A subproblem's place in a `ColumnStore`: the cache over its rows, and memory for what belongs to it."""

    store: ColumnStore
    key: tuple[int, ...]

    @property
    def of_working_set(self) -> "SharedColumns":
        """The place of a working set of this subproblem."""
        return SharedColumns(self.store, (*self.key, WORKING_SET))

    @property
    def nbytes(self) -> int:
        """The memory of all caches of the store, once they are full."""
        return self.store.nbytes

    def cache(self, kernel: Any, rows: Rows, budget_bytes: int, threads: int) -> ColumnCache:
        """Return the cache of a kernel's columns over ``rows``, with the values it holds already.

        One of another kernel, precision or number of rows gives way to a new one, which is kept for the next run as
        long as all caches of the store fit in the budget of this one.
        """
        found = self.store.caches.get(self.key)
        if found is not None and (
            (found.kernel, found.rows.values.dtype, found.rows.height, len(found.rows.values))
            == (kernel, rows.values.dtype, rows.height, len(rows.values))
        ):
            return found
        made = column_cache(kernel, rows, budget_bytes, threads)
        with self.store.lock:
            self.store.caches.pop(self.key, None)
            if self.store.nbytes + made.cached.nbytes <= budget_bytes:
                self.store.caches[self.key] = made
        return made

    def reserve(self, nbytes: int, budget_bytes: int) -> bool:
        """Reserve memory beside the caches of the store, in place of what was reserved here; False without room."""
        with self.store.lock:
            self.store.reserved.pop(self.key, None)
            fits = self.store.nbytes + sum(self.store.reserved.values()) + nbytes <= budget_bytes
            if fits:
                self.store.reserved[self.key] = nbytes
        return fits

    def drop(self) -> None:
        """Keep no columns here any longer, and no memory reserved."""
        with self.store.lock:
            self.store.caches.pop(self.key, None)
            self.store.reserved.pop(self.key, None)
