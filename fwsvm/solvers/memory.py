"""What training takes beside the rows it is given, in bytes: estimated once, before any of it is taken."""

from typing import TYPE_CHECKING, Any, NamedTuple

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


class Needed(NamedTuple):
    """Bytes of the runs under way at a time, of what all subproblems keep, of kernel columns and of linear weights."""

    runs: int
    subproblems: int
    columns: int
    weights: int


def needed(X: Any, features: int, codes: np.ndarray, classes: int, resolved: "Resolved") -> Needed:
    """Return what a training takes beside its rows X (m, k), as solvers read those of ``features`` features."""
    m, n = X.shape
    stored = m * n if isinstance(X, np.ndarray) else int(X.nnz)
    columns = min(resolved.cache_bytes, 8 * m * m) if resolved.family.keeps_values else 0
    if resolved.family.multiclass == "one-vs-rest":
        problems = 1 if classes == 2 else classes
        each = LINEAR_ROW * m + (
            LINEAR_NUMBER * stored if isinstance(X, np.ndarray) and not is_mapped(X) else 0
        )
        kept, weights = (problems - 1) * (PART + m), 8 * (features + 5 * n) * problems
    else:
        problems, weights = classes * (classes - 1) // 2, 0
        rows = m if classes == 2 else int(np.sort(np.bincount(codes, minlength=classes))[-2:].sum())
        copied = min(rows, MOST_FIRST_ROWS) if is_mapped(X) and classes == 2 else rows
        each = ROW * rows + NUMBER * stored * copied // max(1, m)
        if stored < DENSE * m * n:
            longest = n if isinstance(X, np.ndarray) else int(np.diff(X.indptr).max(initial=0))
            each += 2 * left_block_bytes(n, WIDE * longest, 8)
        kept = 0 if classes == 2 else problems * PART + 17 * (classes - 1) * m
    return Needed(min(problems, resolved.threads) * each, kept, columns, weights)


def check(X: Any, features: int, codes: np.ndarray, classes: int, resolved: "Resolved") -> None:
    """Refuse a training that does not fit in the memory available, with `UsageError`; see `needed`."""
    found = needed(X, features, codes, classes, resolved)
    remedy = "take fewer rows (fwsvm subset)"
    if found.weights > found.runs + found.subproblems:
        remedy = (
            "a linear method has a weight for each feature: number the features without gaps, or use a kernel method, "
            "such as swap-2o with --kernel linear, which reads only those that occur"
        )
    elif found.subproblems > found.runs:
        remedy = "take fewer classes"
    elif found.columns:
        remedy += ", or lower --cache-mb"
    what = f"{resolved.method.name} on {X.shape[0]:,} rows of {features:,} features and {classes:,} classes"
    require(sum(found), what, remedy)


def training(X: Any, codes: np.ndarray, classes: int, resolved: "Resolved") -> int:
    """Return what a training takes beside its rows X (m, n) and kernel columns."""
    found = needed(occurring(X).X, X.shape[1], codes, classes, resolved)
    return sum(found) - found.columns


def require_pairs(classes: int, resolved: "Resolved") -> None:
    """Refuse, with `UsageError`, so many classes that their pairs do not fit in this computer's memory."""
    what = f"{resolved.method.name} on the pairs of {classes:,} classes"
    require(classes * (classes - 1) // 2 * PART, what, "take fewer classes")
