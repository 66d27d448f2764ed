"""Where a run of Newton's method ended, for a warm start of the next one on the same rows with another C."""

from dataclasses import dataclass

from fwsvm.solvers.frank_wolfe.warm_start import SimplexStart


@dataclass(frozen=True)
class NewtonStart(SimplexStart):
    """What a Newton run makes use of, beside weights and gradient.

    Attributes
    ----------
    newton : bool
        Whether swap-2o alone did not reach the goal.
    """

    newton: bool
