"""The linear family: liblinear and avsf as a scikit-learn classifier."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from fwsvm.estimators.base import NO_LIMIT, Classifier

VISITS = 1000  # visits to each row where max_iter is None, as in LinearSVC


@dataclass(kw_only=True, eq=False, repr=False)
class DualCoordinateSVC(Classifier):
    """Linear SVM, one class against the rest, solved to a certified gap by dual coordinate descent.

    Parameters
    ----------
    C : Penalty of errors.
    method : liblinear or avsf.
    loss : hinge or squared_hinge.
    fit_intercept : Whether there is a constant feature.
    intercept_scaling : Its value; it is regularised, the less the larger its value.
    stop : relative, gap or eps.
    tol : Relative gap to reach.
    max_iter : Visits to each row after which a run ends, with a ConvergenceWarning; None: 1,000, as in
        `sklearn.svm.LinearSVC`; -1: no limit.
    time_limit : Seconds after which a run ends, with a ConvergenceWarning.
    class_weight : None, "balanced", or a mapping of labels to weights.
    parameters : Mapping of the method's own parameters (``fwsvm methods NAME``).
    scale : None, "[0,1]" or "[-1,1]", the interval to which the range of each feature over the training rows is
        mapped; rows to predict are scaled by the same ranges.
    n_jobs : Number of threads; None for one, -1 for all there are.
    random_state : Seed of random numbers.

    Attributes
    ----------
    coef_ : ndarray, shape (1, n) for two classes, else (K, n); of the scaled rows, where ``scale`` says so
    intercept_ : ndarray, shape (1,) or (K,)
    """

    family: ClassVar[str] = "linear"

    method: str = "avsf"
    loss: str = "squared_hinge"
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    class_weight: str | Mapping[Any, float] | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows X (m, n), dense or sparse, with labels y (m,).

        ``sample_weight`` (m,) multiplies each row's penalty. A class whose rows all have weight 0 is never predicted.
        """
        self._fit(X, y, sample_weight)
        model = self.result_.model
        self.coef_, self.intercept_ = model.weights, model.biases * model.bias_feature
        return self

    def _settings(self, X: Any) -> dict[str, Any]:
        visits = VISITS if self.max_iter is None else self.max_iter
        most = None if visits == NO_LIMIT else visits * X.shape[0]
        given = super()._settings(X)
        bias = self.intercept_scaling if self.fit_intercept else 0.0
        own = {**(self.parameters or {}), "loss": self.loss, "bias": bias}
        return given | {"max_iterations": most, "parameters": own}
