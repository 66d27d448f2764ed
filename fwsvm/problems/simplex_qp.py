"""The L2-SVM on the simplex (003 eq. 12 and 18, 000 eq. 2).

Minimise R = a' K~ a over a >= 0, sum a = 1, with

    K~_ij = y_i y_j ( k(x_i, x_j) + 1 ) + delta_ij r_i,      r_i = 1 / C_i.

Rows are kept with the class +1 first, so that y is a matter of position. With q = K~ a the Frank-Wolfe gap is
2 (R - min q) and bounds R - R*.
"""

from functools import partial
from typing import Any

import numpy as np

from fwsvm.kernels.column_cache import ColumnCache, pieces
from fwsvm.kernels.source import ALL, RowSource
from fwsvm.numerics.compile import njit_lean
from fwsvm.numerics.simd import maximum, minimum
from fwsvm.numerics.threads import in_shares


def gradients(
    kernel: Any,
    source: RowSource,
    y: np.ndarray,
    alphas: np.ndarray,
    ridges: np.ndarray,
    threads: int,
    dtype: type = np.float64,
    rows: np.ndarray | slice = ALL,
) -> np.ndarray:
    """Return K~ alpha at some rows, from scratch, for problems that differ in the ridge alone: their kernel is shared.

    Alphas, ridges and the gradients have a column a problem, shape (m, problems).
    """
    support = np.flatnonzero(alphas.any(axis=1))
    signed = y[support, None] * alphas[support]
    h = source.sums(kernel, support, signed, threads, dtype, rows)
    h += signed.sum(axis=0)
    h *= y[rows, None]
    h += alphas[rows] * ridges[rows]
    return h


def sums_by_columns(columns: ColumnCache, u: np.ndarray, threads: int) -> np.ndarray:
    """Return (K + 1) u at all rows (m,), summed in float64 from the columns of rows where u (m,) is not 0."""
    rows = np.flatnonzero(u)
    out = np.zeros(len(u))
    for some in pieces(columns, rows):
        add = partial(add_lines, columns.cached, columns.slot_of[some], u[some], out)
        in_shares(add, len(u), threads, STRETCH)
    return out + u[rows].sum()


STRETCH = 2048  # entries of a sum, the least that a thread is given


@njit_lean
def add_lines(cached, lines, weights, out, first, last):
    """Add sum_c weights[c] cached[lines[c]] to ``out`` from ``first`` to ``last`` - 1: four lines at a time."""
    fours = lines.size // 4 * 4
    for c in range(0, fours, 4):
        k0, k1, k2, k3 = cached[lines[c]], cached[lines[c + 1]], cached[lines[c + 2]], cached[lines[c + 3]]
        w0, w1, w2, w3 = weights[c], weights[c + 1], weights[c + 2], weights[c + 3]
        for t in range(first, last):
            out[t] = out[t] + w0 * k0[t] + w1 * k1[t] + w2 * k2[t] + w3 * k3[t]
    for c in range(fours, lines.size):
        k = cached[lines[c]]
        weight = weights[c]
        for t in range(first, last):
            out[t] += weight * k[t]


@njit_lean
def write_certificate(alpha, q, ridge, diagonal, value_rounding, found):
    """Write what alpha is worth, by q = K~ alpha, to ``found`` (5,); return R. All other arrays are (m,).

    The numbers are the objective R; the gap 2 (R - min q), which is no less than R - R*; primal and dual of the
    standard squared-hinge machine at (w, b) / R; and by how much the rounding of kernel values may have made the gap
    too small. ``value_rounding`` is what the kernel values in q are off by, in parts of the diagonal.

    An entry of q is a sum of terms alpha_j K~_ij, each off by up to alpha_j sqrt(K~_ii K~_jj) times what kernel values
    are off by, independently of the others; R is a sum of such sums. Where R is lost in rounding (a kernel matrix of
    one value and a huge C) the standard form is bounded by nothing.
    """
    R = squares = ridge_part = 0.0
    for t in range(q.size):
        R += alpha[t] * q[t]
        squares += alpha[t] * alpha[t] * diagonal[t]
        ridge_part += alpha[t] * alpha[t] * ridge[t]
    off = value_rounding * np.sqrt(squares)
    least = lowest = np.inf
    losses = 0.0
    for t in range(q.size):
        least = minimum(least, q[t])
        lowest = minimum(lowest, q[t] - off * np.sqrt(diagonal[t]))
        slack = maximum(0.0, 1.0 - (q[t] - alpha[t] * ridge[t]) / R)
        losses += slack * slack / ridge[t]
    found[0], found[1], found[4] = R, 2.0 * (R - least), 2.0 * (least - lowest + off * np.sqrt(squares))
    if R > 0.0:
        found[2] = (R - ridge_part) / R / (2.0 * R) + losses / 2.0
        found[3] = 1.0 / (2.0 * R)
    else:
        found[2] = np.inf
        found[3] = 0.0
    return R
