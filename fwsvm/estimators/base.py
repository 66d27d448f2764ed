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
from fwsvm.problems.features import prepared, scaling_warning
from fwsvm.problems.machines import refuse_undecided
from fwsvm.solvers import FAMILIES, METHODS, Result, Settings, Status, fit
from fwsvm.validation import check_labels, label_keys, nothing_dropped, refuse_masked

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

    def _set_parameters(self, given: Mapping[str, Any]) -> None:
        """Set the parameters of ``__init__``, whose ``locals()`` these are."""
        for name, value in given.items():  # a subclass may have parameters of its own
            if name not in {"self", "__class__"}:
                setattr(self, name, value)

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
        with value_errors():
            with nothing_dropped("rows", X):
                rows = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
            ready = prepared(self.result_.model, self._rows_to_predict(canonical(rows)))
            for notice in ready.notices:
                warnings.warn(notice, stacklevel=callers_level())
            decision: np.ndarray = self.result_.model.decision(ready.X, parameters.threads(self.n_jobs))
            refuse_undecided(decision)
        return decision

    def _in_our_order(self, classes: np.ndarray) -> np.ndarray:
        return classes[::-1] if len(classes) == 2 else classes

    def _class_names(self, classes: np.ndarray) -> list[str]:
        return [label_text(label) for label in label_keys(self._in_our_order(classes)).tolist()]

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> Self:
        """Fit with the family's own ``settings``; those of all families are read from the parameters."""
        with self._restored_on_failure(), value_errors():
            return self._fit_checked(X, y, sample_weight, settings)

    @contextlib.contextmanager
    def _restored_on_failure(self) -> Iterator[None]:
        """Leave the attributes as they were if a fit does not end."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit_checked(self, X: Any, y: Any, sample_weight: Any, settings: dict[str, Any]) -> Self:
        self._refuse_other_method()
        X, y = self._validated(X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) == 2:
            codes = 1 - codes
        names = self._class_names(self.classes_)
        weights = self._row_weights(X, codes, sample_weight)
        X, ranges = self._scaled(self._training_rows(X), weights)
        result = self._solve(X, codes, names, self._settings(self._row_settings(X) | settings), weights)
        if result.status in NOT_CONVERGED:
            warnings.warn(describe_end(result), ConvergenceWarning, stacklevel=callers_level())
        self.result_ = result.with_rows(
            ranges=ranges,
            labels=self._in_our_order(self.classes_),
            feature_names=tuple(getattr(self, "feature_names_in_", ())),
        )
        self.n_iter_ = max(1, result.iterations)
        return self

    def _refuse_other_method(self) -> None:
        problem = FAMILIES[self.family].problem
        method = METHODS.get(self.method) if isinstance(self.method, str) else None
        if method is not None and FAMILIES[method.family].problem != problem:
            known = [name for name, each in METHODS.items() if FAMILIES[each.family].problem == problem]
            raise ValueError(f"{type(self).__name__} has the methods {', '.join(known)}, not {self.method}")

    def _validated(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, np.ndarray]:
        """Return rows, float64 of shape (m, n) or CSR, and labels (m,)."""
        refuse_masked("labels", y)
        with nothing_dropped("rows", X):
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse="csr",
                dtype=np.float64,
                order="C",
                force_writeable=True,
                reset=reset,
            )
        check_classification_targets(check_labels(y))
        return canonical(X), y

    def _row_weights(self, X: Any, codes: np.ndarray, sample_weight: Any) -> np.ndarray | None:
        """Return the weight of each row times that of its class, shape (m,), or None where all are 1."""
        if sample_weight is not None:
            with nothing_dropped("sample_weight", sample_weight):
                sample_weight = _check_sample_weight(
                    sample_weight, X, dtype=np.float64, ensure_non_negative=True
                )
        labels, given = self._in_our_order(self.classes_), getattr(self, "class_weight", None)
        of_classes = parameters.class_weights(given, labels, codes, sample_weight)
        weights: np.ndarray | None = sample_weight
        if of_classes is not None:
            weights = of_classes if weights is None else of_classes * weights
        return weights

    def _training_rows(self, X: Any) -> Any:
        """Return what the model is trained on: the rows X (m, n), or kernel values of them."""
        return X

    def _rows_to_predict(self, X: Any) -> Any:
        """Return what the model decides on: the rows X (t, n), or kernel values of them."""
        return X

    def _solve(
        self, X: Any, codes: np.ndarray, names: list[str], settings: Settings, weights: np.ndarray | None
    ) -> Result:
        """Return the result of training; Ctrl-C goes on as `KeyboardInterrupt`."""
        result = fit(X, codes, names, settings, weights=weights)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return result

    def _settings(self, own: dict[str, Any]) -> Settings:
        of_method = parameters.mapping("parameters", self.parameters)
        shared = {
            "method": self.method,
            "C": self.C,
            "stop": self.stop,
            "tolerance": self.tol,
            "max_iterations": parameters.limit(self.max_iter),
            "time_limit": parameters.limit(self.time_limit),
            "threads": parameters.threads(self.n_jobs),
            "seed": parameters.seed(self.random_state),
        }
        return Settings(**shared | own | {"parameters": {**of_method, **own.get("parameters", {})}})

    def _row_settings(self, X: Any) -> dict[str, Any]:  # noqa: ARG002
        """Return the settings that depend on the rows: the kernel, or a limit."""
        return {}

    def _scaled(self, X: Any, weights: np.ndarray | None) -> tuple[Any, scaling.Ranges | None]:
        """Return the rows scaled, and the ranges of those whose weight is not 0."""
        if self.scale is None:
            name = getattr(self, "kernel", FAMILIES[self.family].default_kernel)
            known = KERNELS.get(name) if isinstance(name, str) else None
            if known is not None and (said := scaling_warning(X, known, 'scale="[0,1]"')):
                warnings.warn(said, stacklevel=callers_level())
            return X, None
        if not isinstance(self.scale, str) or self.scale not in scaling.TARGETS:
            raise ValueError(f"scale must be None, {' or '.join(scaling.TARGETS)}, not {shown(self.scale)}")
        ranges = scaling.fit(X, self.scale, None if weights is None else weights > 0)
        return scaling.apply(X, ranges), ranges

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


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
