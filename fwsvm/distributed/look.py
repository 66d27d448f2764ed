"""A worker's part of a look at all rows of two classes: q = K~ alpha, and what it says. These functions run on workers.

The look stays on the worker; what goes to the coordinator is some numbers, counts, and the rows of the next chunk.
"""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.distributed.block import Block
from fwsvm.kernels.kernel import self_values
from fwsvm.kernels.rows import Rows, in_precision, narrowed, some_rows
from fwsvm.kernels.sums import VALUE_ROUNDING, value_rounding, weighted_sums

#: Bins of f from 1 on, 128 an octave up to 256: the upper half of a float32 counts them.
BINS, FIRST_BIN = 1024, 0x3F80


class Pair(NamedTuple):
    """Two classes, the first of them +1, and 1 / C of their rows."""

    first: int
    second: int
    ridges: tuple[float, float]


class Support(NamedTuple):
    """Rows with weight, and y alpha of each; of one message to all workers."""

    rows: Rows
    signed: np.ndarray


class Own(NamedTuple):
    """What a partition has in the coordinator's chunk: numbers here, ascending, and the weight of each, often 0."""

    held: np.ndarray
    alpha: np.ndarray


class Look(NamedTuple):
    """q at a partition's rows of two classes.

    Attributes
    ----------
    which : ndarray of int, shape (k,), their numbers in the partition
    plus : ndarray of bool, shape (k,), whether they are +1
    alpha, q, ridge, diagonal : ndarrays of float64, shape (k,)
    held : ndarray of bool, shape (k,), whether the coordinator has them
    value_rounding : float, what the kernel values in q are off by (`fwsvm.kernels.sums.value_rounding`)
    """

    which: np.ndarray
    plus: np.ndarray
    alpha: np.ndarray
    q: np.ndarray
    ridge: np.ndarray
    diagonal: np.ndarray
    held: np.ndarray
    value_rounding: float


class Judged(NamedTuple):
    """What a look says once R is known.

    Attributes
    ----------
    lowest, rounded : float, the least q, and the least with what rounding may have added taken off
    value_rounding : float, that of the look
    outside : float, the least q of rows that the coordinator does not have
    losses : float, sum of slack^2 / ridge
    matter : int, rows with weight, or with f < 1
    bins : ndarray of int64, shape (BINS,), counts of all others by f
    floors : tuple of float, the least f of rows without weight, of each class
    """

    lowest: float
    rounded: float
    value_rounding: float
    outside: float
    losses: float
    matter: int
    bins: np.ndarray
    floors: tuple[float, float]


class Chosen(NamedTuple):
    """Rows of the next chunk, by their numbers in the partition, ascending.

    Attributes
    ----------
    kept : ndarray of int, those that the coordinator has
    new : ndarray of int, shape (k,), those that it has not
    plus : ndarray of bool, shape (k,), whether these are +1
    rows : Rows, (k, n), these
    """

    kept: np.ndarray
    new: np.ndarray
    plus: np.ndarray
    rows: Rows


def look(mine: Block, own: Own, pair: Pair, kernel: Any, support: list[Support], dtype: str) -> Look:
    """Return q at the rows of two classes, from scratch in a precision."""
    which = np.flatnonzero((mine.codes == pair.first) | (mine.codes == pair.second))
    rows = mine.rows if len(which) == len(mine.codes) else some_rows(mine.rows, which)
    plus = mine.codes[which] == pair.first
    alpha, held, ridge = np.zeros(len(which)), np.zeros(len(which), bool), np.where(plus, *pair.ridges)
    places = np.searchsorted(which, own.held)
    alpha[places], held[places] = own.alpha, True
    if not len(which):
        return Look(which, plus, alpha, alpha, ridge, alpha, held, 0.0)
    off, h, narrow = VALUE_ROUNDING, np.zeros(len(which)), np.dtype(dtype).type
    for some in support:
        sources, targets = narrowed(in_precision(some.rows, narrow), in_precision(rows, narrow))
        h += weighted_sums(kernel, sources, np.arange(len(some.signed)), some.signed[:, None], targets)[:, 0]
        h += float(some.signed.sum())
        off = max(off, value_rounding(kernel, targets, sources))
    q = np.where(plus, h, -h) + alpha * ridge
    return Look(which, plus, alpha, q, ridge, self_values(kernel, rows) + 1.0 + ridge, held, off)


def objective(seen: Look) -> float:
    """Return the part of R = alpha' q."""
    return float(seen.alpha @ seen.q)


def total(parts: list[float]) -> float:
    """Return R from its parts."""
    return float(np.sum(parts))


def judge(seen: Look, R: float, norm: float) -> Judged:
    """Return what a look says at R; ``norm`` is the square root of the sum of alpha_i^2 K~_ii over all rows."""
    if not len(seen.q):
        return Judged(np.inf, np.inf, 0.0, np.inf, 0.0, 0, np.zeros(BINS, np.int64), (np.inf, np.inf))
    f = _f(seen, R)
    with np.errstate(over="ignore", invalid="ignore"):  # of a huge C
        slack = np.maximum(0.0, 1.0 - f)
        losses = float(slack @ (slack / seen.ridge))
        rounded = float((seen.q - seen.value_rounding * norm * np.sqrt(seen.diagonal)).min())
    others = seen.alpha == 0.0
    matter = ~others | (f < 1.0)
    bins = np.bincount(_bins(f[~matter]), minlength=BINS)
    floors = tuple(float(f[others & (seen.plus == plus)].min(initial=np.inf)) for plus in (True, False))
    outside = float(seen.q[~seen.held].min(initial=np.inf))
    matters = int(np.count_nonzero(matter))
    return Judged(
        float(seen.q.min()),
        rounded,
        seen.value_rounding,
        outside,
        losses,
        matters,
        bins,
        (floors[0], floors[1]),
    )


def _f(seen: Look, R: float) -> np.ndarray:
    """Return y times the decision value of each row."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return np.asarray((seen.q - seen.ridge * seen.alpha) / R)


def _bins(f: np.ndarray) -> np.ndarray:
    """Return the bin of each f >= 1."""
    upper = (f.astype(np.float32).view(np.uint32) >> 16).astype(np.int64)
    return np.clip(upper - FIRST_BIN, 0, BINS - 1)


def choose(mine: Block, seen: Look, R: float, below: int, more: int, floors: tuple[float, float]) -> Chosen:
    """Return a partition's rows of the next chunk.

    They are those that matter, those of bins below one, ``more`` rows of that one, those of least f, and the row of
    least f, ``floors``, of each class.
    """
    f, others = _f(seen, R), seen.alpha == 0.0
    bins, matter = _bins(np.maximum(f, 1.0)), ~others | (f < 1.0)
    wanted = matter | (bins < below)
    in_next = np.flatnonzero(~matter & (bins == below))
    wanted[in_next[np.argsort(f[in_next], kind="stable")[:more]]] = True
    wanted |= others & (f <= np.where(seen.plus, *floors))
    new = wanted & ~seen.held
    return Chosen(
        seen.which[wanted & seen.held], seen.which[new], seen.plus[new], some_rows(mine.rows, seen.which[new])
    )
