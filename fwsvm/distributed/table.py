"""The coordinator's view of all rows: questions to all partitions, and the rows of some classes as a `RowSource`.

The coordinator has numbers of each row (class, weight, gradient), and the rows of a chunk.
"""

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fwsvm._mapped import only_columns
from fwsvm.data import labels
from fwsvm.data.partitions import Partition
from fwsvm.distributed import block
from fwsvm.distributed.cluster import Cluster
from fwsvm.errors import DataError
from fwsvm.kernels.rows import Rows, no_rows, some_rows, stacked_rows
from fwsvm.kernels.source import Diagonal, RowSource
from fwsvm.scaling import TARGETS, Ranges


class RemoteTable:
    """All rows, on the workers of a cluster. A row's number is its place in the files, one after another.

    With ``scale``, one of `fwsvm.scaling.SCALINGS`, they are scaled by their own ranges.

    Attributes
    ----------
    digests : tuple of str, of each partition's bytes
    classes : tuple of str, in the order of `fwsvm.data.labels.classes`
    codes : ndarray of int32, shape (m,), class numbers, `block.OUT` of rows that are not trained on
    features : int
    ranges : Ranges or None
    notices : tuple of str

    Raises
    ------
    DataError
        The rows have one class only, or one each, or a partition cannot be read.
    """

    def __init__(self, cluster: Cluster, partitions: Sequence[Partition], *, scale: str = "none") -> None:
        self.cluster, count = cluster, len(partitions)
        parts = cluster.each(block.load, partitions)
        found: list[block.Facts] = cluster.gather(cluster.each(block.facts, parts))
        self.digests, widths, counts, notices = zip(*found, strict=True)
        self.notices = tuple(dict.fromkeys(notice for some in notices for notice in some))
        self.features, total = max(widths), Counter[str]()
        for some in counts:
            total.update(some)
        self.classes = _classes(total, partitions)
        self.blocks = cluster.each(
            block.block, parts, partitions, self.digests, [self.classes] * count, [self.features] * count
        )
        self.starts = np.concatenate([[0], np.cumsum([sum(some.values()) for some in counts])])
        self.ranges: Ranges | None = None
        self._look()
        if scale != "none":
            self.ranges = self._ranges(scale)
            self.blocks = self.futures(block.scaled, self.same(self.ranges))
            self._look()

    def _look(self) -> None:
        self.codes: np.ndarray = np.concatenate(self.ask(block.codes))
        self.moments: list[block.Moments] = [found for found in self.ask(block.moments) if found]

    @property
    def rows(self) -> int:
        """Number of rows that are trained on."""
        return int(np.count_nonzero(self.codes != block.OUT))

    @property
    def extreme(self) -> float:
        """The largest absolute value."""
        return float(max(abs(each).max() for some in self.moments for each in (some.least, some.most)))

    @property
    def spread(self) -> float:
        """The mean squared distance of two rows, as `fwsvm.kernels.widths.mean_squared_distance`."""
        mean, apart = sum(some.totals for some in self.moments) / self.rows, 0.0
        for some in self.moments:
            apart += some.apart + some.rows * float((some.totals / some.rows - mean).power(2).sum())
        return 2.0 / max(1, self.rows - 1) * apart

    def _ranges(self, scale: str) -> Ranges:
        """Return what `fwsvm.scaling.fit` returns for all rows."""
        least = reduce(csr_array.minimum, (some.least for some in self.moments))
        most = reduce(csr_array.maximum, (some.most for some in self.moments))
        features = np.sort((most - least).nonzero()[1]).astype(np.int64)
        low, high = (only_columns(each, features).toarray()[0] for each in (least, most))
        return Ranges(features, low, high, *TARGETS[scale])

    def without(self, held_out: np.ndarray) -> "RemoteTable":
        """Return a table without the rows of a boolean mask; features, and rows' numbers, stay those of all."""
        rest = copy.copy(self)
        rest.blocks = self.futures(block.without, self.split(held_out))
        rest._look()  # noqa: SLF001
        return rest

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Return values of all rows, partition by partition."""
        return np.split(values, self.starts[1:-1])

    def ask(self, function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
        """Return what a function says of each partition's block."""
        return self.cluster.gather(self.futures(function, *arguments))

    def futures(self, function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
        """Return a future of a function of each partition's block, whose result stays on its worker."""
        return self.cluster.each(function, self.blocks, *arguments)

    def same(self, value: Any) -> list[Any]:
        """Return an argument that is the same for all partitions."""
        return [value] * len(self.blocks)

    def fetch(self, numbers: np.ndarray) -> Rows:
        """Return the rows of ascending numbers."""
        cuts = np.searchsorted(numbers, self.starts[1:-1])
        own = zip(np.split(numbers, cuts), self.starts[:-1], strict=True)
        return stacked_rows(self.ask(block.of_numbers, [some - start for some, start in own]))


def _classes(counts: Counter[str], partitions: Sequence[Partition]) -> tuple[str, ...]:
    """Return the classes in their order; `DataError`, which names the file or folder, for fewer than two."""
    files = {partition.path for partition in partitions}
    name = files.pop() if len(files) == 1 else str(Path(files.pop()).parent)
    if len(counts) < 2:
        raise DataError(f"{name}: all rows have the same label; two classes are needed")
    names = np.array(list(counts))
    classes = labels.classes(names)
    if len(classes) == counts.total():
        labels.refuse_regression(names, classes, name)
    return classes


class ClusterSource(RowSource):
    """The rows of some classes of a table.

    Parameters
    ----------
    table : RemoteTable
    kernel_name : str
    which : ndarray of int, shape (m,), optional
        Numbers of the rows in the table, all of some classes; by default those that are trained on.
    """

    is_far = True

    def __init__(self, table: RemoteTable, kernel_name: str, which: np.ndarray | None = None) -> None:
        self.table, self.kernel_name, self.X = table, kernel_name, None
        self.which = np.flatnonzero(table.codes != block.OUT) if which is None else which
        self.classes = tuple(np.unique(table.codes[self.which]).tolist())
        self._place = np.searchsorted(np.sort(self.which), self.which)  # of each row in what workers return
        self._kept = np.zeros(0, np.int64), no_rows(table.features)  # rows of the last chunk, ascending

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.which), self.table.features

    def some(self, which: np.ndarray) -> "ClusterSource":
        """Return the rows ``which`` of these, all that there are of some classes."""
        return ClusterSource(self.table, self.kernel_name, self.which[which])

    def take(self, which: np.ndarray) -> Rows:
        """Return rows in memory; those of the last chunk are not fetched again."""
        wanted = self.which[which]
        numbers, rows = self._kept
        new = np.setdiff1d(wanted, numbers)
        if len(new):
            kept = np.flatnonzero(np.isin(numbers, wanted))
            every = np.concatenate([numbers[kept], new])
            rows = stacked_rows([some_rows(rows, kept), self.table.fetch(new)])
            order = np.argsort(every)
            numbers, rows = self._kept = every[order], some_rows(rows, order)
        return some_rows(rows, np.searchsorted(numbers, wanted))

    def __getitem__(self, which: np.ndarray) -> csr_array:
        """Return rows in memory, as an array."""
        return block.as_csr(self.take(which))

    def sums(
        self,
        kernel: Any,
        which: np.ndarray,
        weights: np.ndarray,
        threads: int,  # noqa: ARG002
        dtype: type = np.float64,
    ) -> np.ndarray:
        """Return the sums of weighted kernel values at all rows."""
        weighted = self.table.cluster.send((self.take(which), weights))
        given = self.classes, kernel, weighted, np.dtype(dtype).name
        found = self.table.ask(block.sums, *map(self.table.same, given))
        return np.asarray(np.concatenate(found)[self._place])

    def diagonal(self, kernel: Any) -> Diagonal:
        """Return the kernel's diagonal; RangeError for values that single precision cannot hold."""
        found = self.table.ask(
            block.diagonal, *map(self.table.same, (self.classes, kernel, self.kernel_name))
        )
        values = np.concatenate([part.values for part in found])
        return Diagonal(values[self._place], max(part.rounding for part in found))
