"""Base class of the classifiers, which converts data, labels, weights and errors to scikit-learn's conventions.

scikit-learn sorts the classes, and a decision value > 0 means the second of two; in `fwsvm.solvers` it means the first.
So two classes are passed on in reverse order; more keep their order.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fwsvm import scaling
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.data.labels import label_text
from fwsvm.errors import FwsvmError, not_one_of, warn_user
from fwsvm.estimators import parameters
from fwsvm.experiments.prediction import DECISION, predict
from fwsvm.experiments.record import kernel_of
from fwsvm.experiments.run import LocalRows
from fwsvm.kernels.rows import canonical
from fwsvm.problems.machines import scaling_warning
from fwsvm.solvers import FAMILIES, METHODS, Result, Settings, Status
from fwsvm.solvers.resolve import check
from fwsvm.validation import check_labels, label_keys

WHOLE_OR_TEXT = "biuU"  # kinds of labels that are no target of a regression
NO_LIMIT = -1  # of max_iter and time_limit, as in SVC
NOT_CONVERGED = {Status.MAX_ITERATIONS, Status.TIME_LIMIT, Status.STALLED}


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of the classifiers; `fwsvm.estimators.parameters.with_parameters` makes their ``__init__``.

    Attributes
    ----------
    classes_ : ndarray, shape (K,), the labels, sorted
    n_features_in_ : int
    n_iter_ : int, iterations, summed over the two-class problems
    result_ : fwsvm.solvers.Result, the model with its certificate and what it cost
    """

    family: ClassVar[str]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values of rows X (t, n): (t,) for two classes, > 0 for ``classes_[1]``, else (t, K)."""
        decision: np.ndarray = self._predicted(X, DECISION).values
        return decision[:, 0] if len(self.classes_) == 2 else decision

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of the rows of X (t, n), shape (t,)."""
        codes = self._predicted(X).codes
        labels: np.ndarray = in_our_order(self.classes_)[codes]
        return labels

    def _predicted(self, X: Any, wanted: str = "") -> Any:
        """Return the `fwsvm.experiments.prediction.Prediction` of rows X (t, n), with the values ``wanted``."""
        check_is_fitted(self)
        with value_errors():
            X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
            rows = self._rows_to_predict(canonical(X))
            table = LabelledRows(rows, np.full(rows.shape[0], np.nan))
            threads = effective_n_jobs(self.n_jobs)
            found = predict(self.result_.model, table, threads, wanted=wanted)
        for notice in found.notices:
            warn_user(notice)
        return found

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows X (m, n), dense or sparse, with labels y (m,).

        ``sample_weight`` (m,) multiplies each row's penalty. A class whose rows all have weight 0 is never predicted.
        """
        problem = FAMILIES[self.family].problem
        names = [name for name, each in METHODS.items() if FAMILIES[each.family].problem == problem]
        if self.method not in names:
            raise ValueError(not_one_of(f"method of {type(self).__name__}", names, self.method))
        with value_errors():
            X, y = self._validated(X, y)
            classes = np.unique(y)
            if sample_weight is not None:
                sample_weight = _check_sample_weight(
                    sample_weight, X, dtype=np.float64, ensure_non_negative=True
                )
            check("scale", self.scale or "none", scaling.SCALINGS)
            columns = tuple(getattr(self, "feature_names_in_", ()))
            table = LabelledRows(self._training_rows(X), label_keys(y), feature_names=columns)
            labels = in_our_order(classes)
            data = Dataset("", table, None, tuple(texts_of(labels)), "", scaling=self.scale or "none")
            has_probabilities = getattr(self, "probability", False)
            rows = LocalRows(data, probability=has_probabilities, weights=sample_weight, labels=labels)
            given = self._settings(rows.data.train.X) | {"class_weight": self._class_weight(classes)}
            settings = Settings(**given)
            if said := scaling_warning(rows.data.train.X, kernel_of(settings), 'scale="[0,1]"'):
                warn_user(said)
            result = rows.train(settings, None, traced=False)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if result.status in NOT_CONVERGED or (has_probabilities and result.message != result.status.sentence):
            warn_user(describe_end(result), ConvergenceWarning)
        self._keep(result, classes)
        return self

    def _keep(self, result: Result, classes: np.ndarray) -> None:
        """Set the attributes of a fitted classifier."""
        self.classes_ = classes
        self.result_: Any = result
        self.n_iter_ = max(1, result.iterations)

    def _validated(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, np.ndarray]:
        """Return rows, float64 of shape (m, n) or CSR, and labels (m,).

        Plain arrays are looked at here: scikit-learn's checks take half as long as a fit of a hundred rows.
        """
        is_plain = (
            reset
            and type(X) is type(y) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.size
            and X.flags.carray
            and y.dtype.kind in WHOLE_OR_TEXT
            and y.shape == X.shape[:1]
            and np.isfinite(X).all()
        )
        if is_plain:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        else:
            how = {"accept_sparse": "csr", "dtype": np.float64, "order": "C", "force_writeable": True}
            X, y = validate_data(self, X, y, reset=reset, **how)
        check_labels(y)
        # plain labels need this look only for its warning that many classes may be a regression's target
        if not is_plain or 2 * len(np.unique(y)) >= len(y):
            check_classification_targets(y)
        return canonical(X), y

    def _class_weight(self, classes: np.ndarray) -> Any:
        """Return the weights of classes by name in place of label."""
        given = getattr(self, "class_weight", None)
        if not isinstance(given, Mapping):
            return given
        weights = dict(zip(texts_of(check_labels([*given])), given.values(), strict=True))
        names = texts_of(classes)
        # the rows may be a part of some that have more classes
        return {name: weights[name] for name in names} if {*names} <= weights.keys() else weights

    def _training_rows(self, X: Any) -> Any:
        """Return what the model is trained on: the rows X (m, n), or kernel values of them."""
        return X

    def _rows_to_predict(self, X: Any) -> Any:
        """Return what the model decides on: the rows X (t, n), or kernel values of them."""
        return X

    def _settings(self, X: Any) -> dict[str, Any]:  # noqa: ARG002 - subclasses use it
        """Return the settings that the parameters become, for rows X (m, n)."""
        given = {
            row["setting"]: value
            for name, row in parameters.rows_of(self.family).items()
            if row["setting"]
            and (value := getattr(self, name)) is not None
            and (name not in {"max_iter", "time_limit"} or value != NO_LIMIT)
        }
        return given | {
            "threads": effective_n_jobs(self.n_jobs),
            "seed": parameters.seed(self.random_state),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def in_our_order(classes: np.ndarray) -> np.ndarray:
    """Return what is in scikit-learn's order of the classes in that of `fwsvm.solvers`, and the other way round."""
    return classes[::-1] if len(classes) == 2 else classes


def texts_of(labels: np.ndarray) -> list[str]:
    """Return the text of each label, shape (K,)."""
    return [label_text(label) for label in label_keys(labels).tolist()]


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
