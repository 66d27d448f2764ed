"""Copies of parsed data files: ``.npy`` arrays in a folder of the cache named by digest, options and reader version.

Arrays of at least `MAPPED_FROM` bytes are mapped: the system reads the parts of them that are used, so rows may be more
than memory. All arrays are read-only. A copy that is not there, or cannot be read, is made again; its folder gets its
name once it is complete.
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix, never_written
from fwsvm.data.dataset import LARGEST_INT32, LabelledRows, canonical_csr
from fwsvm.files.folders import BUILDING, parsed_folder
from fwsvm.numerics.compiled_cache import READING, package_digest

DIGEST = re.compile("[0-9a-f]{32}")  # the name of a finished copy
MAPPED_FROM = 1 << 24  # bytes
HEADER_BYTES = 128  # a multiple of 64 as numpy has them, with room for any length
CONVERTED = 1 << 20  # numbers

Parsed = tuple[LabelledRows, tuple[str, ...]]


class ArrayFile:
    """A ``.npy`` file of one dimension, to which arrays are appended; complete once it is left without an error."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self.path, self.dtype, self.count = path, np.dtype(dtype), 0
        self.file = path.open("wb")
        self.file.write(bytes(HEADER_BYTES))

    def append(self, array: NDArray[np.generic]) -> None:
        """Append an array, in its order in memory."""
        self.file.write(np.ascontiguousarray(array, self.dtype).reshape(-1).view(np.uint8).data)
        self.count += array.size

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self.file as file:
            if kind is None:
                said = f"{{'descr': {self.dtype.str!r}, 'fortran_order': False, 'shape': ({self.count},), }}"
                file.seek(0)
                file.write(b"\x93NUMPY\x01\x00" + (HEADER_BYTES - 10).to_bytes(2, "little"))
                file.write(said.ljust(HEADER_BYTES - 11).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())


