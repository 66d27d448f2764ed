"""The linear family: liblinear and avsf as a scikit-learn classifier."""

from numbers import Integral
from typing import Any, ClassVar, Self

from fwsvm.estimators import parameters
from fwsvm.estimators.base import Classifier

VISITS = 1000  # visits to each row where max_iter is None, as in LinearSVC


class DualCoordinateSVC(Classifier):
    """Linear SVM, one class against the rest, solved to a certified gap by dual coordinate descent.

    Parameters
    ----------
    C : penalty; each row's is multiplied by its class's and its own weight
    method : avsf, liblinear, or another of the linear family
    loss : hinge or squared_hinge
    fit_intercept, intercept_scaling : whether there is a constant feature, and its value; it is regularised, the less
        the larger its value
    stop, tol : relative (gap / primal), gap, or eps (each method's own rule); and the tolerance
    max_iter, time_limit : visits to each row, and seconds, after which a run ends, with a ConvergenceWarning; None:
        1,000 visits, as in `sklearn.svm.LinearSVC`, and no limit of time; -1: no limit
    class_weight : None, "balanced", or a mapping of labels to weights
    n_jobs : threads; None for one, -1 for all there are
    random_state : of the order of the rows
    parameters : mapping of the method's own parameters (``fwsvm methods NAME``), loss and bias apart
    scale : None, "[0,1]" or "[-1,1]", the interval to which the range of each feature over the training rows (those
        whose weight is not 0) is mapped; rows to predict are scaled by the same ranges

    Attributes
    ----------
    coef_ : ndarray, shape (1, n) for two classes, else (K, n); of the scaled rows, where ``scale`` says so
    intercept_ : ndarray, shape (1,) or (K,)
    """

    family: ClassVar[str] = "linear"

    def __init__(
        self,
        C: float = 1.0,
        *,
        method: str = "avsf",
        loss: str = "squared_hinge",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        stop: str = "relative",
        tol: float = 1e-3,
        max_iter: int | None = None,
        time_limit: float | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        parameters: dict[str, Any] | None = None,
        scale: str | None = None,
    ) -> None:
        self._set_parameters(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows X (m, n), dense or sparse, with labels y (m,).

        ``sample_weight`` (m,) multiplies each row's penalty. A class whose rows all have weight 0 is never predicted.
        """
        constant = parameters.flag("fit_intercept", self.fit_intercept)
        own = {"loss": self.loss, "bias": self.intercept_scaling if constant else 0.0}
        self._fit(X, y, sample_weight, parameters=own)
        model = self.result_.model
        self.coef_, self.intercept_ = model.weights, model.biases * model.bias_feature
        return self

    def _row_settings(self, X: Any) -> dict[str, Any]:
        visits = VISITS if self.max_iter is None else parameters.limit(self.max_iter)
        if isinstance(visits, bool) or not isinstance(visits, Integral):
            return {"max_iterations": visits}  # no limit, or a value that Settings refuses
        return {"max_iterations": int(visits) * X.shape[0]}
