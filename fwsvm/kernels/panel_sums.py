"""Weighted sums of kernel values of rows in panels, none of the values stored.

As `fwsvm.kernels.panels` four anchors meet sixteen rows in registers; a value is multiplied by its weight where that
one writes it to memory, which takes a quarter of the time.
"""

import numpy as np

from fwsvm._compile import njit
from fwsvm.kernels.kernel import pair, value
from fwsvm.kernels.lanes import load, muladd, splat, store
from fwsvm.kernels.panels import GROUP, HEIGHT, MOST


@njit(each_step=True, forceinline=True)
def _add_group(low, high, v0, v8, w):
    return muladd(v0, splat(w), low), muladd(v8, splat(w), high)


@njit(each_step=True, forceinline=True)
def _meet(kernel, panels, anchors, own, count, weights, panel, totals):
    """Set ``totals`` (outputs * 16) to the sums of ``count`` anchors, whole groups, at the sixteen rows of a panel."""
    n, numbers = panels.features, panels.numbers
    outputs = weights.shape[0]
    zero = splat(totals.dtype.type(0))
    for o in range(outputs):
        store(totals, o * HEIGHT, zero)
        store(totals, o * HEIGHT + 8, zero)
    own_0, own_8 = load(panels.own, panel * HEIGHT), load(panels.own, panel * HEIGHT + 8)
    for c in range(0, count, GROUP):
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
        a, b, e, f = splat(own[c]), splat(own[c + 1]), splat(own[c + 2]), splat(own[c + 3])
        a0, a8 = value(kernel, a0, own_0, a), value(kernel, a8, own_8, a)
        b0, b8 = value(kernel, b0, own_0, b), value(kernel, b8, own_8, b)
        c0, c8 = value(kernel, c0, own_0, e), value(kernel, c8, own_8, e)
        d0, d8 = value(kernel, d0, own_0, f), value(kernel, d8, own_8, f)
        for o in range(outputs):
            low, high = load(totals, o * HEIGHT), load(totals, o * HEIGHT + 8)
            low, high = _add_group(low, high, a0, a8, weights[o, c])
            low, high = _add_group(low, high, b0, b8, weights[o, c + 1])
            low, high = _add_group(low, high, c0, c8, weights[o, c + 2])
            low, high = _add_group(low, high, d0, d8, weights[o, c + 3])
            store(totals, o * HEIGHT, low)
            store(totals, o * HEIGHT + 8, high)


@njit
def _gather(sources, which, anchors):
    """Copy the rows ``which`` of the panels ``sources`` to ``anchors``, in groups of four; a last one is filled up."""
    n = sources.features
    for c in range((which.size + GROUP - 1) // GROUP * GROUP):
        t = which[c if c < which.size else 0]
        source, to = t // HEIGHT * n * HEIGHT + t % HEIGHT, c // GROUP * n * GROUP + c % GROUP
        for f in range(n):
            anchors[to + f * GROUP] = sources.numbers[source + f * HEIGHT]


@njit
def add_sums(kernel, sources, which, weights, panels, first, last, shift, out):
    """Add sum_j weights[o, j] k(sources[which[j]], row t) to ``out[o, t - shift]`` for the rows t first ... last - 1.

    Sums of 64 values are kept in the precision of the rows, sums of these in float64.
    """
    outputs, dtype = weights.shape[0], panels.numbers.dtype
    anchors, own = np.empty(MOST * panels.features, dtype), np.empty(MOST, dtype)
    lines, totals = np.empty((outputs, MOST), dtype), np.empty(outputs * HEIGHT, dtype)
    for at in range(0, which.size, MOST):
        some = which[at : at + MOST]
        count = (some.size + GROUP - 1) // GROUP * GROUP
        _gather(sources, some, anchors)
        for c in range(count):
            own[c] = sources.own[some[c if c < some.size else 0]]
            for o in range(outputs):
                lines[o, c] = weights[o, at + c] if c < some.size else 0.0
        for panel in range(first // HEIGHT, (last + HEIGHT - 1) // HEIGHT):
            _meet(kernel, panels, anchors, own, count, lines, panel, totals)
            start, stop = max(first, panel * HEIGHT), min(last, panel * HEIGHT + HEIGHT)
            for o in range(outputs):
                to = o * HEIGHT - panel * HEIGHT
                for t in range(start, stop):
                    out[o, t - shift] += totals[to + t]
