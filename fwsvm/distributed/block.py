"""A worker's rows: a partition that is read, and what is asked of it. These functions run on workers.

``which`` are the numbers of some rows in the partition, ascending.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm.data import labels
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.partitions import Partition
from fwsvm.errors import DataError
from fwsvm.kernels.kernel import family_of
from fwsvm.kernels.rows import Rows, as_rows, in_precision, narrowed, some_rows
from fwsvm.kernels.source import Diagonal, RowSource
from fwsvm.kernels.values import weighted_sums
from fwsvm.kernels.widths import mean_squared_distance
from fwsvm.problems.machines import KernelModel
from fwsvm.scaling import Ranges
from fwsvm.solvers.fit import refuse_out_of_range


class Moments(NamedTuple):
    """What rows come to: their number, and for each feature sum and extremes, zeros included, of shape (1, n).

    ``apart`` is the sum of the rows' squared distances from their mean.
    """

    rows: int
    totals: csr_array
    least: csr_array
    most: csr_array
    apart: float


def facts(part: LabelledRows) -> tuple[str, int, labels.Labels, tuple[str, ...]]:
    """Return the digest of a partition, its features, its labels, and its notices."""
    return part.sha256, part.features, part.labels, part.notices


def checked_rows(part: LabelledRows, partition: Partition, sha256: str, features: int) -> Rows:
    """Return a partition's rows; DataError where its bytes are not those that were read at first."""
    if part.sha256 != sha256:
        raise DataError(f"{partition.path} changed while it was trained on; train again")
    return as_rows(part.X)._replace(features=features)


def scaled(rows: Rows, ranges: Ranges) -> Rows:
    """Return rows scaled."""
    return as_rows(scaling.apply(as_csr(rows), ranges))


def moments(rows: Rows, which: np.ndarray) -> Moments | None:
    """Return what some rows come to; None where there are none."""
    if not len(which):
        return None
    X = as_csr(some_rows(rows, which))
    totals, least, most = (
        csr_array(each.reshape(1, -1)) for each in (X.sum(axis=0), X.min(axis=0), X.max(axis=0))
    )
    return Moments(len(which), totals, least, most, 0.5 * (len(which) - 1) * mean_squared_distance(X))


def diagonal(rows: Rows, which: np.ndarray, kernel: Any) -> Diagonal:
    """Return the kernel's diagonal over some rows; RangeError where values are too large."""
    source = RowSource(some_rows(rows, which))
    source.is_far = True
    refuse_out_of_range(kernel, family_of(kernel).name, source.X)
    return source.diagonal(kernel)


def sums(
    rows: Rows, which: np.ndarray, kernel: Any, weighted: tuple[Rows, np.ndarray], dtype: str
) -> np.ndarray:
    """Return the sums of weighted kernel values at some rows, float64 of shape (k, outputs)."""
    narrow: type = np.dtype(dtype).type
    sources, targets = (in_precision(some, narrow) for some in narrowed(weighted[0], some_rows(rows, which)))
    return weighted_sums(kernel, sources, np.arange(sources.height), weighted[1], targets)


def predict(rows: Rows, which: np.ndarray, model: KernelModel) -> np.ndarray:
    """Return the class numbers that a model gives some rows."""
    return model.predict(as_csr(some_rows(rows, which)))


def as_csr(rows: Rows) -> csr_array:
    """Return rows as an array of SciPy's, which shares their numbers."""
    return csr_array((rows.values, rows.columns, rows.starts), shape=rows.shape)
