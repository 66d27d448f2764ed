"""Sigmoids for the decision values of a machine, from five folds that it is not trained on."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from fwsvm._mapped import RowMatrix
from fwsvm.data.splits import fold
from fwsvm.errors import SettingError
from fwsvm.experiments.record import noted
from fwsvm.experiments.samples import refuse_lost_class
from fwsvm.problems.machines import CERTAIN, KernelModel
from fwsvm.problems.probability import fit_sigmoid
from fwsvm.solvers import FAMILIES, Result, Settings, Status, fit, method
from fwsvm.solvers.loop import Watch

FOLDS = 5


def refuse_probability(
    name: str,
    codes: np.ndarray,
    classes: Sequence[str],
    settings: Settings,
    weights: np.ndarray | None = None,
) -> None:
    """Refuse machines that have no probabilities.

    ``name`` is the data set's, empty for arrays; ``codes`` (m,) are the rows' class numbers, places in ``classes``.

    Raises
    ------
    SettingError
        A linear method: LIBLINEAR's format has no place for sigmoids.
    DataError
        A class has one row only.
    """
    family = FAMILIES[method(settings.method).family]
    if family.divide is not None:
        raise SettingError(f"{settings.method} has no probabilities; take another method")
    if family.multiclass != "one-vs-one":
        raise SettingError(
            f"probability=True is for kernel methods, and {settings.method} is linear; take another method with "
            'kernel="linear"'
        )
    counts = np.bincount(codes if weights is None else codes[weights > 0], minlength=len(classes))
    if np.count_nonzero(counts) > 1:  # of one class alone `fit` says that there is no other
        refuse_lost_class(name, np.where(counts == 0, 1, counts - 1), tuple(classes))


def with_probabilities(
    X: RowMatrix,
    codes: np.ndarray,
    result: Result,
    settings: Settings,
    *,
    weights: np.ndarray | None = None,
    watch: Watch | None = None,
) -> Result:
    """Return a result whose machine has sigmoids; one whose status is interrupted, without them, if a fold was.

    Each fifth of the rows is decided on by a machine that was trained on the others, with the width of ``result`` and
    otherwise the same settings, limits included; the message counts folds that ended in another way than ``result``. As
    in LIBSVM a pair's sigmoid is of the rows of its two classes, and knows no weights.

    Parameters
    ----------
    X : ndarray or csr_array, shape (m, n)
        As ``result`` was trained on them: scaled.
    codes : ndarray of int, shape (m,)
        Class numbers.
    weights : ndarray, shape (m,), optional
        As of `fwsvm.solvers.fit`; rows without weight are left out.
    watch : callable
        Receives the progress of each fold.
    """
    if result.status is Status.INTERRUPTED:
        return result
    if weights is not None:
        used = weights > 0
        X, codes, weights = X[used], codes[used], weights[used]
    machine = result.model
    assert isinstance(machine, KernelModel)  # noqa: S101  (what `refuse_probability` lets pass)
    if (width := result.settings["gamma"]) is not None:
        settings = replace(settings, gamma=width, sigma2=None, width_rule=None)
    pairs = list(combinations(range(len(machine.classes)), 2))
    decision = np.empty((len(codes), len(pairs)))
    otherwise = 0
    sigmoids = np.empty((2, len(pairs)))
    try:
        for part in range(FOLDS):
            held_out = fold(codes, FOLDS, part, settings.seed)
            if not held_out.any():
                continue
            some = None if weights is None else weights[~held_out]
            found = fit(X[~held_out], codes[~held_out], machine.classes, settings, weights=some, watch=watch)
            if found.status is Status.INTERRUPTED:
                raise KeyboardInterrupt  # noqa: TRY301 - as one that came later
            decision[held_out] = found.model.decision(X[held_out], int(result.settings["threads"]))
            otherwise += found.status is not result.status
        for column, (i, j) in enumerate(pairs):
            sigmoids[:, column] = -CERTAIN, 0.0
            if machine.counts[i] and machine.counts[j]:  # both classes have rows of positive weight
                of_pair = (codes == i) | (codes == j)
                sigmoids[:, column] = fit_sigmoid(decision[of_pair, column], codes[of_pair] == i)
    except KeyboardInterrupt:
        said = "Interrupted in a fold; the model is complete, without probabilities."
        return replace(noted(result, said), status=Status.INTERRUPTED)
    if otherwise:
        result = noted(result, f"Of the {FOLDS} folds for probabilities {otherwise} ended in another way.")
    return replace(result, model=replace(machine, sigmoids=sigmoids))
