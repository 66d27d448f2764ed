"""A team of threads that shares the scans over all rows inside the compiled loop.

A step takes some ten microseconds, less than waking a thread does. So while the loop runs, the other threads spin in
`do_tasks`: when the epoch rises they claim shares of the rows by compare-and-swap and run the scan that the task
describes on them. The thread of the loop claims shares too, and waits only for shares that another thread has begun.
Ties go to the first row wherever the rows are cut, so the steps have the same bits for any number of threads.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from fwsvm.numerics.atomics import compare_exchange, load_acquire, spin_hint, store_release
from fwsvm.numerics.compile import njit
from fwsvm.numerics.threads import alongside
from fwsvm.solvers.frank_wolfe.scans import partner_scan, update_scan
from fwsvm.solvers.tuning import ROWS_A_THREAD

UPDATE, PARTNER = range(2)
CACHE_LINE = 8  # int64 words: two threads that write to one cache line wait for each other (false sharing)
NO_TASK = -1

TASK = np.dtype(
    [
        ("kind", np.int64),  # UPDATE or PARTNER
        ("i", np.int64),  # the rows whose columns are read
        ("j", np.int64),
        ("scale", np.float64),  # arguments of `update_scan`
        ("a", np.float64),
        ("b", np.float64),
        ("twice", np.float64),  # and of `partner_scan`
    ]
)


class ThreadTeam(NamedTuple):
    """What the threads of a run share; it has no shares where there is one thread only.

    Attributes
    ----------
    epoch : ndarray of int64, shape (8,)
        The number of the present task in its first place, or `NO_TASK` while no loop runs.
    claimed, done : ndarray of int64, shape (shares * 8,)
        The last epoch for which each share was claimed, and was done.
    place : ndarray of int64, shape (shares * 8,)
    value : ndarray of float64, shape (shares * 8,)
        Result of the scan in each share.
    task : ndarray of `TASK`, shape (1,)
    """

    epoch: np.ndarray
    claimed: np.ndarray
    done: np.ndarray
    place: np.ndarray
    value: np.ndarray
    task: np.ndarray


def thread_team(m: int, threads: int) -> ThreadTeam:
    """Return a team for scans over m rows."""
    shares = min(threads, m // ROWS_A_THREAD)
    words = CACHE_LINE * shares if shares > 1 else 0
    return ThreadTeam(
        np.full(CACHE_LINE, NO_TASK, np.int64), np.zeros(words, np.int64), np.zeros(words, np.int64),
        np.zeros(words, np.int64), np.zeros(words), np.zeros(1, TASK),
    )  # fmt: skip


@contextmanager
def team_running(s: Any) -> Iterator[None]:
    """Run the other threads of a run in `do_tasks` while the block runs."""
    team = s.team
    if len(team.claimed) == 0:
        yield
        return

    def end() -> None:
        team.epoch[0] = NO_TASK

    others = len(team.claimed) // CACHE_LINE - 1
    try:
        team.epoch[0] = team.done[0]
        with alongside(lambda me: do_tasks(s, me), others, end):
            yield
    finally:
        end()


@njit
def do_tasks(s, me):
    """Do shares of every task from now on until the team stops.

    ``me`` is the number of this thread, from 0: threads begin at different shares.
    """
    team = s.team
    epoch = load_acquire(team.done, 0)
    shares = team.claimed.size // CACHE_LINE
    while True:
        latest = load_acquire(team.epoch, 0)
        if latest == NO_TASK:
            return
        if latest == epoch:
            spin_hint()
            continue
        epoch = latest
        for k in range(shares):
            _do_share(s, (me + 1 + k) % shares, epoch)


@njit(each_step=True)
def _do_share(s, share, epoch):
    """Do one share of the present task unless another thread has claimed it."""
    team, at = s.team, share * CACHE_LINE
    if not compare_exchange(team.claimed, at, epoch - 1, epoch):
        return
    shares, m, plus, task = team.claimed.size // CACHE_LINE, s.q.size, s.plus, team.task[0]
    first = m // 8 * share // shares * 8
    last = m // 8 * (share + 1) // shares * 8 if share + 1 < shares else m
    middle = min(max(plus, first), last)
    k_i, q = s.cached[s.slot_of[task.i]], s.q
    if task.kind == UPDATE:
        k_j, a, b = s.cached[s.slot_of[task.j]], task.a, task.b
        place, value = update_scan(q, k_i, k_j, task.scale, a, b, first, middle, np.int64(0), np.inf)
        place, value = update_scan(q, k_i, k_j, task.scale, -a, -b, middle, last, place, value)
    else:
        q_i, K_ii, twice = q[task.i], s.diagonal[task.i], task.twice
        place, value = partner_scan(
            k_i, q, s.active_diagonal, q_i, K_ii, twice, first, middle, np.int64(-1), 0.0
        )
        place, value = partner_scan(k_i, q, s.active_diagonal, q_i, K_ii, -twice, middle, last, place, value)
    team.place[at], team.value[at] = place, value
    store_release(team.done, at, epoch)


@njit(each_step=True)
def _run_task(s):
    """Publish the present task and return when all its shares are done."""
    team = s.team
    shares, epoch = team.claimed.size // CACHE_LINE, team.epoch[0] + 1
    store_release(team.epoch, 0, epoch)
    for share in range(shares):
        _do_share(s, share, epoch)
    for share in range(shares):
        while load_acquire(team.done, share * CACHE_LINE) != epoch:
            spin_hint()


@njit(each_step=True)
def shared_update_scan(s, i, j, scale, a, b):
    """Do `update_scan` over all rows by the team; return the place of the least q."""
    team = s.team
    task = team.task[0]
    task.kind, task.i, task.j, task.scale, task.a, task.b = UPDATE, i, j, scale, a, b
    _run_task(s)
    best, least = team.place[0], team.value[0]
    for at in range(CACHE_LINE, team.value.size, CACHE_LINE):
        if team.value[at] < least:
            best, least = team.place[at], team.value[at]
    return best


@njit(each_step=True)
def shared_partner_scan(s, i, twice):
    """Do `partner_scan` over all rows by the team; return the best partner of i, -1 for none."""
    team = s.team
    task = team.task[0]
    task.kind, task.i, task.twice = PARTNER, i, twice
    _run_task(s)
    best, most = np.int64(-1), 0.0
    for at in range(0, team.value.size, CACHE_LINE):
        if team.value[at] > most:
            best, most = team.place[at], team.value[at]
    return best
