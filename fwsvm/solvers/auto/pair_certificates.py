"""Certificates of pairs of classes from scratch, in compiled code: each kernel value once for all pairs and penalties.

A value between rows of two classes is one pair's; one between rows of a class is in all of its pairs.
"""

import numpy as np

from fwsvm.kernels.dense_tiles import add_sums
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import WIDE, clear, scatter
from fwsvm.kernels.sums import add_range
from fwsvm.numerics.compile import njit
from fwsvm.numerics.machine import compare_exchange
from fwsvm.problems.simplex_qp import write_certificate


@njit
def add_class_sums(laid, wanted, claimed, left_block, coefficients, sums):
    """Sum kernel values in float64 at the rows of those classes that no other thread has claimed.

    Parameters
    ----------
    laid : LaidOutRows
    wanted : ndarray of bool, shape (K, K), of which classes the pairs are wanted; symmetric
    claimed : ndarray of int64, shape (K,), 1 where a class is some thread's
    left_block : LeftBlock of float64, for sparse rows
    coefficients : ndarray, shape (S, m, K - 1), as in `Solutions`
    sums : ndarray, shape (S, m, K - 1)
        Set to the sums over the rows s of a pair of coefficient_s k(x_s, x), at each row x of it, in the same layout.
    """
    K, S = wanted.shape[0], coefficients.shape[0]
    for a in range(K):
        if not compare_exchange(claimed, a, 0, 1):
            continue
        first, last = laid.starts[a], laid.starts[a + 1]
        for c in range(K):
            partners = np.empty(K, np.int64)  # the other classes of the pairs in which both classes are
            count = 0
            for other in range(K):
                if other != a and wanted[a, other] and c in (a, other):
                    partners[count] = other
                    count += 1
            if count == 0 or last == first:
                continue
            which, weights = _sources(laid, coefficients, a, c, partners[:count])
            h = np.zeros((weights.shape[0], last - first))
            _add(laid, a, c, which, weights, left_block, h)
            for p in range(count):
                column = _column(a, partners[p])
                for k in range(S):
                    line = h[p * S + k]
                    for t in range(last - first):
                        sums[k, first + t, column] += line[t]


@njit(inner=True)
def _column(c, other):
    """Return the place of the pair with another class among the coefficients of a row of class c."""
    return other - 1 if other > c else other


@njit(inner=True)
def _sources(laid, coefficients, a, c, partners):
    """Return the rows of class c with a weight in pairs with class a, from 0 on, and the weights (outputs, rows)."""
    S, first, n = coefficients.shape[0], laid.starts[c], laid.starts[c + 1] - laid.starts[c]
    which, count = np.empty(n, np.int64), 0
    weights = np.zeros((partners.size * S, n))
    for s in range(n):
        used = False
        for p in range(partners.size):
            column = _column(c, partners[p] if c == a else a)
            for k in range(S):
                weight = coefficients[k, first + s, column]
                weights[p * S + k, count] = weight
                used |= weight != 0.0
        if used:
            which[count] = s
            count += 1
    return which[:count], weights


@njit(inner=True)
def _add(laid, a, c, which, weights, left_block, h):
    """Add to h[o, t] the sum of the kernel values of the t-th row of class a and the rows ``which`` of class c."""
    n = h.shape[1]
    if laid.tiles.numbers.size > 0:
        tiles, place, start = laid.tiles, np.empty(which.size, np.int64), laid.tile_starts[a]
        for s in range(which.size):
            place[s] = laid.tile_starts[c] + which[s]
        add_sums(laid.kernel, tiles, place, weights, tiles, start, start + n, start, h)
        return
    double, first = laid.double, laid.starts[a]
    own, rows = (
        laid.own_double,
        Rows(double.values, double.columns, double.starts[first : first + n + 1], double.features),
    )
    lines, out, some = np.empty((h.shape[0], WIDE)), np.zeros((n, h.shape[0])), np.empty(WIDE, np.int64)
    for at in range(0, which.size, WIDE):
        count = min(WIDE, which.size - at)
        for s in range(WIDE):
            if s < count:
                some[s] = laid.starts[c] + which[at + s]
            for o in range(h.shape[0]):
                lines[o, s] = weights[o, at + s] if s < count else 0.0
        used = scatter(left_block, double, own, some[:count], WIDE)
        add_range(laid.kernel, left_block, rows, own[first : first + n], lines, 0, n, out)
        clear(left_block, used)
    for o in range(h.shape[0]):
        for t in range(n):
            h[o, t] += out[t, o]


@njit
def write_certificates(laid, penalties, numbers, claimed, sums, solutions):
    """Write the certificates of those of the pairs ``numbers`` that no other thread has claimed, from `add_class_sums`.

    The coefficients become those of the machines. A penalty for which a pair has no weights is left out.
    """
    for number in numbers:
        if not compare_exchange(claimed, number, 0, 1):
            continue
        i, j = laid.pairs[number]
        a, b = (laid.starts[i], laid.starts[i + 1]), (laid.starts[j], laid.starts[j + 1])
        plus, n = a[1] - a[0], a[1] - a[0] + b[1] - b[0]
        alpha, q, ridge, diagonal = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
        for k in range(penalties.size):
            coefficients, total, some = solutions.coefficients[k], 0.0, False
            for t in range(n):
                row, column = (a[0] + t, j - 1) if t < plus else (b[0] + t - plus, i)
                total += coefficients[row, column]
                some |= coefficients[row, column] != 0.0
                alpha[t] = abs(coefficients[row, column])
                ridge[t] = 1.0 / (penalties[k] * laid.weights[row])
                diagonal[t] = laid.itself[row] + 1.0 + ridge[t]
            if not some:
                continue
            for t in range(n):
                h = (sums[k, a[0] + t, j - 1] if t < plus else sums[k, b[0] + t - plus, i]) + total
                q[t] = (h if t < plus else -h) + alpha[t] * ridge[t]
            found, bias = solutions.certificates[k, number], 0.0
            R = write_certificate(alpha, q, ridge, diagonal, laid.value_rounding, found)
            for t in range(n):
                row, column = (a[0] + t, j - 1) if t < plus else (b[0] + t - plus, i)
                coefficients[row, column] /= R
                bias += coefficients[row, column]
            solutions.biases[k, number] = bias
