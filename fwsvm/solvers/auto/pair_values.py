"""Kernel values of pairs of classes: those of a row with its own class serve all pairs, those with another one pair.

Values are float64, and computed as they are wanted. Threads share one memory: first what each computes of its pair, a
matrix of the rows of one class and those of the other and another the other way round, then lines of rows with their
own class, in the order in which they were computed.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.kernels.dense_tiles import HEIGHT, fill_dense
from fwsvm.kernels.sparse_tiles import fill_sparse
from fwsvm.kernels.tables import Table
from fwsvm.numerics.compile import njit
from fwsvm.numerics.machine import address_of, call, compare_exchange, load_acquire, spin_hint, store_release
from fwsvm.numerics.simd import WIDTH

FAR = 1e300  # q where there is no row: never the least, and no part of a sum
UNKNOWN, CLAIMED = -2, -1  # for the line of a row: nobody computes it; a thread does


class PairRows(NamedTuple):
    """Rows grouped by class, each class from a multiple of `HEIGHT` places on, with empty rows up to the next.

    Attributes
    ----------
    kernel : the kernel
    starts : ndarray of int, shape (K + 1,), the place where each class starts
    counts : ndarray of int, shape (K,), the rows of each class; a class may have none here
    pairs : ndarray of int, shape (pairs, 2), the classes i < j of each pair
    weights : ndarray of float64, shape (places,), which multiply C
    table : Table of float64, the rows
    itself : ndarray of float64, shape (places,), k(x, x)
    places : ndarray of int32, all places in order
    memory : ndarray of float64, kernel values: what threads compute of their pairs, then lines of rows with their class
    used : ndarray of int64, shape (1,), where the next of these lines starts
    known : ndarray of int64, shape (places,), where that of each row starts, in multiples of `HEIGHT`; or `UNKNOWN`
    value_rounding : float, what kernel values are off by (`fwsvm.kernels.sums.product_rounding`)
    constant, slope : float
        The largest gap at which a pair has converged is constant + slope R.
    """

    kernel: Any
    starts: np.ndarray
    counts: np.ndarray
    pairs: np.ndarray
    weights: np.ndarray
    table: Table
    itself: np.ndarray
    places: np.ndarray
    memory: np.ndarray
    used: np.ndarray
    known: np.ndarray
    value_rounding: float
    constant: float
    slope: float


class Pair(NamedTuple):
    """A pair of classes and where it stands: arrays (n,) of float64 unless said otherwise.

    The class +1 comes first. Where it has no row an entry has no weight and q = `FAR`.

    Attributes
    ----------
    i, j : int, the classes
    plus : int, where the range of the class -1 starts
    ranges : pairs of int, the entries with a row of the two classes
    ends : pair of int, where scans of the two classes end
    ridge, diagonal : 1 / C_i and K~_ii
    alpha, q : the weights, and K~ alpha
    active_diagonal : K~_ii of rows with weight, -1 of the others
    line : ndarray of int32, `PairRows.known` of each row whose kernel values are at hand, -1 of the others
    active : ndarray of int32, room for the numbers of the rows with weight
    crossing : pair of int, where the values of rows of i with those of j start, and of rows of j with those of i
    """

    i: int
    j: int
    plus: int
    ranges: tuple[tuple[int, int], tuple[int, int]]
    ends: tuple[int, int]
    ridge: np.ndarray
    diagonal: np.ndarray
    alpha: np.ndarray
    q: np.ndarray
    active_diagonal: np.ndarray
    line: np.ndarray
    active: np.ndarray
    crossing: tuple[int, int]


def fill_address(some: PairRows) -> int:
    """Return where the machine code stands that computes kernel values (`fwsvm.numerics.machine`)."""
    kernel, (rows, own, tiles), which = some.kernel, some.table, some.places
    out, lines = some.memory.reshape(1, -1), np.empty(0, np.int64)
    if tiles.numbers.size:
        return address_of(fill_dense, kernel, tiles, which, tiles, 0, 0, out, 0, lines)
    return address_of(fill_sparse, kernel, rows, own, which, rows, own, which, out, 0, lines)


@njit(inner=True)
def new_pair(some, i, j, crossing):
    """Return the pair of the classes i and j, which stands nowhere yet."""
    ones, others, plus = some.counts[i], some.counts[j], some.starts[i + 1] - some.starts[i]
    width = some.starts[j + 1] - some.starts[j]
    vectors = np.ones((5, plus + width))
    ridge, diagonal, alpha, q, active_diagonal = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    for t in range(q.size):
        ridge[t], alpha[t], q[t], active_diagonal[t] = 1.0, 0.0, FAR, -1.0
    return Pair(
        i,
        j,
        plus,
        ((0, ones), (plus, plus + others)),
        ((ones + WIDTH - 1) // WIDTH * WIDTH, plus + (others + WIDTH - 1) // WIDTH * WIDTH),
        ridge,
        diagonal,
        alpha,
        q,
        active_diagonal,
        np.full(q.size, -1, np.int32),
        np.empty(q.size, np.int32),
        (crossing, crossing + plus * width),
    )


@njit(inner=True)
def fill(some, s, fill_at, wanted):
    """Have the kernel values of rows of one class at hand; return how many are those with the other class."""
    mine, other, crossing, first = s.i, s.j, s.crossing[0], 0
    if wanted[0] >= s.plus:
        mine, other, crossing, first = s.j, s.i, s.crossing[1], s.plus
    lines, which, kept = np.empty(wanted.size, np.int64), np.empty(wanted.size, np.int32), 0
    for c in range(wanted.size):
        lines[c] = wanted[c] - first
        which[c] = some.starts[mine] + lines[c]
    _compute(some, fill_at, which, lines, other, crossing)
    for c in range(wanted.size):
        if compare_exchange(some.known, which[c], UNKNOWN, CLAIMED):
            which[kept] = which[c]
            kept += 1
    if kept:
        width, at = some.starts[mine + 1] - some.starts[mine], some.used[0]
        while not compare_exchange(some.used, 0, at, at + kept * width):
            at = load_acquire(some.used, 0)
        for c in range(kept):
            lines[c] = c
        _compute(some, fill_at, which[:kept], lines[:kept], mine, at)
        for c in range(kept):
            some.memory[at + c * width + which[c] - some.starts[mine]] = some.itself[which[c]]
            store_release(some.known, which[c], (at + c * width) // HEIGHT)
    for t in wanted:
        line = load_acquire(some.known, some.starts[mine] + t - first)
        while line < 0:
            spin_hint()
            line = load_acquire(some.known, some.starts[mine] + t - first)
        s.line[t] = line
    return wanted.size * some.counts[other]


@njit(inner=True)
def _compute(some, fill_at, which, lines, other, at):
    """Compute the kernel values of the rows ``which`` with those of a class, for ``lines`` of the matrix at ``at``."""
    first, last, height = some.starts[other], some.starts[other + 1], lines.max() + 1
    width = last - first
    out = some.memory[at : at + height * width].reshape(height, width)
    rows, own, tiles = some.table.rows, some.table.own, some.table.tiles
    if tiles.numbers.size > 0:
        call(fill_at, (some.kernel, tiles, which, tiles, first // HEIGHT, last // HEIGHT, out, first, lines))
    else:
        start = np.int64(0)
        places = some.places[first:last]
        call(fill_at, (some.kernel, rows, own, which, rows, own, places, out, start, lines))


@njit(inline="always")  # arrays that are returned to a caller that counts references
def lines_of(some, s, t):
    """Return the kernel values of a row with those of the class +1, and with those of -1, by place in the pair."""
    memory, plus, width, r = some.memory, s.plus, s.q.size - s.plus, t - s.plus
    if r < 0:
        start, other = HEIGHT * s.line[t], s.crossing[0] + t * width - plus
    else:
        start, other = s.crossing[1] + r * plus, HEIGHT * s.line[t] - plus
    return memory[start:], memory[other:]
