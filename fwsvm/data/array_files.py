"""Arrays written to ``.npy`` files as they come: how long they are is known at the end only."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

HEADER = 128  # bytes, a multiple of 64 as numpy has them, with room for any length
BLOCK = 1 << 20  # numbers that `converted` has in memory


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


def blocks(path: Path) -> Iterator[NDArray[np.generic]]:
    """Yield the numbers of a finished `ArrayFile`, some at a time."""
    array = np.load(path, mmap_mode="r")
    for first in range(0, len(array), BLOCK):
        yield np.array(array[first : first + BLOCK])


def replaced(path: Path, dtype: DTypeLike, table: NDArray[np.generic] | None = None) -> None:
    """Write a finished file anew with its numbers in another type, or with what a table has at them."""
    part = path.with_suffix(".part")
    with ArrayFile(part, dtype) as file:
        for some in blocks(path):
            file.append(some if table is None else table[some])
    part.replace(path)
