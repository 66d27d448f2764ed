"""Kernel columns of rows without gaps: both sides of the product in step, no look-up.

The rows are laid out sixteen at a time, feature by feature, so that the numbers a product needs next lie side by
side. Four anchors meet sixteen rows in registers: eight sums, each fed by one multiplication a feature, which is as
fast as the machine multiplies, be it for four anchors or sixty-four. Sums run over the features in ascending order,
as those of `fwsvm.kernels.blocks` do, and have the same bits: a gap adds exactly nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm._compile import njit
from fwsvm._threads import in_shares
from fwsvm.kernels.kernel import pair, value
from fwsvm.kernels.lanes import load, splat, store
from fwsvm.kernels.rows import Rows

HEIGHT, GROUP = 16, 4  # rows of a panel, anchors that meet it at a time
MOST = 64  # anchors of a block
DENSE = 0.25  # of all numbers are stored: from there on eight columns cost less than by look-ups


class Panels(NamedTuple):
    """Rows in panels, and room for the anchors of a block.

    Attributes
    ----------
    numbers : ndarray, shape (panels * features * 16,)
        Empty where rows are better read by their stored numbers (`fwsvm.kernels.blocks`).
    own : ndarray, shape (panels * 16,)
        The rows' own terms, filled up with zeros.
    anchors : ndarray, shape (16 * features * 4,)
        Up to 64 anchors in groups of four, feature by feature.
    features : int
    """

    numbers: np.ndarray
    own: np.ndarray
    anchors: np.ndarray
    features: int


def no_panels(rows: Rows) -> Panels:
    """Return none."""
    nothing = np.empty(0, rows.values.dtype)
    return Panels(nothing, nothing, nothing, rows.features)


def panels_of(rows: Rows, own: np.ndarray) -> Panels:
    """Return the rows in panels, or none if too many of their numbers are zero."""
    if not few_gaps(rows):
        return no_panels(rows)
    panels = room_for_panels(rows.height, rows.features, rows.values.dtype)
    lay_down(panels, rows, own, 0)
    return panels


def few_gaps(rows: Rows) -> bool:
    """Whether so many of the numbers are stored that panels pay."""
    return len(rows.values) >= DENSE * rows.height * rows.features


def room_for_panels(capacity: int, features: int, dtype: type | np.dtype) -> Panels:
    """Return panels for so many rows, none of them there; pages are taken from the system only as rows come."""
    count = -(-capacity // HEIGHT)
    numbers = np.zeros(count * features * HEIGHT, dtype)
    return Panels(numbers, np.zeros(count * HEIGHT, dtype), np.empty(MOST * features, dtype), features)


def lay_down(panels: Panels, rows: Rows, own: np.ndarray, first: int) -> None:
    """Put the rows ``first`` and later in their places."""
    panels.own[first : len(own)] = own[first:]
    spread(rows, first, rows.height, 0, panels.numbers)


@njit
def spread(rows, first, last, start, numbers):
    """Put every stored number of the rows first ... last - 1 in its place in panels whose first row is ``start``."""
    for t in range(first, last):
        base = (t - start) // HEIGHT * rows.features * HEIGHT + (t - start) % HEIGHT
        for p in range(rows.starts[t], rows.starts[t + 1]):
            numbers[base + rows.columns[p] * HEIGHT] = rows.values[p]


@njit
def gather(panels, which, anchors):
    """Copy the rows ``which`` to ``anchors`` in groups of four; a last one is filled up with the first row."""
    n = panels.features
    for c in range((which.size + GROUP - 1) // GROUP * GROUP):
        t = which[c if c < which.size else 0]
        source, to = t // HEIGHT * n * HEIGHT + t % HEIGHT, c // GROUP * n * GROUP + c % GROUP
        for f in range(n):
            anchors[to + f * GROUP] = panels.numbers[source + f * HEIGHT]


@njit(inline="always")
def _finish(kernel, low, high, own_low, own_high, own, out, at):
    """Write the kernel values of sixteen sums to ``out[at:]``."""
    store(out, at, value(kernel, low, own_low, splat(own)))
    store(out, at + 8, value(kernel, high, own_high, splat(own)))


@njit(each_step=True, forceinline=True)
def meet_group(kernel, numbers, panel, anchors, c, n, zero):
    """Return the sums over n features of the four anchors from the c-th on with a panel's first and last eight rows."""
    a0 = a8 = b0 = b8 = c0 = c8 = d0 = d8 = zero
    # unsigned: no index can be from the end, so none is asked whether it is
    x, z = np.uint64(panel * n * HEIGHT), np.uint64(c * n)
    for _ in range(n):
        x0, x8 = load(numbers, x), load(numbers, x + np.uint64(8))
        i, j = splat(anchors[z]), splat(anchors[z + np.uint64(1)])
        k, l = splat(anchors[z + np.uint64(2)]), splat(anchors[z + np.uint64(3)])  # noqa: E741
        a0, a8 = pair(kernel, a0, x0, i), pair(kernel, a8, x8, i)
        b0, b8 = pair(kernel, b0, x0, j), pair(kernel, b8, x8, j)
        c0, c8 = pair(kernel, c0, x0, k), pair(kernel, c8, x8, k)
        d0, d8 = pair(kernel, d0, x0, l), pair(kernel, d8, x8, l)
        x, z = x + np.uint64(HEIGHT), z + np.uint64(GROUP)
    return a0, a8, b0, b8, c0, c8, d0, d8


