"""The owner of kernel columns, and of memory for factors, that runs on the same rows share, one run after another."""

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache, column_cache, memory_of
from fwsvm.kernels.rows import Rows


@dataclass
class ColumnStore:
    """Column caches, and rooms for factors, that outlive a run; `of` gives access to a subproblem's.

    Threads may use it at the same time, each for subproblems of its own.
    """

    caches: dict[int, ColumnCache] = field(default_factory=dict)
    rooms: dict[int, np.ndarray] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.RLock)

    def of(self, number: int) -> "SharedColumns":
        """Return the place of subproblem ``number``."""
        return SharedColumns(self, number)

    @property
    def nbytes(self) -> int:
        """The memory of all that is kept, once the caches are full."""
        with self.lock:
            caches = sum(memory_of(cache).nbytes for cache in self.caches.values())
            return caches + sum(room.nbytes for room in self.rooms.values())


@dataclass(frozen=True)
class SharedColumns:
    """A subproblem's place in a `ColumnStore`: the cache over its rows, and the room for its factors."""

    store: ColumnStore
    number: int

    @property
    def nbytes(self) -> int:
        """The memory of all that the store keeps, once its caches are full."""
        return self.store.nbytes

    @property
    def room(self) -> np.ndarray | None:
        """The memory that the factors of the last run were made in: new memory takes as long to get as to fill."""
        return self.store.rooms.get(self.number)

    def keep_room(self, room: np.ndarray, budget_bytes: int) -> None:
        """Keep this memory for factors of the next run, if all that is kept fits in the budget."""
        with self.store.lock:
            self.store.rooms.pop(self.number, None)
            if self.store.nbytes + room.nbytes <= budget_bytes:
                self.store.rooms[self.number] = room

    def forget_values(self) -> None:
        """Keep memory alone: the next run is on other rows."""
        with self.store.lock:
            found = self.store.caches.get(self.number)
            if found is not None:
                self.store.caches[self.number] = found._replace(kernel=None)

    def cache(self, kernel: Any, rows: Rows, budget_bytes: int, threads: int) -> ColumnCache:
        """Return the cache of a kernel's columns over ``rows``, with the values it holds already.

        One of another kernel, precision or number of rows gives way to a new one, in its memory if that is large
        enough, which is kept for the next run as long as all that the store keeps fits in the budget of this one.
        """
        found = self.store.caches.get(self.number)
        if found is not None and (
            (found.kernel, found.rows.values.dtype, found.rows.height, len(found.rows.values))
            == (kernel, rows.values.dtype, rows.height, len(rows.values))
        ):
            return found
        memory = None if found is None else memory_of(found)
        made = column_cache(kernel, rows, budget_bytes, threads, memory)
        with self.store.lock:
            self.store.caches.pop(self.number, None)
            if self.store.nbytes + memory_of(made).nbytes <= budget_bytes:
                self.store.caches[self.number] = made
        return made
