"""A problem too small to matter: some steps on it compile what a run needs, off the clock."""

import numpy as np
from scipy import sparse

from fwsvm.solvers.process import Binary, Process

ROWS, FEATURES, STEPS = 24, 3, 64
GAPS = 13  # features that no row has: kernel values are then computed as those of sparse rows


def tiny_problem(gaps: int = 0) -> Binary:
    """Return two classes that a line divides."""
    X = np.random.default_rng(0).normal(size=(ROWS, FEATURES))
    wide = sparse.csr_array(np.pad(X, ((0, 0), (0, gaps))))
    return Binary(wide, np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(ROWS), (0,))


def some_steps(process: Process) -> None:
    """Take some steps, or all there are."""
    while process.advance(8) == 8 and process.counters().steps < STEPS:
        pass
