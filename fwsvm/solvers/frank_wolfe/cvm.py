"""CVM: core sets, or fully corrective Frank-Wolfe (003 Algorithm 1, 000 Algorithm 2; Badoiu & Clarkson).

The core set is the active set. As long as a pair inside it differs by more than the inner tolerance, the next vertex
comes from inside and weight is swapped by the second-order rule: LIBCVM's inner solver, warm-started where it stands.
Then the ascent vertex of all rows enters.
"""

from typing import NamedTuple

from fwsvm.errors import UsageError
from fwsvm.solvers.frank_wolfe.engine import choose, find
from fwsvm.solvers.frank_wolfe.moves import NOBODY, best_partner, extreme_active, swap, toward
from fwsvm.solvers.frank_wolfe.sampled import select
from fwsvm.solvers.frank_wolfe.state import GOING
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved

LIBCVM_INNER = 1e-3  # inside the core set, absolute


@register(
    "cvm",
    family="simplex",
    paper="Frandi et al. (2013), Algorithm 1",
    tolerance="the Frank-Wolfe gap 2 (R - min q)",
)
class CVM(NamedTuple):
    """Solve on the core set, add the ascent vertex, repeat.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap over all rows once the core set is
    solved.

    Parameters
    ----------
    inner : largest q_j - q_i left inside the core set at first; halved whenever a vertex enters that violates by less;
        0: the protocol's, which is 1e-3, and a tenth of the run's tolerance under fw-svms
    """

    inner: float = 0.0


def first_inner(rule: CVM, resolved: Resolved) -> float:
    """Return the tolerance inside the core set that a run begins with.

    Raises
    ------
    UsageError
        ``inner`` is negative.
    """
    if rule.inner < 0.0:
        raise UsageError(f"cvm needs a positive number for inner, not {rule.inner:g}")
    share = resolved.protocol.inner_share
    return rule.inner or (LIBCVM_INNER if share is None else share * resolved.tolerance)


@find.implements(CVM)
def _find(rule, s):
    now = s.now
    if now.draws == 0:  # kernel values of candidates that were drawn are of this core set
        i = extreme_active(s, -1.0)
        j = extreme_active(s, 1.0)
        if s.q[j] - s.q[i] > max(now.inner, now.noise):
            now.vertex = i
            return
    select(s.sample, s)
    while now.stop == GOING and 0.5 * now.gap <= now.inner:
        now.inner *= 0.5


@choose.implements(CVM)
def _choose(rule, s, i):
    j = best_partner(s, i)
    return toward(s, i) if j == NOBODY else swap(s, i, j)
