"""Passes over all rows shared among threads, within the compiled loop.

A step of some ten microseconds leaves no time to wake a thread. So while the loop runs, each other thread runs
`assist`: it watches the ticket, and where that has risen takes shares of the rows that nobody has claimed, for the
pass that the order describes. The thread of the loop claims shares as well, and waits only for those that others have
begun: one that the system puts aside is waited for only within a share. Wherever the rows are cut, ties go to the first
row, so the steps are the same to the last bit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from fwsvm._compile import njit
from fwsvm._threads import alongside
from fwsvm.kernels.signals import exchange, pause, read, write
from fwsvm.solvers.frank_wolfe.passes import partner_pass, shift_pass

SHIFT, PARTNER = range(2)
LINE = 8  # words of a cache line: threads that write to one line wait for each other
WORTH_A_THREAD = 2048  # rows of a share
OVER = -1
ALWAYS = 1 << 62
PATIENCE = 1 << 16  # pauses: some milliseconds

ORDER = np.dtype(
    [
        ("kind", np.int64),  # SHIFT or PARTNER
        ("i", np.int64),  # the rows whose columns are read
        ("j", np.int64),
        ("scale", np.float64),  # arguments of `shift_pass`
        ("a", np.float64),
        ("b", np.float64),
        ("twice", np.float64),  # and of `partner_pass`
    ]
)


class Crew(NamedTuple):
    """What the threads of a run have in common; of no shares if there is one thread only.

    Attributes
    ----------
    ticket : ndarray of int64, shape (8,): the number of the present order in its first place, or OVER
    claims, done : ndarray of int64, shape (shares * 8,): the last order for which a share was claimed, and done
    place : ndarray of int64, value : ndarray of float64, shape (shares * 8,): what the pass found in a share
    order : ndarray of `ORDER`, shape (1,)
    """

    ticket: np.ndarray
    claims: np.ndarray
    done: np.ndarray
    place: np.ndarray
    value: np.ndarray
    order: np.ndarray


def crew_of(m: int, threads: int) -> Crew:
    """Return a crew for passes over m rows."""
    shares = min(threads, m // WORTH_A_THREAD)
    words = LINE * shares if shares > 1 else 0
    return Crew(
        np.full(LINE, OVER, np.int64), np.zeros(words, np.int64), np.zeros(words, np.int64), np.zeros(words, np.int64),
        np.zeros(words), np.zeros(1, ORDER),
    )  # fmt: skip


@contextmanager
def at_work(s: Any, threads: int) -> Iterator[None]:
    """Have the other ones of a run's own threads assist while the block runs; more may `lend` theirs."""
    crew = s.crew
    if len(crew.claims) == 0:
        yield
        return

    def end() -> None:
        crew.ticket[0] = OVER

    others = min(threads, len(crew.claims) // LINE) - 1
    try:
        crew.ticket[0] = crew.done[0]
        with alongside(lambda me: assist(s, me, crew.done[0], ALWAYS), others, end):
            yield
    finally:
        end()


def lend(s: Any, me: int) -> None:
    """Assist while a block of `at_work` runs and gives orders; return where there are none for some milliseconds."""
    if len(s.crew.claims):
        assist(s, me, s.crew.done[0], PATIENCE)


@njit
def assist(s, me, ticket, patience):
    """Take shares of every order after ``ticket`` until it is over, or there was none for so many pauses.

    ``me`` is 0 for the first assistant.
    """
    crew, idle = s.crew, 0
    shares = crew.claims.size // LINE
    while True:
        latest = read(crew.ticket, 0)
        if latest == OVER:
            return
        if latest == ticket:
            pause()
            idle += 1
            if idle > patience:
                return
            continue
        ticket, idle = latest, 0
        for k in range(shares):
            _take(s, (me + 1 + k) % shares, ticket)


@njit(each_step=True)
def _take(s, share, ticket):
    """Do a share of the present order unless another thread has claimed it."""
    crew, at = s.crew, share * LINE
    if not exchange(crew.claims, at, ticket - 1, ticket):
        return
    shares, m, plus, order = crew.claims.size // LINE, s.q.size, s.plus, crew.order[0]
    first = m // 8 * share // shares * 8
    last = m // 8 * (share + 1) // shares * 8 if share + 1 < shares else m
    middle = min(max(plus, first), last)
    k_i, q = s.kept[s.slot_of[order.i]], s.q
    if order.kind == SHIFT:
        k_j, a, b = s.kept[s.slot_of[order.j]], order.a, order.b
        place, value = shift_pass(q, k_i, k_j, order.scale, a, b, first, middle, 0, np.inf)
        place, value = shift_pass(q, k_i, k_j, order.scale, -a, -b, middle, last, place, value)
    else:
        q_i, K_ii, twice = q[order.i], s.diagonal[order.i], order.twice
        place, value = partner_pass(k_i, q, s.lit, q_i, K_ii, twice, first, middle, np.int64(-1), 0.0)
        place, value = partner_pass(k_i, q, s.lit, q_i, K_ii, -twice, middle, last, place, value)
    crew.place[at], crew.value[at] = place, value
    write(crew.done, at, ticket)


@njit(each_step=True)
def _all_shares(s):
    """Have the present order carried out."""
    crew = s.crew
    shares, ticket = crew.claims.size // LINE, crew.ticket[0] + 1
    write(crew.ticket, 0, ticket)
    for share in range(shares):
        _take(s, share, ticket)
    for share in range(shares):
        while read(crew.done, share * LINE) != ticket:
            pause()


@njit(each_step=True)
def shift_by_shares(s, i, j, scale, a, b):
    """Do `shift_pass` over all rows; return the place of the least q."""
    crew = s.crew
    order = crew.order[0]
    order.kind, order.i, order.j, order.scale, order.a, order.b = SHIFT, i, j, scale, a, b
    _all_shares(s)
    best, least = crew.place[0], crew.value[0]
    for at in range(LINE, crew.value.size, LINE):
        if crew.value[at] < least:
            best, least = crew.place[at], crew.value[at]
    return best


@njit(each_step=True)
def partner_by_shares(s, i, twice):
    """Do `partner_pass` over all rows; return the best partner of i, -1 for none."""
    crew = s.crew
    order = crew.order[0]
    order.kind, order.i, order.twice = PARTNER, i, twice
    _all_shares(s)
    best, most = np.int64(-1), 0.0
    for at in range(0, crew.value.size, LINE):
        if crew.value[at] > most:
            best, most = crew.place[at], crew.value[at]
    return best
