"""The owner of kernel columns that runs on the same rows share, one run after another."""

import threading
from dataclasses import dataclass
from typing import Any

from fwsvm.kernels.column_cache import ColumnCache, column_cache
from fwsvm.kernels.rows import Rows

WORKING_SET = -1  # beside the number of a subproblem


class ColumnStore:
    """Column caches that outlive a run, and the memory reserved beside them; `of` gives access to a subproblem's.

    Threads may use it at the same time, each for subproblems of its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._caches: dict[tuple[int, ...], ColumnCache] = {}
        self._reserved: dict[tuple[int, ...], int] = {}

    def of(self, number: int) -> "SharedColumns":
        """Return the place of subproblem ``number``."""
        return SharedColumns(self, (number,))

    @property
    def nbytes(self) -> int:
        """The memory of all caches kept, once they are full."""
        with self._lock:
            return self._nbytes()

    def _nbytes(self) -> int:
        return sum(cache.cached.nbytes for cache in self._caches.values())

    def found(self, key: tuple[int, ...]) -> ColumnCache | None:
        """Return the cache kept under a key."""
        return self._caches.get(key)

    def keep(self, key: tuple[int, ...], cache: ColumnCache, budget_bytes: int) -> None:
        """Keep a cache in place of another one, as long as all caches fit in the budget."""
        with self._lock:
            self._caches.pop(key, None)
            if self._nbytes() + cache.cached.nbytes <= budget_bytes:
                self._caches[key] = cache

    def reserve(self, key: tuple[int, ...], nbytes: int, budget_bytes: int) -> bool:
        """Reserve memory in place of what was reserved under the key; False where the budget has no room."""
        with self._lock:
            self._reserved.pop(key, None)
            fits = self._nbytes() + sum(self._reserved.values()) + nbytes <= budget_bytes
            if fits:
                self._reserved[key] = nbytes
        return fits

    def drop(self, key: tuple[int, ...]) -> None:
        """Keep nothing under a key any longer."""
        with self._lock:
            self._caches.pop(key, None)
            self._reserved.pop(key, None)


@dataclass(frozen=True)
class SharedColumns:
    """A subproblem's place in a `ColumnStore`: the cache over its rows, and memory for what belongs to it."""

    store: ColumnStore
    key: tuple[int, ...]

    @property
    def of_working_set(self) -> "SharedColumns":
        """The place of a working set of this subproblem."""
        return SharedColumns(self.store, (*self.key, WORKING_SET))

    def cache(self, kernel: Any, rows: Rows, budget_bytes: int, threads: int) -> ColumnCache:
        """Return the cache of a kernel's columns over ``rows``, with the values it holds already.

        One of another kernel, precision or number of rows gives way to a new one, which is kept for the next run as
        long as all caches of the store fit in the budget of this one.
        """
        found = self.store.found(self.key)
        if found is not None and (
            (found.kernel, found.rows.values.dtype, found.rows.height, len(found.rows.values))
            == (kernel, rows.values.dtype, rows.height, len(rows.values))
        ):
            return found
        made = column_cache(kernel, rows, budget_bytes, threads)
        self.store.keep(self.key, made, budget_bytes)
        return made

    def reserve(self, nbytes: int, budget_bytes: int) -> bool:
        """Reserve memory beside the caches of the store, in place of what was reserved here; False without room."""
        return self.store.reserve(self.key, nbytes, budget_bytes)

    def drop(self) -> None:
        """Keep no columns here any longer, and no memory reserved."""
        self.store.drop(self.key)

    @property
    def nbytes(self) -> int:
        """The memory of all caches of the store, once they are full."""
        return self.store.nbytes
