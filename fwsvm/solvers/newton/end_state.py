"""Where a run ended, for a warm start of the next one on the same rows and kernel with another C."""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.solvers.newton.active_set_system import FactorState
from fwsvm.solvers.warm_start import Handover


class EndState(NamedTuple):
    """Where a run ended, and how it came there.

    Attributes
    ----------
    kernel : NamedTuple
    alpha, q, ridge : ndarrays, shape (m,), in the order of `SimplexRun`
        q = K~ alpha is from scratch in float64, or as the run that ended there kept it.
    newton : bool
        Whether swap-2o alone did not reach the goal.
    left : Left or None
        A factor serves for a ridge next to this one's; None where there is none, or no memory for it.
    """

    kernel: Any
    alpha: np.ndarray
    q: np.ndarray
    ridge: np.ndarray
    newton: bool
    left: FactorState | None

    def gradient(self, ridge: np.ndarray) -> np.ndarray:
        """Return q at the same weights with another ridge."""
        return self.q + (ridge - self.ridge) * self.alpha


def take(handover: Handover | None, number: int, kernel: Any, alpha: np.ndarray) -> EndState | None:
    """Return what the run before on subproblem ``number`` left, if this one goes on where it ended."""
    if handover is None or handover.end(number) is None:
        return None
    note = handover.notes.pop((EndState, number), None)  # its face may be overwritten from here on
    same = note is not None and note.kernel == kernel and np.array_equal(note.alpha, alpha)
    return note if same else None


def leave(handover: Handover, number: int, note: EndState, budget_bytes: int) -> None:
    """Leave a note, with its factor if that fits in the budget beside all columns and what others left."""
    if note.left is not None:
        others = [
            other.left.nbytes
            for key, other in list(handover.notes.items())
            if key[0] is EndState and key != (EndState, number) and other.left is not None
        ]
        if sum(others) + note.left.nbytes + handover.column_bytes() > budget_bytes:
            note = note._replace(left=None)
    handover.notes[EndState, number] = note
