"""The owner of kernel columns, and of memory for columns and factors, that runs share, one run after another."""

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache, column_cache, memory_of
from fwsvm.kernels.rows import Rows


@dataclass
class ColumnStore:
    """Column caches, and rooms for factors, that outlive a run, by place.

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

    def nbytes(self, place: int | None = None) -> int:
        """Return the memory of what is kept at a place, or at all: what was asked for, written or not."""
        kept = [*(memory_of(cache) for cache in self.caches.values()), *self.rooms.values()]
        if place is not None:
            kept = [memory_of(self.caches[place])] if place in self.caches else []
            kept += [self.rooms[place]] if place in self.rooms else []
        return sum(memory.nbytes for memory in kept)

    def forget_values(self) -> None:
        """Let no later run find a value: it is on other rows. What the last runs kept serves it as memory."""
        with self.lock:
            self.old_caches = {place: memory_of(cache) for place, cache in self.caches.items()}
            self.old_rooms, self.caches, self.rooms = self.rooms, {}, {}

    def release(self) -> None:
        """Keep nothing."""
        with self.lock:
            self.caches, self.rooms, self.old_caches, self.old_rooms = {}, {}, {}, {}


@dataclass(frozen=True)
class SharedColumns:
    """A place in a `ColumnStore`: a cache, and the room for factors."""

    store: ColumnStore
    place: int

    @property
    def keeps_values(self) -> bool:
        """Whether columns outlive their run, not their memory alone."""
        return self.store.keeps_values

    def _fits(self, memory: np.ndarray, budget_bytes: int) -> bool:
        """Whether memory fits in a budget beside that of all places, or of this one where workers share it out."""
        return self.store.nbytes(None if self.keeps_values else self.place) + memory.nbytes <= budget_bytes

    @property
    def room(self) -> np.ndarray | None:
        """The memory that the factors of the last run were made in."""
        return self.store.rooms.get(self.place, self.store.old_rooms.get(self.place))

    def keep_room(self, room: np.ndarray, budget_bytes: int) -> None:
        """Keep this memory for factors of the next run on these rows, if all that is kept fits in the budget."""
        if not self.keeps_values:
            return
        with self.store.lock:
            self.store.rooms.pop(self.place, None)
            self.store.old_rooms.pop(self.place, None)
            if self._fits(room, budget_bytes):
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
        store, found = self.store, self.store.caches.get(self.place)
        if found is not None and self.keeps_values and (
            (found.kernel, found.rows.values.dtype, found.rows.height, len(found.rows.values))
            == (kernel, rows.values.dtype, rows.height, len(rows.values))
        ):  # fmt: skip
            return found
        with store.lock:
            old = store.old_caches.pop(self.place, None)
        made = column_cache(kernel, rows, budget_bytes, threads, old if found is None else memory_of(found))
        with store.lock:
            store.caches.pop(self.place, None)
            if self._fits(memory_of(made), budget_bytes):
                store.caches[self.place] = made
            for memories in (store.old_rooms, store.old_caches):  # as far as all there is fits in the budget
                while memories and store.nbytes() + _bytes(store.old_rooms, store.old_caches) > budget_bytes:
                    memories.popitem()
        return made


def _bytes(*memories: dict[int, np.ndarray]) -> int:
    return sum(memory.nbytes for each in memories for memory in each.values())
