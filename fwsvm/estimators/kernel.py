"""The base of the classifiers with kernels (pairs of classes, probabilities), and the methods on the simplex."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from fwsvm.errors import shown
from fwsvm.estimators import parameters
from fwsvm.estimators.base import Classifier, in_our_order
from fwsvm.estimators.parameters import with_parameters
from fwsvm.experiments.prediction import PROBABILITY
from fwsvm.kernels.rows import canonical
from fwsvm.problems.machines import takes_kernel_values
from fwsvm.problems.precomputed import NAME as PRECOMPUTED
from fwsvm.problems.precomputed import beside_numbers, with_numbers
from fwsvm.solvers import Result
from fwsvm.validation import as_numbers

KernelFunction: TypeAlias = Callable[[Any, Any], Any]


class KernelClassifier(Classifier):
    """Base of the classifiers with kernels, which are one-versus-one.

    Attributes
    ----------
    support_ : ndarray of int, shape (s,), numbers of the support vectors among the rows of ``fit``
    support_vectors_ : ndarray or csr_array, shape (s, n), grouped by class; scaled, where ``scale`` says so; empty
        where ``kernel`` is precomputed or a function, as in `sklearn.svm.SVC`
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
        if K == 2 or self.decision_function_shape == "ovo":
            return decision
        return np.asarray(_ovr_decision_function(decision <= 0, -decision, K))

    @property
    def predict_proba(self) -> Callable[[Any], np.ndarray]:
        """A function that returns the probabilities of ``classes_`` for rows X (t, n), shape (t, K).

        There is one with ``probability=True``. As in SVC probabilities come from sigmoids of decision values, fitted in
        cross-validation, so the most probable class may differ from that of `predict`.
        """
        if not self.probability:
            raise AttributeError(
                f"this {type(self).__name__} has no probabilities: make it with probability=True and fit it"
            )
        return self._probabilities

    @property
    def predict_log_proba(self) -> Callable[[Any], np.ndarray]:
        """A function that returns the logarithms of `predict_proba`."""
        probabilities_of = self.predict_proba
        return lambda X: np.log(probabilities_of(X))

    def _probabilities(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        if self.result_.model.sigmoids is None:
            raise NotFittedError(
                f"this {type(self).__name__} was fitted with probability=False; fit it again"
            )
        found: np.ndarray = self._predicted(X, PROBABILITY).values
        return found[:, ::-1] if len(self.classes_) == 2 else found

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, for the linear kernel."""
        if self.kernel != "linear":
            raise AttributeError(f"coef_ is for the linear kernel, not for {self.kernel}")
        check_is_fitted(self)
        model = self.result_.model
        return np.asarray((canonical(model.support).T @ model.pair_weights()).T)

    @property
    def support_vectors_(self) -> Any:
        """Support vectors, grouped by class."""
        check_is_fitted(self)
        model = self.result_.model
        return np.empty((0, 0)) if takes_kernel_values(model) else model.support[self._order()]

    def _order(self) -> np.ndarray:
        """Return the model's support vectors in the order of ``classes_``."""
        counts = self.result_.model.counts
        order = np.arange(counts.sum())
        return np.roll(order, -counts[0]) if len(counts) == 2 else order

    def _keep(self, result: Result, classes: np.ndarray) -> None:
        super()._keep(result, classes)
        model = self.result_.model
        order = self._order()
        self.n_support_ = in_our_order(model.counts)
        self.intercept_ = model.biases
        self.dual_coef_ = model.coefficients[order].T
        # the rows of earlier portions have no numbers
        self.support_ = None if result.support is None else result.support[order]

    @property
    def _takes_kernel_values(self) -> bool:
        return callable(self.kernel) or self.kernel == PRECOMPUTED

    def _training_rows(self, X: Any) -> Any:
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError(
                f"decision_function_shape is 'ovr' or 'ovo', not {shown(self.decision_function_shape)}"
            )
        if self._takes_kernel_values and self.scale is not None:
            raise ValueError("scale is for features, and the model is trained on kernel values")
        self._fit_rows = X if callable(self.kernel) else None
        if callable(self.kernel):
            X = kernel_matrix(self.kernel, X, X)
        return with_numbers(X) if self._takes_kernel_values else X

    def _rows_to_predict(self, X: Any) -> Any:
        if not takes_kernel_values(self.result_.model):
            return X
        return beside_numbers(X if self._fit_rows is None else kernel_matrix(self.kernel, X, self._fit_rows))

    def _settings(self, X: Any) -> dict[str, Any]:
        given = super()._settings(X)
        if self._takes_kernel_values:
            return given | {"kernel": PRECOMPUTED, "gamma": None, "kernel_parameters": {}}
        return given | {"gamma": parameters.gamma(self.gamma, X)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == PRECOMPUTED
        return tags


def kernel_matrix(kernel: KernelFunction, X: Any, Z: Any) -> np.ndarray:
    """Return kernel(X, Z), float64 of shape (t, m), of rows X (t, n) and Z (m, n).

    `ValueError` if the function returns something else.
    """
    shape = (X.shape[0], Z.shape[0])
    found = as_numbers("the values of the kernel function", kernel(X, Z))
    if found.shape != shape or not np.isfinite(found).all():
        raise ValueError(
            f"the kernel function must return finite numbers of shape {shape}; it returns shape {found.shape}"
        )
    return found


@with_parameters
class FrankWolfeSVC(KernelClassifier):
    """L2-SVM with a kernel: squared hinge loss, regularised bias; solved to a certified gap by Frank-Wolfe methods."""

    family: ClassVar[str] = "simplex"
