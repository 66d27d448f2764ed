"""What training takes beside the rows it is given, in bytes: estimated once, before any of it is taken."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fwsvm._mapped import is_mapped
from fwsvm._memory import require
from fwsvm.solvers.tuning import MOST_FIRST_ROWS

if TYPE_CHECKING:
    from fwsvm.solvers.resolve import Resolved

PART = 4096  # of a two-class problem beside its rows, its model included
ROW, LINEAR_ROW = 480, 220  # of a run's own arrays, for each row
NUMBER, LINEAR_NUMBER = 36, 24  # of copies in both precisions with their features, for each number stored


def check(X: Any, features: int, codes: np.ndarray, K: int, resolved: "Resolved") -> None:
    """Refuse training that does not fit in the memory available, with `UsageError`.

    ``X`` (m, k) are the rows as solvers read those of ``features`` features.
    """
    m, n = X.shape
    dense, mapped = isinstance(X, np.ndarray), is_mapped(X)
    stored = m * n if dense else int(X.nnz)
    if resolved.family.multiclass == "one-vs-rest":
        problems = 1 if K == 2 else K
        each = LINEAR_ROW * m + (LINEAR_NUMBER * stored if dense and not mapped else 0)
        kept, weights = (problems - 1) * (PART + m), 8 * (features + 5 * n) * problems
    else:
        problems, weights = K * (K - 1) // 2, 0
        rows = m if K == 2 else int(np.sort(np.bincount(codes, minlength=K))[-2:].sum())
        copied = min(rows, MOST_FIRST_ROWS) if mapped and K == 2 else rows
        each = ROW * rows + NUMBER * stored * copied // max(1, m)
        kept = 0 if K == 2 else problems * PART + 17 * (K - 1) * m
    total = min(problems, resolved.threads) * each + kept + weights
    columns = min(resolved.cache_bytes, 8 * m**2) if resolved.family.keeps_values else 0
    remedy = (
        f"take fewer rows (fwsvm subset){' or classes' * (K > 2)}{', or lower cache_mib' * (columns > 0)}"
    )
    if 2 * weights > total:
        remedy = (
            "a linear method has a weight for each feature: number the features without gaps, or use a kernel method, "
            'such as swap-2o with kernel="linear", which reads only those that occur'
        )
    what = f"{resolved.method.name} on {m:,} rows of {features:,} features and {K:,} classes"
    require(total + columns, what, remedy)
