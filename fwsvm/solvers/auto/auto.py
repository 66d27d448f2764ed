"""auto: the method that fits the problem (ours; none of the papers' methods).

What each method is good at (measured in results/reference/bench):

* swap-2o moves weight between two rows a step: the cheapest way to find the support vectors.
* newton begins as swap-2o and goes over to Newton steps where these are cheaper: many steps on the same support
  vectors, as for large C. It goes over by itself, and keeps alpha.
* chunking solves on an eighth of the rows first, then on those that matter, and goes over to all rows where more than
  a third of them do. It costs some per cent where that is so, and can be ten times as fast where support vectors are
  few.
* Small pairs of several classes are solved in compiled code: what a run of its own costs a pair would be most of the
  time. Kernel values of rows of one class serve all pairs. The choice is called swap-2o, though C above 1 has a few of
  Newton's steps.

So a pair of classes with at least `fewest` rows is solved in chunks, each by newton, and a smaller pair by newton.
Along C a large pair is solved by newton, too, where its last run ended with more support vectors than an eighth of its
rows. Where rows are sampled, or a paper's protocol is asked for, swap-2o solves a pair of any size. Where the choice
was wrong, chunking and newton see it from a first piece of the run and go over to what they would have been: all rows,
or steps of swap-2o alone, as newton also does where a factor does not fit in memory.

Where so many rows are support vectors that their kernel columns do not fit in the cache, decomposition solves on all
rows, which keeps none.
"""

from typing import NamedTuple

from fwsvm.solvers.registry import register

CHUNKS_FROM = 4096  # rows of a pair; below, chunks gain less than looking at all rows between them costs


@register(
    "auto",
    family="auto",
    paper="ours",
    tolerance="the Frank-Wolfe gap 2 (R - min q), recomputed from scratch where the goal seems reached",
)
class Auto(NamedTuple):
    """Choose swap-2o, newton, or chunks, by rows, classes, and what the run shows. The default.

    Problem: min alpha' K~ alpha on the simplex. Stops on the Frank-Wolfe gap. The column ``method`` names the choice.

    Parameters
    ----------
    fewest : rows of the smallest pair of classes that is solved in chunks
    """

    fewest: int = CHUNKS_FROM
