"""The owner of kernel columns, and of memory for columns and factors, that runs share, one run after another."""

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache, column_cache, memory_of
from fwsvm.kernels.rows import Rows


@dataclass
class ColumnStore:
    """Column caches, and rooms for factors, that outlive a run.

    With ``keeps_values`` its places are those of subproblems, whose runs are on the same rows. Without, they are those
    of workers, whose runs are on other rows each: memory alone outlives a run there, for memory that is written for the
    first time takes longer than the values in it. Threads may use it at the same time, each for places of its own.

    ``old_caches`` and ``old_rooms`` are memory of runs on other rows (`forget_values`), which the next run at that
    place takes. They count for no budget: what a run keeps does not depend on the runs on other rows before it.
    """

    keeps_values: bool = True
    caches: dict[int, ColumnCache] = field(default_factory=dict)
    rooms: dict[int, np.ndarray] = field(default_factory=dict)
    old_caches: dict[int, np.ndarray] = field(default_factory=dict)
    old_rooms: dict[int, np.ndarray] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.RLock)

    def of(self, place: int) -> "SharedColumns":
        """Return a place."""
        return SharedColumns(self, place)

    @property
    def nbytes(self) -> int:
        """The memory of all that is kept: what was asked for, written or not."""
        with self.lock:
            return sum(map(self.nbytes_of, self.caches.keys() | self.rooms.keys()))

    def nbytes_of(self, place: int) -> int:
        """Return the memory of what is kept at a place: all that was asked for, written or not."""
        with self.lock:
            cache, room = self.caches.get(place), self.rooms.get(place)
            kept = 0 if cache is None else memory_of(cache).nbytes
            return int(kept + (0 if room is None else room.nbytes))

    @property
    def old_nbytes(self) -> int:
        """The memory of runs on other rows that no run has taken yet."""
        with self.lock:
            return sum(memory.nbytes for memory in (*self.old_caches.values(), *self.old_rooms.values()))

    def forget_values(self) -> None:
        """Let no later run find a value: it is on other rows. What the last runs kept serves it as memory."""
        with self.lock:
            self.old_caches = {place: memory_of(cache) for place, cache in self.caches.items()}
            self.old_rooms, self.caches, self.rooms = self.rooms, {}, {}

    def release(self) -> None:
        """Keep nothing."""
        with self.lock:
            self.caches, self.rooms, self.old_caches, self.old_rooms = {}, {}, {}, {}

    def release_old(self, budget_bytes: int) -> None:
        """Keep memory of runs on other rows only as far as all there is fits in a budget."""
        with self.lock:
            for old in (self.old_rooms, self.old_caches):
                while old and self.nbytes + self.old_nbytes > budget_bytes:
                    old.popitem()


@dataclass(frozen=True)
class SharedColumns:
    """A place in a `ColumnStore`: a cache, and the room for factors."""

    store: ColumnStore
    place: int

    @property
    def keeps_values(self) -> bool:
        """Whether columns outlive their run, not their memory alone."""
        return self.store.keeps_values

    @property
    def nbytes(self) -> int:
        """The memory that the budget of a run here is for: of all places, or of this one where workers share it out."""
        return self.store.nbytes if self.keeps_values else self.store.nbytes_of(self.place)

    @property
    def held(self) -> int:
        """The memory that is there already for what a run here asks for."""
        return self.nbytes + self.store.old_nbytes

    @property
    def room(self) -> np.ndarray | None:
        """The memory that the factors of the last run were made in."""
        found = self.store.rooms.get(self.place)
        return self.store.old_rooms.get(self.place) if found is None else found

    def keep_room(self, room: np.ndarray, budget_bytes: int) -> None:
        """Keep this memory for factors of the next run on these rows, if all that is kept fits in the budget."""
        if not self.keeps_values:
            return
        with self.store.lock:
            self.store.rooms.pop(self.place, None)
            self.store.old_rooms.pop(self.place, None)
            if self.nbytes + room.nbytes <= budget_bytes:
                self.store.rooms[self.place] = room

    def let_go(self) -> None:
        """Keep nothing of a run that goes on with columns of another precision, unless their values are kept."""
        if not self.keeps_values:
            with self.store.lock:
                self.store.caches.pop(self.place, None)

    def cache(self, kernel: Any, rows: Rows, budget_bytes: int, threads: int) -> ColumnCache:
        """Return the cache of a kernel's columns over ``rows``, with the values it holds where values are kept.

        One of another kernel, precision or number of rows gives way to a new one, in its memory if that is large
        enough. The new one is kept for the next run if all that is kept then fits in the budget of this one.
        """
        found = self.store.caches.get(self.place)
        if found is not None and self.keeps_values and (
            (found.kernel, found.rows.values.dtype, found.rows.height, len(found.rows.values))
            == (kernel, rows.values.dtype, rows.height, len(rows.values))
        ):  # fmt: skip
            return found
        old = self.store.old_caches.pop(self.place, None)
        memory = old if found is None else memory_of(found)
        made = column_cache(kernel, rows, budget_bytes, threads, memory)
        with self.store.lock:
            self.store.caches.pop(self.place, None)
            if self.nbytes + memory_of(made).nbytes <= budget_bytes:
                self.store.caches[self.place] = made
            self.store.release_old(budget_bytes)
        return made
