"""Trained machines: decision values and predictions for rows never seen."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fwsvm import phases, scaling
from fwsvm._mapped import RowMatrix, all_finite, blocks, fitted
from fwsvm.errors import RangeError, UsageError
from fwsvm.kernels.kernel import KernelFamily
from fwsvm.kernels.precomputed import Precomputed
from fwsvm.kernels.rows import as_rows, in_precision, narrowed
from fwsvm.kernels.values import sum_tables, sums_of_tables
from fwsvm.problems import precomputed

DECIDED = 1 << 22  # numbers of mapped rows that are decided on at a time: 32 MiB
CERTAIN = 20.0  # slope of the sigmoid of a pair with a class without rows: e^-20 is beyond LIBSVM's least probability
NOT_FINITE = "the rows hold values that are not finite numbers"


@dataclass(frozen=True)
class Model(ABC):
    """What models of all kinds have.

    Attributes
    ----------
    classes : tuple of str
        K labels.
    facts : mapping
        Method, settings and certificate, kept in model files.
    ranges : Ranges or None
        What training scaled its rows by: `decision` and `predict` take rows that are scaled so already, as
        `prepared` makes them of rows as they are in a file.
    labels : ndarray, shape (K,), or None
        The classes as they were given, in the type that predictions have; None if they came from a file of numbers.
    feature_names : tuple of str
        Names of the training rows' columns, empty if they had none.
    zero_based : bool or None
        Whether the training file counted its features from 0; None for rows of no such file.
    """

    classes: tuple[str, ...]
    _: KW_ONLY
    facts: Mapping[str, Any] = field(default_factory=dict)
    ranges: scaling.Ranges | None = None
    labels: np.ndarray | None = None
    feature_names: tuple[str, ...] = ()
    zero_based: bool | None = None

    @property
    @abstractmethod
    def features(self) -> int:
        """Number of features n."""

    @abstractmethod
    def decision(self, X: RowMatrix, threads: int = 1) -> np.ndarray:
        """Return decision values of the rows of X (t, n), shape (t, pairs of classes or outputs).

        Raises
        ------
        UsageError
            Rows of another number of features, or values that are not finite.
        DataError
            Rows of a precomputed kernel that lack values with support vectors.
        """

    @abstractmethod
    def choose(self, decision: np.ndarray) -> np.ndarray:
        """Return the class numbers that decision values stand for."""

    def predict(self, X: RowMatrix, threads: int = 1) -> np.ndarray:
        """Return the class number of each row."""
        return self.choose(self.decision(X, threads))


@dataclass(frozen=True)
class KernelModel(Model):
    """One-versus-one kernel machines over shared support vectors, in LIBSVM's layout; in pair i < j class i is +1.

    Attributes
    ----------
    kernel : NamedTuple
        A registered kernel with its parameters.
    support : ndarray or csr_array of float64, shape (s, n)
        Support vectors, grouped by class in the order of ``classes``; of a precomputed kernel their numbers, as in
        `fwsvm.problems.precomputed`.
    counts : ndarray of int, shape (K,)
        Support vectors of each class.
    coefficients : ndarray, shape (s, K - 1)
        Row of class c: its coefficients y alpha / R in the pairs with the other classes, in their order.
    biases : ndarray, shape (K (K - 1) / 2,)
        b of each pair (0,1), (0,2), ..., (K-2,K-1); LIBSVM's rho is -b.
    sigmoids : ndarray, shape (2, K (K - 1) / 2), or None
        A and B of each pair, with which `fwsvm.problems.probability` makes probabilities of decision values.
    """

    kernel: Any
    support: RowMatrix
    counts: np.ndarray
    coefficients: np.ndarray
    biases: np.ndarray
    sigmoids: np.ndarray | None = None

    @property
    def features(self) -> int:
        """Number of features n."""
        return int(self.support.shape[1])

    def pair_weights(self) -> np.ndarray:
        """Return each support vector's coefficient in each pair, shape (s, pairs)."""
        weights = np.zeros((len(self.coefficients), len(self.biases)))
        ends = np.cumsum(self.counts)
        for c, end in enumerate(ends):
            mine = slice(end - self.counts[c], end)
            weights[mine, _pairs_of(c, len(ends))] = self.coefficients[mine]
        return weights

    def decision(self, X: RowMatrix, threads: int = 1) -> np.ndarray:
        """Return the pairs' decision values, positive for the first class."""
        if isinstance(self.kernel, Precomputed):
            if not all_finite(X):
                raise UsageError(NOT_FINITE)
            return precomputed.decision(self.support, self.pair_weights(), X) + self.biases
        return decisions_together([self], [np.arange(self.counts.sum())], self.support, X, threads)[0]

    def choose(self, decision: np.ndarray) -> np.ndarray:
        """Return the classes with most votes, of which ties go to the earlier."""
        first, second = np.triu_indices(len(self.classes), 1)
        vote = np.eye(len(self.classes), dtype=np.float32)
        wins = (decision > 0).astype(np.float32)
        return (wins @ vote[first] + (1 - wins) @ vote[second]).argmax(axis=1)  # sums of ones are exact


