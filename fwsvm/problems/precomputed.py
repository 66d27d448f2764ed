"""Rows of a precomputed kernel, as in LIBSVM's format: ``0:i 1:K(x,x_1) ... L:K(x,x_L)``.

Column 0 of a table (m, L + 1) holds the row's number i, 1 to L, and column j its kernel value with training row j. Some
of the rows, such as those of a fold, are such a table, too. A model's support vectors keep their numbers alone;
the numbers of rows to predict may be any.

Gaps bound the distance to the optimum of a convex problem only, so what is trained on must be a symmetric matrix
without eigenvalues below those that the ridge 1 / C_i makes up for.
"""

from typing import Any

import numpy as np
import scipy

from fwsvm._mapped import RowMatrix
from fwsvm._memory import require
from fwsvm.errors import DataError, UsageError
from fwsvm.kernels.precomputed import Precomputed

NAME = "precomputed"
#: K(i, j) and K(j, i), which are rounded differently, may differ by so much of the entry or of sqrt(K(i, i) K(j, j)).
UNEQUAL = 1e-8
#: What Cholesky's factor of a matrix may be off by, for each of its rows and in units of the diagonal value.
FACTOR_ROUNDING = 8.0 * np.finfo(np.float64).eps


def is_given(kernel_name: object) -> bool:
    """Whether the values of the kernel of that name are given with the rows."""
    return kernel_name == NAME


def refuse_scaling(kernel_name: str | None, scale: str | None) -> None:
    """Raise `UsageError` where kernel values would be scaled as if they were features."""
    if is_given(kernel_name) and scale not in (None, "none"):
        raise UsageError(f"scale {scale} is for features, and a {NAME} kernel's rows are kernel values")


def with_numbers(values: RowMatrix) -> RowMatrix:
    """Return the table of all training rows from their kernel matrix (m, m); `UsageError` where it is not square."""
    if values.shape[0] != values.shape[1]:
        raise UsageError(f"a {NAME} kernel is trained on a square matrix, not on one of shape {values.shape}")
    return beside_numbers(values)


def beside_numbers(values: RowMatrix) -> RowMatrix:
    """Return the table of rows from their kernel values (m, L): numbers 1 to m in column 0, as in a file."""
    numbers = np.arange(1.0, values.shape[0] + 1.0)[:, None]
    if scipy.sparse.issparse(values):
        return scipy.sparse.csr_array(
            scipy.sparse.hstack([scipy.sparse.csr_array(numbers), values], format="csr")
        )
    return np.hstack([numbers, values])


def given_by(
    X: RowMatrix, penalties: np.ndarray | None
) -> tuple["scipy.sparse.csr_array", np.ndarray, Precomputed]:
    """Return the rows of a table (m, L + 1) with their numbers alone, their places (m, 1) in the kernel, and this.

    Parameters
    ----------
    X : ndarray or csr_array
    penalties : ndarray, shape (m,), or None
        C_i of a problem with the ridge 1 / C_i on the diagonal; None for a problem without.

    Raises
    ------
    DataError
        Rows without their numbers, or a matrix that is not symmetric or, with the ridge, not positive semidefinite.
    UsageError
        The matrix does not fit in the memory available.
    """
    m = X.shape[0]
    require(
        5 * 8 * m * max(X.shape),
        f"the kernel matrix of {m:,} rows, and a test of it,",
        "take fewer rows (fwsvm subset)",
    )
    table = X.toarray() if isinstance(X, scipy.sparse.csr_array) else X
    numbers = table[:, 0].astype(np.int64)
    wrong = np.flatnonzero((numbers != table[:, 0]) | (numbers < 1) | (numbers >= X.shape[1]))
    if len(wrong):
        number = table[wrong[0], 0]
        begins = f"0:{number:g} as its number" if number else "no number 0:i, or 0:0"
        raise DataError(
            f"row {wrong[0] + 1} has {begins}, but a row of a precomputed kernel begins with 0:i, its number among the "
            f"1 to {X.shape[1] - 1} rows whose kernel values follow as 1:K(x,x_1) 2:K(x,x_2) ..."
        )
    values = np.ascontiguousarray(table[:, numbers])
    _refuse_unsymmetric(values, numbers)
    _refuse_indefinite(values, penalties)
    kept = scipy.sparse.csr_array((numbers * 1.0, (np.arange(m), np.zeros(m, np.int64))), shape=X.shape)
    return kept, np.arange(1.0, m + 1.0)[:, None], Precomputed(values)


