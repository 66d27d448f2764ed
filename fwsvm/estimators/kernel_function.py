"""A kernel that is a Python function: it makes the matrix, and what is trained is a precomputed kernel, as in SVC."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fwsvm._memory import require
from fwsvm.errors import shown

Function = Callable[[Any, Any], Any]


def matrix(kernel: Function, X: Any, Z: Any) -> np.ndarray:
    """Return kernel(X, Z), float64 of shape (t, m), of rows X (t, n) and Z (m, n).

    Raises
    ------
    UsageError
        The matrix does not fit in the memory available.
    ValueError
        The function raises an error, or returns what is no such matrix of finite numbers.
    """
    shape, name = (X.shape[0], Z.shape[0]), getattr(kernel, "__name__", type(kernel).__name__)
    require(8 * shape[0] * shape[1], f"a kernel matrix of shape {shape}", "take fewer rows")
    try:
        found = np.asarray(kernel(X, Z), dtype=np.float64)
    except Exception as error:  # of whatever kind: it is the function's
        said = (str(error).splitlines() or [""])[0]
        raise ValueError(f"the kernel {name} raises {type(error).__name__}: {shown(said)}") from error
    if found.shape != shape:
        raise ValueError(
            f"the kernel {name} returns shape {found.shape} for rows of shapes {X.shape} and {Z.shape}"
        )
    if not np.isfinite(found).all():
        raise ValueError(f"the kernel {name} returns values that are not finite numbers")
    return found
