"""Base class of the classifiers with kernels: pairs of classes, support vectors, probabilities."""

import warnings
from itertools import combinations
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fwsvm._memory import require
from fwsvm.errors import callers_level, shown
from fwsvm.estimators import kernel_function, parameters
from fwsvm.estimators.machine import NOT_CONVERGED, Classifier, sentence
from fwsvm.experiments.probability import refuse_probability, with_probabilities
from fwsvm.kernels.rows import canonical
from fwsvm.problems.distinct import Distinct
from fwsvm.problems.machines import KernelModel, takes_kernel_values
from fwsvm.problems.precomputed import NAME as PRECOMPUTED
from fwsvm.problems.precomputed import support_numbers, with_numbers, without_numbers
from fwsvm.problems.probability import probabilities
from fwsvm.solvers import Result, Settings


def _gives_probabilities(estimator: Any) -> bool:
    """Whether probabilities were asked for; `AttributeError` where they were not, as `available_if` wants."""
    if not estimator.probability:
        raise AttributeError(f"{type(estimator).__name__} gives probabilities with probability=True only")
    return True


class KernelMachine(Classifier):
    """Base of the classifiers with kernels, which are one-versus-one.

    Attributes
    ----------
    support_vectors_ : ndarray or csr_array, shape (s, n), grouped by class; scaled, where ``scale`` says so
    n_support_ : ndarray of int, shape (K,), support vectors of each class
    dual_coef_ : ndarray, shape (K - 1, s), their coefficients, laid out as in `sklearn.svm.SVC`
    intercept_ : ndarray, shape (K (K - 1) / 2,), of each pair of classes
    coef_ : ndarray, shape (K (K - 1) / 2, n), of each pair, with the linear kernel only
    support_ : ndarray of int, shape (s,), numbers of the support vectors among the rows, where ``kernel`` is
        precomputed; ``support_vectors_`` is empty then, as in SVC
    rows_ : ndarray or csr_array, shape (m, n), the rows of ``fit``, each once, where ``kernel`` is a function
    """

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values of the rows of X (t, n): shape (t,) for two classes, > 0 for ``classes_[1]``.

        For K > 2 the shape is (t, K (K - 1) / 2) with ``decision_function_shape="ovo"``, a pair i < j a column, > 0
        for i; with "ovr" it is (t, K): votes, and within a vote the sum of the pairs' values, as in scikit-learn.
        """
        decision = super().decision_function(X)
        K = len(self.classes_)
        return decision if K == 2 or self.decision_function_shape == "ovo" else votes_and_values(decision, K)

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of ``classes_`` for the rows of X (t, n), shape (t, K); with ``probability=True``.

        As in SVC they come from sigmoids of decision values, fitted on rows that other machines were trained on, so the
        likeliest class need not be the one of `predict`.
        """
        decision, sigmoids = self._decision(X), self._machine().sigmoids
        if sigmoids is None:
            raise NotFittedError(
                f"this {type(self).__name__} was fitted with probability=False; fit it again"
            )
        found = probabilities(decision, sigmoids, len(self.classes_))
        return found[:, ::-1] if len(self.classes_) == 2 else found

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of `predict_proba`."""
        logarithms: np.ndarray = np.log(self.predict_proba(X))
        return logarithms

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
        return super()._train(X, y, sample_weight, **settings)

    def _trained(self, X: Any, y: Any, sample_weight: Any, settings: dict[str, Any]) -> Self:
        super()._trained(X, y, sample_weight, settings)
        self._show_machine()
        return self

    def _show_machine(self) -> None:
        """Set the attributes that `sklearn.svm.SVC` has, too."""
        model: KernelModel = self.result_.model
        self.__dict__.pop("support_", None)  # of an earlier fit
        if not callable(self.kernel):
            self.__dict__.pop("rows_", None)
        order = np.arange(model.support.shape[0])
        if len(self.classes_) == 2:
            order = np.roll(order, -model.counts[0])
        self.support_vectors_ = model.support[order]
        if takes_kernel_values(model):
            numbers = support_numbers(model.support)[order] - 1
            if callable(self.kernel):
                self.support_vectors_ = self.rows_[numbers]
            else:
                self.support_, self.support_vectors_ = numbers, np.empty((0, 0))
        self.n_support_ = self._in_our_order(model.counts)
        self.dual_coef_ = model.coefficients[order].T
        self.intercept_ = model.biases

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == PRECOMPUTED

    def _numbered(self, X: Any) -> Any:
        """Return the rows X (m, n); those of a precomputed kernel begin with their numbers."""
        if (callable(self.kernel) or self._precomputed) and self.scale is not None:
            raise ValueError("scale is for features, and what the model gets are kernel values")
        return with_numbers(X) if self._precomputed else X

    def _fitted(
        self, rows: Distinct, names: list[str], chosen: Settings, weights: np.ndarray | None
    ) -> Result:
        if callable(self.kernel):
            self.rows_ = rows.X
            rows = rows._replace(X=with_numbers(kernel_function.matrix(self.kernel, rows.X, rows.X)))
        if not parameters.flag("probability", self.probability):
            return super()._fitted(rows, names, chosen, weights)
        counted = np.ones(len(rows.codes), dtype=bool) if weights is None else weights > 0
        refuse_probability("", rows.codes[counted], names, chosen)
        result = super()._fitted(rows, names, chosen, weights)
        kept: dict[str, Any] = {
            name: None if given is None else given[counted]
            for name, given in (("weights", weights), ("counts", rows.weights))
        }
        more = with_probabilities(rows.X[counted], rows.codes[counted], result, chosen, **kept)
        if more is None:
            raise KeyboardInterrupt
        if more.message != result.message and result.status not in NOT_CONVERGED:
            warnings.warn(sentence(more), ConvergenceWarning, stacklevel=callers_level())
        return more

    def _judged(self, X: Any) -> Any:
        if not takes_kernel_values(self.result_.model):
            return X
        return without_numbers(
            kernel_function.matrix(self.kernel, X, self.rows_) if callable(self.kernel) else X
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

    def _of_rows(self, rows: Distinct) -> dict[str, Any]:
        if callable(self.kernel) or self._precomputed:
            return {"kernel": PRECOMPUTED, "cache_mib": parameters.whole(self.cache_size)}
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
