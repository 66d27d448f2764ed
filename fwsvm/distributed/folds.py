"""Parts of the rows on a cluster that are held out in turn."""

from typing import Any, NamedTuple

import numpy as np

from fwsvm.distributed.block import Block, as_csr
from fwsvm.problems.machines import KernelModel

OUT = -1  # the class number of a row that is not trained on


class HeldOutPart(NamedTuple):
    """Which rows of a partition are held out: every ``folds``-th of each class, in an order drawn at random.

    Attributes
    ----------
    part, folds : int
    stream : tuple of int, seeds the order: the seed and the partition's number
    """

    part: int
    folds: int
    stream: tuple[int, int]


def held_out(codes: np.ndarray, fold: HeldOutPart) -> np.ndarray:
    """Return which rows of a partition are held out, bool of shape (k,).

    Where a class's first row falls is drawn, too: small partitions are not all held out in the first part.
    """
    random, mask = np.random.default_rng(fold.stream), np.zeros(len(codes), bool)
    for code in np.unique(codes):
        mine = random.permutation(np.flatnonzero(codes == code))
        first = int(random.integers(fold.folds))
        mask[mine[(fold.part - first) % fold.folds :: fold.folds]] = True
    return mask


def without(mine: Block, fold: HeldOutPart) -> Block:
    """Return a block whose rows held out are in no class."""
    return Block(mine.rows, np.where(held_out(mine.codes, fold), OUT, mine.codes).astype(np.int32))


def counts(mine: Block, classes: int) -> np.ndarray:
    """Return how many rows of each class are trained on, shape (classes,)."""
    return np.bincount(mine.codes[mine.codes != OUT], minlength=classes)


def right_of_held_out(mine: Block, fold: HeldOutPart, machine: KernelModel) -> tuple[int, int]:
    """Return on how many rows held out a machine is right, and how many there are."""
    mask: Any = held_out(mine.codes, fold)
    if not mask.any():
        return 0, 0
    predicted = machine.predict(as_csr(mine.rows)[np.flatnonzero(mask)])
    return int(np.count_nonzero(predicted == mine.codes[mask])), int(np.count_nonzero(mask))
