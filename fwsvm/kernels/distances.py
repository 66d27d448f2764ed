"""Kernel values that are functions of a distance, from the differences of numbers.

|x|^2 + |z|^2 - 2 <x, z> is off by the rounding of |x|^2, however near x and z are. Times gamma that is an error of the
exponent: for gamma |x|^2 of 1e15 it makes any number of 0 to 1 of k(x, x). A certificate of such values would prove
nothing. Differences have no such error. Where all numbers of a row are read, as in dense tiles, they take up to twice
as long (`OfDistance`); rows that store few numbers are compared feature by feature, which takes thirty times as long.
Where products are used, their error counts in the certificate (`fwsvm.kernels.sums.value_rounding`).
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm import phases
from fwsvm.kernels.kernel import apart, pair, value
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.sparse_tiles import WIDE
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import in_shares

#: Errors of a kernel value, which is at most 1, above which differences are taken: of dense rows, and of sparse ones.
TOLERATED, TOLERATED_SPARSE = 1e-13, 1e-11
COMPARED_PER_THREAD = 1 << 17  # numbers compared below which a second thread costs more than it saves


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


def value_error(kernel: Any, own: np.ndarray, own_too: np.ndarray) -> float:
    """Return by how much the distance's rounding may change kernel values from two sets of own terms, float64 and >= 0.

    It is 0 for kernels that are not functions of a distance, and not known for single precision, which proves nothing.
    Own terms and product are each rounded by half a unit in the last place of the largest own term, the product, which
    is taken twice, by a whole one: about 1.3 units together, of which two are counted.
    """
    if own.dtype != np.float64:
        return 0.0
    return _error(
        kernel, max(own.max(initial=0.0), 0.0 if own_too is own else own_too.max(initial=0.0)), np.float64
    )


def single_error(kernel: Any, own: np.ndarray) -> float:
    """Return by how much distances in single precision may change kernel values of rows with these own terms."""
    return _error(kernel, own.max(initial=0.0), np.float32)


def _error(kernel: Any, largest: float, dtype: type) -> float:
    if apart.dispatch(type(kernel)) is apart.dispatch(object):
        return 0.0
    return 1.0 - float(value(kernel, 0.0, 2.0 * float(np.finfo(dtype).eps) * largest, 0.0))


def cancels(error: float, *, dense: bool) -> bool:
    """Whether kernel values off by that much are computed from differences."""
    return error > (TOLERATED if dense else TOLERATED_SPARSE)


def sums_by_distances(
    kernel: Any, sources: Rows, which: np.ndarray, weights: np.ndarray, rows: Rows, threads: int
) -> np.ndarray:
    """Return sum_j weights[j, o] k(sources[which[j]], rows[t]), as `fwsvm.kernels.sums.weighted_sums` does."""
    out = np.zeros((rows.height, weights.shape[1]))
    lines = np.ascontiguousarray(weights, dtype=np.float64)
    which = np.ascontiguousarray(which, dtype=np.int64)
    work = (len(rows.values) + rows.height) * WIDE
    for at in range(0, len(which), WIDE):  # a compiled call hears of no interrupt
        if at:
            phases.inside("kernel values", at / len(which))
        some = slice(at, at + WIDE)

        def add(first: int, last: int, some: slice = some) -> None:
            _add_range(kernel, sources, which[some], lines[some], rows, first, last, out)

        in_shares(add, rows.height, threads if work > COMPARED_PER_THREAD else 1)
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
