"""The objective on a sample, f_k (004 problem (3)): its value, a subgradient, and its course along a line."""

from fwsvm.numerics.compile import njit
from fwsvm.problems.hinge import box_dual
from fwsvm.solvers.stochastic.state import copy, dot

dual_value = njit(box_dual)


@njit
def along_line(s, t, linear):
    """Return phi(t) = f_k(alpha + t d) - f_k's quadratic part at alpha, and its slope <g(t), d>.

    ``linear`` is lambda alpha' Q d. At a kink the slope is that to the right: rows at margin 1 are not
    inside.
    """
    now = s.now[0]
    n = now.rows
    hinge = slope = 0.0
    for i in range(n):
        by = s.w[i] * s.Q_d[i]
        loss = 1.0 - (s.w[i] * s.Q_alpha[i] + t * by)
        if loss > 0.0:
            hinge += loss
            slope -= by
    return t * (linear + 0.5 * t * now.curvature) + hinge / n, linear + t * now.curvature + slope / n


@njit
def evaluate_incumbent(s):
    """Set ``now.square`` and ``now.value`` at the incumbent."""
    now = s.now[0]
    n = now.rows
    hinge = 0.0
    for i in range(n):
        hinge += max(0.0, 1.0 - s.w[i] * s.Q_alpha[i])
    now.square = dot(n, s.alpha, s.Q_alpha)
    now.value = 0.5 * s.lam * now.square + hinge / n


@njit
def list_margin_changes(s):
    """List the rows that entered or left their margins at alpha + ahead d since the last subgradient."""
    now = s.now[0]
    n, t, count = now.rows, now.ahead, 0
    for i in range(n):
        margin = s.w[i] * (s.Q_alpha[i] + t * s.Q_d[i])
        inside = 1.0 if margin < 1.0 else 0.0
        if inside != s.inside[i]:
            s.flipped[count], s.change[count] = i, s.w[i] * (inside - s.inside[i])
            count += 1
    now.flips = count


@njit
def subgradient(s):
    """Set g to a subgradient of f_k at alpha + ahead d, with Q g.

    `list_margin_changes` comes first, and Q inside is up to date.

    In the kernel's space it is sum_i c_i phi(x_i) with c = lambda alpha - w.*inside/n: g is c, and lengths
    are c' Q c. The Euclidean reading of "g in the subdifferential of f_k(alpha)" is the vector Q c; Q g is then
    left 0.
    """
    now = s.now[0]
    n, t = now.rows, now.ahead
    for c in range(now.flips):
        s.inside[s.flipped[c]] = 1.0 - s.inside[s.flipped[c]]
    for i in range(n):
        s.g[i] = s.lam * (s.alpha[i] + t * s.d[i]) - s.w[i] * s.inside[i] / n
        s.Q_g[i] = s.lam * (s.Q_alpha[i] + t * s.Q_d[i]) - s.Q_inside[i] / n
        if s.euclid:
            s.g[i], s.Q_g[i] = s.Q_g[i], 0.0
    now.at = t


@njit
def raise_lower_bound(s):
    """Raise the lower bound on min f_k by the dual value of u (see `fwsvm.problems.hinge`): O(n)."""
    now = s.now[0]
    n = now.rows
    total = square = most = 0.0
    for i in range(n):
        total += s.u[i]
        square += s.w[i] * s.u[i] * s.Q_u[i]
        most = max(most, s.u[i])
    lower = dual_value(total / n, square / (s.lam * n * n), most)
    if lower > now.lower:
        now.lower = lower
        copy(n, s.u, s.best_u)
