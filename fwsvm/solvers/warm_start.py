"""Where a run on a two-class problem ended, as a value from which the next one on the same rows may start."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class WarmStart:
    """What every method can start from; a method that can use more has a subclass with more fields.

    Attributes
    ----------
    weights : ndarray of float64, shape (m,)
        The dual weights, in the order of the problem's rows. Where the next run has another C, it clips them to its
        box, or has another ridge on its diagonal.
    """

    weights: np.ndarray
