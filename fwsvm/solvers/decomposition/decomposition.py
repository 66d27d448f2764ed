"""decomposition: solve on a working set, update the gradient at all rows, repeat (ours; none of the papers' methods).

With b = alpha / R the problem on the simplex is min 1/2 b' K~ b - sum b over b >= 0, whose gradient is f - 1 with
f = K~ b. There is no constraint that ties one entry to another, so an entry moves by itself: to max(0, b_i - (f_i - 1)
/ K~_ii). Osuna, Freund & Girosi (1997), Joachims (1999, SVM-light) and Wen et al. (2018, "ThunderSVM") solve such
problems on working sets:

1. Take the rows W that are half of the last working set, the half that came in last, and those of largest
   (f_i - 1)^2 / K~_ii among the others that may move (b_i > 0 or f_i < 1).
2. Compute K~_WW and move the entry of W that gains most, again and again, until what is violated most in W is a tenth
   of what it was, or 8 |W| entries have moved.
3. Add K~_.W (b_new - b_old) to f at all rows.

Kernel values of step 3 are used as they are computed and never stored: memory is that of the rows and a few vectors,
where methods that keep columns recompute most of them once they do not fit. A row enters some fifteen working sets of
2,048 rows on cover type. Without the half that is kept the next working set undoes what the last one did.

Kernel values are float32 and sums float64. Where the goal seems reached f is recomputed in float64 from scratch: that
is the certificate, and where it misses the goal the run goes on from there, with float64 values if that did not help.
"""

from typing import NamedTuple

from fwsvm.errors import UsageError
from fwsvm.solvers.registry import register

LEAST, MOST = 2, 16384  # rows of a working set: its matrix takes 4 bytes times their square


@register(
    "decomposition", family="decomposition", paper="ours",
    tolerance="the Frank-Wolfe gap 2 (R - min q), recomputed from scratch where the goal seems reached",
)  # fmt: skip
class Decomposition(NamedTuple):
    """Solve on one small working set after another, with no kernel columns kept. For many support vectors.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap.

    Parameters
    ----------
    size : rows of a working set
    """

    size: int = 2048

    def check(self) -> None:
        """Refuse a working set too small to hold a kept and a new row, or too large, with `UsageError`."""
        if not LEAST <= self.size <= MOST:
            raise UsageError(f"decomposition: size must be {LEAST} to {MOST:,} rows, not {self.size}")
