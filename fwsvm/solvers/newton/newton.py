"""newton: Newton's method on the L2-SVM, from where swap-2o is near (ours; none of the papers' methods).

With b = alpha / R the problem on the simplex is min 1/2 b' K~ b - sum b over b >= 0, and its dual the primal machine

    P(b) = 1/2 b' Q b + 1/2 sum_i C_i max(0, 1 - f_i)^2,     f = Q b,     K~ = Q + diag(1 / C).

P is convex and piecewise quadratic: on the region where the rows A = {i : f_i < 1} have a loss, its minimiser solves
K~_AA b_A = 1 with b = 0 elsewhere. Newton's method goes there and looks along the line for the least P (Keerthi &
DeCoste 2005, "A modified finite Newton method", for the linear machine; Chapelle 2007, "Training a support vector
machine in the primal", for kernels). When A is that of the solution itself, b_i = C_i (1 - f_i) > 0 on A: the point is
optimal, and the gap falls at once to rounding. There are finitely many A, and P falls from one to the next.

A step costs a linear system of the size of the support set, whatever C is, where methods that move weight between
pairs need more and more steps as C grows. What makes it cheap:

* The first A is the support of swap-2o's alpha after 2 m steps, or after as many as take the time of a factor or two of
  K~_AA: for small C these reach the goal, and Newton has nothing to do. Where by the fall of the gap the goal is nearer
  than another factor (`gap_fall`), swap-2o goes on for up to twice as many.
* From a point that far off, a step's A can be wrong in hundreds of rows, and the next overshoots. While more than an
  eighth are, swap-2o takes m / 2 steps from max(b, 0) instead of the next step: weight goes to a row that lacks it in
  one of its steps, of some microseconds, and b is already right in what swap-2o is slow at. This at most
  `MOST_REPAIRS` times; then Newton's steps alone, for which the proof above holds.
* Rows of Q are swap-2o's float32 columns, which do not depend on C, sums over them are float64, and factors float32
  (`cholesky_factor`). The error of rounded columns enters only through the steps since f was last computed from
  scratch, in float64, as it is wherever the goal seems reached; if that does not pass, and going on from there does
  not help, the columns become float64.
* Next to an optimum for another C few rows change sides: from there on no step of swap-2o is taken if the run that
  found it needed Newton.
* An inexact system is enough while rows change sides; the last one is solved until what has to be clipped off b, whose
  error is C times the residual, leaves the gap within the goal.

On a5a (6,414 rows, 2,500 to 3,000 of them active), one thread, to a relative gap of 1e-3, swap-2o and newton take 1.8
and 0.6 s of the processor at C = 256, 7.5 and 0.7 s at C = 4096.
"""

from enum import Enum
from typing import NamedTuple

from fwsvm.errors import UsageError
from fwsvm.solvers.registry import register


class Beyond(Enum):
    """What is done where a factor does not fit in the memory allowed."""

    REFUSE = 0
    STEPS = 1


@register(
    "newton", family="active-set", paper="ours",
    tolerance="the Frank-Wolfe gap 2 (R - min q), recomputed from scratch where the goal seems reached",
)  # fmt: skip
class Newton(NamedTuple):
    """Start with swap-2o, then solve exactly on the face of the active rows, repeatedly. For large C.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap. The kernel matrix of the support vectors
    is kept and factored, in single precision as long as that suffices.

    Parameters
    ----------
    switch : relative gap at which Newton steps begin, if not after 2 m steps or the time of a factor before
    beyond : where a factor does not fit in the memory allowed, refuse, or go on with swap-2o's steps
    """

    switch: float = 1e-3
    beyond: Beyond = Beyond.REFUSE

    def check(self) -> None:
        """Refuse a switch that is no gap with `UsageError`."""
        if not 0.0 < self.switch < float("inf"):
            raise UsageError(f"newton needs a positive number for switch, not {self.switch:g}")
