"""Rows on the workers of a cluster as a `RowSource`: workers compute kernel sums and the diagonal of their rows.

The coordinator has numbers of each row (class, weight, gradient), and the rows of a chunk.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fwsvm.distributed import block
from fwsvm.distributed.table import RemoteTable, stacked
from fwsvm.kernels.rows import Rows, some_rows
from fwsvm.kernels.source import Diagonal, RowSource


class ClusterSource(RowSource):
    """The rows of some classes of a table.

    Parameters
    ----------
    table : RemoteTable
    codes : ndarray of int, shape (rows of the table,), class numbers
    kernel_name : str
    which : ndarray of int, shape (m,), optional
        Numbers of the rows in the table, all of some classes; by default those that are trained on.
    """

    is_far = True

    def __init__(
        self, table: RemoteTable, codes: np.ndarray, kernel_name: str, which: np.ndarray | None = None
    ) -> None:
        self.table, self.codes, self.kernel_name = table, codes, kernel_name
        self.which = np.flatnonzero(codes >= 0) if which is None else which
        self.classes = tuple(np.unique(codes[self.which]).tolist())
        self._ascending = np.sort(self.which)
        self._place = np.searchsorted(self._ascending, self.which)  # of each row in what workers return
        self._kept = (
            np.zeros(0, np.int64),
            stacked([], table.found.features),
        )  # rows of the last chunk, ascending
        self.X = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.which), self.table.found.features

    def some(self, which: np.ndarray) -> "ClusterSource":
        """Return the rows ``which`` of these, all that there are of some classes."""
        return ClusterSource(self.table, self.codes, self.kernel_name, self.which[which])

    def take(self, which: np.ndarray) -> Rows:
        """Return rows in memory; those of the last chunk are not fetched again."""
        wanted = self.which[which]
        numbers, rows = self._kept
        new = np.setdiff1d(wanted, numbers)
        if len(new):
            kept = np.flatnonzero(np.isin(numbers, wanted))
            every = np.concatenate([numbers[kept], new])
            rows = stacked([some_rows(rows, kept), self.table.rows(new)], self.shape[1])
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
        weighted, same = self.table.cluster.send((self.take(which), weights)), self.table.same
        found = self.table.ask(
            block.sums,
            same(self.classes),
            same(kernel),
            same(weighted),
            same(np.dtype(dtype).name),
        )
        return np.asarray(np.concatenate(found)[self._place])

    def diagonal(self, kernel: Any) -> Diagonal:
        """Return the kernel's diagonal; RangeError for values that single precision cannot hold."""
        same = self.table.same
        found = self.table.ask(block.diagonal, same(self.classes), same(kernel), same(self.kernel_name))
        values = np.concatenate([part.values for part in found])
        return Diagonal(values[self._place], max(part.rounding for part in found))