class CopyWriter:
    """Writes the rows of a copy, some at a time, to the arrays of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.stack = folder, contextlib.ExitStack()
        self.files: dict[str, ArrayFile] = {}
        self.lengths: list[NDArray[np.integer]] = []
        self.rows = self.features = 0

    def add(self, X: RowMatrix) -> None:
        """Append rows; all are dense or all are sparse, and sparse ones may have fewer features than others."""
        if isinstance(X, csr_array):
            self._file("data", np.float64).append(X.data)
            self._file("indices", np.int32).append(X.indices)
            self.lengths.append(np.diff(X.indptr))
        else:
            self._file("X", np.float64).append(X)
        self.rows, self.features = self.rows + X.shape[0], max(self.features, X.shape[1])

    def begin_again(self) -> Callable[[RowMatrix], None]:
        """Drop what was written and return `add`."""
        self.close(ValueError)
        self.__init__(self.folder)  # type: ignore[misc]
        return self.add

    def _file(self, name: str, dtype: DTypeLike) -> ArrayFile:
        if name not in self.files:
            self.files[name] = self.stack.enter_context(ArrayFile(self.folder / f"{name}.npy", dtype))
        return self.files[name]

    def close(self, kind: type[BaseException] | None = None) -> None:
        """Complete the files, or leave them where there was an error."""
        self.stack.__exit__(kind, None, None)

    def finish(self, table: LabelledRows, notices: tuple[str, ...], source: str) -> None:
        """Complete the arrays, and write what they are."""
        self.close()
        if self.lengths:
            indptr = np.concatenate([[0], np.cumsum(np.concatenate(self.lengths), dtype=np.int64)])
            wide = indptr[-1] > LARGEST_INT32  # scipy has both in one type
            self._save("indptr", indptr if wide else indptr.astype(np.int32))
            if wide:
                _convert(self.folder / "indices.npy", np.int64)
        self._save("labels", table.labels)
        about = {
            "raw_sha256": source,
            "readers": reader_version(),
            "shape": [self.rows, max(self.features, table.features)],
            "arrays": {path.stem: path.stat().st_size for path in sorted(self.folder.glob("*.npy"))},
            "notices": list(notices),
            "zero_based": table.zero_based,
            "feature_names": list(table.feature_names),
        }
        (self.folder / "about.json").write_text(json.dumps(about), "utf-8")

    def _save(self, name: str, array: NDArray[Any]) -> None:
        with ArrayFile(self.folder / f"{name}.npy", array.dtype) as file:
            file.append(array)


def _convert(path: Path, dtype: DTypeLike) -> None:
    """Write a finished `ArrayFile` anew with its numbers in another type."""
    array = np.load(path, mmap_mode="r")
    part = path.with_suffix(".part")
    with ArrayFile(part, dtype) as file:
        for first in range(0, len(array), CONVERTED):
            file.append(array[first : first + CONVERTED])
    part.replace(path)


def reader_version() -> str:
    """Return a digest (hex) of the code that parses files."""
    return package_digest(*READING)


def folder(source: str, options: Mapping[str, Any]) -> Path:
    """Return the folder of the copy of a source, such as the sha256 of a file, read with these options."""
    key = json.dumps([source, dict(options), reader_version()], sort_keys=True)
    return parsed_folder() / hashlib.sha256(key.encode()).hexdigest()[:32]


def load_or_make(source: str, options: Mapping[str, Any], read: Callable[[CopyWriter], Parsed]) -> Parsed:
    """Return the copy of a source; where there is none, ``read`` adds the rows to its writer, and it is made.

    What ``read`` returns has the labels and notices; its rows are not looked at.

    Raises
    ------
    OSError
        The copy cannot be written: a full disk, a cache that is only to be read.
    """
    place = folder(source, options)
    if (kept := _load(place)) is not None:
        return kept
    with _building(place.parent) as building:
        writer = CopyWriter(building)
        try:
            table, notices = read(writer)
        except BaseException:
            writer.close(BaseException)
            raise
        writer.finish(table, notices, source)
        if _load(place) is None:  # else another process was first
            shutil.rmtree(place, ignore_errors=True)
            with contextlib.suppress(OSError):
                building.rename(place)
    if (made := _load(place)) is None:
        raise OSError(f"the copy {place} cannot be read")
    return made


def _load(place: Path) -> Parsed | None:
    """Return the copy in a folder, None where it is not there or cannot be read."""
    try:
        about = json.loads((place / "about.json").read_text("utf-8"))
        paths = {name: place / f"{name}.npy" for name in about["arrays"]}
        if any(path.stat().st_size != about["arrays"][name] for name, path in paths.items()):
            return None
        arrays = {name: _array(path) for name, path in paths.items()}
        X: RowMatrix
        if "X" in arrays:
            X = arrays["X"].reshape(about["shape"])
        elif "data" in arrays:
            X = canonical_csr(arrays["data"], arrays["indices"], arrays["indptr"], about["shape"][1])
        else:
            X = csr_array(tuple(about["shape"]), dtype=np.float64)
        names = tuple(about["feature_names"])
        table = LabelledRows(X, arrays["labels"], zero_based=about["zero_based"], feature_names=names)
        return table, tuple(about["notices"])
    except (OSError, ValueError, KeyError, EOFError, TypeError):
        return None


def _array(path: Path) -> np.ndarray:
    mapped = path.stat().st_size >= MAPPED_FROM
    # plain, as compiled code knows arrays
    return never_written(np.asarray(np.load(path, mmap_mode="c" if mapped else None, allow_pickle=False)))


@contextlib.contextmanager
def _building(parent: Path) -> Iterator[Path]:
    """Give a folder for a copy that is being made; what is left of it in the end is removed."""
    parent.mkdir(parents=True, exist_ok=True)
    building = parent / f"{BUILDING}{secrets.token_hex(8)}"
    building.mkdir()  # who may read it is what the umask says, where tempfile's folders are of one user alone
    try:
        yield building
    finally:
        shutil.rmtree(building, ignore_errors=True)