def _refuse_unsymmetric(values: np.ndarray, numbers: np.ndarray) -> None:
    """Refuse a matrix that differs from its transpose by more than rounding, and make it equal to it."""
    widths = np.sqrt(np.abs(np.diagonal(values)))
    # as large as the entry, or as the diagonal lets one be whose products cancel
    tolerated = UNEQUAL * np.maximum(np.abs(values), np.outer(widths, widths))
    for i, j in np.argwhere(np.abs(values - values.T) > tolerated)[:1]:
        raise DataError(
            f"the kernel matrix is not symmetric: row {i + 1} has the value {numbers[j]}:{values[i, j]:.9g}, but row "
            f"{j + 1} has {numbers[i]}:{values[j, i]:.9g}"
        )
    values[:] = 0.5 * (values + values.T)


def _refuse_indefinite(values: np.ndarray, penalties: np.ndarray | None) -> None:
    """Refuse a matrix that has, with the ridge, an eigenvalue below 0 by more than rounding: Cholesky's factor says."""
    diagonal = np.diagonal(values)
    # the factor's error at an entry goes with the diagonal values of its row and column
    slack = FACTOR_ROUNDING * len(values) * np.maximum(np.abs(diagonal), np.finfo(np.float64).tiny)
    try:
        np.linalg.cholesky(values + np.diag(slack + (0.0 if penalties is None else 1.0 / penalties)))
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(values)[0]
        remedy = f"add {-least:.3g} to its diagonal"
        if penalties is not None:
            remedy += f", or take a C of at most {-0.99 / least:.3g}, whose ridge makes up for it"
        raise DataError(
            f"the kernel matrix is not positive semidefinite: its least eigenvalue is {least:.3g}. The problem is not "
            f"convex, and no gap would prove anything; {remedy}"
        ) from None


def refuse_other_rows(X: RowMatrix, last: int = 0, training_rows: int | None = None) -> None:
    """Refuse rows to predict or to test with (t, w) that are not kernel values with the training rows, up to ``last``.

    Raises
    ------
    DataError
        A row without its number 0:i, or values with fewer rows than ``last`` or, where it is known how many rows
        trained the model, with more.
    """
    used = X.shape[1] - 1
    if isinstance(X, scipy.sparse.csr_array):  # whose reader keeps the zero of 0:0
        used = X.indices.max(initial=0)
        if len(missing := np.flatnonzero(np.diff(X[:, [0]].indptr) == 0)):
            raise DataError(
                f"row {missing[0] + 1} has no number 0:i, but rows for a precomputed kernel are kernel values with the "
                "training rows, as 0:i 1:K(x,x_1) 2:K(x,x_2) ..."
            )
    if training_rows is not None and used > training_rows:
        raise DataError(
            f"the rows have kernel values with {used} rows, but the model was trained on {training_rows}: give those "
            "with its training rows alone"
        )
    if X.shape[0] and X.shape[1] <= last:
        raise DataError(
            f"the rows have kernel values with {X.shape[1] - 1} training rows, and the model's support vectors go up "
            f"to row {last}"
        )


def decision(support: Any, weights: np.ndarray, X: RowMatrix) -> np.ndarray:
    """Return sum_j weights[j, o] K(x, x_j) for the rows of X (t, w), shape (t, o).

    ``support`` is a table of the support vectors' numbers alone.
    """
    numbers = scipy.sparse.csr_array(support).sum(axis=1).astype(np.int64)
    refuse_other_rows(X, numbers.max(initial=0))
    return X[:, numbers] @ weights
