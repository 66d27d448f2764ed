"""Base class of the classifiers, which convert data, labels, weights and errors to scikit-learn's conventions.

scikit-learn sorts the classes, and a decision value > 0 means the second of two; in `fwsvm.solvers` it means the first.
So two classes are passed on in reverse order; more keep their order.
"""

import contextlib
import inspect
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
from fwsvm.problems.distinct import Distinct, distinct
from fwsvm.problems.features import prepared
from fwsvm.problems.machines import refuse_undecided
from fwsvm.problems.unscaled import scaling_warning
from fwsvm.solvers import FAMILIES, METHODS, Result, Settings, Status, fit

#: Kinds of numpy's types whose numbers and strings are always labels.
WHOLE_OR_TEXT = "biuU"
NOT_CONVERGED = {Status.MAX_ITERATIONS, Status.TIME_LIMIT, Status.STALLED}


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of the classifiers.

    Attributes
    ----------
    classes_ : ndarray, shape (K,), the labels, sorted
    n_features_in_ : int
    n_iter_ : int, iterations, summed over the two-class problems
    result_ : fwsvm.solvers.Result, the machine with its certificate and what it cost
    """

    family: ClassVar[str]
    weighted: ClassVar[bool] = True  # whether rows and classes may have weights
    result_: Any  # a Result, once fitted

    def __new__(cls, *_: Any, **named: Any) -> Self:
        """Refuse unknown parameters with a `ValueError`, as set_params does."""
        parameters.refuse_unknown(cls.__name__, named, list(inspect.signature(cls).parameters))
        made: Self = super().__new__(cls)
        return made

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Set the parameters as they were given to ``__init__``, whose ``locals()`` these are."""
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
        rows = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        try:
            ready = prepared(self.result_.model, self._judged(canonical(rows)))
            for notice in ready.notices:
                warnings.warn(notice, stacklevel=callers_level())
            decision: np.ndarray = self.result_.model.decision(ready.X, parameters.threads(self.n_jobs))
            refuse_undecided(decision)
        except FwsvmError as error:
            raise ValueError(str(error)) from error
        return decision

    def _names(self, classes: np.ndarray) -> list[str]:
        texts = classes.dtype.kind in "iuUO"  # a float64 would round large whole numbers
        return [label_text(str(c) if texts else float(c)) for c in self._in_our_order(classes)]

    def _in_our_order(self, classes: np.ndarray) -> np.ndarray:
        return classes[::-1] if len(classes) == 2 else classes

    def _train(self, X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> Self:
        """Fit with the family's own ``settings``; those of all families are read from the parameters.

        A fit that ends before its machine is there leaves everything as it was.
        """
        with self._as_before_if_it_fails():
            return self._trained(X, y, sample_weight, settings)

    @contextlib.contextmanager
    def _as_before_if_it_fails(self) -> Iterator[None]:
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _trained(self, X: Any, y: Any, sample_weight: Any, settings: dict[str, Any]) -> Self:
        method = METHODS.get(self.method) if isinstance(self.method, str) else None
        if method is not None and FAMILIES[method.family].problem != FAMILIES[self.family].problem:
            known = [
                name
                for name, m in METHODS.items()
                if FAMILIES[m.family].problem == FAMILIES[self.family].problem
            ]
            raise ValueError(f"{type(self).__name__} has the methods {', '.join(known)}, not {self.method}")
        X, y = self._validated(X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if y.dtype.kind not in WHOLE_OR_TEXT or 2 * len(self.classes_) >= len(y):
            check_classification_targets(y)
        if len(self.classes_) == 2:
            codes = 1 - codes
        names = self._names(self.classes_)
        if self.weighted and sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        try:
            X = self._numbered(canonical(X))
            rows, weights = Distinct(X, codes, sample_weight if self.weighted else None), None
            rows, ranges = self._scaled(rows)
            if self.weighted:  # equal rows become one as they are trained on, scaled
                rows = distinct(*rows)
                weights = self._class_weights(rows)
            chosen = self._settings(self._of_rows(rows) | settings)
            result = self._fitted(rows, names, chosen, weights).with_ranges(ranges)
        except FwsvmError as error:
            raise ValueError(str(error)) from error
        if result.status in NOT_CONVERGED:
            warnings.warn(sentence(result), ConvergenceWarning, stacklevel=callers_level())
        self.result_, self.n_iter_ = result, max(1, result.iterations)
        return self

    def _validated(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Return rows (m, n) and labels (m,) as scikit-learn's checks do, which take as long as a small problem."""
        plain = (
            type(X) is type(y) is np.ndarray
            and X.dtype == np.float64 and X.ndim == 2 and X.size > 0 and X.flags.carray
            and y.dtype.kind in WHOLE_OR_TEXT and y.shape == X.shape[:1]
            and np.isfinite(X).all()
        )  # fmt: skip
        if not plain:
            return validate_data(  # type: ignore[no-any-return]
                self, X, y, accept_sparse="csr", dtype=np.float64, order="C", force_writeable=True
            )
        self.n_features_in_ = X.shape[1]
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        return X, y

    def _numbered(self, X: Any) -> Any:
        """Return the rows X (m, n), with their numbers where the kernel asks for them."""
        return X

    def _judged(self, X: Any) -> Any:
        """Return what the machine decides on: the rows X (t, n), or kernel values of them."""
        return X

    def _fitted(
        self, rows: Distinct, names: list[str], chosen: Settings, weights: np.ndarray | None
    ) -> Result:
        """Return the result of training on rows that are prepared; an interrupt goes on as one."""
        result = fit(rows.X, rows.codes, names, chosen, weights=weights, counts=rows.weights)
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

    def _class_weights(self, rows: Distinct) -> np.ndarray | None:
        labels = self._in_our_order(self.classes_)
        return parameters.class_weights(getattr(self, "class_weight", None), labels, rows)

    def _scaled(self, rows: Distinct) -> tuple[Distinct, scaling.Ranges | None]:
        """Return the scaled rows, and the ranges: those of the rows whose weight is not 0."""
        if self.scale is None:
            self._warn_of_uneven(rows.X)
            return rows, None
        if not isinstance(self.scale, str) or self.scale not in scaling.TARGETS:
            raise ValueError(f"scale must be None, {' or '.join(scaling.TARGETS)}, not {shown(self.scale)}")
        counted = np.ones(len(rows.codes), dtype=bool) if rows.weights is None else rows.weights > 0
        if (weights := self._class_weights(rows)) is not None:
            counted &= weights > 0
        ranges = scaling.fit(rows.X, self.scale, counted)
        return rows._replace(X=scaling.apply(rows.X, ranges)), ranges

    def _warn_of_uneven(self, X: Any) -> None:
        """Warn where the rows, (m, n), are far from scaled; a kernel that the user computes is the user's own."""
        name = getattr(self, "kernel", FAMILIES[self.family].default_kernel)
        known = KERNELS.get(name) if isinstance(name, str) else None
        if known is not None and (said := scaling_warning(X, known, 'scale="[0,1]"')):
            warnings.warn(said, stacklevel=callers_level())

    def _of_rows(self, rows: Distinct) -> dict[str, Any]:  # noqa: ARG002
        """Return the settings that a family takes from the rows: of its kernel, or a limit."""
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def sentence(result: Result) -> str:
    """Return how a run ended that did not converge, and what may help."""
    said = "relative gap" in result.message
    gap = (
        ""
        if said or not np.isfinite(result.relative_gap)
        else f" The relative gap is {result.relative_gap:.2g}."
    )
    return f"{result.message}{gap} A larger max_iter, time_limit or tol, or scaled features, may help."
