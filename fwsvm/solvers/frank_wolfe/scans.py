"""SIMD scans over all rows, where a step under full search spends its time, and a team of threads that shares them.

A scan keeps the extreme of each of eight lanes and its row. It returns what the plain loop would: the first row of
equals.

A step takes some ten microseconds, less than waking a thread does. So while the loop runs, the other threads spin in
`do_tasks`: when the epoch rises they claim shares of the rows by compare-and-swap and run the scan that the task
describes on them. The thread of the loop claims shares too, and waits only for shares that another thread has begun.
Ties go to the first row wherever the rows are cut, so the steps have the same bits for any number of threads.

Rows and places are int64: for a literal 0 numba compiles a version of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from fwsvm.numerics.compile import njit, njit_inline, njit_step
from fwsvm.numerics.machine import compare_exchange, load_acquire, spin_hint, store_release
from fwsvm.numerics.simd import (
    broadcast,
    load,
    maximum,
    minimum,
    reduce_max,
    reduce_min,
    store,
    where_positive,
    widen,
)
from fwsvm.numerics.threads import pool
from fwsvm.solvers.tuning import ROWS_A_THREAD

LANES = np.arange(8.0)  # the places in a vector
TINY = 1e-12  # the least curvature, as in LIBCVM: guards against rounding, for K~ is positive definite


@njit_step
def update_scan(q, k_i, k_j, scale, a, b, first, last, best, least):
    """Set q <- scale q + a (k_i + 1) + b (k_j + 1) on a range; return the place of the least q, and it.

    ``best`` and ``least`` are those of an earlier range.
    """
    both = a + b
    whole = first + (last - first) // 8 * 8
    lowest, where, lanes = broadcast(np.inf), broadcast(0.0), load(LANES, 0)
    for t in range(first, whole, 8):
        q_t = load(q, t) * scale + (widen(load(k_i, t)) * a + widen(load(k_j, t)) * b + both)
        store(q, t, q_t)
        where = where_positive(lowest - q_t, lanes + np.float64(t), where)
        lowest = minimum(q_t, lowest)
    low = reduce_min(lowest)
    if low < least:
        best = first_of(lowest - low, where)
        least = low
    for t in range(whole, last):
        q[t] = scale * q[t] + (a * k_i[t] + b * k_j[t] + both)
        if q[t] < least:
            best = t
            least = q[t]
    return best, least


@njit_inline
def first_of(behind, where):
    """Return the least of the places in the lanes ``where`` that are not behind the best lane."""
    return np.int64(reduce_min(where_positive(behind, broadcast(np.inf), where)))


@njit_step
def highest_active(q, active_diagonal, sign):
    """Return the active row of the largest sign * q."""
    whole = q.size // 8 * 8
    highest = broadcast(-np.inf)
    where = broadcast(0.0)
    lanes = load(LANES, 0)
    for t in range(0, whole, 8):
        value = where_positive(load(active_diagonal, t), load(q, t) * sign, broadcast(-np.inf))
        where = where_positive(value - highest, lanes + np.float64(t), where)
        highest = maximum(value, highest)
    most = reduce_max(highest)
    best = first_of(most - highest, where)
    for t in range(whole, q.size):
        if active_diagonal[t] > 0.0 and sign * q[t] > most:
            best = t
            most = sign * q[t]
    return best


@njit_inline
def curvature(k, diagonal, K_ii, twice):
    """Return K_ii + K_jj - twice (k + 1), of numbers or of vectors."""
    return maximum(diagonal + K_ii - (k + 1.0) * twice, TINY)


@njit_step
def partner_scan(k_i, q, active_diagonal, q_i, K_ii, twice, first, last, best, most):
    """Return the j of a range of the largest gain of a swap with i, among the active j with q_j > q_i; and the gain.

    ``active_diagonal`` is K~_jj of the active rows, ``twice`` is 2 y_i y_j over the range; ``best`` and ``most`` are
    those of an earlier range. Gains are slope^2 / curvature, compared without a division.
    """
    whole, lanes, zero = first + (last - first) // 8 * 8, load(LANES, 0), broadcast(0.0)
    square = where = zero
    width = broadcast(1.0)
    for t in range(first, whole, 8):
        diagonal = load(active_diagonal, t)
        slope = where_positive(diagonal, maximum(load(q, t) - q_i, 0.0), zero)
        bend = curvature(widen(load(k_i, t)), diagonal, K_ii, twice)
        more = slope * slope * width - square * bend
        where = where_positive(more, lanes + np.float64(t), where)
        square = where_positive(more, slope * slope, square)
        width = where_positive(more, bend, width)
    gains = square / width
    high = reduce_max(gains)
    if high > most:
        best = first_of(high - gains, where)
        most = high
    for t in range(whole, last):
        if active_diagonal[t] > 0.0 and q[t] > q_i:
            slope_t = q[t] - q_i
            gain = slope_t * slope_t / curvature(np.float64(k_i[t]), active_diagonal[t], K_ii, twice)
            if gain > most:
                best = t
                most = gain
    return best, most


UPDATE, PARTNER = np.int64(0), np.int64(1)  # for a literal numba compiles a version of its own
CACHE_LINE = 8  # int64 words: two threads that write to one cache line wait for each other (false sharing)
NO_TASK = -1

#: Words of a share beside the last epoch for which it was claimed: the last for which it was done, and the row found.
DONE = 1
PLACE = 2


class ThreadTeam(NamedTuple):
    """What the threads of a run share: a cache line of its own for the epoch, then one for each share.

    There are no shares where there is one thread only.

    Attributes
    ----------
    words : ndarray of int64, shape (8 + shares * 8,)
        First the number of the present task, or `NO_TASK` while no loop runs.
    value : ndarray of float64, shape (8 + shares * 8,)
        How good the row is that was found in each share.
    """

    words: np.ndarray
    value: np.ndarray


def thread_team(m: int, threads: int) -> ThreadTeam:
    """Return a team for scans over m rows."""
    shares = min(threads, m // ROWS_A_THREAD)
    size = CACHE_LINE * (1 + shares if shares > 1 else 1)
    team = ThreadTeam(np.zeros(size, np.int64), np.zeros(size))
    team.words[0] = NO_TASK
    return team


@contextmanager
def team_running(s: Any) -> Iterator[None]:
    """Run the other threads of a run in `do_tasks` while the block runs, as far as there are threads free."""
    words = s.team.words
    words[0] = words[DONE - CACHE_LINE]  # what every share has done
    count = len(words) // CACHE_LINE - 2
    others = [pool(count).submit(do_tasks, s, me) for me in range(count)]
    try:
        yield
    finally:
        words[0] = NO_TASK
        for other in others:
            if not other.cancel():
                other.result()


@njit
def do_tasks(s, me):
    """Do shares of every task from now on until the team stops.

    ``me`` is the number of this thread, from 0: threads begin at different shares.
    """
    words = s.team.words
    epoch = load_acquire(words, CACHE_LINE + DONE)
    shares = words.size // CACHE_LINE - 1
    while True:
        latest = load_acquire(words, 0)
        if latest == NO_TASK:
            return
        if latest == epoch:
            spin_hint()
            continue
        epoch = latest
        for k in range(shares):
            _do_share(s, (me + 1 + k) % shares, epoch)


@njit_step
def _do_share(s, share, epoch):
    """Do one share of the present task unless another thread has claimed it."""
    words = s.team.words
    at = (1 + share) * CACHE_LINE
    if not compare_exchange(words, at, epoch - 1, epoch):
        return
    shares = words.size // CACHE_LINE - 1
    m = s.q.size
    first = m // 8 * share // shares * 8
    last = m // 8 * (share + 1) // shares * 8 if share + 1 < shares else m
    words[at + PLACE], s.team.value[at] = _scan_range(s, first, last)
    store_release(words, at + DONE, epoch)


@njit_step
def _scan_range(s, first, last):
    """Do the present task on a range of rows; return the row that is found, and how good it is: less is better."""
    now = s.now
    kind, i, a = now.kind, now.i, now.a
    q, k_i, k_j, active_diagonal = s.q, s.cached[s.slot_of[i]], s.cached[s.slot_of[now.j]], s.active_diagonal
    middle = minimum(maximum(s.plus, first), last)
    place = np.int64(0)
    value = np.inf
    if kind == PARTNER:
        place = np.int64(-1)
        value = 0.0
    for sign in range(1, -2, -2):  # the class +1 comes first
        start, stop = (first, middle) if sign > 0 else (middle, last)
        if kind == UPDATE:
            place, value = update_scan(
                q, k_i, k_j, now.scale, sign * a, sign * now.b, start, stop, place, value
            )
        else:
            place, value = partner_scan(
                k_i, q, active_diagonal, q[i], s.diagonal[i], sign * a, start, stop, place, value
            )
    return place, value if kind == UPDATE else -value


@njit_step
def scan(s, kind, i, j, scale, a, b):
    """Scan all rows, with the team where there is one; return the row that is found.

    UPDATE is `update_scan` with the columns of rows i and j, where a and b are for the class +1. PARTNER is
    `partner_scan` for row i, where a is ``twice`` for that class.
    """
    words = s.team.words
    now = s.now
    now.kind, now.i, now.j, now.scale, now.a, now.b = kind, i, j, scale, a, b
    best = np.int64(-1)
    least = np.inf
    if words.size == CACHE_LINE:
        best, least = _scan_range(s, np.int64(0), s.q.size)
        return best
    epoch = words[0] + 1
    store_release(words, 0, epoch)
    for share in range(words.size // CACHE_LINE - 1):
        _do_share(s, share, epoch)
    for at in range(CACHE_LINE, words.size, CACHE_LINE):
        while load_acquire(words, at + DONE) != epoch:
            spin_hint()
        if s.team.value[at] < least:
            best = words[at + PLACE]
            least = s.team.value[at]
    return best
