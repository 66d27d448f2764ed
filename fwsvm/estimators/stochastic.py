"""The stochastic family: scs, wolfe and pegasos as a scikit-learn classifier."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.multiclass import _check_partial_fit_first_call

from fwsvm.errors import shown
from fwsvm.estimators.base import class_names, in_our_order, value_errors
from fwsvm.estimators.kernel import KernelClassifier
from fwsvm.estimators.parameters import with_parameters
from fwsvm.solvers import Result, Settings
from fwsvm.solvers.stochastic.pegasos import after_portion


@with_parameters
class StochasticSVC(KernelClassifier):
    """SVM with a kernel, the mean of hinge losses and no bias, solved on random samples of the rows.

    The losses of all rows count alike: the problem has no place for sample or class weights. Penalty and lambda of the
    paper's problem are lambda = 1 / (C m).

    Attributes
    ----------
    rows_seen_ : ndarray of int, shape (K,), rows of each class that the model has been trained on
    """

    family: ClassVar[str] = "stochastic"

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Train on rows X (m, n), dense or sparse, with labels y (m,)."""
        super().fit(X, y)
        self.rows_seen_: np.ndarray = np.unique(np.asarray(y), return_counts=True)[1]
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Go on training on rows X (b, n), dense or sparse, with labels y (b,): one step of pegasos at each.

        The rows come in an order drawn by ``random_state``. Those that violate their margin become support vectors,
        which are kept, so memory grows with their number. What comes of it has no certificate; `fit` gives one. After
        `fit` the model goes on from what it is, whichever ``method`` it was trained by.

        Parameters
        ----------
        classes : array, shape (K,)
            All labels that will come, in the first call; later ones may leave it out.

        The first rows decide the default width. They decide lambda, too, as 1 / (C b), unless ``lam`` gives it: give it
        where more portions come, as 1 / (C times all rows). Limits, ``tol``, ``stop`` and the method's parameters have
        no meaning here. For K classes the pairs' problems have K / 2 times lambda, as in `fit` of classes of one size.
        """
        if self._takes_kernel_values or self.scale is not None or self.probability:
            raise ValueError(
                "partial_fit does not know later rows: name a kernel of rows, such as rbf, scale the rows before, and "
                "leave out scale and probability"
            )
        _check_partial_fit_first_call(self, classes)
        first = not hasattr(self, "result_")
        known = self.classes_
        with value_errors():
            X, y = self._validated(X, y, reset=first)
            if len(strange := np.setdiff1d(y, known)):
                raise ValueError(f"the label {shown(strange.tolist()[0])} is not among the classes")
            codes = np.searchsorted(known, y)
            settings = Settings(**self._settings(X))
            begun, seen = (
                (None, np.zeros(len(known), np.int64)) if first else (self._begun(), self.rows_seen_)
            )
            ours = len(known) - 1 - codes if len(known) == 2 else codes
            result = after_portion(begun, X, ours, class_names(known), in_our_order(seen), settings)
        self._keep(replace(result, support=None), known)
        self.rows_seen_ = seen + np.bincount(codes, minlength=len(known))
        return self

    def _begun(self) -> Result:
        """Return the result that a portion goes on from."""
        result: Result = self.result_
        if result.model.ranges is not None or result.settings["kernel"].partition("(")[0] != self.kernel:
            raise ValueError("the model was fitted with another kernel or with scaled rows: call fit again")
        lam = {} if self.lam is None else {"lambda": self.lam}
        return replace(result, settings={**result.settings, **lam})

    def _settings(self, X: Any) -> dict[str, Any]:
        given = super()._settings(X)
        return given if self.lam is None else given | {"C": None}
