"""Base classes of the classifiers, which convert data, labels, weights and errors to scikit-learn's conventions.

scikit-learn sorts the classes, and a decision value > 0 means the second of two; in `fwsvm.solvers` it means the first.
So two classes are passed on in reverse order; more keep their order.
"""

import inspect
import warnings
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fwsvm import scaling
from fwsvm._memory import require
from fwsvm.data.labels import text
from fwsvm.errors import FwsvmError, shown
from fwsvm.estimators import parameters
from fwsvm.problems.distinct import Distinct, distinct
from fwsvm.problems.features import canonical, prepared
from fwsvm.problems.machines import KernelModel
from fwsvm.solvers import FAMILIES, METHODS, Result, Settings, Status, fit

NOT_CONVERGED = {Status.MAX_ITERATIONS, Status.TIME_LIMIT, Status.STALLED}


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
    weighted: ClassVar[bool] = True  # whether rows and classes may have weights
    result_: Any  # a Result, once fitted

    def __new__(cls, *_: Any, **named: Any) -> Self:
        """Refuse unknown parameters with a `ValueError`, as set_params does."""
        parameters.refuse_unknown(cls.__name__, named, list(inspect.signature(cls).parameters))
        made: Self = super().__new__(cls)
        return made

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
        decision: np.ndarray = self.result_.model.decision(ready.X, parameters.threads(self.n_jobs))
        return decision

    def _in_our_order(self, classes: np.ndarray) -> np.ndarray:
        return classes[::-1] if len(classes) == 2 else classes

    def _train(self, X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> Self:
        """Fit with the family's own ``settings``; those of all families are read from the parameters."""
        method = METHODS.get(self.method) if isinstance(self.method, str) else None
        if method is not None and FAMILIES[method.family].problem != FAMILIES[self.family].problem:
            known = [
                name
                for name, m in METHODS.items()
                if FAMILIES[m.family].problem == FAMILIES[self.family].problem
            ]
            raise ValueError(f"{type(self).__name__} has the methods {', '.join(known)}, not {self.method}")
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", force_writeable=True
        )
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) == 2:
            codes = 1 - codes
        names = [text(c if isinstance(c, str) else float(c)) for c in self._in_our_order(self.classes_)]
        if self.weighted and sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        rows, weights = Distinct(canonical(X), codes, sample_weight if self.weighted else None), None
        try:
            rows, ranges = self._scaled(rows)
            if self.weighted:  # equal rows become one as they are trained on, scaled
                rows = distinct(*rows)
                weights = self._class_weights(rows)
            chosen = self._settings(self._of_kernel(rows) | settings)
            result = fit(rows.X, rows.codes, names, chosen, weights=weights, counts=rows.weights)
            result = result.with_ranges(ranges)
        except FwsvmError as error:
            raise ValueError(str(error)) from error
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if result.status in NOT_CONVERGED:
            warnings.warn(_sentence(result), ConvergenceWarning, stacklevel=3)
        self.result_, self.n_iter_ = result, max(1, result.iterations)
        return self

    def _settings(self, own: dict[str, Any]) -> Settings:
        of_method = parameters.mapping("parameters", self.parameters)
        return Settings(
            method=self.method,
            C=self.C,
            stop=self.stop,
            tolerance=self.tol,
            max_iterations=parameters.limit(self.max_iter),
            time_limit=self.time_limit,
            threads=parameters.threads(self.n_jobs),
            seed=parameters.seed(self.random_state),
            **own | {"parameters": {**of_method, **own.get("parameters", {})}},
        )

    def _class_weights(self, rows: Distinct) -> np.ndarray | None:
        labels = self._in_our_order(self.classes_)
        return parameters.class_weights(getattr(self, "class_weight", None), labels, rows)

    def _scaled(self, rows: Distinct) -> tuple[Distinct, scaling.Ranges | None]:
        """Return the scaled rows, and the ranges: those of the rows whose weight is not 0."""
        if self.scale is None:
            return rows, None
        if not isinstance(self.scale, str) or self.scale not in scaling.TARGETS:
            raise ValueError(f"scale must be None, {' or '.join(scaling.TARGETS)}, not {shown(self.scale)}")
        counted = np.ones(len(rows.codes), dtype=bool) if rows.weights is None else rows.weights > 0
        if (weights := self._class_weights(rows)) is not None:
            counted &= weights > 0
        ranges = scaling.fit(rows.X, self.scale, counted)
        return rows._replace(X=scaling.apply(rows.X, ranges)), ranges

    def _of_kernel(self, rows: Distinct) -> dict[str, Any]:  # noqa: ARG002
        """Return the settings of the kernel, for families with a choice of kernels."""
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class KernelMachine(Machine):
    """Base of the classifiers with kernels, which are one-versus-one.

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
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError(
                f"decision_function_shape is 'ovr' or 'ovo', not {shown(self.decision_function_shape)}"
            )
        super()._train(X, y, sample_weight, **settings)
        model = self._machine()
        order = np.arange(model.support.shape[0])
        if len(self.classes_) == 2:
            order = np.roll(order, -model.counts[0])
        self.support_vectors_ = model.support[order]
        self.n_support_ = self._in_our_order(model.counts)
        self.dual_coef_ = model.coefficients[order].T
        self.intercept_ = model.biases
        return self

    def _of_kernel(self, rows: Distinct) -> dict[str, Any]:
        chosen = {name: getattr(self, name) for name in ("kernel", "width_rule", "degree", "coef0")}
        gamma, cache = parameters.gamma(self.gamma, rows), parameters.whole(self.cache_size)
        own = parameters.mapping("kernel_parameters", self.kernel_parameters)
        return {**chosen, "gamma": gamma, "cache_mib": cache, "kernel_parameters": own}

    def _machine(self) -> KernelModel:
        check_is_fitted(self)
        model: KernelModel = self.result_.model
        return model


def votes_and_values(decision: np.ndarray, K: int) -> np.ndarray:
    """Return a value for each class, (t, K), from one for each pair: votes + s / (3 (|s| + 1)), s its pairs' sum."""
    votes, values = np.zeros((len(decision), K)), np.zeros((len(decision), K))
    for p, (i, j) in enumerate(combinations(range(K), 2)):
        first = decision[:, p] > 0
        votes[first, i] += 1
        votes[~first, j] += 1
        values[:, i] += decision[:, p]
        values[:, j] -= decision[:, p]
    ranked: np.ndarray = votes + values / (3 * (np.abs(values) + 1))
    return ranked


def _sentence(result: Result) -> str:
    gap = f" The relative gap is {result.relative_gap:.2g}." if np.isfinite(result.relative_gap) else ""
    return f"{result.message}{gap} A larger max_iter, time_limit or tol, or scaled features, may help."
