"""Copies of parsed data files, and of scaled rows that are more than memory: arrays in a folder of the cache.

The folder is named by reader version, digest and options. Arrays of at least `MAPPED_FROM` bytes are mapped, read-only:
the system reads the parts of them that are used, so rows may be more than memory. A copy that is not there, or was cut
off, is made again; its folder gets its name once it is complete.
"""

import contextlib
import hashlib
import json
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwsvm import scaling
from fwsvm._mapped import RowMatrix, blocks, in_memory, is_mapped
from fwsvm.data.dataset import LabelledRows, canonical_csr, row_ends
from fwsvm.errors import DataError, WriteError
from fwsvm.files.folders import parsed_folder
from fwsvm.numerics.compile import READING, package_digest

ABOUT = "about.json"
MAPPED_FROM = 1 << 24  # bytes


class CopyWriter:
    """Writes the rows of a copy, some at a time, to the arrays of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.arrays: dict[str, tuple[str, int]] = {}  # dtype and bytes by name
        self.lengths: list[NDArray[np.integer]] = []

    def add(self, X: Any) -> None:
        """Append rows, an array or with the arrays of a `csr_array`, of which some may have fewer features."""
        if isinstance(X, np.ndarray):
            self._append("X", X)
        else:
            self._append("data", X.data)
            self._append("indices", X.indices.astype(np.int32, copy=False))
            self.lengths.append(np.diff(X.indptr))

    def _append(self, name: str, array: NDArray[Any]) -> None:
        try:
            with (self.folder / name).open("ab") as file:
                file.write(np.ascontiguousarray(array).data)
                self.arrays[name] = array.dtype.str, file.tell()
        except OSError as error:  # a file is being read, whose errors are others
            raise WriteError(error.strerror or str(error)) from None

    def finish(self, table: LabelledRows) -> None:
        """Complete the arrays, and write what they are."""
        if self.lengths:
            self._append("indptr", row_ends(self.lengths))
        self._append("labels", table.labels)
        about = {
            "shape": table.X.shape,
            "arrays": self.arrays,
            "notices": table.notices,
            "zero_based": table.zero_based,
            "feature_names": table.feature_names,
        }
        (self.folder / ABOUT).write_text(json.dumps(about), "utf-8")


def reader_version() -> str:
    """Return a digest (hex) of the code that parses files."""
    return package_digest(*READING)[:16]


def load_or_make(
    source: str, options: Mapping[str, Any], read: Callable[[CopyWriter], LabelledRows]
) -> LabelledRows:
    """Return the copy of a source, such as the sha256 of a file, read with these options.

    Where there is none it is made: ``read`` adds the rows to its writer, and returns a table with all but these.

    Raises
    ------
    WriteError
        The copy cannot be written: a full disk, a cache that is only to be read.
    """
    key = json.dumps([source, dict(options)], sort_keys=True)
    place = parsed_folder() / f"{reader_version()}-{hashlib.sha256(key.encode()).hexdigest()[:32]}"
    with contextlib.suppress(OSError, ValueError):  # it is not there, or was cut off
        return _load(place)
    building = place.with_name(f"{secrets.token_hex(8)}.building")
    try:
        building.mkdir(parents=True)  # the umask says who may read it; tempfile's folders are of one user
        writer = CopyWriter(building)
        writer.finish(read(writer))
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):  # another process may be first
            building.rename(place)
    except OSError as error:
        raise WriteError(error.strerror or str(error)) from None
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return _load(place)


def _load(place: Path) -> LabelledRows:
    """Return the copy in a folder; OSError or ValueError where it is not there or was cut off."""
    about = json.loads((place / ABOUT).read_text("utf-8"))
    arrays = {name: _array(place / name, *kind) for name, kind in about["arrays"].items()}
    X: RowMatrix
    if "X" in arrays:
        X = arrays["X"].reshape(about["shape"])
    else:
        X = canonical_csr(arrays["data"], arrays["indices"], arrays["indptr"], about["shape"][1])
    names = tuple(about["feature_names"])
    notices = tuple(about["notices"])
    return LabelledRows(X, arrays["labels"], None, about["zero_based"], names, notices)


def stale() -> list[Path]:
    """Return the folders of copies that another version made or a process left unfinished."""
    this = f"{reader_version()}-*"
    return [path for path in sorted(parsed_folder().glob("*/")) if not path.match(this)]


def _array(path: Path, kind: str, size: int) -> np.ndarray:
    if path.stat().st_size != size:
        raise ValueError("the array was cut off")
    if size < MAPPED_FROM:
        return np.fromfile(path, kind)
    return np.asarray(np.memmap(path, kind, "r"))  # plain, as compiled code knows arrays


def scaled(table: LabelledRows, ranges: scaling.Ranges, fingerprint: str, part: str) -> LabelledRows:
    """Return rows scaled by the ranges: in memory, or of mapped ones in a file that is mapped.

    ``fingerprint`` and ``part`` say which rows they are: where there is a copy of them it is taken.

    Raises
    ------
    DataError
        As of `fwsvm.scaling.apply`; the copy cannot be written.
    """
    if not is_mapped(table.X):
        return replace(table, X=scaling.apply(table.X, ranges), ranges=ranges)

    def write(writer: CopyWriter) -> LabelledRows:
        for some in blocks(table.X):
            writer.add(scaling.apply(in_memory(table.X, some), ranges))
        return table

    try:
        found = load_or_make(fingerprint, {"scaled": ranges.text(), "part": part}, write)
    except WriteError as error:
        raise DataError(
            f"the scaled copy of {table.rows:,} rows cannot be written to {parsed_folder()}: {error}; make room there, "
            "or let FWSVM_CACHE name a folder on another disk"
        ) from None
    return replace(table, X=found.X, ranges=ranges)
