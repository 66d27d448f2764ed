"""Rows of a precomputed kernel, as in LIBSVM's format: ``0:i 1:K(x,x_1) ... L:K(x,x_L)``.

Column 0 of a table (m, L + 1) holds the row's number i, 1 to L, and column j its kernel value with training row j. Some
of the rows, such as those of a fold, are such a table, too. A model's support vectors keep their numbers alone;
the numbers of rows to predict may be any.

Gaps bound the distance to the optimum of a convex problem only, so what is trained on must be a symmetric matrix
without eigenvalues below those that the ridge 1 / C_i makes up for.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from fwsvm._mapped import RowMatrix, only_columns
from fwsvm._memory import require
from fwsvm.errors import DataError, UsageError
from fwsvm.kernels.kernel import KERNELS
from fwsvm.kernels.precomputed import Precomputed

NAME = "precomputed"
#: K(i, j) and K(j, i), which are rounded differently, may differ by so much of the entry or of sqrt(K(i, i) K(j, j)).
UNEQUAL = 1e-8
#: What Cholesky's factor of a matrix may be off by, for each of its rows and in units of the diagonal value.
FACTOR_ROUNDING = 8.0 * np.finfo(np.float64).eps
FIRST = np.zeros(1, np.int64)  # the column of the rows' numbers


class Given(NamedTuple):
    """What a table (m, L + 1) of a precomputed kernel is to a solver.

    Attributes
    ----------
    numbers : csr_array, shape (m, L + 1), the rows with their numbers alone
    places : ndarray, shape (m, 1), of the rows in ``kernel``, from 1
    kernel : Precomputed
    """

    numbers: sparse.csr_array
    places: np.ndarray
    kernel: Precomputed


def is_given(kernel_name: Any) -> bool:
    """Whether the values of a kernel of that name, if there is one, are given with the rows."""
    return isinstance(kernel_name, str) and kernel_name in KERNELS and KERNELS[kernel_name].given


def refuse_scaling(kernel_name: str | None, scale: str | None) -> None:
    """Raise `UsageError` where kernel values would be scaled as if they were features."""
    if is_given(kernel_name) and scale not in (None, "none"):
        raise UsageError(
            f"scale {scale} is for features, and a {kernel_name} kernel's rows are kernel values"
        )


def with_numbers(values: RowMatrix) -> RowMatrix:
    """Return the table of all training rows from their kernel matrix (m, m); `UsageError` where it is not square."""
    m = values.shape[0]
    if values.shape[1] != m:
        raise UsageError(
            f"a precomputed kernel is trained on a square matrix, not on one of shape {values.shape}"
        )
    return beside_numbers(values)


def beside_numbers(values: RowMatrix) -> RowMatrix:
    """Return the table of rows from their kernel values (m, L): numbers 1 to m in column 0, as in a file."""
    numbers = np.arange(1.0, values.shape[0] + 1.0)[:, None]
    if sparse.issparse(values):
        return sparse.csr_array(sparse.hstack([sparse.csr_array(numbers), values], format="csr"))
    return np.hstack([numbers, values])


def given_by(X: RowMatrix, penalties: np.ndarray | None) -> Given:
    """Return what a table X (m, L + 1) is to a solver.

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
        5 * 8 * m * m, f"the kernel matrix of {m:,} rows, and a test of it,", "take fewer rows (fwsvm subset)"
    )
    which = _numbers(X)
    wrong = (which != np.rint(which)) | (which < 1) | (which >= X.shape[1])
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"row {row + 1} has {_begins(float(which[row]))}, but a row of a precomputed kernel begins with 0:i, its "
            f"number among the 1 to {X.shape[1] - 1} rows whose kernel values follow as 1:K(x,x_1) 2:K(x,x_2) ..."
        )
    places = which.astype(np.int64)
    values = np.ascontiguousarray(_columns(X, places))
    _refuse_unsymmetric(values, places)
    _refuse_indefinite(values, penalties)
    kept = sparse.csr_array((which, (np.arange(m), np.zeros(m, np.int64))), shape=X.shape)
    return Given(kept, np.arange(1.0, m + 1.0)[:, None], Precomputed(values))


def _begins(number: float) -> str:
    return f"0:{number:g} as its number" if number else "no number 0:i, or 0:0"


def support_numbers(support: RowMatrix) -> np.ndarray:
    """Return the numbers of support vectors, a table with these alone: int of shape (s,)."""
    return _numbers(support).astype(np.int64)


def _numbers(X: RowMatrix) -> np.ndarray:
    return np.ravel(_columns(X, FIRST))


