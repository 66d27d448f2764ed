"""Where a run on the simplex ended, for a warm start of the next one on some of its rows, perhaps with another C."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fwsvm.solvers.warm_start import WarmStart


@dataclass(frozen=True)
class SimplexStart(WarmStart):
    """What a run on the simplex makes use of, beside the weights.

    Attributes
    ----------
    kernel : NamedTuple
    gradient, ridge : ndarrays of float64, shape (m,), in the order of the problem's rows
        q = K~ alpha at the weights, and the 1 / C_i that are on the diagonal of K~.
    newton : bool
        Whether the run was Newton's, and swap-2o alone did not reach the goal.
    """

    kernel: Any
    gradient: np.ndarray
    ridge: np.ndarray
    newton: bool = False

    def gradient_at(self, ridge: np.ndarray) -> np.ndarray:
        """Return q at the same weights with another ridge."""
        return self.gradient + (ridge - self.ridge) * self.weights
