"""Training: settings and labelled rows in, a certified machine out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix, all_finite, is_mapped
from fwsvm.errors import UsageError
from fwsvm.numerics.threads import blas_on
from fwsvm.problems.machines import with_absent_classes
from fwsvm.settings import Settings
from fwsvm.solvers.class_weight import ClassWeight, row_weights
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.result import Result
from fwsvm.solvers.training import prepare, result_of
from fwsvm.solvers.warm_up import announce_compiling

MOST_FEATURES = 2**31 - 1  # their numbers are int32


def fit(
    X: RowMatrix,
    codes: np.ndarray,
    classes: Sequence[str],
    settings: Settings,
    *,
    weights: np.ndarray | None = None,
    watch: Watch | None = None,
    resolved: Resolved | None = None,
) -> Result:
    """Train a machine.

    Parameters
    ----------
    X : ndarray or csr_array of float64, shape (m, n)
        Dense rows that are mapped (`fwsvm._mapped`) may be float32.
    codes : ndarray of int, shape (m,)
        Class numbers: places in ``classes``. With two classes the first is +1.
    classes : sequence of str
        Labels in the order of `fwsvm.data.labels.classes`. One without rows of positive weight is never predicted.
    settings : Settings
    weights : ndarray, shape (m,), optional
        Multiplies the penalty C of each row, beside the weight of its class; rows of weight zero are left out.
    watch : callable, optional
        Told of the progress a few times a second.
    resolved : Resolved, optional
        What `resolve` made of the settings and these rows, where the caller has it.

    Raises
    ------
    UsageError
        Settings that make no sense, or fewer than two classes with rows of positive weight.
    RangeError
        Kernel values that single precision cannot hold.
    DataError
        As of `resolve`; a precomputed matrix that is not symmetric or not positive semidefinite.
    """
    announce_compiling()
    with blas_on(1):
        X, codes, weights, present, kept = checked(X, codes, classes, weights, settings.class_weight)
        named = tuple(classes[k] for k in present)
        if resolved is None:
            resolved = resolve(settings, X)
        if resolved.family.train is not None:
            found: Result = resolved.family.train(X, codes, named, weights, settings, resolved, watch)
        else:
            training = prepare(X, codes, named, resolved, weights)
            found = result_of(training, training.solved(watch))
        if found.sample is not None:
            found = replace(found, support=None)
        elif kept is not None and found.support is not None:
            found = replace(found, support=kept[found.support])
        return with_all_classes(found, classes, present)


class Checked(NamedTuple):
    """Rows to train on.

    Attributes
    ----------
    X : ndarray or csr_array, shape (m, n)
    codes : ndarray of int, shape (m,), places among the classes that have rows
    weights : ndarray, shape (m,), all positive
    present : ndarray of int, shape (k,), ascending: the classes that have rows, as places among all
    kept : ndarray of int, shape (m,), or None
        The numbers of these rows among those given; None where they are all.
    """

    X: RowMatrix
    codes: np.ndarray
    weights: np.ndarray
    present: np.ndarray
    kept: np.ndarray | None


def checked(
    X: Any, codes: Any, classes: Sequence[str], weights: Any, class_weight: ClassWeight = None
) -> Checked:
    """Return the rows of positive weight, weights being those of rows times those of classes; see `fit` for errors."""
    codes = np.asarray(codes)
    if not is_mapped(X):  # of a new csr_array all indices are looked at, to see whether they are in order
        X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.shape[0] != len(codes):
        raise UsageError(f"there are {len(codes)} labels for rows of shape {X.shape}")
    if X.shape[1] > MOST_FEATURES:
        raise UsageError(f"rows of {X.shape[1]:,} features; fwsvm counts no more than {MOST_FEATURES:,}")
    if not is_mapped(X):  # mapped rows stay as they are
        X = X.astype(np.float64, copy=False)
    if not all_finite(X):
        raise UsageError("the rows hold values that are not finite numbers")
    if weights is None:  # one number stands for all
        weights = np.broadcast_to(1.0, len(codes))
    weights = np.asarray(weights, dtype=np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise UsageError("weights of rows must be finite and not negative")
    weights = row_weights(class_weight, codes, classes, weights)
    kept = None
    if (weights == 0).any():
        counted = weights > 0
        kept = np.flatnonzero(counted)
        X, codes, weights = X[counted].astype(np.float64, copy=False), codes[counted], weights[counted]
    present, codes = np.unique(codes, return_inverse=True)
    if len(present) < 2:
        raise UsageError(
            "there is one class only; a classifier needs rows of two"
            if len(present)
            else "there are no rows to train on"
        )
    return Checked(X, codes, weights, present, kept)


def with_all_classes(result: Result, classes: Sequence[str], present: np.ndarray) -> Result:
    """Return a result whose model has all ``classes``, those without rows too; ``present`` (k,) are its own."""
    if len(present) == len(classes):
        return result
    return replace(result, model=with_absent_classes(result.model, classes, present))
