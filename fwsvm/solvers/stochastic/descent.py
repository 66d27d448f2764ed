"""One iteration of Wolfe's method, and of SCS on its present sample: subgradient, direction, step length."""

from fwsvm._compile import njit
from fwsvm.solvers.stochastic.direction import turn
from fwsvm.solvers.stochastic.line_search import search
from fwsvm.solvers.stochastic.objective import measure, raise_bound, subgradient
from fwsvm.solvers.stochastic.state import inner

#: The part of the known gap that |d|^2 / (2 lambda) must still promise, or d is made of subgradients from too
#: far away.
SHORT = 1e-3


@njit
def aim(directions, s):
    """Set g and d for the point ahead, and the bound that comes with them."""
    now = s.now[0]
    subgradient(s)
    turn(directions, s)
    now.fresh = 0
    now.length2 = inner(s, s.d, s.d, s.Q_d)
    raise_bound(s)


@njit
def propose(directions, constants, s, eps):
    """Set g, d and t for the incumbent; return whether even -g there is shorter than eps.

    A short d proves nothing: the shortest of a subgradient here and one from elsewhere can vanish far from the
    optimum (spec 10.7). So a direction shorter than ``eps``, or than the known gap leaves room for, is thrown
    away, and -g at the incumbent is looked at instead.
    """
    now = s.now[0]
    measure(s)
    aim(directions, s)
    least2 = max(eps * eps, 2.0 * s.lam * SHORT * (now.value - now.lower))
    if now.length2 <= least2:
        now.fresh, now.ahead = 1, 0.0
        now.resets += 1
        aim(directions, s)
        if now.length2 <= least2:
            now.step = 0.0
            return True
    search(constants, s)
    return False


@njit
def closed(s, goal):
    """Return whether the gap on the sample is within ``goal`` times the value."""
    now = s.now[0]
    return now.value - now.lower <= goal * now.value
