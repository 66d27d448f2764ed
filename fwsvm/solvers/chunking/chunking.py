"""chunking: solve on a chunk of the rows, look at all of them, take the next chunk (ours; none of the papers' methods).

A row that is no support vector of the solution could as well not be there, and one that lies far outside the margin,
f_t = y_t (<w, phi(x_t)> + b) well above 1, will hardly become one. Vapnik (1982) and Osuna, Freund & Girosi (1997,
"Support vector machines: training and applications") solve on a part of the rows, look at the others with the machine
found, and exchange rows that cannot matter for rows that violate their condition; SVM-light and LIBSVM set rows aside
on the way (shrinking). Here:

1. Solve on an eighth of the rows, drawn at random class by class, to the goal.
2. Compute q = K~ alpha at all rows from scratch: in single precision, and where that shows no row outside the chunk
   that surely keeps the gap 2 (R - min q) above the goal, in double. If the gap is within the goal, that was the
   certificate: done.
3. The rows that matter are the support vectors of alpha and those with f_t < 1. Take half as many again, those of least
   f, as the next chunk; take all rows where that is more than half of them.
4. Solve on the chunk to the goal, from alpha; go to 2 (unless the chunk was all rows: done).

alpha, with zeros for rows outside the chunk, is feasible for the whole problem and has the same R there. A chunk holds
the support of alpha and the row of least q: where 2 does not end the run there is a way down from alpha on the next
chunk, and as in Osuna's proof no chunk comes back. Should rounding, or a gap that the inner run left, keep R from
falling all the same, the next chunk is all rows. Objective and gap reported are those of the whole problem.

It pays where support vectors are few among many rows: a step passes over the chunk, not over all rows, and kernel
columns are as short. Where they are many, what the first chunk cost, a few per cent, buys a starting point.
"""

from typing import NamedTuple

from fwsvm.errors import UsageError, not_one_of
from fwsvm.solvers.registry import FAMILIES, METHODS, register


@register(
    "chunking", family="chunking", paper="ours",
    tolerance="the Frank-Wolfe gap 2 (R - min q) over all rows, recomputed from scratch after each chunk",
)  # fmt: skip
class Chunking(NamedTuple):
    """Solve on a few of the rows, then on those that matter, until no other row matters. For few support vectors.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap, over all rows.

    Parameters
    ----------
    inner : the method that solves on a chunk, any other one of the simplex; its parameters have their defaults
    fewest : rows of the smallest two-class problem that is not solved in one piece
    """

    inner: str = "swap-2o"
    fewest: int = 4096

    def check(self) -> None:
        """Refuse an inner method that does not solve this problem, and a negative number, with `UsageError`."""
        problem = FAMILIES["chunking"].problem
        known = [
            name
            for name, method in METHODS.items()
            if method.family not in {"chunking", "auto"} and FAMILIES[method.family].problem == problem
        ]
        if self.inner not in known:
            raise UsageError(not_one_of("inner of chunking", sorted(known), self.inner))
        if self.fewest < 0:
            raise UsageError(f"fewest of chunking must be 0 or more, not {self.fewest}")
