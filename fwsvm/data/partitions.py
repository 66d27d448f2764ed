"""Partitions of large data: byte ranges of files in LIBSVM's format, each read by itself, on any machine.

A range starts and ends where lines do. Which ranges there are depends on the files alone.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats import svmlight
from fwsvm.data.formats.svmlight import NoRowsError
from fwsvm.data.formats.text_files import (
    BYTE_ORDER_MARK,
    COMPRESSIONS,
    HEAD_BYTES,
    FormatError,
    refuse_not_text,
)
from fwsvm.errors import DataError

COUNTED = 1 << 24  # bytes in which lines are counted at a time

#: Bytes of a partition: a file is cut into `PARTITIONS` partitions unless these would be smaller or larger than that.
#: Smaller ones are a few milliseconds of work, and a task of Dask's takes as much.
LEAST, MOST, PARTITIONS = 1 << 22, 1 << 27, 32


class Partition(NamedTuple):
    """The lines of a file between two bytes.

    Attributes
    ----------
    path : str, absolute
    start, stop : int, bytes from the start of the file
    size : int, bytes of the whole file when it was cut
    zero_based : bool, whether features are counted from 0
    """

    path: str
    start: int
    stop: int
    size: int
    zero_based: bool = False

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"{self.path} (bytes {self.start:,} to {self.stop:,})"


class PartitionRows(NamedTuple):
    """The rows of a partition, the digest (hex) of its bytes, and what was ignored in it."""

    table: LabelledRows
    sha256: str
    notices: tuple[str, ...]


def cut(place: str | Path, *, zero_based: bool | None = None) -> list[Partition]:
    """Return the partitions of a file, or of all files in a folder, in the order of their names.

    Whether features are counted from 0 is seen from the beginnings of the files where ``zero_based`` does not say it.

    Raises
    ------
    DataError
        There is no such file, nothing in the folder, or a file that is empty, compressed or no text.
    """
    path = Path(os.path.abspath(place))  # noqa: PTH100  (links stay what they are called on other machines)
    if not path.is_dir():
        return _with_base(_cut_file(path), zero_based)
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    if not files:
        raise DataError(f"{path}: there is no file in this folder")
    return _with_base([partition for file in files for partition in _cut_file(file)], zero_based)


def _with_base(partitions: list[Partition], zero_based: bool | None) -> list[Partition]:
    if zero_based is None:
        zero_based = False
        for path in {each.path for each in partitions}:
            with _opened(path) as source:
                zero_based = zero_based or svmlight.looks_zero_based(source.read(LEAST))
    return [each._replace(zero_based=zero_based) for each in partitions]


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file; `DataError` where it cannot be read."""
    try:
        with Path(path).open("rb") as source:
            yield source
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _cut_file(path: Path) -> list[Partition]:
    with _opened(path) as source:
        head = source.read(HEAD_BYTES)
        if head.startswith(tuple(COMPRESSIONS)):
            raise DataError(f"{path} is compressed, so no part of it can be read by itself; unpack it")
        refuse_not_text(path, head)
        size = source.seek(0, os.SEEK_END)
        step, ends = min(max(LEAST, -(-size // PARTITIONS)), MOST), {size}
        for at in range(step, size, step):
            source.seek(at - 1)
            source.readline()
            ends.add(source.tell())
    stops = sorted(ends)
    starts = [len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0, *stops[:-1]]
    return [Partition(str(path), start, stop, size) for start, stop in zip(starts, stops, strict=True)]


def read(partition: Partition, *, unlabelled: bool = False) -> PartitionRows:
    """Read a partition; it may have no rows, which are then of no feature.

    Raises
    ------
    DataError
        The file has another size than when it was cut, cannot be read, or breaks the format: file, line and token are
        named.
    """
    data = _bytes(partition)
    digest = hashlib.sha256(data).hexdigest()
    base = partition.zero_based
    try:
        table, notices = svmlight.parse(partition.path, data, zero_based=base, unlabelled=unlabelled)
    except NoRowsError:
        table, notices = LabelledRows(csr_array((0, 0), dtype=np.float64), np.zeros(0)), ()
    except FormatError as error:
        line = error.line + _lines_before(partition)
        raise FormatError(partition.path, line, error.why) from None
    return PartitionRows(table, digest, notices)


def _bytes(partition: Partition) -> bytes:
    with _opened(partition.path) as source:
        size = os.fstat(source.fileno()).st_size
        source.seek(partition.start)
        data = source.read(partition.stop - partition.start)
    if size != partition.size or len(data) != partition.stop - partition.start:
        raise DataError(
            f"{partition.path} has {size:,} bytes and had {partition.size:,} when training began: it was cut off or "
            "changed since; train again"
        )
    return data


def _lines_before(partition: Partition) -> int:
    with _opened(partition.path) as source:
        steps = range(0, partition.start, COUNTED)
        return sum(source.read(min(COUNTED, partition.start - at)).count(b"\n") for at in steps)
