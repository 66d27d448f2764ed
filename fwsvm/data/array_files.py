"""Arrays written to ``.npy`` files as they come: how long they are is known at the end only."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

HEADER = 128  # bytes, a multiple of 64 as numpy has them, with room for any length
BLOCK = 8 << 20  # bytes that `replaced` has in memory


class ArrayFile:
    """A ``.npy`` file of one dimension, to which arrays are appended; complete once it is left without an error."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self.path, self.dtype, self.count = path, np.dtype(dtype), 0

    def __enter__(self) -> Self:
        self.file = self.path.open("wb")
        self.file.write(bytes(HEADER))
        return self

    def append(self, array: NDArray[np.generic]) -> None:
        """Append an array of one dimension."""
        self.file.write(np.ascontiguousarray(array, self.dtype).view(np.uint8).data)
        self.count += len(array)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.file.seek(0)
                self.file.write(_header(self.dtype, self.count))
                self.file.flush()
                os.fsync(self.file.fileno())
        finally:
            self.file.close()


def _header(dtype: np.dtype, count: int) -> bytes:
    said = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': ({count},), }}".encode()
    return b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little") + said.ljust(HEADER - 11) + b"\n"


def count(path: Path) -> int:
    """Return how many numbers a finished `ArrayFile` has."""
    return len(np.load(path, mmap_mode="r"))


def blocks(path: Path, itemsize: int) -> Iterator[NDArray[np.generic]]:
    """Yield the numbers of a finished `ArrayFile`, as many at a time as are `BLOCK` bytes of so many bytes each."""
    array = np.load(path, mmap_mode="r")
    step = max(1, BLOCK // max(itemsize, array.itemsize))
    for first in range(0, len(array), step):
        yield np.array(array[first : first + step])


def replaced(path: Path, dtype: DTypeLike, table: NDArray[np.generic] | None = None) -> None:
    """Write a finished file anew with its numbers in another type, or with what a table has at them."""
    part = path.with_suffix(".part")
    with ArrayFile(part, dtype) as file:
        for some in blocks(path, file.dtype.itemsize):
            file.append(some if table is None else table[some])
    part.replace(path)
