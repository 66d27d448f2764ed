"""Data sets in memory: labelled rows for training and testing, with their provenance."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from fwsvm._mapped import RowMatrix
from fwsvm.data.labels import encode, of_names
from fwsvm.errors import DataError
from fwsvm.scaling import Ranges


@dataclass(frozen=True)
class LabelledRows:
    """Labelled rows.

    Attributes
    ----------
    X : ndarray or csr_array of float64, shape (m, n)
        Rows of features; dense arrays are C-contiguous, sparse ones have sorted indices and no duplicates.
    labels : ndarray, shape (m,)
        float64 where every label is a number, otherwise text (dtype ``str``).
    ranges : Ranges or None
        The ranges that the rows were scaled by; None if they are as in their file.
    zero_based : bool or None
        Whether the file that the rows were read from counts features from 0; None of other rows.
    feature_names : tuple of str
        Names of the columns, of a data frame or a header; empty where they have none.
    notices : tuple of str
        What the user should know of them, such as an ignored ``qid:``.
    sha256 : str
        The digest (hex) of the bytes that they were read from; empty of other rows.
    """

    X: RowMatrix
    labels: np.ndarray
    ranges: Ranges | None = None
    zero_based: bool | None = None
    feature_names: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    sha256: str = ""

    @property
    def rows(self) -> int:
        """Number of rows m."""
        return int(self.X.shape[0])

    @property
    def features(self) -> int:
        """Number of features n."""
        return int(self.X.shape[1])


@dataclass(frozen=True)
class Dataset:
    """Training rows, optional test rows, and where they came from.

    Attributes
    ----------
    name : str
        The lock's name, or the file's path as given.
    train, test : LabelledRows, LabelledRows or None
        Both have ``features`` columns.
    classes : tuple of str
        Labels as text in the order of `fwsvm.data.labels.classes`: with two classes the first is the +1 class; with
        more, order of first appearance in the whole training file.
    fingerprint : str
        Digest of all that decides the rows: the raw bytes of every file, the loader, the split and the scaling.
    source : str
        Which of the entry's alternative sources was used, or the path.
    scaling : str
        ``none``, ``[-1,1]`` or ``[0,1]``: how training scales the rows, by the ranges of ``train``. If both tables have
        ``ranges``, they are scaled already; `fwsvm.data.load` scales them unless it is asked for raw rows.
    load_seconds : float
        Wall time of reading, parsing and scaling.
    own_notices : tuple of str
        What the user should know besides the ``notices`` of its rows, such as shapes that differ from the paper's.
    lacking : str
        Why there are no test rows though the data set has some: one sentence; empty otherwise.
    first_use : bool
        Whether a file had no published checksum and was trusted when it was first fetched.
    """

    name: str
    train: LabelledRows
    test: LabelledRows | None
    classes: tuple[str, ...]
    fingerprint: str
    source: str = ""
    scaling: str = "none"
    load_seconds: float = 0.0
    own_notices: tuple[str, ...] = ()
    lacking: str = ""
    first_use: bool = False

    @functools.cached_property
    def codes(self) -> NDArray[np.int32]:
        """The place of each training row's label in ``classes``, shape (m,)."""
        return encode(self.train.labels, self.classes)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know of it and its rows."""
        test = self.test.notices if self.test else ()
        return tuple(dict.fromkeys([*self.own_notices, *self.train.notices, *test]))


def canonical_csr(
    data: NDArray[np.float64], indices: NDArray[np.integer], indptr: NDArray[np.integer], features: int
) -> "scipy.sparse.csr_array":
    """Return rows whose indices are known to increase."""
    X = scipy.sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, features))
    X.has_canonical_format = True
    return X


def row_ends(lengths: Sequence[NDArray[np.integer]]) -> NDArray[np.integer]:
    """Return 0 and the end of each row among the entries, from the numbers of entries of consecutive rows."""
    ends = np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int64)
    return ends.astype(np.int32 if ends[-1] < 2**31 else np.int64)  # SciPy widens indices to this type


def refuse_one_based(path: Path, table: LabelledRows, features: int) -> None:
    """Refuse rows that were read as zero-based, since the ``features`` of training were, but look one-based."""
    X: Any = table.X
    if table.zero_based and table.features == features + 1 and X.indices.min(initial=1) > 0:
        raise DataError(
            f"{path} looks one-based, with indices from 1 to {features}, but the training rows were zero-based; "
            "predict it with --one-based, or write its indices from 0"
        )


def grouped(table: LabelledRows, grouping: Mapping[Any, Any] | None) -> LabelledRows:
    """Return the table with raw labels replaced by their groups; a label in no group stays."""
    if not grouping:
        return table
    group_of = {raw: group for group, members in grouping.items() for raw in members}
    found, which = np.unique(table.labels, return_inverse=True)
    return replace(table, labels=of_names([str(group_of.get(raw, raw)) for raw in found.tolist()], which))