@njit(each_step=True, forceinline=True)
def _meet(kernel, panels, which, panel, out, places):
    """Write k(row which[c], row r) for the sixteen rows of a panel to ``out[places[c]:]``."""
    n, numbers, anchors, own = panels.features, panels.numbers, panels.anchors, panels.own
    own_0, own_8 = load(own, panel * HEIGHT), load(own, panel * HEIGHT + 8)
    zero = splat(out.dtype.type(0))
    for c in range(0, which.size, GROUP):
        a0, a8, b0, b8, c0, c8, d0, d8 = meet_group(kernel, numbers, panel, anchors, c, n, zero)
        _finish(kernel, a0, a8, own_0, own_8, own[which[c]], out, places[c])
        _finish(kernel, b0, b8, own_0, own_8, own[which[c + 1]], out, places[c + 1])
        _finish(kernel, c0, c8, own_0, own_8, own[which[c + 2]], out, places[c + 2])
        _finish(kernel, d0, d8, own_0, own_8, own[which[c + 3]], out, places[c + 3])


@njit
def fill_panels(kernel, panels, which, first, last, kept, lines):
    """Write k(row which[c], row r) to ``kept[lines[c], r]`` for the rows r of the panels first ... last - 1.

    Returns how many panels.
    """
    m = kept.shape[1]
    out, places = kept.reshape(-1), lines * m + first * HEIGHT
    for panel in range(first, min(last, m // HEIGHT)):
        _meet(kernel, panels, which, panel, out, places)
        places += HEIGHT
    if last > m // HEIGHT:  # a panel with rows missing
        edge, start = np.empty(which.size * HEIGHT, out.dtype), m // HEIGHT * HEIGHT
        _meet(kernel, panels, which, m // HEIGHT, edge, np.arange(which.size) * HEIGHT)
        for c in range(which.size):
            kept[lines[c], start:] = edge[c * HEIGHT : c * HEIGHT + m - start]
    return last - first


@njit(nogil=False)  # microseconds: to let go of the interpreter costs other threads and this one more
def laid_out(panels, wanted, lines):
    """Copy the rows ``wanted`` to the anchors; return them and their lines in whole groups, for `fill_panels`.

    A last group that is not full repeats the first row, whose column is written once more.
    """
    size = (wanted.size + GROUP - 1) // GROUP * GROUP
    which, to = np.empty(size, np.int64), np.empty(size, np.int64)
    for c in range(size):
        source = c if c < wanted.size else 0
        which[c], to[c] = wanted[source], lines[source]
    gather(panels, which, panels.anchors)
    return which, to


def fill_columns(
    kernel: Any, panels: Panels, wanted: np.ndarray, kept: np.ndarray, lines: np.ndarray, threads: int
) -> None:
    """Write the columns of the rows ``wanted`` to ``kept[lines]``, on several threads."""
    which, to = laid_out(panels, wanted, lines)
    in_shares(
        lambda first, last: fill_panels(kernel, panels, which, first, last, kept, to),
        len(panels.own) // HEIGHT, threads,
    )  # fmt: skip
