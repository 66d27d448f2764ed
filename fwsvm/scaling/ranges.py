"""The ranges of features over the training rows, and the interval they are mapped to."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix, blocks, is_mapped
from fwsvm._occurring import occurring
from fwsvm._stretches import stretches
from fwsvm.errors import DataError

TARGETS = {"[-1,1]": (-1.0, 1.0), "[0,1]": (0.0, 1.0)}
SCALINGS = ("none", *TARGETS)


class Ranges(NamedTuple):
    """How rows are scaled: the training ranges of the features that vary, and the interval they are mapped to.

    Attributes
    ----------
    features : ndarray of int64, shape (k,)
        Columns that vary over the training rows, ascending from 0; all others become 0.
    minimum, maximum : ndarray of float64, shape (k,)
    lower, upper : float
    """

    features: NDArray[np.int64]
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]
    lower: float
    upper: float

    @property
    def interval(self) -> str:
        """The interval as text, such as ``[0,1]``."""
        return f"[{self.lower:g},{self.upper:g}]"

    @property
    def keeps_zeros(self) -> bool:
        """Whether zero is mapped to zero, so that sparse rows stay sparse."""
        return self.lower == 0 and not self.minimum.any()

    def same_as(self, other: "Ranges | None") -> bool:
        """Whether the other scales every row alike."""
        if other is None or (self.lower, self.upper) != (other.lower, other.upper):
            return False
        arrays = (
            (self.features, other.features),
            (self.minimum, other.minimum),
            (self.maximum, other.maximum),
        )
        return all(np.array_equal(mine, theirs) for mine, theirs in arrays)

    def text(self, first: int = 1) -> str:
        """Return the lines of a range file of svm-scale, whose features count from ``first``."""
        rows = zip(
            (self.features + first).tolist(), self.minimum.tolist(), self.maximum.tolist(), strict=True
        )
        lines = "".join(f"{j} {low:.17g} {high:.17g}\n" for j, low, high in rows)
        return f"x\n{self.lower:.17g} {self.upper:.17g}\n{lines}"


def fit(X: RowMatrix, scaling: str, counted: NDArray[np.bool_] | None = None) -> Ranges:
    """Return the ranges of the columns of ``X``, shape (m, n), for a scaling of `TARGETS`.

    With ``counted``, a truth for each row, of those rows alone, if there are any.

    Raises
    ------
    DataError
        A value is NaN.
    """
    if counted is not None and (counted.all() or not counted.any()):
        counted = None
    features, minimum, maximum = extremes(X, counted)
    if np.isnan(minimum).any() or np.isnan(maximum).any():
        raise DataError("the rows hold values that are not numbers, and have no ranges to be scaled by")
    varies = maximum > minimum
    return Ranges(features[varies], minimum[varies], maximum[varies], *TARGETS[scaling])


def extremes(
    X: RowMatrix, counted: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the columns of X, shape (m, n), that may vary, ascending, and the least and largest value of each.

    Of wide sparse rows, those that store a value. With ``counted``, a truth for each row of which one at least is true,
    the values are of those rows alone, which are not copied as a whole.
    """
    if 0 in X.shape:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    rows, columns = occurring(X)
    numbers = rows.nnz if isinstance(rows, csr_array) else rows.size
    found: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for some in blocks(rows) if is_mapped(rows) else stretches(rows.shape[0], numbers):
        part = rows[some] if counted is None else rows[some][counted[some]]
        if not part.shape[0]:
            continue
        least, most = part.min(axis=0), part.max(axis=0)
        if isinstance(rows, csr_array):
            least, most = least.toarray().ravel(), most.toarray().ravel()
        if found:
            least, most = np.minimum(found[0][0], least), np.maximum(found[0][1], most)
        found = [(least.astype(np.float64, copy=False), most.astype(np.float64, copy=False))]
    return np.arange(X.shape[1]) if columns is None else columns.astype(np.int64), *found[0]