def _pairs_of(c: int, K: int) -> np.ndarray:
    """Return the numbers of the pairs that a class is in, in the order of the other classes."""
    return np.flatnonzero((np.stack(np.triu_indices(K, 1)) == c).any(axis=0))


def refuse_other_width(X: RowMatrix, features: int) -> None:
    """Refuse rows of another number of features than the machine's, with `UsageError`."""
    if X.shape[1] != features:
        raise UsageError(f"the rows have {X.shape[1]} features, but the model was trained on {features}")


def _finite_blocks(X: RowMatrix, features: int) -> Iterator[tuple[slice, RowMatrix]]:
    """Yield X some rows at a time; `UsageError` for another number of features, or values that are not finite.

    Compiled code would read beyond the features, and kernels make finite values of values that are not.
    """
    refuse_other_width(X, features)
    for some in blocks(X, DECIDED):
        rows = X[some]
        if not all_finite(rows):
            raise UsageError(NOT_FINITE)
        yield some, rows


def decisions_together(
    machines: Sequence[KernelModel],
    numbers: Sequence[np.ndarray],
    trained: RowMatrix,
    X: RowMatrix,
    threads: int = 1,
    dtype: type = np.float64,
) -> list[np.ndarray]:
    """Return the decision values of X (t, n) of each machine: a support vector that several have is looked at once.

    ``numbers`` say, machine by machine, which of the rows ``trained`` (m, n) the support vectors are. Kernel and
    classes are the same for all, and kernel values are of ``dtype``. A support vector is in the K - 1 pairs of its
    class only.
    """
    first, K, count = machines[0], len(machines[0].counts), len(machines)
    every = np.flatnonzero(np.bincount(np.concatenate(numbers)))
    support = as_rows(trained[every])
    classes = np.empty(len(every), int)
    coefficients = np.zeros((len(every), count, K - 1))
    for k, (each, mine) in enumerate(zip(machines, numbers, strict=True)):
        places = np.searchsorted(every, mine)
        coefficients[places, k] = each.coefficients
        classes[places] = np.repeat(np.arange(K), each.counts)
    everyone = np.arange(len(every))
    groups = [everyone] if K == 2 else [np.flatnonzero(classes == c) for c in range(K)]
    found = np.repeat(np.stack([each.biases for each in machines], axis=1)[:, :, None], X.shape[0], axis=2)
    for some, given in _finite_blocks(X, first.features):
        sources, rows = (in_precision(each, dtype) for each in narrowed(support, as_rows(given)))
        phases.inside("rows", some.start / X.shape[0])
        kernel, table, _, targets = sum_tables(first.kernel, sources, everyone, rows)
        for c, which in enumerate(groups):
            weights = coefficients[which].reshape(len(which), count * (K - 1))
            sums = sums_of_tables(kernel, table, which, weights, targets, 0, rows.height, threads)
            found[_pairs_of(c, K), :, some] += (
                np.ascontiguousarray(sums.T).reshape(count, K - 1, -1).swapaxes(0, 1)
            )
    return list(found.transpose(1, 2, 0))


