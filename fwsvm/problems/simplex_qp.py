"""The L2-SVM on the simplex (003 eq. 12 and 18, 000 eq. 2).

Minimise R = a' K~ a over a >= 0, sum a = 1, with

    K~_ij = y_i y_j ( k(x_i, x_j) + 1 ) + delta_ij r_i,      r_i = 1 / C_i.

Rows are kept with the class +1 first, so that y is a matter of position. With q = K~ a the Frank-Wolfe gap is
2 (R - min q) and bounds R - R*.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm._mapped import blocks, in_memory, picked
from fwsvm.kernels.column_cache import ColumnCache, get_columns
from fwsvm.kernels.distances import TOLERATED_SPARSE, value_error
from fwsvm.kernels.kernel import own_terms, self_values
from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.kernels.sums import most_stored, rounding_of_sums, weighted_sums
from fwsvm.numerics.compile import njit


class SimplexQP(NamedTuple):
    """One two-class problem of m rows.

    Attributes
    ----------
    columns : the kernel's columns
    plus : int, rows 0 ... plus - 1 have y = +1, the others -1
    ridge : ndarray of float64, shape (m,), 1 / C_i
    diagonal : ndarray of float64, shape (m,), K~_ii
    """

    columns: ColumnCache
    plus: int
    ridge: np.ndarray
    diagonal: np.ndarray


def simplex_qp(columns: ColumnCache, plus: int, penalties: np.ndarray) -> SimplexQP:
    """Return the problem over the rows of ``columns``, with the penalties C_i > 0, shape (m,)."""
    ridge = 1.0 / penalties
    return SimplexQP(columns, plus, ridge, columns.itself + 1.0 + ridge)


def signs(qp: SimplexQP) -> np.ndarray:
    """Return y, float64 of shape (m,)."""
    y = np.ones(len(qp.ridge))
    y[qp.plus :] = -1.0
    return y


def gradient(
    qp: SimplexQP, rows: Rows, alpha: np.ndarray, threads: int, where: np.ndarray | None = None
) -> np.ndarray:
    """Return q = K~ alpha from scratch, at all rows or at the rows ``where``, in the precision of ``rows``."""
    if where is None:
        return gradients(
            qp.columns.kernel, rows, signs(qp), alpha[:, None], qp.ridge[:, None], threads
        )[:, 0]  # fmt: skip
    y, support = signs(qp), np.flatnonzero(alpha)
    signed = (alpha * y)[support]
    h = weighted_sums(qp.columns.kernel, rows, support, signed[:, None], some_rows(rows, where), threads)[
        :, 0
    ]
    return y[where] * (h + signed.sum()) + alpha[where] * qp.ridge[where]


def gradients(
    kernel: Any, rows: Rows, y: np.ndarray, alphas: np.ndarray, ridges: np.ndarray, threads: int
) -> np.ndarray:
    """Return K~ alpha at all rows, from scratch, for problems that differ in the ridge alone: their kernel is shared.

    Alphas, ridges and the gradients have a column a problem, shape (m, problems).
    """
    support = np.flatnonzero(alphas.any(axis=1))
    signed = y[support, None] * alphas[support]
    h = weighted_sums(kernel, rows, support, signed, rows, threads)
    return np.asarray(y[:, None] * (h + signed.sum(axis=0)) + alphas * ridges)


def gradients_of_mapped(
    kernel: Any, X: Any, y: np.ndarray, alphas: np.ndarray, ridges: np.ndarray, threads: int, dtype: type = np.float64
) -> np.ndarray:  # fmt: skip
    """Return `gradients` at mapped rows X (m, n), of which those with weight and some others are in memory."""
    support = np.flatnonzero(alphas.any(axis=1))
    signed = y[support, None] * alphas[support]
    sources, which = as_rows(picked(X, support), dtype), np.arange(len(support))
    h = np.empty_like(alphas)
    for some in blocks(X):
        rows = as_rows(in_memory(X, some), dtype)
        h[some] = weighted_sums(kernel, sources, which, signed, rows, threads)
    h += signed.sum(axis=0)
    h *= y[:, None]
    h += alphas * ridges
    return h


def self_values_of_mapped(kernel: Any, X: Any) -> np.ndarray:
    """Return k(x, x) of mapped rows X (m, n), float64 of shape (m,)."""
    return np.concatenate([self_values(kernel, as_rows(in_memory(X, some))) for some in blocks(X)])


def value_rounding_of_mapped(kernel: Any, X: Any) -> float:
    """Return `value_rounding` of mapped rows X (m, n), as if sparse: blocks and rows with weight may differ in that."""
    largest, features = 0.0, 0
    for some in blocks(X):
        rows = as_rows(in_memory(X, some))
        largest, features = max(largest, own_terms(kernel, rows).max()), max(features, most_stored(rows))
    error = value_error(kernel, np.array([largest]), np.array([largest]))
    return rounding_of_sums(kernel, features, min(error, TOLERATED_SPARSE))


def gradient_by_columns(qp: SimplexQP, alpha: np.ndarray) -> np.ndarray:
    """Return q = K~ alpha at all rows, summed in float64 from the columns of the rows with weight."""
    y, support = signs(qp), np.flatnonzero(alpha)
    h, signed = np.zeros(len(y)), alpha * y
    for first in range(0, len(support), WIDE):
        some = support[first : first + WIDE]
        cached, lines = get_columns(qp.columns, some, alpha)
        _add_lines(cached, lines, signed[some], h)
    return y * (h + signed[support].sum()) + alpha * qp.ridge


@njit
def _add_lines(cached, lines, weights, out):
    for c in range(lines.size):
        k, weight = cached[lines[c]], weights[c]
        for t in range(out.size):
            out[t] += weight * k[t]


class SimplexCertificate(NamedTuple):
    """What a weight vector is worth, from q = K~ alpha.

    Attributes
    ----------
    objective : float, R = alpha' K~ alpha
    gap : float, 2 (R - min q) >= R - R*
    primal, dual : float, of the standard squared-hinge machine at (w, b) / R
    rounding : float, by how much the rounding of kernel values may have made the gap too small
    """

    objective: float
    gap: float
    primal: float
    dual: float
    rounding: float = 0.0

    @property
    def relative_gap(self) -> float:
        """The gap in parts of R, to first order (P - D) / D of the standard form."""
        return self.gap / self.objective if self.objective > 0.0 else np.inf


def certificate(
    ridge: np.ndarray, diagonal: np.ndarray, alpha: np.ndarray, q: np.ndarray, value_rounding: float
) -> SimplexCertificate:
    """Return objective, gap and the standard-form values at alpha with q = K~ alpha, all of shape (m,).

    ``value_rounding`` is what the kernel values in q are off by (`fwsvm.kernels.sums.value_rounding`).
    Where R is lost in rounding (a kernel matrix of one value and a huge C) the standard form is bounded by nothing.
    """
    R = float(alpha @ q)
    gap = 2.0 * (R - float(q.min()))
    off = rounding(diagonal, alpha, q, value_rounding)
    if not R > 0.0 or np.isinf(1.0 / (2.0 * R)):
        return SimplexCertificate(R, gap, np.inf, 0.0, off)
    norm = R - float((ridge * alpha) @ alpha)
    with np.errstate(over="ignore"):  # of a huge C
        slack = np.maximum(0.0, 1.0 - (q - ridge * alpha) / R)
        primal = norm / R / (2.0 * R) + float(slack @ (slack / ridge)) / 2.0
    return SimplexCertificate(R, gap, primal, 1.0 / (2.0 * R), off)


@np.errstate(over="ignore", invalid="ignore")
def rounding(diagonal: np.ndarray, alpha: np.ndarray, q: np.ndarray, value_rounding: float) -> float:
    """Return by how much the gap of q = K~ alpha may be too small, since kernel values are rounded; all have (m,).

    An entry of q is a sum of terms alpha_j K~_ij, each off by up to alpha_j sqrt(K~_ii K~_jj) times what kernel values
    are off by, independently of the others; R is a sum of such sums.
    """
    total = float(np.sqrt((alpha * alpha) @ diagonal))
    off = value_rounding * total * np.sqrt(diagonal)
    return 2.0 * (float(q.min()) - float((q - off).min()) + value_rounding * total * total)
