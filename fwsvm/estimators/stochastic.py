"""The stochastic family: scs, wolfe and pegasos as a scikit-learn classifier."""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.multiclass import _check_partial_fit_first_call

from fwsvm._mapped import RowMatrix, stacked
from fwsvm.errors import shown
from fwsvm.estimators.base import in_our_order, texts_of, value_errors
from fwsvm.estimators.kernel import KernelClassifier
from fwsvm.estimators.parameters import with_parameters
from fwsvm.problems.binary import Binary
from fwsvm.problems.machines import KernelModel
from fwsvm.solvers import Result, Settings, Status, resolve
from fwsvm.solvers.fit import refuse_out_of_range
from fwsvm.solvers.stochastic.pegasos import PegasosRun


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
            names = texts_of(in_our_order(known))
            result = after_portion(begun, X, ours, names, in_our_order(seen), settings)
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


def after_portion(
    begun: Result | None,
    X: RowMatrix,
    codes: np.ndarray,
    classes: Sequence[str],
    seen: np.ndarray,
    settings: Settings,
) -> Result:
    """Return the result after one pass over a portion of rows, in an order drawn by the seed.

    Parameters
    ----------
    begun : Result or None
        Of earlier portions, or of `fwsvm.solvers.fit`. Where there is none, width and lambda, if that is not given,
        follow from this portion.
    X : ndarray or csr_array, shape (b, n)
    codes : ndarray of int, shape (b,), class numbers
    classes : sequence of K str
    seen : ndarray of int, shape (K,), rows of each class that ``begun`` was trained on
    settings : Settings
        Where there is a ``begun``, its seed and threads are used.

    Raises
    ------
    UsageError
        Settings that make no sense.
    RangeError
        Kernel values beyond what single precision holds.
    """
    started, K, pairs = time.perf_counter(), len(classes), [*combinations(range(len(classes)), 2)]
    resolved = replace(resolve(replace(settings, method="pegasos", parameters={}), X), max_iterations=None)
    support, counts, weights = X[:0], np.zeros(K, np.int64), np.zeros((0, len(pairs)))
    columns = resolved.as_columns()
    spent = 0.0
    if begun is not None:
        model: Any = begun.model  # a KernelModel, as one-versus-one families make
        support, counts, weights = model.support, model.counts, model.pair_weights()
        columns = dict(begun.settings)
        spent = begun.train_seconds
        resolved = replace(resolved, kernel=model.kernel)
    refuse_out_of_range(resolved.kernel, str(columns["kernel"]), X)
    order = np.random.default_rng((settings.seed, int(seen.sum()))).permutation(len(codes))
    rows = stacked([support, X[order]])
    codes = np.concatenate([np.repeat(np.arange(K), counts), codes[order]])
    coefficients = np.zeros((len(codes), K - 1))
    lam = columns["lambda"] * K / 2.0
    for pair, (i, j) in enumerate(pairs):
        places = np.flatnonzero((codes == i) | (codes == j))
        if len(places):
            y = np.where(codes[places] == i, 1.0, -1.0)
            penalties = np.full(len(places), 1.0 / (lam * len(places)))
            run = PegasosRun(Binary(rows[places], y, penalties, (0,)), resolved)
            run.visit_from(weights[places[places < len(weights)], pair], int(seen[i] + seen[j]))
            coefficients[places, np.where(y > 0.0, j - 1, i)] = run.counts * run.control["scale"]
    kept = np.flatnonzero(coefficients.any(axis=1))
    kept = kept[np.argsort(codes[kept], kind="stable")]
    visited = (K - 1) * (int(seen.sum()) + len(order))
    return Result(
        model=KernelModel(
            tuple(classes),
            resolved.kernel,
            rows[kept],
            np.bincount(codes[kept], minlength=K),
            coefficients[kept],
            np.zeros(len(pairs)),
        ),
        status=Status.MAX_ITERATIONS,
        message="Each row was visited once, as it came; that proves no gap.",
        settings=columns,
        subproblems=len(pairs),
        solved=len(pairs),
        support_vectors=len(kept),
        iterations=visited,
        steps=visited,
        train_seconds=spent + time.perf_counter() - started,
    )