@dataclass(frozen=True)
class LinearModel(Model):
    """Linear machines: one for two classes, the first being +1, one a class (one-versus-rest) for more.

    Attributes
    ----------
    weights : ndarray, shape (outputs, n)
    biases : ndarray, shape (outputs,)
        Coefficients of the constant feature, zeros without one.
    bias_feature : float
        Value of the constant feature, 0 for none.
    """

    weights: np.ndarray
    biases: np.ndarray
    bias_feature: float = 0.0

    @property
    def features(self) -> int:
        """Number of features n."""
        return int(self.weights.shape[1])

    def decision(self, X: RowMatrix, threads: int = 1) -> np.ndarray:  # noqa: ARG002
        """Return the outputs' decision values."""
        found = np.empty((X.shape[0], len(self.weights)))
        for some, rows in _finite_blocks(X, self.features):
            found[some] = rows.astype(np.float64, copy=False) @ self.weights.T
        return found + self.biases * self.bias_feature

    def choose(self, decision: np.ndarray) -> np.ndarray:
        """Return the classes by the sign for two of them, by the largest value for more."""
        return np.where(decision[:, 0] > 0, 0, 1) if len(self.classes) == 2 else decision.argmax(axis=1)


def refuse_undecided(decision: np.ndarray) -> None:
    """Refuse decision values (t, outputs) that are no numbers, of which no class follows, with `RangeError`."""
    bad = np.flatnonzero(~np.isfinite(decision).all(axis=1))
    if len(bad):
        raise RangeError(
            f"row {bad[0] + 1} of these {len(decision):,} has a decision value that is no finite number: its features, "
            "or kernel values of them, are beyond double precision"
        )


def takes_kernel_values(machine: Model) -> bool:
    """Whether the rows that a machine takes are kernel values, as in `fwsvm.problems.precomputed`, and not features."""
    return isinstance(machine, KernelModel) and isinstance(machine.kernel, Precomputed)


# ---------------------------------------------------------------- rows as they are in a file


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


def prepared(machine: Model, X: RowMatrix) -> Prepared:
    """Return rows (t, n), given as they are in their file, with the machine's features and scaled by its ranges.

    Raises
    ------
    DataError
        A value cannot be scaled, or kernel values are not those with the training rows.
    """
    if takes_kernel_values(machine):  # LIBSVM's models do not say how many rows trained them
        precomputed.refuse_other_rows(X, training_rows=machine.features - 1 if machine.facts else None)
        return Prepared(X, 0)
    rows, ignored = fitted(X, machine.features)
    ranges = machine.ranges
    if ranges is None or not rows.shape[0]:
        return Prepared(rows, ignored)
    scaled = scaling.apply(rows, ranges)
    far, outside = scaling.outside(scaled, ranges)
    notices = [outside] if far else []
    if scaling.seem_scaled(rows, ranges):
        notices.append(
            f"the rows seem to be scaled to {ranges.interval} already, which the model does itself: give them as they "
            "were before"
        )
    return Prepared(scaled, ignored, far, tuple(notices))


def scaling_warning(X: RowMatrix, kernel: KernelFamily, remedy: str = "--scale '[0,1]'") -> str:
    """Return a warning if the features of X, shape (m, n), have ranges that are bad for the kernel, else ''."""
    if kernel.given:
        return ""
    so = "it decides the distances" if kernel.of_distances else "training may take very many steps"
    return scaling.uneven(X, so, remedy)
