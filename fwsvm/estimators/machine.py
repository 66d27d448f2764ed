"""What the classifiers share: scikit-learn's data, labels, weights and errors made ours, and decisions made theirs.

scikit-learn sorts its classes and lets a decision value > 0 mean the second of two; ours lets it mean the first. So
two classes are handed over in reverse order, more as they are.
"""

import warnings
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fwsvm import scaling
from fwsvm._memory import require
from fwsvm.data.labels import text
from fwsvm.errors import RangeError, UsageError
from fwsvm.problems.features import canonical, prepared
from fwsvm.problems.machines import KernelModel
from fwsvm.solvers import METHODS, Result, Settings, Status, fit

TROUBLE = {Status.MAX_ITERATIONS, Status.TIME_LIMIT, Status.STALLED}


class Machine(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of the classifiers.

    Attributes
    ----------
    classes_ : ndarray, shape (K,), the labels, sorted
    n_features_in_ : int
    n_iter_ : int, iterations, summed over the two-class problems
    result_ : fwsvm.solvers.Result, the machine with its certificate and what it cost
    """

    family: ClassVar[str]
    result_: Any  # a Result, once fitted

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values of rows X (t, n): (t,) for two classes, > 0 for ``classes_[1]``, else (t, K)."""
        decision = self._decision(X)
        return decision[:, 0] if len(self.classes_) == 2 else decision

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of the rows of X (t, n), shape (t,)."""
        decision = self._decision(X)
        labels: np.ndarray = self._in_our_order(self.classes_)[self.result_.model.choose(decision)]
        return labels

    def _decision(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        ready = prepared(self.result_.model, canonical(rows))
        for notice in ready.notices:
            warnings.warn(notice, stacklevel=4)
        decision: np.ndarray = self.result_.model.decision(ready.X, effective_n_jobs(self.n_jobs))
        return decision

    def _in_our_order(self, classes: np.ndarray) -> np.ndarray:
        return classes[::-1] if len(classes) == 2 else classes

    def _train(self, X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> Self:
        """Fit by the settings that are the family's own; those of all families are read from the parameters."""
        if self.method in METHODS and METHODS[self.method].family != self.family:
            raise ValueError(
                f"{type(self).__name__} has the methods of the {self.family} family, not {self.method}"
            )
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", force_writeable=True
        )
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) == 2:
            codes = 1 - codes
        names = [text(c if isinstance(c, str) else float(c)) for c in self._in_our_order(self.classes_)]
        try:
            weights = self._weights(X, y, sample_weight)
            rows, ranges = self._scaled(canonical(X), weights)
            result = fit(rows, codes, names, self._settings(settings), weights=weights).with_ranges(ranges)
        except (RangeError, UsageError) as error:
            raise ValueError(str(error)) from error
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if result.status in TROUBLE:
            warnings.warn(_sentence(result), ConvergenceWarning, stacklevel=3)
        self.result_, self.n_iter_ = result, max(1, result.iterations)
        return self

    def _settings(self, own: dict[str, Any]) -> Settings:
        return Settings(
            method=self.method,
            C=self.C,
            stop=self.stop,
            tolerance=self.tol,
            max_iterations=self.max_iter,
            time_limit=self.time_limit,
            threads=effective_n_jobs(self.n_jobs),
            seed=_seed(self.random_state),
            **{"parameters": self.parameters or {}, **own},
        )

    def _scaled(self, X: Any, weights: np.ndarray | None) -> tuple[Any, scaling.Ranges | None]:
        """Return the rows as the machine is trained on them, and the ranges it scales by."""
        if self.scale is None:
            return X, None
        if self.scale not in scaling.TARGETS:
            raise UsageError(f"scale must be None, {' or '.join(scaling.TARGETS)}, not {self.scale!r}")
        ranges = scaling.fit(X, self.scale, None if weights is None else weights != 0)
        return scaling.apply(X, ranges), ranges

    def _weights(self, X: Any, y: np.ndarray, sample_weight: Any) -> np.ndarray | None:
        class_weight = getattr(self, "class_weight", None)
        if sample_weight is None and class_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        product: np.ndarray = weights * compute_sample_weight(class_weight, y)
        return product

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class KernelMachine(Machine):
    """Base of the classifiers with kernels, which set one class against one.

    Attributes
    ----------
    support_vectors_ : ndarray or csr_array, shape (s, n), grouped by class; scaled, where ``scale`` says so
    n_support_ : ndarray of int, shape (K,), support vectors of each class
    dual_coef_ : ndarray, shape (K - 1, s), their coefficients, laid out as in `sklearn.svm.SVC`
    intercept_ : ndarray, shape (K (K - 1) / 2,), of each pair of classes
    coef_ : ndarray, shape (K (K - 1) / 2, n), of each pair, with the linear kernel only
    """

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values of the rows of X (t, n): shape (t,) for two classes, > 0 for ``classes_[1]``.

        For K > 2 the shape is (t, K (K - 1) / 2) with ``decision_function_shape="ovo"``, a pair i < j a column, > 0
        for i; with "ovr" it is (t, K): votes, and within a vote the sum of the pairs' values, as in scikit-learn.
        """
        decision = super().decision_function(X)
        K = len(self.classes_)
        return decision if K == 2 or self.decision_function_shape == "ovo" else votes_and_values(decision, K)

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, for the linear kernel."""
        if self.kernel != "linear":
            raise AttributeError(f"coef_ is for the linear kernel, not for {self.kernel}")
        model = self._machine()
        pairs = len(model.biases)
        require(2 * 8 * model.features * pairs, f"coef_ of {model.features:,} features", "use dual_coef_")
        weights: np.ndarray = np.asarray((canonical(model.support).T @ model.pair_weights()).T)
        return weights

    def _train(self, X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> Self:
        if self.decision_function_shape not in {"ovr", "ovo"}:
            raise ValueError(
                f"decision_function_shape is 'ovr' or 'ovo', not {self.decision_function_shape!r}"
            )
        kernel = {name: getattr(self, name) for name in ("kernel", "gamma", "width_rule", "degree", "coef0")}
        super()._train(X, y, sample_weight, **kernel, cache_mib=self.cache_size, **settings)
        model = self._machine()
        order = np.arange(model.support.shape[0])
        if len(self.classes_) == 2:
            order = np.roll(order, -model.counts[0])
        self.support_vectors_ = model.support[order]
        self.n_support_ = self._in_our_order(model.counts)
        self.dual_coef_ = model.coefficients[order].T
        self.intercept_ = model.biases
        return self

    def _machine(self) -> KernelModel:
        check_is_fitted(self)
        model: KernelModel = self.result_.model
        return model


def votes_and_values(decision: np.ndarray, K: int) -> np.ndarray:
    """Return a value a class, (t, K), from one a pair: votes + s / (3 (|s| + 1)), s the sum of its pairs' values."""
    votes, values = np.zeros((len(decision), K)), np.zeros((len(decision), K))
    for p, (i, j) in enumerate(combinations(range(K), 2)):
        first = decision[:, p] > 0
        votes[first, i] += 1
        votes[~first, j] += 1
        values[:, i] += decision[:, p]
        values[:, j] -= decision[:, p]
    ranked: np.ndarray = votes + values / (3 * (np.abs(values) + 1))
    return ranked


def _seed(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _sentence(result: Result) -> str:
    gap = f" The relative gap is {result.relative_gap:.2g}." if np.isfinite(result.relative_gap) else ""
    return f"{result.message}{gap} A larger max_iter, time_limit or tol, or scaled features, may help."
