"""q over all rows, as `full` keeps it, for search among rows drawn at random: what `sampled` becomes."""

from typing import NamedTuple

from fwsvm.numerics.compile import njit
from fwsvm.solvers.frank_wolfe.gradient.full import (
    cheapest,
    index_in_all,
    on_add_all,
    on_drop_all,
    partner_in_all,
    update_all,
)  # fmt: skip
from fwsvm.solvers.frank_wolfe.gradient.interface import (
    block_size,
    cache_index,
    on_add,
    on_drop,
    partner,
    select,
    update,
)  # fmt: skip
from fwsvm.solvers.frank_wolfe.gradient.sampled import decided, draw
from fwsvm.solvers.frank_wolfe.state import SimplexState
from fwsvm.solvers.tuning import LONE_COLUMN_COST, PREFETCH_WITHIN, UPDATE_COST


class Tracked(NamedTuple):
    """Look at some rows as `Sampled` does, with q kept over all rows."""

    candidates: int
    retries: int
    outside: bool
    in_turn: bool


update.implements(Tracked)(update_all)
cache_index.implements(Tracked)(index_in_all)
on_add.implements(Tracked)(on_add_all)
on_drop.implements(Tracked)(on_drop_all)
partner.implements(Tracked)(partner_in_all)


@select.implements(Tracked)
def _select_from_some_known(search, s):
    """Draw candidates and decide by their q, which are at hand."""
    now = s.now[0]
    if now.draws == 0:
        now.iterations += 1
        draw(search, s)
    while not decided(search, s, _best_known(s, search.candidates)):
        draw(search, s)


@njit(each_step=True)
def _best_known(s, candidates):
    """Return the candidate with the least q."""
    best = 0
    for c in range(1, candidates):
        if s.q[s.drawn[c]] < s.q[s.drawn[best]]:
            best = c
    return best


@njit
def drawn_soon(search, m):
    """Return whether a row, one of m, becomes a candidate so soon that its column may be computed ahead of time."""
    return m <= PREFETCH_WITHIN * search.candidates


@block_size.implements(Tracked)
def _size_of_some(search, columns):
    """Return 1 where a row is drawn too rarely for a prefetch."""
    return cheapest(columns) if drawn_soon(search, columns.slot_of.size) else 1


def tracking_pays(s: SimplexState, cache_bytes: int) -> bool:
    """Whether candidates have cost more kernel values than q over all rows would have from the start.

    That is the gradient once, a column for each active row, and an update of m entries a step.
    """
    now, m = s.now[0], len(s.q)
    fits = 2 * int(now["active"]) * m * s.cached.itemsize <= cache_bytes
    each = 1 if drawn_soon(s.search, m) else LONE_COLUMN_COST
    a_step = UPDATE_COST if fits else each
    return bool(now["looked"] > m * (2 * each * now["active"] + a_step * now["steps"]))
