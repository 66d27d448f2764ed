"""Partitions of large data: byte ranges of files in LIBSVM's format, each read by itself, on any machine.

A range starts and ends where lines do. Which ranges there are depends on the files alone.
"""

import hashlib
import io
import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats import svmlight
from fwsvm.data.formats.text_files import FormatError, open_text
from fwsvm.errors import DataError
from fwsvm.files.folders import require_file

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


def cut(place: str | Path, *, zero_based: bool | None = None) -> list[Partition]:
    """Return the partitions of a file, or of all files in a folder, in the order of their names.

    Whether features are counted from 0 is seen from the beginnings of the files where ``zero_based`` does not say it.

    Raises
    ------
    DataError
        There is no such file, nothing in the folder, or a file that is empty, compressed or no text.
    """
    path = Path(os.path.abspath(place))  # noqa: PTH100  (links stay what they are called on other machines)
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    if not files:
        raise DataError(f"{path}: there is no file in this folder")
    found: list[Partition] = []
    seen = False
    for file in files:
        with open_text(file) as source:
            if not isinstance(getattr(source, "raw", None), io.FileIO):
                raise DataError(f"{file} is compressed, so no part of it can be read by itself; unpack it")
            start = source.tell()  # after a byte order mark
            seen = seen or svmlight.looks_zero_based(svmlight.parse_piece(next(svmlight.texts_of(source))))
            size = source.seek(0, os.SEEK_END)
            step = min(max(LEAST, -(-size // PARTITIONS)), MOST)
            ends = {start, size}
            for at in range(step, size, step):
                source.seek(at - 1)
                source.readline()
                ends.add(source.tell())
        found += [Partition(str(file), first, stop, size) for first, stop in pairwise(sorted(ends))]
    return [each._replace(zero_based=seen if zero_based is None else zero_based) for each in found]


def read(partition: Partition, *, unlabelled: bool = False) -> LabelledRows:
    """Read a partition; it may have no rows, which are then of no feature.

    Raises
    ------
    DataError
        The file has another size than when it was cut, cannot be read, or breaks the format: file, line and token are
        named.
    """
    path = Path(partition.path)
    require_file(path)
    with path.open("rb") as source:
        size = os.fstat(source.fileno()).st_size
        if size != partition.size:
            raise DataError(
                f"{path} has {size:,} bytes and had {partition.size:,} when training began: it was cut off or changed "
                "since; train again"
            )
        source.seek(partition.start)
        data = source.read(partition.stop - partition.start)
        try:
            table = svmlight.parse(
                path, io.BytesIO(data), zero_based=partition.zero_based, unlabelled=unlabelled
            )
        except FormatError as error:
            source.seek(0)
            lines = iter(lambda: source.readline(partition.start - source.tell()), b"")
            before = sum(line.endswith(b"\n") for line in lines)
            raise FormatError(path, [(line + before, why) for line, why in error.faults]) from None
    return replace(table, sha256=hashlib.sha256(data).hexdigest())
