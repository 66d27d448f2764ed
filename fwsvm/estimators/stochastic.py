"""The stochastic family: scs, wolfe and pegasos as a scikit-learn classifier."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.multiclass import unique_labels

from fwsvm.errors import shown
from fwsvm.estimators import parameters
from fwsvm.estimators.base import value_errors
from fwsvm.estimators.kernel import KernelClassifier, KernelFunction
from fwsvm.solvers import Result, Settings
from fwsvm.solvers.stochastic.one_pass import after_portion, before_portions


class StochasticSVC(KernelClassifier):
    """SVM with a kernel, the mean of hinge losses and no bias, solved on random samples of the rows.

    The losses of all rows count alike: the problem has no place for sample or class weights.

    Parameters
    ----------
    C : penalty; lambda = 1 / (C m) of the paper's problem
    method : scs, wolfe, pegasos, or another of the stochastic family
    kernel : rbf, linear, poly, quadratic, laplacian, or another of ``fwsvm kernels``; "precomputed", where X is the
        kernel matrix (m, m), and (t, m) to predict; or a function of two sets of rows that returns such a matrix
    gamma : width of the kernel; "scale": 1 / (n times the variance of all values); "auto": 1 / n; None: by
        ``width_rule`` from the mean squared distance D of the rows: paper 1/(2D), inverse-distance 1/D, libcvm 2/D
    degree, coef0 : of the poly kernel
    stop, tol : relative (gap / objective) or eps (each method's own rule); and the tolerance
    max_iter, time_limit : iterations and seconds after which a run ends, with a ConvergenceWarning; None (or -1):
        100,000 iterations and no limit of time
    decision_function_shape : ovr or ovo, for more than two classes
    cache_size : memory for kernel values in MiB; None: from the memory that is free
    n_jobs : threads; None for one, -1 for all there are
    random_state : of all samples
    parameters : mapping of the method's own parameters (``fwsvm methods NAME``)
    kernel_parameters : mapping of the kernel's own parameters (``fwsvm kernels``)
    scale : None, "[0,1]" or "[-1,1]", the interval to which the range of each feature over the training rows is
        mapped; rows to predict are scaled by the same ranges
    probability : whether there are `predict_proba` and `predict_log_proba`: five more machines are trained, each on
        four fifths of the rows, whose decision values on the others make the sigmoids
    lam : lambda itself, in place of C where it is not None: what `partial_fit` needs of portions that are small

    Attributes
    ----------
    rows_seen_ : ndarray of int, shape (K,), rows of each class that the machine has been trained on
    """

    family: ClassVar[str] = "stochastic"
    rows_seen_: np.ndarray

    def __init__(
        self,
        C: float = 1.0,
        *,
        method: str = "scs",
        kernel: str | KernelFunction = "rbf",
        gamma: float | str | None = None,
        width_rule: str = "paper",
        degree: int = 3,
        coef0: float = 1.0,
        stop: str = "relative",
        tol: float = 1e-3,
        max_iter: int | None = None,
        time_limit: float | None = None,
        decision_function_shape: str = "ovr",
        cache_size: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        parameters: dict[str, Any] | None = None,
        scale: str | None = None,
        kernel_parameters: dict[str, Any] | None = None,
        probability: bool = False,
        lam: float | None = None,
    ) -> None:
        self._set_parameters(locals())

    def fit(self, X: Any, y: Any) -> Self:
        """Train on rows X (m, n), dense or sparse, with labels y (m,)."""
        return self._fit(X, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Go on training on rows X (b, n), dense or sparse, with labels y (b,): one step of pegasos at each.

        The rows come in an order drawn by ``random_state``. Those that violate their margin become support vectors,
        which are kept, so memory grows with their number. What comes of it has no certificate; `fit` gives one. After
        `fit` the machine goes on from what it is, whichever ``method`` it was trained by.

        Parameters
        ----------
        classes : array, shape (K,)
            All labels that will come, in the first call; later ones may leave it out.

        The first rows decide the default width. They decide lambda, too, as 1 / (C b), unless ``lam`` gives it: give it
        where more portions come, as 1 / (C times all rows). Limits, ``tol``, ``stop`` and the method's parameters have
        no meaning here. For K classes the pairs' problems have K / 2 times lambda, as in `fit` of classes of one size.
        """
        self._refuse_portions()
        with self._restored_on_failure(), value_errors():
            return self._continue(X, y, classes)

    def _continue(self, X: Any, y: Any, classes: Any) -> Self:
        first = not hasattr(self, "classes_")
        X, y = self._validated(X, y, reset=first)
        known = self._known_classes(classes, first=first)
        codes = np.searchsorted(known, y).clip(max=len(known) - 1)
        if (strange := known[codes] != y).any():
            raise ValueError(
                f"the label {shown(y[strange].tolist()[0])} is none of the classes {_listed(known)}"
            )
        if first:
            begun = before_portions(X, self._class_names(known), self._settings(self._row_settings(X)))
            seen = np.zeros(len(known), dtype=np.int64)
        else:
            begun, seen = self.result_, self.rows_seen_
            if self.lam is not None:
                lam = parameters.positive("lam", self.lam)
                begun = replace(begun, settings={**begun.settings, "lambda": lam})
        ours = len(known) - 1 - codes if len(known) == 2 else codes
        result = after_portion(begun, X, ours, self._in_our_order(seen), self._settings({}))
        self.classes_ = known
        self.result_ = replace(result, support=None).with_rows(
            labels=self._in_our_order(known), feature_names=tuple(getattr(self, "feature_names_in_", ()))
        )
        self.rows_seen_ = seen + np.bincount(codes, minlength=len(known))
        self.n_iter_ = max(1, result.iterations)
        return self

    def _solve(
        self, X: Any, codes: np.ndarray, names: list[str], settings: Settings, weights: np.ndarray | None
    ) -> Result:
        self.rows_seen_ = self._in_our_order(np.bincount(codes, minlength=len(names)))
        return super()._solve(X, codes, names, settings, weights)

    def _refuse_portions(self) -> None:
        """Refuse what has no meaning without all rows at hand."""
        if self._takes_kernel_values:
            raise ValueError(
                "partial_fit cannot use precomputed or callable kernels: name a kernel of rows, such as rbf"
            )
        if self.scale is not None:
            raise ValueError(
                "partial_fit does not know the ranges of later rows: scale them before, and leave out scale"
            )
        if self.probability:
            raise ValueError("probabilities need folds of all rows: call fit, or leave out probability")
        if not hasattr(self, "result_"):
            return
        model, kernel = self.result_.model, self.result_.settings["kernel"]
        if model.ranges is not None or model.sigmoids is not None or kernel.partition("(")[0] != self.kernel:
            raise ValueError(
                f"the model was fitted with other settings (kernel {kernel}, scaled rows or probabilities), which "
                "partial_fit cannot go on with: call fit again"
            )

    def _known_classes(self, classes: Any, *, first: bool) -> np.ndarray:
        """Return the classes, sorted; `ValueError` where they are not given or differ from before."""
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit")
        known: np.ndarray = unique_labels(classes) if classes is not None else self.classes_
        if not first and not np.array_equal(known, self.classes_):
            raise ValueError(
                f"classes are {_listed(known)}, but were {_listed(self.classes_)} in the first call"
            )
        if len(known) < 2:
            raise ValueError("there is one class only; a classifier needs rows of two")
        return known

    def _settings(self, own: dict[str, Any]) -> Settings:
        chosen = super()._settings(own)
        return chosen if self.lam is None else replace(chosen, C=None, lambda_=self.lam)


def _listed(labels: np.ndarray) -> str:
    return ", ".join(map(shown, labels.tolist()[:10])) + (", ..." if len(labels) > 10 else "")
