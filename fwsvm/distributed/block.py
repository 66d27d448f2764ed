"""A worker's rows: a partition that is read, and what is asked of it. These functions run on workers."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm.data import labels
from fwsvm.data.partitions import Partition, PartitionRows, read
from fwsvm.distributed.sums import Sums, sums_of
from fwsvm.errors import DataError
from fwsvm.kernels.kernel import self_values
from fwsvm.kernels.limits import refuse_overflow
from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.problems.machines import KernelModel
from fwsvm.scaling import Ranges
from fwsvm.solvers.chunking.in_memory import compile_looks


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


def sums(mine: Block) -> Sums:
    """Return the sums of a block's rows that are trained on."""
    which = np.flatnonzero(mine.codes >= 0)
    rows = mine.rows if len(which) == len(mine.codes) else some_rows(mine.rows, which)
    return sums_of(as_csr(rows))


def widest(mine: Block, kernel: object, kernel_name: str, classes: int) -> np.ndarray:
    """Return the largest k(x, x) of each class, shape (classes,); RangeError where values are too large.

    What later looks need is compiled on the way.
    """
    found = np.full(classes, -np.inf)
    if len(mine.codes):
        refuse_overflow(kernel, kernel_name, as_csr(mine.rows))
        compile_looks(kernel, mine.rows)
        known = mine.codes >= 0
        np.maximum.at(found, mine.codes[known], self_values(kernel, mine.rows)[known])
    return found


def of_ranks(mine: Block, ranks: tuple[tuple[int, np.ndarray], ...]) -> tuple[np.ndarray, Rows]:
    """Return rows by class and rank, the how-maniest of its class in this partition: numbers here, and the rows."""
    which = np.concatenate([np.flatnonzero(mine.codes == code)[some] for code, some in ranks])
    return which, some_rows(mine.rows, which)


def of_numbers(mine: Block, which: np.ndarray) -> tuple[np.ndarray, Rows]:
    """Return the classes and the rows of numbers in this partition."""
    return mine.codes[which], some_rows(mine.rows, which)


def right(mine: Block, machine: KernelModel) -> int:
    """Return on how many rows a machine is right."""
    return int(np.count_nonzero(machine.predict(as_csr(mine.rows)) == mine.codes)) if len(mine.codes) else 0


def as_csr(rows: Rows) -> csr_array:
    """Return rows as an array of SciPy's, which shares their numbers."""
    X = csr_array((rows.values, rows.columns, rows.starts), shape=rows.shape)
    X.has_sorted_indices = X.has_canonical_format = True
    return X
