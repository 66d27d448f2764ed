"""The compiled step of pegasos and its state."""

from typing import NamedTuple

import numpy as np

from fwsvm.numerics.compile import njit

CONTROL = np.dtype(
    [
        ("t", np.int64),  # steps done
        ("size", np.int64),  # rows in the expansion, those of the present block that joined included
        ("scale", np.float64),  # w = scale sum_j counts[j] y_j phi(x_j)
        ("square", np.float64),  # |w|^2
        ("scales", np.float64),  # sum of the scales of all w_t since the last projection
        ("loss", np.float64),  # hinge losses met in the present pool, before the step
        ("met", np.int64),
    ]
)


class PegasosState(NamedTuple):
    """The state of the compiled step.

    Attributes
    ----------
    lam, batch, projection : the method's numbers
    counts : ndarray of float64, shape (room,); without projection whole numbers
    missed : ndarray of float64, shape (room,), counts weighted by the ``scales`` of before they came, for the
        mean
    total : ndarray of float64, shape (room,), coefficients of the sum of all w_t before the last projection
    y : ndarray of float64, shape (room,)
    ids : ndarray of int64, shape (room,), the rows in the expansion
    place : ndarray of int32, shape (m,), where in the expansion a row is, -1 for nowhere
    now : ndarray of `CONTROL`, shape (1,)
    """

    lam: float
    batch: int
    projection: bool
    counts: np.ndarray
    missed: np.ndarray
    total: np.ndarray
    y: np.ndarray
    ids: np.ndarray
    place: np.ndarray
    now: np.ndarray


@njit
def step(s, rows, labels, sums, products, first):
    """Take one step with the block's rows first ... first + batch - 1.

    ``sums`` are sum_j counts[j] y_j k(x_j, .) at the block's rows (B,), kept right for the rows still to
    come; ``products`` their kernel values among one another (B, B).
    """
    now, k = s.now[0], s.batch
    now.t += 1
    t = now.t
    eta, decay = 1.0 / (s.lam * t * k), 1.0 - 1.0 / t
    violators, count = np.empty(k, np.int64), 0
    for i in range(first, first + k):
        margin = labels[i] * now.scale * sums[i]
        now.loss += max(0.0, 1.0 - margin)
        if margin < 1.0:
            violators[count] = i
            count += 1
    now.met += k
    cross = among = 0.0
    for a in range(count):
        i = violators[a]
        cross += labels[i] * now.scale * sums[i]
        for b in range(count):
            among += labels[i] * labels[violators[b]] * products[i, violators[b]]
    now.square = decay * decay * now.square + 2.0 * decay * eta * cross + eta * eta * among
    for a in range(count):
        i = violators[a]
        j = s.place[rows[i]]
        if j < 0:
            j = now.size
            now.size += 1
            s.place[rows[i]], s.ids[j], s.y[j] = j, rows[i], labels[i]
        s.counts[j] += 1.0
        s.missed[j] += now.scales
        for later in range(first + k, sums.size):
            sums[later] += labels[i] * products[i, later]
    if s.projection and s.lam * now.square > 1.0:
        _project(s, sums, first + k)
    now.scale = eta
    now.scales += now.scale


@njit
def _project(s, sums, later):
    """Draw w back into the ball of radius 1/sqrt(lambda).

    The factors go into the counts at once: their product over all projections is beyond double precision.
    """
    now = s.now[0]
    factor = 1.0 / np.sqrt(s.lam * now.square)
    now.square = 1.0 / s.lam
    for j in range(now.size):
        s.total[j] += now.scales * s.counts[j] - s.missed[j]
        s.counts[j], s.missed[j] = factor * s.counts[j], 0.0
    now.scales = 0.0
    for i in range(later, sums.size):
        sums[i] *= factor


@njit
def steps(s, rows, labels, sums, products, first, last):
    """Take the steps that use the block's rows first ... last - 1."""
    for at in range(first, last, s.batch):
        step(s, rows, labels, sums, products, at)
