"""A worker's rows: a partition that is read, and what is asked of it. These functions run on workers."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm.data import labels
from fwsvm.data.partitions import Partition, PartitionRows, read
from fwsvm.distributed.sums import Sums, sums_of
from fwsvm.errors import DataError
from fwsvm.kernels.rows import Rows, as_rows, in_precision, narrowed, some_rows
from fwsvm.kernels.source import Diagonal, RowSource
from fwsvm.kernels.sums import weighted_sums
from fwsvm.problems.machines import KernelModel
from fwsvm.scaling import Ranges
from fwsvm.solvers.fit import refuse_overflow


class Facts(NamedTuple):
    """What is to be known of a partition before training.

    Attributes
    ----------
    sha256 : str, of its bytes
    features : int, the largest index
    classes : tuple of str, labels in order of first appearance
    counts : ndarray of int, shape (classes,), rows of each
    sums : Sums
    notices : tuple of str
    """

    sha256: str
    features: int
    classes: tuple[str, ...]
    counts: np.ndarray
    sums: Sums
    notices: tuple[str, ...]


class Block(NamedTuple):
    """The rows of a partition as they are trained on.

    Attributes
    ----------
    rows : Rows, float64
    codes : ndarray of int32, class numbers, -1 of rows that are not trained on
    """

    rows: Rows
    codes: np.ndarray


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


def load(partition: Partition) -> PartitionRows:
    """Read a partition."""
    return read(partition)


def facts(part: PartitionRows) -> Facts:
    """Return what is to be known of a partition."""
    X = csr_array(part.table.X)
    names, codes = _names(part.table.labels)
    counts = np.bincount(codes, minlength=len(names))
    return Facts(part.sha256, X.shape[1], names, counts, sums_of(X), part.notices)


def _names(given: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the labels as text in order of first appearance, and the place of each row's among them."""
    distinct, firsts = np.unique(given, return_index=True)
    names = tuple(dict.fromkeys(labels.label_text(label) for label in distinct[np.argsort(firsts)].tolist()))
    return names, labels.encode(given, names)


def block(
    part: PartitionRows, partition: Partition, sha256: str, classes: tuple[str, ...], features: int
) -> Block:
    """Return a partition's rows to train on; DataError where its bytes are not those that were read at first."""
    if part.sha256 != sha256:
        raise DataError(f"{partition.name} changed while it was trained on; train again")
    return Block(as_rows(part.table.X)._replace(features=features), labels.encode(part.table.labels, classes))


def scaled(mine: Block, ranges: Ranges) -> Block:
    """Return a block with its rows scaled."""
    return Block(as_rows(scaling.apply(as_csr(mine.rows), ranges)), mine.codes)


def feature_sums(mine: Block) -> Sums:
    """Return the sums of a block's rows that are trained on."""
    which = np.flatnonzero(mine.codes >= 0)
    rows = mine.rows if len(which) == len(mine.codes) else some_rows(mine.rows, which)
    return sums_of(as_csr(rows))


def codes(mine: Block) -> np.ndarray:
    """Return the class number of each row."""
    return mine.codes


def _trained_on(mine: Block, classes: tuple[int, ...]) -> RowSource:
    """Return the rows of some classes, far from who asks."""
    which = np.flatnonzero(np.isin(mine.codes, classes))
    found = RowSource(mine.rows if len(which) == len(mine.codes) else some_rows(mine.rows, which))
    found.is_far = True
    return found


def diagonal(mine: Block, classes: tuple[int, ...], kernel: Any, kernel_name: str) -> Diagonal:
    """Return the kernel's diagonal over the rows of some classes; RangeError where values are too large."""
    source = _trained_on(mine, classes)
    if not source.shape[0]:
        return Diagonal(np.zeros(0), 0.0)
    refuse_overflow(kernel, kernel_name, as_csr(source.take(np.arange(source.shape[0]))))
    return source.diagonal(kernel)


def sums(
    mine: Block, classes: tuple[int, ...], kernel: Any, weighted: tuple[Rows, np.ndarray], dtype: str
) -> np.ndarray:
    """Return the sums of weighted kernel values at the rows of some classes, float64 of shape (k, outputs)."""
    narrow, rows = np.dtype(dtype).type, _trained_on(mine, classes)
    sources, targets = narrowed(weighted[0], rows.take(np.arange(rows.shape[0])))
    sources, targets, which = (
        in_precision(sources, narrow),
        in_precision(targets, narrow),
        np.arange(sources.height),
    )
    return weighted_sums(kernel, sources, which, weighted[1], targets)


def of_numbers(mine: Block, which: np.ndarray) -> Rows:
    """Return the rows of numbers in this partition."""
    return some_rows(mine.rows, which)


def right(mine: Block, machine: KernelModel) -> int:
    """Return on how many rows a machine is right."""
    return int(np.count_nonzero(machine.predict(as_csr(mine.rows)) == mine.codes)) if len(mine.codes) else 0


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


def as_csr(rows: Rows) -> csr_array:
    """Return rows as an array of SciPy's, which shares their numbers."""
    X = csr_array((rows.values, rows.columns, rows.starts), shape=rows.shape)
    X.has_sorted_indices = X.has_canonical_format = True
    return X
