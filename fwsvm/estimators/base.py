"""Base class of the classifiers, which converts data, labels, weights and errors to scikit-learn's conventions.

scikit-learn sorts the classes, and a decision value > 0 means the second of two; in `fwsvm.solvers` it means the first.
So two classes are passed on in reverse order; more keep their order.
"""

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fwsvm import scaling
from fwsvm.data.labels import label_text
from fwsvm.errors import FwsvmError, callers_level, shown
from fwsvm.estimators import parameters
from fwsvm.kernels.kernel import KERNELS
from fwsvm.kernels.rows import canonical
from fwsvm.problems.machines import prepared, refuse_undecided, scaling_warning
from fwsvm.solvers import FAMILIES, METHODS, Result, Settings, Status, fit
from fwsvm.validation import check_labels, label_keys

NOT_CONVERGED = {Status.MAX_ITERATIONS, Status.TIME_LIMIT, Status.STALLED}


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of the classifiers.

    Attributes
    ----------
    classes_ : ndarray, shape (K,), the labels, sorted
    n_features_in_ : int
    n_iter_ : int, iterations, summed over the two-class problems
    result_ : fwsvm.solvers.Result, the model with its certificate and what it cost
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
        labels: np.ndarray = in_our_order(self.classes_)[self.result_.model.choose(decision)]
        return labels

    def _decision(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        with value_errors():
            rows = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
            ready = prepared(self.result_.model, self._rows_to_predict(canonical(rows)))
            for notice in ready.notices:
                warnings.warn(notice, stacklevel=callers_level())
            decision: np.ndarray = self.result_.model.decision(ready.X, parameters.threads(self.n_jobs))
            refuse_undecided(decision)
        return decision

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        problem = FAMILIES[self.family].problem
        names = [name for name, each in METHODS.items() if FAMILIES[each.family].problem == problem]
        if self.method in METHODS and self.method not in names:
            raise ValueError(f"{type(self).__name__} has the methods {', '.join(names)}, not {self.method}")
        with value_errors():
            X, y = self._validated(X, y)
            classes, codes = np.unique(y, return_inverse=True)
            codes = 1 - codes if len(classes) == 2 else codes
            if sample_weight is not None:
                sample_weight = _check_sample_weight(
                    sample_weight, X, dtype=np.float64, ensure_non_negative=True
                )
            rows, ranges = self._scaled(self._training_rows(X), sample_weight)
            weight = {"class_weight": self._class_weight(classes)}
            settings = Settings(**self._settings(rows) | weight)
            result = self._solve(rows, codes, class_names(classes), settings, sample_weight)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if result.status in NOT_CONVERGED:
            warnings.warn(describe_end(result), ConvergenceWarning, stacklevel=callers_level())
        self._keep(result, classes, ranges)
        return self

    def _keep(self, result: Result, classes: np.ndarray, ranges: scaling.Ranges | None = None) -> None:
        """Set the attributes of a fitted classifier."""
        self.classes_ = classes
        self.result_ = result.with_rows(
            ranges=ranges,
            labels=in_our_order(classes),
            feature_names=tuple(getattr(self, "feature_names_in_", ())),
        )
        self.n_iter_ = max(1, result.iterations)

    def _validated(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, np.ndarray]:
        """Return rows, float64 of shape (m, n) or CSR, and labels (m,)."""
        how = {"accept_sparse": "csr", "dtype": np.float64, "order": "C", "force_writeable": True}
        X, y = validate_data(self, X, y, reset=reset, **how)
        check_classification_targets(check_labels(y))
        return canonical(X), y

    def _class_weight(self, classes: np.ndarray) -> Any:
        """Return the weights of classes by name in place of label."""
        given = getattr(self, "class_weight", None)
        if not isinstance(given, Mapping):
            return given
        names = dict(zip(in_our_order(classes).tolist(), class_names(classes), strict=True))
        # the rows may be a part of some that have more classes
        known = given.keys() & names.keys() if names.keys() <= given.keys() else given.keys()
        return {names.get(label, label): given[label] for label in known}

    def _training_rows(self, X: Any) -> Any:
        """Return what the model is trained on: the rows X (m, n), or kernel values of them."""
        return X

    def _rows_to_predict(self, X: Any) -> Any:
        """Return what the model decides on: the rows X (t, n), or kernel values of them."""
        return X

    def _solve(
        self, X: Any, codes: np.ndarray, names: list[str], settings: Settings, weights: np.ndarray | None
    ) -> Result:
        """Return the result of training."""
        return fit(X, codes, names, settings, weights=weights)

    def _settings(self, X: Any) -> dict[str, Any]:  # noqa: ARG002 - subclasses use it
        """Return the settings that the parameters become, for rows X (m, n)."""
        known = parameters.SETTINGS
        return {
            known[name].name: parameters.CONVERTED.get(name, lambda same: same)(value)
            for name, value in self.get_params(deep=False).items()
            if name in known
        }

    def _scaled(self, X: Any, weights: np.ndarray | None) -> tuple[Any, scaling.Ranges | None]:
        """Return the rows scaled, and the ranges of those whose weight is not 0."""
        if self.scale is None:
            kernel = KERNELS.get(getattr(self, "kernel", FAMILIES[self.family].default_kernel))
            if kernel is not None and (said := scaling_warning(X, kernel, 'scale="[0,1]"')):
                warnings.warn(said, stacklevel=callers_level())
            return X, None
        if self.scale not in scaling.TARGETS:
            raise ValueError(f"scale must be None, {' or '.join(scaling.TARGETS)}, not {shown(self.scale)}")
        ranges = scaling.fit(X, self.scale, None if weights is None else weights > 0)
        return scaling.apply(X, ranges), ranges

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def in_our_order(classes: np.ndarray) -> np.ndarray:
    """Return what is in scikit-learn's order of the classes in that of `fwsvm.solvers`, and the other way round."""
    return classes[::-1] if len(classes) == 2 else classes


def class_names(classes: np.ndarray) -> list[str]:
    """Return the text of each label, in the order of `fwsvm.solvers`."""
    return [label_text(label) for label in label_keys(in_our_order(classes)).tolist()]


@contextlib.contextmanager
def value_errors() -> Iterator[None]:
    """Raise a user's mistakes as `ValueError`, as scikit-learn does."""
    try:
        yield
    except FwsvmError as error:
        raise ValueError(str(error)) from error


def describe_end(result: Result) -> str:
    """Return how a run ended that did not converge, and what may help."""
    has_gap = "relative gap" in result.message or not np.isfinite(result.relative_gap)
    gap = "" if has_gap else f" The relative gap is {result.relative_gap:.2g}."
    return f"{result.message}{gap} A larger max_iter, time_limit or tol, or scaled features, may help."
