"""Scaled rows of a mapped file: a copy beside the parsed one, written some rows at a time and mapped as that is."""

import hashlib
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm._mapped import RowMatrix, blocks, in_memory, is_mapped
from fwsvm.data import parsed_copies
from fwsvm.data.dataset import LabelledRows
from fwsvm.errors import DataError
from fwsvm.files.folders import parsed_folder


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

    def write(writer: parsed_copies.CopyWriter) -> parsed_copies.Parsed:
        for some in blocks(table.X):
            writer.add(scaling.apply(in_memory(table.X, some), ranges))
        return table, ()

    options = {"scaled": ranges.text(), "part": part}
    try:
        found, _ = parsed_copies.load_or_make(fingerprint, options, write)
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
        arrays = (rows.data, rows.indices, np.diff(rows.indptr)) if isinstance(rows, csr_array) else (rows,)
        for array in arrays:
            found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()
