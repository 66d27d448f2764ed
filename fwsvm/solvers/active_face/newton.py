"""newton: Newton's method on the L2-SVM, from where swap-2o is near (ours; none of the papers' methods).

With b = alpha / R the problem on the simplex is min 1/2 b' K~ b - sum b over b >= 0, and its dual the primal machine

    P(b) = 1/2 b' Q b + 1/2 sum_i C_i max(0, 1 - f_i)^2,     f = Q b,     K~ = Q + diag(1 / C).

P is convex and piecewise quadratic: on the region where the rows A = {i : f_i < 1} have a loss, its minimiser solves
K~_AA b_A = 1 with b = 0 elsewhere. Newton's method goes there and looks along the line for the least P (Keerthi &
DeCoste 2005, "A modified finite Newton method", for the linear machine; Chapelle 2007, "Training a support vector
machine in the primal", for kernels). When A is that of the solution itself, b_i = C_i (1 - f_i) > 0 on A: the point is
optimal, and the gap falls at once to rounding. There are finitely many A, and P falls from one to the next.

A step costs a linear system of the size of the support set, whatever C is, where methods that move weight between
pairs need more and more steps as C grows. The first A is the support of swap-2o's alpha at a relative gap of 1: then
R is at most four times R*, for min q <= alpha*' K~ alpha <= sqrt(R R*).
"""

from typing import NamedTuple

from fwsvm.errors import UsageError
from fwsvm.solvers.registry import register


@register(
    "newton", family="active-face", paper="none: ours",
    tolerance="the Frank-Wolfe gap 2 (R - min q), recomputed from scratch at every step",
)  # fmt: skip
class Newton(NamedTuple):
    """Solve exactly on the face of the active rows, again and again; swap-2o begins. For large C.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap. The kernel matrix of the support vectors
    is kept and factored, in double precision.

    Parameters
    ----------
    switch : relative gap at which swap-2o hands over
    """

    switch: float = 1.0

    def check(self) -> None:
        """Refuse a switch that is no gap with `UsageError`."""
        if not 0.0 < self.switch < float("inf"):
            raise UsageError(f"newton needs a positive number for switch, not {self.switch:g}")
