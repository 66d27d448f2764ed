"""Kernel values that are functions of a distance, from the differences of numbers.

|x|^2 + |z|^2 - 2 <x, z> is off by the rounding of |x|^2, however near x and z are. Times gamma that is an error of the
exponent: for gamma |x|^2 of 1e15 it makes any number of 0 to 1 of k(x, x). A certificate of such values would prove
nothing. Differences have no such error. They need all numbers of a row, as dense tiles have them, and take up to twice
as long there (`OfDistance`), and longer for rows that store few. Where products are used, their error counts in the
certificate (`fwsvm.kernels.source.RowSource.diagonal`).
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.kernel import apart, own_terms, pair, value
from fwsvm.kernels.rows import Rows

#: Errors of a kernel value, which is at most 1, above which differences are taken: of dense rows, and of sparse ones.
TOLERATED = 1e-13
TOLERATED_SPARSE = 1e-11
#: Error of kernel values in single precision above which they are in double precision from the start. Evidence: such
#: values are no positive definite matrix. 150 rows 3e4 times their spread from the origin: swap-2o, swap, mfw and cvm
#: went round until a time limit.
SINGLE_TOLERATED = 1e-3


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


def value_error(kernel: Any, *own: np.ndarray, dtype: type = np.float64) -> float:
    """Return by how much the distance's rounding in a precision may change kernel values of rows with these own terms.

    It is 0 for kernels that are not functions of a distance. Own terms and product are each rounded by half a unit in
    the last place of the largest own term, the product, which is taken twice, by a whole one. Together this is about
    1.3 units; two are counted.
    """
    if apart.dispatch(type(kernel)) is apart.dispatch(object):
        return 0.0
    largest = max(terms.max(initial=0.0) for terms in own)
    return 1.0 - float(value(kernel, 0.0, 2.0 * float(np.finfo(dtype).eps) * float(largest), 0.0))


def precision(kernel: Any, rows: Rows) -> type:
    """Return float32, or float64 for rows so far from the origin that kernel values in float32 are noise."""
    error = value_error(kernel, own_terms(kernel, rows), dtype=np.float32)
    return np.float64 if error > SINGLE_TOLERATED else np.float32


def cancels(error: float, *, dense: bool) -> bool:
    """Whether kernel values off by that much are computed from differences."""
    return error > (TOLERATED if dense else TOLERATED_SPARSE)
