"""The owner of kernel columns, and of memory for columns and factors, that runs share, one run after another."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache, column_cache, memory_of
from fwsvm.kernels.rows import Rows

T = TypeVar("T")


@dataclass
class MemoryByPlace(Generic[T]):
    """What is kept by place, and the memory of all of it: what was asked for, written or not."""

    size: Callable[[T], int]
    nbytes: int = 0
    kept: dict[int, T] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return how many places keep something."""
        return len(self.kept)

    def get(self, place: int) -> T | None:
        """Return what a place keeps."""
        return self.kept.get(place)

    def put(self, place: int, given: T) -> None:
        """Keep something at a place, in place of what is there."""
        self.take(place)
        self.kept[place] = given
        self.nbytes += self.size(given)

    def take(self, place: int) -> T | None:
        """Return what a place keeps, which it then keeps no longer."""
        found = self.kept.pop(place, None)
        if found is not None:
            self.nbytes -= self.size(found)
        return found

    def take_last(self) -> None:
        """Keep no longer what was put last."""
        self.take(next(reversed(self.kept)))

    def nbytes_of(self, place: int) -> int:
        """Return the memory of what a place keeps."""
        found = self.kept.get(place)
        return 0 if found is None else self.size(found)


def _caches() -> MemoryByPlace[ColumnCache]:
    return MemoryByPlace(lambda cache: memory_of(cache).nbytes)


def _arrays() -> MemoryByPlace[np.ndarray]:
    return MemoryByPlace(lambda memory: memory.nbytes)


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
    caches: MemoryByPlace[ColumnCache] = field(default_factory=_caches)
    rooms: MemoryByPlace[np.ndarray] = field(default_factory=_arrays)
    old_caches: MemoryByPlace[np.ndarray] = field(default_factory=_arrays)
    old_rooms: MemoryByPlace[np.ndarray] = field(default_factory=_arrays)
    lock: Any = field(default_factory=threading.RLock)

    def of(self, place: int) -> "SharedColumns":
        """Return a place."""
        return SharedColumns(self, place)

    @property
    def nbytes(self) -> int:
        """The memory of all that is kept: what was asked for, written or not."""
        with self.lock:
            return self.caches.nbytes + self.rooms.nbytes

    def nbytes_of(self, place: int) -> int:
        """Return the memory of what is kept at a place: all that was asked for, written or not."""
        with self.lock:
            return self.caches.nbytes_of(place) + self.rooms.nbytes_of(place)

    @property
    def old_nbytes(self) -> int:
        """The memory of runs on other rows that no run has taken yet."""
        with self.lock:
            return self.old_caches.nbytes + self.old_rooms.nbytes

    def forget_values(self) -> None:
        """Let no later run find a value: it is on other rows. What the last runs kept serves it as memory."""
        with self.lock:
            self.old_caches, self.old_rooms = _arrays(), self.rooms
            for place, cache in self.caches.kept.items():
                self.old_caches.put(place, memory_of(cache))
            self.caches, self.rooms = _caches(), _arrays()

    def release(self) -> None:
        """Keep nothing."""
        with self.lock:
            self.caches, self.rooms = _caches(), _arrays()
            self.old_caches, self.old_rooms = _arrays(), _arrays()

    def release_old(self, budget_bytes: int) -> None:
        """Keep memory of runs on other rows only as far as all there is fits in a budget."""
        with self.lock:
            for old in (self.old_rooms, self.old_caches):
                while len(old) and self.nbytes + self.old_nbytes > budget_bytes:
                    old.take_last()


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
        """The memory at this place, which a run here takes over."""
        return self.store.nbytes_of(self.place) + self.store.old_caches.nbytes_of(self.place)

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
            self.store.rooms.take(self.place)
            self.store.old_rooms.take(self.place)
            if self.nbytes + room.nbytes <= budget_bytes:
                self.store.rooms.put(self.place, room)

    def let_go(self) -> None:
        """Keep nothing of a run that goes on with columns of another precision, unless their values are kept."""
        if not self.keeps_values:
            with self.store.lock:
                self.store.caches.take(self.place)

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
        with self.store.lock:
            old = self.store.old_caches.take(self.place)
        memory = old if found is None else memory_of(found)
        made = column_cache(kernel, rows, budget_bytes, threads, memory)
        with self.store.lock:
            self.store.caches.take(self.place)
            if self.nbytes + memory_of(made).nbytes <= budget_bytes:
                self.store.caches.put(self.place, made)
            self.store.release_old(budget_bytes)
        return made
