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
    """

    keeps_values: bool = True
    places: dict[int, "SharedColumns"] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.RLock)

    def of(self, number: int) -> "SharedColumns":
        """Return a place."""
        with self.lock:
            return self.places.setdefault(number, SharedColumns(self))

    def forget_values(self) -> None:
        """Let no later run find a value: it is on other rows. What the last runs kept serves it as memory."""
        with self.lock:
            for place in self.places.values():
                place.spare = (place.cache_memory, place.room)
                place.found, place.room = None, None

    def release(self) -> None:
        """Keep nothing."""
        with self.lock:
            self.places.clear()


@dataclass
class SharedColumns:
    """A place in a `ColumnStore`.

    ``spare`` is memory of runs on other rows, for a cache and for factors, which the next run takes. It counts for no
    budget: what a run keeps does not depend on the runs on other rows before it.
    """

    store: ColumnStore
    found: ColumnCache | None = None
    room: np.ndarray | None = None
    spare: tuple[np.ndarray | None, np.ndarray | None] = (None, None)

    @property
    def keeps_values(self) -> bool:
        """Whether columns outlive their run, not their memory alone."""
        return self.store.keeps_values

    @property
    def cache_memory(self) -> np.ndarray | None:
        """The memory of the cache."""
        return None if self.found is None else memory_of(self.found)

    def take_room(self) -> np.ndarray | None:
        """Return the memory that the factors of the last run were made in."""
        return self.spare[1] if self.room is None else self.room

    def _fits(self, memory: np.ndarray, budget_bytes: int) -> bool:
        """Whether memory fits in a budget beside that of all places, or of this one where workers share it out."""
        places = list(self.store.places.values()) if self.keeps_values else [self]
        return sum(_bytes(place.cache_memory, place.room) for place in places) + memory.nbytes <= budget_bytes

    def keep_room(self, room: np.ndarray, budget_bytes: int) -> None:
        """Keep this memory for factors of the next run on these rows, if all that is kept fits in the budget."""
        if not self.keeps_values:
            return
        with self.store.lock:
            self.room, self.spare = None, (self.spare[0], None)
            if self._fits(room, budget_bytes):
                self.room = room

    def let_go(self) -> None:
        """Keep nothing of a run that goes on with columns of another precision, unless their values are kept."""
        if not self.keeps_values:
            self.found = None

    def cache(self, kernel: Any, rows: Rows, budget_bytes: int, threads: int) -> ColumnCache:
        """Return the cache of a kernel's columns over ``rows``, with the values it holds where values are kept.

        One of another kernel, precision or number of rows gives way to a new one, in its memory if that is large
        enough. The new one is kept for the next run if all that is kept then fits in the budget of this one.
        """
        found = self.found
        if (
            found is not None
            and self.keeps_values
            and (
                (found.kernel, found.rows.values.dtype, found.rows.height, len(found.rows.values))
                == (kernel, rows.values.dtype, rows.height, len(rows.values))
            )
        ):
            return found
        memory = self.spare[0] if found is None else memory_of(found)
        made = column_cache(kernel, rows, budget_bytes, threads, memory)
        with self.store.lock:
            self.found, self.spare = None, (None, self.spare[1])
            if self._fits(memory_of(made), budget_bytes):
                self.found = made
            every = list(self.store.places.values())
            kept = sum(_bytes(place.cache_memory, place.room) for place in every)
            for place in every:  # spare memory as far as all there is fits in the budget
                kept += _bytes(*place.spare)
                if kept > budget_bytes:
                    kept -= _bytes(*place.spare)
                    place.spare = (None, None)
        return made


def _bytes(*memories: np.ndarray | None) -> int:
    return sum(memory.nbytes for memory in memories if memory is not None)
