"""The linear family: liblinear and avsf as a scikit-learn classifier."""

from typing import Any, ClassVar

import numpy as np

from fwsvm.estimators.base import NO_LIMIT, Classifier
from fwsvm.estimators.parameters import with_parameters
from fwsvm.solvers import Result

VISITS = 1000  # visits to each row where max_iter is None, as in LinearSVC


@with_parameters
class DualCoordinateSVC(Classifier):
    """Linear SVM, one class against the rest, solved to a certified gap by dual coordinate descent.

    Attributes
    ----------
    coef_ : ndarray, shape (1, n) for two classes, else (K, n); of the scaled rows, where ``scale`` says so
    intercept_ : ndarray, shape (1,) or (K,)
    """

    family: ClassVar[str] = "linear"

    def _keep(self, result: Result, classes: np.ndarray) -> None:
        super()._keep(result, classes)
        model = self.result_.model
        self.coef_ = model.weights
        self.intercept_ = model.biases * model.bias_feature

    def _settings(self, X: Any) -> dict[str, Any]:
        visits = VISITS if self.max_iter is None else self.max_iter
        most = None if visits == NO_LIMIT else visits * X.shape[0]
        given = super()._settings(X)
        bias = self.intercept_scaling if self.fit_intercept else 0.0
        own = {**(self.parameters or {}), "loss": self.loss, "bias": bias}
        return given | {"max_iterations": most, "parameters": own}
