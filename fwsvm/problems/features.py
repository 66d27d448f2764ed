"""Rows as a machine takes them: with its features, scaled as the training rows were; and whether they are uneven."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm import scaling
from fwsvm._mapped import RowMatrix, blocks
from fwsvm.errors import UsageError
from fwsvm.kernels.kernel import KernelFamily
from fwsvm.problems.machines import KernelModel, LinearModel, takes_kernel_values
from fwsvm.problems.precomputed import refuse_other_rows

MOST_NAMES = 5  # that a message lists


class Prepared(NamedTuple):
    """Rows that a machine's `decision` takes.

    Attributes
    ----------
    X : ndarray or csr_array, shape (t, n)
    ignored : int
        Non-zeros in features that the machine was not trained on, which are left out.
    far : int
        Rows with a value far outside the training ranges (`fwsvm.scaling.FAR`); 0 where training scaled nothing.
    notices : tuple of str
        What the user should know of the values.
    """

    X: RowMatrix
    ignored: int
    far: int = 0
    notices: tuple[str, ...] = ()


def prepared(machine: KernelModel | LinearModel, X: RowMatrix) -> Prepared:
    """Return rows (t, n), given as they are in their file, with the machine's features and scaled by its ranges.

    Raises
    ------
    DataError
        A value cannot be scaled, or a kernel value that is to be given is not there.
    """
    if isinstance(machine, KernelModel) and takes_kernel_values(machine):
        refuse_other_rows(X, None if machine.foreign else machine.features - 1)
        return Prepared(X, 0)
    rows, ignored = fitted(X, machine.features)
    if machine.ranges is None or not rows.shape[0]:
        return Prepared(rows, ignored)
    notices = []
    scaled = scaling.apply(rows, machine.ranges)
    outside = scaling.outside(scaled, machine.ranges)
    if outside is not None:
        notices.append(outside.sentence(rows.shape[0]))
    if scaling.seem_scaled(rows, machine.ranges):
        notices.append(
            f"the rows seem to be scaled to {machine.ranges.interval} already, which the model does itself: give "
            "them as they were before"
        )
    return Prepared(scaled, ignored, 0 if outside is None else outside.rows, tuple(notices))


def refuse_other_columns(names: tuple[str, ...], given: tuple[str, ...]) -> None:
    """Raise `UsageError` where rows have other column names, or another order of them, than the training rows."""
    if not names or not given or names == given:
        return
    lacking, unknown = (
        [name for name in one if name not in set(other)] for one, other in ((names, given), (given, names))
    )
    said = "they are in another order"
    if lacking or unknown:
        said = "; ".join(
            f"{what} {', '.join(some[:MOST_NAMES])}{', ...' if len(some) > MOST_NAMES else ''}"
            for what, some in (("missing:", lacking), ("unknown:", unknown))
            if some
        )
    raise UsageError(f"the columns are not those that the model was trained on: {said}")


def fitted(X: RowMatrix, features: int) -> tuple[RowMatrix, int]:
    """Return the rows of X (m, n) with ``features`` columns, and how many non-zeros were left out.

    Missing features are zeros, as in LIBSVM's sparse format; those the machine has not seen are left out.
    """
    n = X.shape[1]
    if n == features:
        return X, 0
    if isinstance(X, csr_array):
        resized = X.copy()
        resized.resize(X.shape[0], features)
        return resized, int(X.count_nonzero() - resized.count_nonzero())
    if n < features:
        padded = np.zeros((X.shape[0], features), X.dtype)
        padded[:, :n] = X
        return padded, 0
    ignored = sum(int(np.count_nonzero(X[some, features:])) for some in blocks(X))
    return np.ascontiguousarray(X[:, :features]), ignored


def scaling_warning(X: RowMatrix, kernel: KernelFamily, remedy: str = "--scale '[0,1]'") -> str:
    """Return a warning if the features of X, shape (m, n), have ranges that are bad for the kernel, else ''."""
    if kernel.given:
        return ""
    so = "it decides the distances" if kernel.of_distances else "training may take very many steps"
    return scaling.uneven(X, so, remedy)
