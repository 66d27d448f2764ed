"""What training takes beside the rows it is given, in bytes: estimated once, before any of it is taken."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fwsvm._mapped import is_mapped
from fwsvm._memory import require
from fwsvm._occurring import occurring
from fwsvm.kernels.dense_tiles import DENSE
from fwsvm.kernels.sparse_tiles import WIDE, left_block_bytes
from fwsvm.solvers.tuning import MOST_FIRST_ROWS

if TYPE_CHECKING:
    from fwsvm.solvers.resolve import Resolved

PART = 4096  # of a two-class problem beside its rows, its machine included
ROW, LINEAR_ROW = 480, 220  # of a run's own arrays, for each row
NUMBER, LINEAR_NUMBER = 36, 24  # of copies in both precisions with their features, for each number stored


def check(X: Any, features: int, codes: np.ndarray, classes: int, resolved: "Resolved") -> None:
    """Refuse a training that does not fit in the memory available, with `UsageError`.

    ``X`` are the rows as solvers read them, (m, k), of ``features`` features; ``codes`` (m,) are class numbers.
    """
    run, weights = (
        run_bytes(X, codes, classes, resolved),
        linear_weights(features, X.shape[1], classes, resolved),
    )
    what = f"{resolved.method.name} on {X.shape[0]:,} rows of {features:,} features and {classes:,} classes"
    remedy = "take fewer rows (fwsvm subset)"
    if weights > run:
        remedy = (
            "a linear method has a weight for each feature: number the features without gaps, or use a kernel method, "
            "such as swap-2o with --kernel linear, which reads only those that occur"
        )
    elif pairs_bytes(len(codes), classes, resolved) > run // 2:
        remedy = "take fewer classes"
    elif resolved.family.keeps_values:
        remedy += ", or lower --cache-mb"
    require(run + column_bytes(X.shape[0], resolved) + weights, what, remedy)


def training(X: Any, codes: np.ndarray, classes: int, resolved: "Resolved") -> int:
    """Return what a training takes beside its rows X (m, n) and kernel columns."""
    read = occurring(X).X
    return run_bytes(read, codes, classes, resolved) + linear_weights(
        X.shape[1], read.shape[1], classes, resolved
    )


def run_bytes(X: Any, codes: np.ndarray, classes: int, resolved: "Resolved") -> int:
    """Return what the runs take that are under way at a time: vectors, copies of rows, tables of 64 rows."""
    m, n = X.shape
    dense = isinstance(X, np.ndarray)
    stored = m * n if dense else int(X.nnz)
    if resolved.family.multiclass == "one-vs-rest":
        problems, rows = 1 if classes == 2 else classes, m
        each = LINEAR_ROW * m + (LINEAR_NUMBER * stored if dense and not is_mapped(X) else 0)
    else:
        problems = classes * (classes - 1) // 2
        rows = m if classes == 2 else int(np.sort(np.bincount(codes, minlength=classes))[-2:].sum())
        copied = min(rows, MOST_FIRST_ROWS) if is_mapped(X) and classes == 2 else rows
        each = ROW * rows + NUMBER * stored * copied // max(1, m)
        if stored < DENSE * m * n:
            longest = n if dense else int(np.diff(X.indptr).max(initial=0))
            each += 2 * left_block_bytes(n, WIDE * longest, 8)
    return min(problems, resolved.threads) * each + pairs_bytes(m, classes, resolved)


def column_bytes(rows: int, resolved: "Resolved") -> int:
    """Return what kernel columns may come to take."""
    return min(resolved.cache_bytes, 8 * rows * rows) if resolved.family.keeps_values else 0


def pairs_bytes(rows: int, classes: int, resolved: "Resolved") -> int:
    """Return what the list of two-class problems and of their machines takes."""
    if classes == 2:
        return 0
    if resolved.family.multiclass == "one-vs-rest":
        return classes * (PART + rows)
    return classes * (classes - 1) // 2 * PART + 17 * (classes - 1) * rows


def linear_weights(features: int, read: int, classes: int, resolved: "Resolved") -> int:
    """Return what a linear method's weights take: a table of all features', and those read of each problem."""
    if resolved.family.multiclass != "one-vs-rest":
        return 0
    return 8 * (features + 5 * read) * (1 if classes == 2 else classes)


def require_pairs(classes: int, resolved: "Resolved") -> None:
    """Refuse, with `UsageError`, so many classes that their pairs do not fit in this computer's memory."""
    what = f"{resolved.method.name} on the pairs of {classes:,} classes"
    require(classes * (classes - 1) // 2 * PART, what, "take fewer classes")
