"""Seeded splits of rows into training and test, the same bits on every machine and numpy version.

``numpy.random.Generator``'s shuffles may change between numpy releases; the raw stream of a bit generator may
not. A permutation here is therefore the stable order of m raw 64-bit draws.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from fwsvm._mapped import is_mapped, picked
from fwsvm._memory import require
from fwsvm.data.dataset import LabelledRows
from fwsvm.errors import DataError

COPIED = 2 * 12  # bytes of a number of a sparse row, while parts of the copy are put together


def permutation(rows: int, seed: int) -> np.ndarray:
    """Return a random order of ``rows`` rows, shape (rows,), that depends on the two numbers alone."""
    draws = np.random.PCG64(seed).random_raw(rows)
    return np.argsort(draws, kind="stable")


def split(pool: LabelledRows, rule: Mapping[str, Any], seed: int) -> tuple[LabelledRows, LabelledRows]:
    """Split a table by ``{"test_fraction": f}`` or ``{"train_rows": m}``; both parts keep the file's order.

    A fraction of rows is rounded up, as 003's 98,805 of 494,021 are. `DataError` where a part would be empty.
    """
    rows = pool.rows
    by_fraction = "train_rows" not in rule
    train_rows = rows - math.ceil(rule["test_fraction"] * rows) if by_fraction else rule["train_rows"]
    if not 0 < train_rows < rows:
        raise DataError(f"cannot draw {train_rows} training rows of {rows} and keep some for testing")
    order = permutation(rows, seed)
    return take(pool, np.sort(order[:train_rows])), take(pool, np.sort(order[train_rows:]))


def take(table: LabelledRows, rows: np.ndarray) -> LabelledRows:
    """Return the given rows of a table, in the given order, in memory.

    Raises
    ------
    DataError
        Rows of a large file do not fit there.
    """
    if is_mapped(table.X):
        numbers = table.X.nnz if isinstance(table.X, csr_array) else table.X.size
        require(
            COPIED * numbers // max(1, table.rows) * len(rows),
            f"a copy of {len(rows):,} of the {table.rows:,} rows, as cross-validation and grids make of each part,",
            "draw fewer to a file with `fwsvm subset`, search on these, and train on all rows with what was found",
            DataError,
        )
    return replace(table, X=picked(table.X, rows), labels=table.labels[rows])


def join(tables: list[LabelledRows]) -> LabelledRows:
    """Stack tables of equal width, in order."""
    if len(tables) == 1:
        return tables[0]
    labels = np.concatenate([table.labels for table in tables])
    if all(issparse(table.X) for table in tables):
        return LabelledRows(csr_array(vstack([table.X for table in tables], format="csr")), labels)
    dense = [t.X.toarray() if isinstance(t.X, csr_array) else t.X for t in tables]
    return LabelledRows(np.vstack(dense), labels)
