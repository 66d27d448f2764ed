"""A worker's rows: a partition that is read, and what is asked of it. These functions run on workers."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm._mapped import occurring, widened
from fwsvm.data import labels
from fwsvm.data.partitions import Partition, PartitionRows, read
from fwsvm.errors import DataError
from fwsvm.kernels.rows import Rows, as_rows, in_precision, narrowed, some_rows
from fwsvm.kernels.source import Diagonal, RowSource
from fwsvm.kernels.sums import weighted_sums
from fwsvm.kernels.widths import mean_squared_distance
from fwsvm.problems.machines import KernelModel
from fwsvm.scaling import Ranges
from fwsvm.solvers.fit import refuse_overflow

OUT = -1  # the class number of a row that is not trained on


class Facts(NamedTuple):
    """What is to be known of a partition: sha256 of its bytes, largest index, rows of each class, notices.

    Classes are labels as text, in order of first appearance.
    """

    sha256: str
    features: int
    counts: dict[str, int]
    notices: tuple[str, ...]


class Block(NamedTuple):
    """The rows of a partition as they are trained on: rows in float64, and class numbers (int32), or `OUT`."""

    rows: Rows
    codes: np.ndarray


class Moments(NamedTuple):
    """What rows come to: their number, and for each feature sum and extremes, zeros included, of shape (1, n).

    ``apart`` is the sum of the rows' squared distances from their mean.
    """

    rows: int
    totals: csr_array
    least: csr_array
    most: csr_array
    apart: float


def load(partition: Partition) -> PartitionRows:
    """Read a partition."""
    return read(partition)


def facts(part: PartitionRows) -> Facts:
    """Return what is to be known of a partition."""
    distinct, firsts, counts = np.unique(part.table.labels, return_index=True, return_counts=True)
    order = np.argsort(firsts)
    found: dict[str, int] = {}
    for label, count in zip(distinct[order].tolist(), counts[order].tolist(), strict=True):
        name = labels.label_text(label)
        found[name] = found.get(name, 0) + count
    return Facts(part.sha256, part.table.X.shape[1], found, part.notices)


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


def without(mine: Block, held_out: np.ndarray) -> Block:
    """Return a block of which the rows of a boolean mask are not trained on."""
    return Block(mine.rows, np.where(held_out, OUT, mine.codes).astype(np.int32))


def codes(mine: Block) -> np.ndarray:
    """Return the class number of each row."""
    return mine.codes


def of_numbers(mine: Block, which: np.ndarray) -> Rows:
    """Return the rows of numbers in this partition."""
    return some_rows(mine.rows, which)


def moments(mine: Block) -> Moments | None:
    """Return what the rows that are trained on come to; None where there are none."""
    rows = as_csr(some_rows(mine.rows, np.flatnonzero(mine.codes != OUT)))
    (m, n), (X, columns) = rows.shape, occurring(rows)
    if not m:
        return None
    sums = X.sum(axis=0), X.min(axis=0), X.max(axis=0)
    found = [csr_array(each.reshape(1, -1)) for each in sums]
    totals, least, most = found if columns is None else [widened(each, columns, n) for each in found]
    return Moments(m, totals, least, most, 0.5 * (m - 1) * mean_squared_distance(X))


def _of_classes(mine: Block, classes: tuple[int, ...]) -> Rows:
    which = np.flatnonzero(np.isin(mine.codes, classes))
    return mine.rows if len(which) == len(mine.codes) else some_rows(mine.rows, which)


def diagonal(mine: Block, classes: tuple[int, ...], kernel: Any, kernel_name: str) -> Diagonal:
    """Return the kernel's diagonal over the rows of some classes; RangeError where values are too large."""
    source = RowSource(_of_classes(mine, classes))
    source.is_far = True
    if not source.shape[0]:
        return Diagonal(np.zeros(0), 0.0)
    refuse_overflow(kernel, kernel_name, as_csr(source.X))
    return source.diagonal(kernel)


def sums(
    mine: Block, classes: tuple[int, ...], kernel: Any, weighted: tuple[Rows, np.ndarray], dtype: str
) -> np.ndarray:
    """Return the sums of weighted kernel values at the rows of some classes, float64 of shape (k, outputs)."""
    narrow: type = np.dtype(dtype).type
    sources, targets = (
        in_precision(rows, narrow) for rows in narrowed(weighted[0], _of_classes(mine, classes))
    )
    return weighted_sums(kernel, sources, np.arange(sources.height), weighted[1], targets)


def right(mine: Block, which: np.ndarray, machine: KernelModel) -> int:
    """Return on how many rows of a boolean mask a machine is right."""
    if not which.any():
        return 0
    rows = some_rows(mine.rows, np.flatnonzero(which))
    return int(np.count_nonzero(machine.predict(as_csr(rows)) == mine.codes[which]))


def as_csr(rows: Rows) -> csr_array:
    """Return rows as an array of SciPy's, which shares their numbers."""
    X = csr_array((rows.values, rows.columns, rows.starts), shape=rows.shape)
    X.has_sorted_indices = X.has_canonical_format = True
    return X
