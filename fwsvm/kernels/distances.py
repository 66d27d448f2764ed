"""Kernel values that are functions of a distance, from the differences of numbers.

|x|^2 + |z|^2 - 2 <x, z> is off by the rounding of |x|^2, however near x and z are. Times gamma that is an error of the
exponent: for gamma |x|^2 of 1e15 it makes any number of 0 to 1 of k(x, x). A certificate of such values would prove
nothing. Differences have no such error. Where all numbers of a row are read, as in dense tiles, they take twice as
long (`OfDistance`); rows that store few numbers are compared feature by feature, which takes ten times as long.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.kernel import apart, pair, value
from fwsvm.kernels.rows import Rows
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import in_shares

TOLERATED = 1e-11  # error of a kernel value, which is at most 1
WORTH_A_THREAD = 1 << 17  # numbers compared below which a second thread costs more than it saves


class OfDistance(NamedTuple):
    """A kernel whose sum over features is the distance itself, and whose own terms are 0.

    Its `pair` adds something where one number is zero, so all features must be read: it is for dense tiles.
    """

    kernel: Any


@pair.implements(OfDistance)
def _pair(of, total, x, z):
    return apart(of.kernel, total, x, z)


@value.implements(OfDistance)
def _value(of, total, own_x, own_z):
    return value(of.kernel, own_x, total, own_z)


def cancels(kernel: Any, own: np.ndarray, own_too: np.ndarray) -> bool:
    """Whether kernel values from two sets of own terms, float64 and >= 0, may be off by more than is tolerated."""
    if own.dtype != np.float64 or apart.dispatch(type(kernel)) is apart.dispatch(object):
        return False
    largest = max(own.max(initial=0.0), own_too.max(initial=0.0))
    return 1.0 - float(value(kernel, 0.0, np.finfo(np.float64).eps * largest, 0.0)) > TOLERATED


def sums_by_distances(
    kernel: Any, sources: Rows, which: np.ndarray, weights: np.ndarray, rows: Rows, threads: int
) -> np.ndarray:
    """Return sum_j weights[j, o] k(sources[which[j]], rows[t]), as `fwsvm.kernels.sums.weighted_sums` does."""
    out = np.zeros((rows.height, weights.shape[1]))
    lines = np.ascontiguousarray(weights, dtype=np.float64)
    which = np.ascontiguousarray(which, dtype=np.int64)
    work = (len(rows.values) + rows.height) * len(which)
    in_shares(
        lambda first, last: _add_range(kernel, sources, which, lines, rows, first, last, out),
        rows.height, threads if work > WORTH_A_THREAD else 1,
    )  # fmt: skip
    return out


@njit
def _add_range(kernel, sources, which, weights, rows, first, last, out):
    for t in range(first, last):
        for c in range(which.size):
            k = value(kernel, 0.0, _distance(kernel, sources, which[c], rows, t), 0.0)
            for o in range(out.shape[1]):
                out[t, o] += weights[c, o] * k


@njit(each_step=True)
def _distance(kernel, sources, s, rows, t):
    """Return the sum over features of what sets two rows apart, whose stored features ascend."""
    total = 0.0
    p, p_end = sources.starts[s], sources.starts[s + 1]
    r, r_end = rows.starts[t], rows.starts[t + 1]
    while p < p_end and r < r_end:
        f, g = sources.columns[p], rows.columns[r]
        x = sources.values[p] if f <= g else 0.0
        z = rows.values[r] if g <= f else 0.0
        total = apart(kernel, total, x, z)
        p += f <= g
        r += g <= f
    for q in range(p, p_end):
        total = apart(kernel, total, sources.values[q], 0.0)
    for q in range(r, r_end):
        total = apart(kernel, total, 0.0, rows.values[q])
    return total
