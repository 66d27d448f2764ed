"""Training: settings and labelled rows in, a certified model out; what is not in the domain is refused here."""

import functools
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fwsvm import phases
from fwsvm._mapped import RowMatrix, all_finite, is_mapped, occurring
from fwsvm._memory import require
from fwsvm.errors import RangeError, SettingError, UsageError, shown
from fwsvm.kernels.kernel import own_terms_and_values
from fwsvm.kernels.rows import Rows
from fwsvm.kernels.source import row_source
from fwsvm.numerics.compile import is_cache_empty
from fwsvm.numerics.threads import blas_on
from fwsvm.parameters import BALANCED, converted
from fwsvm.phases import Phase, enter
from fwsvm.problems import precomputed
from fwsvm.settings import Settings
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.result import Result, result_of
from fwsvm.solvers.subproblems import Subproblems, solve_all
from fwsvm.solvers.tuning import MOST_FIRST_ROWS

ClassWeight: TypeAlias = str | Mapping[str, float] | None
MOST_FEATURES = 2**31 - 1  # their numbers are int32
SMALLEST_PENALTY = 1e-12
LARGEST_PENALTY = 1e12
LARGEST_VALUE = float(np.finfo(np.float32).max) / 4.0  # of a kernel: sums of four own terms are finite, too
SMALLEST_SQUARE = 1e-30  # the largest of the rows' own terms
SCALE = "scale the data first (--scale '[0,1]', in Python scale='[0,1]', or fwsvm scale)"
# bytes that training takes beside the rows it is given
PART = 4096  # of a two-class problem, its model included
ROW, LINEAR_ROW = 480, 220  # of a run's own arrays, for each row
NUMBER, LINEAR_NUMBER = 36, 24  # of copies in both precisions with their features, for each number stored


@functools.cache
def announce_compiling() -> None:
    """Log once in a process that everything has to be compiled, where no display says it."""
    if is_cache_empty() and not phases.is_listened_to():
        logging.getLogger("fwsvm").warning("fwsvm: compiling for first use; the code is kept")


