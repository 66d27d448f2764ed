"""The coordinator's view of all rows: questions to all partitions, and some of the rows as a `RowSource`.

The coordinator has numbers of each row (class, weight, gradient), and the rows of a chunk.
"""

import functools
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fwsvm._mapped import only_columns, stacked
from fwsvm.data import labels
from fwsvm.data.partitions import Partition, read
from fwsvm.distributed import block
from fwsvm.distributed.cluster import Cluster, received
from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.kernels.source import ALL, Diagonal, RowSource
from fwsvm.problems.machines import KernelModel
from fwsvm.scaling import TARGETS, Ranges


class RemoteTable:
    """All rows, on the workers of a cluster. A row's number is its place in the files, one after another.

    With ``scale``, one of `fwsvm.scaling.SCALINGS`, they are scaled by their own ranges.

    Attributes
    ----------
    digests : tuple of str, of each partition's bytes
    classes : tuple of str, in the order of `fwsvm.data.labels.classes`
    codes : ndarray of int, shape (m,), class numbers
    features : int
    ranges : Ranges or None
    notices : tuple of str
    blocks : list of futures of Rows
    starts : ndarray of int, the number of each partition's first row, and m

    Raises
    ------
    DataError
        As `fwsvm.data.labels.require_two`, or a partition cannot be read.
    """

    def __init__(self, cluster: Cluster, partitions: list[Partition], *, scale: str = "none") -> None:
        self.cluster = cluster
        parts = cluster.each(read, partitions)
        self.digests, widths, found, notices = zip(
            *cluster.gather(cluster.each(block.facts, parts)), strict=True
        )
        self.notices = tuple(dict.fromkeys(chain(*notices)))
        self.features = max(widths)
        self.starts = np.cumsum([0, *map(len, found)])
        if len({some.dtype.kind for some in found}) > 1:  # numbers and text
            found = tuple(np.array([*map(labels.label_text, some.tolist())]) for some in found)
        every = np.concatenate(found)
        first = Path(partitions[0].path)
        name = str(first if first == Path(partitions[-1].path) else first.parent)
        self.classes = labels.require_two(every, name)
        self.codes = labels.encode(every, self.classes)
        self.blocks = cluster.each(block.checked_rows, parts, partitions, list(self.digests), self.features)
        self.ranges: Ranges | None = None
        if scale != "none":
            self.ranges = ClusterSource(self).ranges(scale)
            self.blocks = cluster.each(block.scaled, self.blocks, self.ranges)

    def split(self, numbers: np.ndarray) -> list[np.ndarray]:
        """Return the rows of ascending numbers by partition, as their numbers there."""
        own = np.split(numbers, np.searchsorted(numbers, self.starts[1:-1]))
        return [some - start for some, start in zip(own, self.starts, strict=False)]

    def fetch(self, numbers: np.ndarray) -> Rows:
        """Return the rows of ascending numbers."""
        found = self.cluster.gather(self.cluster.each(some_rows, self.blocks, self.split(numbers)))
        return as_rows(stacked([block.as_csr(rows) for rows in found]))


class ClusterSource(RowSource):
    """Some rows of a table.

    Parameters
    ----------
    table : RemoteTable
    which : ndarray of int, shape (m,), optional
        Numbers of the rows in the table; by default all.
    """

    is_far = True

    def __init__(self, table: RemoteTable, which: np.ndarray | None = None) -> None:
        self.table = table
        self.X = None
        self.which = np.arange(len(table.codes)) if which is None else which
        self._kept: tuple[np.ndarray, Rows] | None = None  # rows of the last chunk, ascending

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.which), self.table.features

    @property
    def codes(self) -> np.ndarray:
        """Class numbers, shape (m,)."""
        return self.table.codes[self.which]

    def some(self, which: np.ndarray) -> "ClusterSource":
        """Return the rows ``which`` of these."""
        return ClusterSource(self.table, self.which[which])

    def take(self, which: np.ndarray) -> Rows:
        """Return rows in memory; those of the last chunk are not fetched again."""
        wanted = self.which[which]
        if self._kept is None or not np.isin(wanted, self._kept[0]).all():
            numbers = np.unique(wanted)
            self._kept = numbers, self.table.fetch(numbers)
        numbers, rows = self._kept
        return some_rows(rows, np.searchsorted(numbers, wanted))

    def __getitem__(self, which: np.ndarray) -> csr_array:
        """Return rows in memory, as an array."""
        return block.as_csr(self.take(which))

    @functools.cached_property
    def _places(self) -> list[Any]:
        """Futures of the rows' numbers in each partition."""
        return self.table.cluster.each(received, self.table.split(np.sort(self.which)))

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return what a function says of the rows in each partition."""
        cluster = self.table.cluster
        return cluster.gather(cluster.each(function, self.table.blocks, self._places, *arguments))

    def _in_order(self, found: list[np.ndarray]) -> np.ndarray:
        """Return what partitions say of each row in the order of the rows."""
        return np.asarray(np.concatenate(found)[np.argsort(np.argsort(self.which))])

    def sums(
        self,
        kernel: Any,
        which: np.ndarray,
        weights: np.ndarray,
        threads: int,  # noqa: ARG002
        dtype: type = np.float64,
        at: np.ndarray | slice = ALL,
    ) -> np.ndarray:
        """Return the sums of weighted kernel values at all rows, or at some."""
        weighted = self.table.cluster.send((self.take(which), weights))
        return self._in_order(self._ask(block.sums, kernel, weighted, np.dtype(dtype).name))[at]

    def diagonal(self, kernel: Any) -> Diagonal:
        """Return the kernel's diagonal; RangeError for values that single precision cannot hold."""
        found: list[Diagonal] = self._ask(block.diagonal, kernel)
        return Diagonal(self._in_order([part.values for part in found]), max(part.rounding for part in found))

    def accuracy(self, model: KernelModel) -> float:
        """Return the fraction of the rows that a model is right on."""
        found = self._in_order(self._ask(block.predict, self.table.cluster.send(model)))
        return float(np.mean(found == self.codes))

    @functools.cached_property
    def _moments(self) -> list[block.Moments]:
        return [found for found in self._ask(block.moments) if found]

    @property
    def spread(self) -> float:
        """The mean squared distance of two rows, as `fwsvm.kernels.widths.mean_squared_distance`."""
        m = len(self.which)
        mean = sum(some.totals for some in self._moments) / m
        apart = 0.0
        for some in self._moments:
            apart += some.apart + some.rows * float((some.totals / some.rows - mean).power(2).sum())
        return 2.0 / max(1, m - 1) * apart

    def ranges(self, scale: str) -> Ranges:
        """Return what `fwsvm.scaling.fit` returns for all rows."""
        least = functools.reduce(csr_array.minimum, (some.least for some in self._moments))
        most = functools.reduce(csr_array.maximum, (some.most for some in self._moments))
        features = np.sort((most - least).nonzero()[1]).astype(np.int64)
        low, high = (only_columns(each, features).toarray()[0] for each in (least, most))
        return Ranges(features, low, high, *TARGETS[scale])