def _columns(X: RowMatrix, which: np.ndarray) -> np.ndarray:
    """Return columns of X as a dense array, without arrays as long as the number of columns."""
    if isinstance(X, np.ndarray):
        return X[:, which]
    each, places = np.unique(which, return_inverse=True)
    return np.asarray(only_columns(sparse.csr_array(X), each).toarray()[:, places])


def _refuse_unsymmetric(values: np.ndarray, places: np.ndarray) -> None:
    """Refuse a matrix that differs from its transpose by more than rounding, and make it equal to it."""
    widths = np.sqrt(np.abs(np.diagonal(values)))
    # as large as the entry, or as the diagonal lets one be whose products cancel
    beyond = np.abs(values - values.T) - UNEQUAL * np.maximum(np.abs(values), np.outer(widths, widths))
    if beyond.max() > 0.0:
        i, j = np.unravel_index(int(beyond.argmax()), beyond.shape)
        number = np.bincount(places).argmax()
        if len(same := np.flatnonzero(places == number) + 1) > 1:
            raise DataError(
                f"rows {same[0]} and {same[1]} have the same number, 0:{number}; give each its own"
            )
        raise DataError(
            f"the kernel matrix is not symmetric: K({places[i]},{places[j]}) is {values[i, j]:.9g}, but "
            f"K({places[j]},{places[i]}) is {values[j, i]:.9g}"
        )
    values[:] = 0.5 * (values + values.T)


def _refuse_indefinite(values: np.ndarray, penalties: np.ndarray | None) -> None:
    """Refuse a matrix that has, with the ridge, an eigenvalue below 0 by more than rounding: Cholesky's factor says."""
    m, diagonal = len(values), np.diagonal(values)
    ridge = np.zeros(m) if penalties is None else 1.0 / penalties
    # the factor's error at an entry goes with the diagonal values of its row and column
    slack = FACTOR_ROUNDING * m * np.maximum(np.abs(diagonal), np.finfo(np.float64).tiny)
    shifted = values.copy()
    shifted[np.diag_indices(m)] += ridge + slack
    _, broke = linalg.lapack.dpotrf(shifted.T, lower=1, overwrite_a=1, clean=0)
    if broke == 0:
        return
    del shifted
    least = float(linalg.eigvalsh(values, subset_by_index=[0, 0])[0])
    remedy = f"add {-least:.3g} to its diagonal"
    if penalties is not None:
        remedy += f", or take a C of at most {-0.99 / least:.3g}, whose ridge makes up for it"
    raise DataError(
        f"the kernel matrix is not positive semidefinite: its least eigenvalue is {least:.3g}. The problem is not "
        f"convex, and no gap would prove anything; {remedy}"
    )


def refuse_other_rows(X: RowMatrix, training_rows: int | None, last: int = 0) -> None:
    """Refuse rows to predict or to test with (t, w) that are not kernel values with the training rows.

    Parameters
    ----------
    X : ndarray or csr_array
    training_rows : int or None
        Number of training rows; None where a foreign model does not tell.
    last : int
        The largest number of a support vector.

    Raises
    ------
    DataError
        A row without its number 0:i, or values with more rows than ``training_rows`` or fewer than ``last``.
    """
    # a reader keeps the zero of 0:0
    lacking = np.zeros(0, np.int64)
    if not isinstance(X, np.ndarray):
        lacking = np.flatnonzero(np.diff(only_columns(X, FIRST).indptr) == 0)
    if len(lacking):
        raise DataError(
            f"row {lacking[0] + 1} has no number 0:i, but rows for a precomputed kernel are kernel values with the "
            "training rows, as 0:i 1:K(x,x_1) 2:K(x,x_2) ..."
        )
    used = X.shape[1] - 1 if isinstance(X, np.ndarray) else int(X.indices.max(initial=0))
    if training_rows is not None and used > training_rows:
        raise DataError(
            f"the rows have kernel values with {used} rows, but the model was trained on {training_rows}: give those "
            "with its training rows alone"
        )
    if X.shape[0] and used < last:
        raise DataError(
            f"the rows have kernel values with {used} training rows, and the model's support vectors go up to row "
            f"{last}"
        )


def decision(support: Any, weights: np.ndarray, X: RowMatrix) -> np.ndarray:
    """Return sum_j weights[j, o] K(x, x_j) for the rows of X (t, w), shape (t, o).

    ``support`` is a table of the support vectors' numbers alone.
    """
    numbers = support_numbers(support)
    refuse_other_rows(X, None, int(numbers.max(initial=0)))
    return np.asarray(_columns(X, numbers) @ weights)
