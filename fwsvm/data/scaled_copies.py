"""Scaled rows of a mapped file: a copy beside the parsed one, written some rows at a time and mapped as that is."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm._mapped import RowMatrix, blocks, in_memory, is_mapped
from fwsvm.data import parsed_copies
from fwsvm.data.array_files import ArrayFile
from fwsvm.data.dataset import LabelledRows
from fwsvm.errors import DataError
from fwsvm.files.folders import parsed_folder

ARRAYS = {"data": np.float64, "indices": np.int32, "indptr": np.int64, "X": np.float64}


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
    options = {"scaled": ranges.text(), "part": part}
    try:
        found, _ = parsed_copies.derived(fingerprint, options, lambda place: _write(place, table, ranges))
    except OSError as error:
        raise DataError(
            f"the scaled copy of {table.rows:,} rows cannot be written to {parsed_folder()}: "
            f"{error.strerror or error}; make room there, or let FWSVM_CACHE name a folder on another disk"
        ) from None
    return replace(table, X=found.X, ranges=ranges)


def rows_sha256(X: RowMatrix) -> str:
    """Return the sha256 (hex) of rows (m, n), read some at a time, with their shape and type."""
    sparse = isinstance(X, csr_array)
    found = hashlib.sha256(f"{X.shape} {X.dtype} {sparse}".encode())
    for some in blocks(X):
        rows = X[some]
        for array in (
            (rows.data, rows.indices, np.diff(rows.indptr)) if isinstance(rows, csr_array) else (rows,)
        ):
            found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _write(place: Path, table: LabelledRows, ranges: scaling.Ranges) -> tuple[int, ...]:
    X = table.X
    with ArrayFile(place / "labels.npy", table.labels.dtype) as labels:
        labels.append(table.labels)
    files = {name: ArrayFile(place / f"{name}.npy", kind) for name, kind in ARRAYS.items()}
    with files["data"] as data, files["indices"] as indices, files["indptr"] as indptr, files["X"] as dense:
        indptr.append(np.zeros(1, np.int64))
        for some in blocks(X):
            rows = scaling.apply(in_memory(X, some), ranges)
            if isinstance(rows, csr_array):
                indptr.append(rows.indptr[1:].astype(np.int64) + data.count)
                data.append(rows.data)
                indices.append(rows.indices)
            else:
                dense.append(rows.reshape(-1))
    for name in ("data", "indices", "indptr") if dense.count else ("X",):
        files[name].path.unlink()
    return tuple(X.shape)