def fit(
    X: RowMatrix,
    codes: np.ndarray,
    classes: Sequence[str],
    settings: Settings,
    *,
    weights: np.ndarray | None = None,
    watch: Watch | None = None,
    resolved: Resolved | None = None,
    traced: bool = True,
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
    traced : bool
        Whether the result is to have a trace, unless ``resolved`` says it. Without one, few rows of two classes take
        half of the time.

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
        resolved = resolved or resolve(settings, rows.X, traced=traced)
        if resolved.family.train:
            found = resolved.family.train(rows, settings, resolved, watch)
        else:
            problems, resolved = prepare(rows, resolved)
            found = result_of(problems, resolved, solve_all(problems, resolved, watch))
    return rows.numbered(found)


class Checked(NamedTuple):
    """Rows to train on.

    Attributes
    ----------
    X : ndarray or csr_array, shape (m, n)
    codes : ndarray of int, shape (m,), places in ``labels``
    weights : ndarray, shape (m,), all positive
    labels : tuple of str, of all classes; at least two have rows
    kept : ndarray of int, shape (m,), or None
        The numbers of these rows among those given; None where they are all.
    """

    X: RowMatrix
    codes: np.ndarray
    weights: np.ndarray
    labels: tuple[str, ...]
    kept: np.ndarray | None

    def numbered(self, result: Result) -> Result:
        """Return a result whose support vectors have the numbers that they have among the rows given."""
        if self.kept is None or result.support is None:
            return result
        return replace(result, support=self.kept[result.support])


def checked(
    X: RowMatrix,
    codes: np.ndarray,
    classes: Sequence[str],
    weights: np.ndarray | None,
    class_weight: ClassWeight = None,
) -> Checked:
    """Return the rows of positive weight, weights being those of rows times those of classes; see `fit` for errors."""
    if X.shape[1] > MOST_FEATURES:
        raise UsageError(f"rows of {X.shape[1]:,} features; fwsvm counts no more than {MOST_FEATURES:,}")
    if not all_finite(X):
        raise UsageError("the rows hold values that are not finite numbers")
    kept = None
    if weights is None:
        weights = np.ones(len(codes))
    elif not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise UsageError("weights of rows must be finite and not negative")
    if class_weight is not None:
        weights = weights * weights_of_classes(class_weight, codes, classes, weights)[codes]
    if not weights.all():
        kept = np.flatnonzero(weights)
        X, codes, weights = X[kept].astype(np.float64, copy=False), codes[kept], weights[kept]
    if np.count_nonzero(np.bincount(codes)) < 2:
        said = (
            "is one class only; a classifier needs rows of two, with positive weights"
            if len(codes)
            else "are no rows to train on"
        )
        raise UsageError(f"there {said}")
    return Checked(X, codes, weights, tuple(classes), kept)


def prepare(rows: Checked, resolved: Resolved) -> tuple[Subproblems, Resolved]:
    """Return the subproblems of checked rows, and their settings, of a precomputed kernel with its values.

    What does not fit in memory or in the range of numbers is refused.
    """
    X = rows.X
    family = resolved.family
    refuse_penalties(resolved.C, rows.weights)
    solvers_rows, columns = occurring(X)
    if precomputed.is_given(resolved.kernel_name):
        enter(Phase.CHECK)
        ridge = resolved.C * rows.weights if family.ridge else None
        X, solvers_rows, kernel = precomputed.given_by(X, ridge)
        resolved = replace(resolved, kernel=kernel)
        columns = None
    problems = Subproblems(X, solvers_rows, columns, rows.codes, rows.labels, rows.weights, family.multiclass)
    _refuse_lack_of_memory(problems, resolved)
    if family.divide:
        problems = family.divide(problems, resolved)
    if family.kernels is None:
        # pairs of classes are made of the rows in this form
        read = problems.source if problems.in_pairs and family.searches else solvers_rows
        refuse_out_of_range(resolved.kernel, resolved.kernel_name, read)
    enter(Phase.TRAIN)
    return problems, resolved


def refuse_penalties(C: float, weights: np.ndarray) -> None:
    """Refuse penalties C_i, the penalty times the row's weight, (m,), outside what double precision is good for."""
    least = C * weights.min()
    most = C * weights.max()
    if not SMALLEST_PENALTY <= least <= most <= LARGEST_PENALTY:
        raise UsageError(
            f"C times the weights of rows goes from {least:.3g} to {most:.3g}, beyond {SMALLEST_PENALTY:g} to "
            f"{LARGEST_PENALTY:g}; take another C or other weights"
        )


def weights_of_classes(
    given: ClassWeight, codes: np.ndarray, classes: Sequence[str], weights: np.ndarray
) -> np.ndarray:
    """Return the weight of each of K classes, by which C of its rows is multiplied, shape (K,).

    Parameters
    ----------
    given : "balanced", mapping of labels to numbers of at least 0, or None
        Balanced are m / (K m_k), as in scikit-learn, so that the rows of all classes count alike. Classes that the
        mapping does not name have weight 1.
    codes : ndarray of int, shape (m,), places in ``classes``
    classes : sequence of K labels
    weights : ndarray, shape (m,), of rows, which balanced weights count by

    Raises
    ------
    SettingError
        Neither "balanced" nor a mapping, a label that no class has, or a weight that is negative.
    """
    if given == BALANCED:
        sums = np.bincount(codes, weights, minlength=len(classes))
        return sums.sum() / (len(classes) * np.where(sums > 0.0, sums, np.inf))
    given = given or {}
    if not isinstance(given, Mapping):
        raise SettingError(
            f"class_weight is {BALANCED} or a mapping of labels to weights, not {shown(given)}"
        )
    found = dict.fromkeys(classes, 1.0)
    for name, value in given.items():
        if name not in found:
            known = ", ".join(map(shown, classes[:8]))
            raise SettingError(
                f"class_weight names {shown(name)}, which is no class; the classes are {known}"
            )
        found[name] = weight = converted(f"the weight of class {shown(name)}", value, float)
        if weight < 0.0:
            raise SettingError(f"the weight of class {shown(name)} must not be negative, as {weight:g} is")
    return np.array([*found.values()])


def refuse_out_of_range(kernel: Any, kernel_name: str, X: RowMatrix | Rows) -> None:
    """Raise RangeError if kernel values of the rows of X (m, n) are beyond single precision, UsageError below it.

    All kernels are positive semi-definite, |k(x, z)|^2 <= k(x, x) k(z, z): values of rows with themselves are largest.
    """
    widest = 0.0
    stored = 0
    for some, rows in row_source(X).blocks():
        with np.errstate(over="ignore", invalid="ignore"):
            own, values = map(np.abs, own_terms_and_values(kernel, rows))
        fits = np.maximum(own, values) <= LARGEST_VALUE  # not those that are not numbers
        if not fits.all():
            row = np.argmin(fits)
            what = f"the {kernel_name} kernel's value {values[row]:.3g} with itself"
            remedy = f"{SCALE}, or take a smaller degree, gamma or coef0"
            if own[row] > LARGEST_VALUE:
                what = f"the squared norm {own[row]:.3g}"
                remedy = SCALE
            raise RangeError(
                f"row {some.start + row + 1} has {what}, and single precision ends at {4 * LARGEST_VALUE:.2g}; {remedy}"
            )
        widest = max(widest, own.max(initial=0.0))
        stored += len(rows.values)
    if stored and widest < SMALLEST_SQUARE:
        raise UsageError(
            f"all rows are zero, or too close to it for kernel values in single precision; {SCALE}"
        )


def _refuse_lack_of_memory(problems: Subproblems, resolved: Resolved) -> None:
    """Refuse training that does not fit in the memory available: estimated once, before any of it is taken."""
    X, count, family = problems.rows, len(problems), resolved.family
    (m, n), features, mapped = X.shape, problems.X.shape[1], is_mapped(X)
    stored = X.size if isinstance(X, np.ndarray) else X.nnz
    if family.multiclass == "one-vs-rest":
        copied = stored if isinstance(X, np.ndarray) and not mapped else 0
        each = LINEAR_ROW * m + LINEAR_NUMBER * copied
        kept = 8 * (features + 5 * n) * count
        remedy = (
            "take fewer rows (fwsvm subset), number the features without gaps, for each has a weight, or use a kernel "
            'method, such as swap-2o with kernel="linear"'
        )
    else:
        rows = int(problems.sizes.max())
        copied = min(rows, MOST_FIRST_ROWS) if mapped and not problems.in_pairs else rows
        each = ROW * rows + NUMBER * stored * copied // m
        kept = PART * count + 17 * (problems.K - 1) * m * problems.in_pairs
        kept += min(resolved.cache_bytes, 8 * m**2) * family.keeps_values
        remedy = "take fewer rows (fwsvm subset) or classes, or lower cache_mib"
    what = f"{resolved.method.name} on {m:,} rows of {features:,} features and {problems.K:,} classes"
    require(min(count, resolved.threads) * each + kept, what, remedy)
