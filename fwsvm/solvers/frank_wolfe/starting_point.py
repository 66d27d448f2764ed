"""The starting point of 003 and 000: the optimum over p = 20 random rows."""

import numpy as np

from fwsvm.problems.simplex_qp import SimplexQP, signs

POINTS = 20
CORE_TOLERANCE = 1e-3  # LIBCVM's, relative to the optimum here


def draw(qp: SimplexQP, random: np.random.Generator, *, balanced: bool) -> np.ndarray:
    """Return distinct rows to start from: uniform (the papers), or class by class in turn (LIBCVM, FW-SVMs)."""
    m = len(qp.ridge)
    if not balanced:
        return random.choice(m, min(POINTS, m), replace=False)
    turns = (random.permutation(qp.plus), qp.plus + random.permutation(m - qp.plus))
    shorter = min(map(len, turns))
    mixed = np.concatenate(
        [np.stack([turn[:shorter] for turn in turns], 1).ravel(), *(turn[shorter:] for turn in turns)]
    )
    return mixed[: min(POINTS, m)]


def optimum(gram: np.ndarray, qp: SimplexQP, which: np.ndarray) -> np.ndarray:
    """Return weights that minimise alpha' K~ alpha over the simplex of the rows ``which``.

    ``gram`` holds their kernel values. Pairs are chosen by the second-order rule (spec 3.2) until no pair differs by
    more than `CORE_TOLERANCE` times the objective.
    """
    y = signs(qp)[which]
    K = np.outer(y, y) * (gram + 1.0) + np.diag(qp.ridge[which])
    alpha = np.full(len(which), 1.0 / len(which))
    q = K @ alpha
    while True:
        i = int(q.argmin())
        slope = np.where(alpha > 0, q - q[i], 0.0)
        if slope.max() <= CORE_TOLERANCE * (alpha @ q):
            return alpha
        curvature = np.maximum(K[i, i] - 2.0 * K[i] + np.diag(K), 1e-12)
        curvature[i] = 1.0
        j = int((slope * slope / curvature).argmax())
        step = slope[j] / curvature[j]
        step, gone = (alpha[j], True) if step >= alpha[j] else (step, False)
        alpha[i] += step
        alpha[j] = 0.0 if gone else alpha[j] - step
        q += step * (K[i] - K[j])
