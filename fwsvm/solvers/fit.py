"""Training: settings and labelled rows in, a certified model out."""

import functools
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fwsvm import phases
from fwsvm._mapped import RowMatrix, all_finite, is_mapped, occurring
from fwsvm.errors import UsageError
from fwsvm.kernels.limits import refuse_overflow
from fwsvm.numerics.compile import is_cache_empty
from fwsvm.numerics.threads import blas_on
from fwsvm.phases import Phase, enter
from fwsvm.problems import precomputed
from fwsvm.problems.machines import with_absent_classes
from fwsvm.settings import Settings
from fwsvm.solvers import memory
from fwsvm.solvers.class_weight import ClassWeight, row_weights
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.result import Result, result_of
from fwsvm.solvers.subproblems import Subproblems, solve_all

MOST_FEATURES = 2**31 - 1  # their numbers are int32
SMALLEST_PENALTY, LARGEST_PENALTY = 1e-12, 1e12


@functools.cache
def announce_compiling() -> None:
    """Log once in a process that everything has to be compiled, where no display says it."""
    if is_cache_empty() and not phases.is_listened_to():
        logging.getLogger("fwsvm").warning("fwsvm: compiling for this computer (once)")


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
    """Train a model.

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
        rows = checked(X, codes, classes, weights, settings.class_weight)
        resolved = resolved or resolve(settings, rows.X)
        if resolved.family.train is not None:
            found: Result = resolved.family.train(rows, settings, resolved, watch)
        else:
            problems, resolved = prepare(rows, resolved)
            found = result_of(problems, resolved, solve_all(problems, resolved, watch))
    support = found.support
    if support is not None and rows.kept is not None:
        support = rows.kept[support]
    return replace(found, model=with_absent_classes(found.model, classes, rows.present), support=support)


class Checked(NamedTuple):
    """Rows to train on.

    Attributes
    ----------
    X : ndarray or csr_array, shape (m, n)
    codes : ndarray of int, shape (m,), places among the classes that have rows
    weights : ndarray, shape (m,), all positive
    labels : tuple of str, of the classes that have rows
    present : ndarray of int, shape (k,), ascending: these classes, as places among all
    kept : ndarray of int, shape (m,), or None
        The numbers of these rows among those given; None where they are all.
    """

    X: RowMatrix
    codes: np.ndarray
    weights: np.ndarray
    labels: tuple[str, ...]
    present: np.ndarray
    kept: np.ndarray | None


def checked(
    X: Any, codes: Any, classes: Sequence[str], weights: Any, class_weight: ClassWeight = None
) -> Checked:
    """Return the rows of positive weight, weights being those of rows times those of classes; see `fit` for errors."""
    codes = np.asarray(codes)
    if not is_mapped(X):  # mapped rows stay as they are
        X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        X = X.astype(np.float64, copy=False)
    if X.ndim != 2 or X.shape[0] != len(codes):
        raise UsageError(f"there are {len(codes)} labels for rows of shape {X.shape}")
    if X.shape[1] > MOST_FEATURES:
        raise UsageError(f"rows of {X.shape[1]:,} features; fwsvm counts no more than {MOST_FEATURES:,}")
    if not all_finite(X):
        raise UsageError("the rows hold values that are not finite numbers")
    if weights is None:  # one number stands for all
        weights = np.broadcast_to(1.0, len(codes))
    weights = np.asarray(weights, dtype=np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise UsageError("weights of rows must be finite and not negative")
    weights, kept = row_weights(class_weight, codes, classes, weights), None
    if (weights == 0).any():
        kept = np.flatnonzero(weights)
        X, codes, weights = X[kept].astype(np.float64, copy=False), codes[kept], weights[kept]
    present, codes = np.unique(codes, return_inverse=True)
    if len(present) < 2:
        lacking = (
            "is one class only; a classifier needs rows of two" if len(codes) else "are no rows to train on"
        )
        raise UsageError(f"there {lacking}")
    return Checked(X, codes, weights, tuple(classes[k] for k in present), present, kept)


def prepare(rows: Checked, resolved: Resolved) -> tuple[Subproblems, Resolved]:
    """Return the subproblems of checked rows, and their settings, of a precomputed kernel with its values.

    What does not fit in memory or in the range of numbers is refused.
    """
    X, weights, family = rows.X, rows.weights, resolved.family
    refuse_penalties(resolved.C, weights)
    solvers_rows, columns = occurring(X)
    if precomputed.is_given(resolved.kernel_name):
        enter(Phase.CHECK)
        given = precomputed.given_by(X, resolved.C * weights if family.ridge else None)
        X, solvers_rows, columns = given.numbers, given.places, None
        resolved = replace(resolved, kernel=given.kernel)
    memory.check(solvers_rows, X.shape[1], rows.codes, len(rows.labels), resolved)
    if family.kernels is None:
        refuse_overflow(resolved.kernel, resolved.kernel_name, solvers_rows)
    enter(Phase.TRAIN)
    return Subproblems(
        X, solvers_rows, columns, rows.codes, rows.labels, weights, family.multiclass
    ), resolved


def refuse_penalties(C: float, weights: np.ndarray) -> None:
    """Refuse penalties C_i, the penalty times the row's weight, (m,), outside what double precision is good for."""
    least, most = C * float(weights.min()), C * float(weights.max())
    if not SMALLEST_PENALTY <= least <= most <= LARGEST_PENALTY:
        raise UsageError(
            f"C times the weights of rows goes from {least:.3g} to {most:.3g}, beyond {SMALLEST_PENALTY:g} to "
            f"{LARGEST_PENALTY:g}; take another C or other weights"
        )
