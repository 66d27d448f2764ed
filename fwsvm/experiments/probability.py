"""Sigmoids for the decision values of a machine, from five folds that it is not trained on (`fwsvm train`)."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np

from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import QUOTED, encode
from fwsvm.errors import DataError, UsageError, clipped
from fwsvm.experiments import samples
from fwsvm.experiments.experiment import ValidationRule
from fwsvm.problems.machines import KernelModel
from fwsvm.problems.probability import fit_sigmoid
from fwsvm.solvers import FAMILIES, Result, Settings, Status, fit, method
from fwsvm.solvers.loop import Watch

FOLDS = 5


def refuse_for(data: Dataset, settings: Settings) -> None:
    """Refuse machines that have no probabilities.

    Raises
    ------
    UsageError
        A linear method: LIBLINEAR's format has no place for sigmoids.
    DataError
        A class has one row only.
    """
    if FAMILIES[method(settings.method).family].multiclass != "one-vs-one":
        raise UsageError(
            f"--probability is for kernel machines, and {settings.method} makes linear ones; take another method with "
            "--kernel linear"
        )
    counts = np.bincount(encode(data.train.labels, data.classes), minlength=len(data.classes))
    if counts.min() < 2:
        name = clipped(data.classes[int(counts.argmin())], QUOTED)
        raise DataError(f"{data.name}: class {name} has one row only, and probabilities need two of each")


def with_probabilities(
    data: Dataset, result: Result, settings: Settings, watch: Watch | None = None,
    count: Callable[[int, int], None] = lambda _done, _of: None,
) -> Result | None:  # fmt: skip
    """Return a result whose machine has sigmoids, or None if a fold was interrupted.

    Each fifth of the rows is decided on by a machine that was trained on the others, with the width of ``result`` and
    otherwise the same settings, limits included; the message counts folds that ended in another way than ``result``. As
    in LIBSVM a pair's sigmoid is of the rows of its two classes.

    Parameters
    ----------
    data : Dataset
        Scaled as ``result`` was trained on it.
    watch, count : callable
        Told of the progress of a fold, and of the folds that ended.
    """
    machine, codes = result.model, encode(data.train.labels, data.classes)
    assert isinstance(machine, KernelModel)  # noqa: S101  (what `refuse_for` lets pass)
    if (width := result.settings["gamma"]) is not None:
        settings = replace(settings, gamma=width, sigma2=None, width_rule=None)
    pairs = list(combinations(range(len(data.classes)), 2))
    decision, rule, otherwise = np.empty((len(codes), len(pairs))), ValidationRule(folds=FOLDS), 0
    for part in range(FOLDS):
        count(part, FOLDS)
        held_out = samples.validation_mask(codes, rule, settings.seed, part)
        if not held_out.any():
            continue
        try:
            found = fit(data.train.X[~held_out], codes[~held_out], data.classes, settings, watch=watch)
            decided = found.model.decision(data.train.X[held_out], int(result.settings["threads"]))
        except KeyboardInterrupt:
            return None
        if found.status is Status.INTERRUPTED:
            return None
        decision[held_out] = decided
        otherwise += found.status is not result.status
    sigmoids = np.empty((2, len(pairs)))
    for column, (i, j) in enumerate(pairs):
        mine = (codes == i) | (codes == j)
        sigmoids[:, column] = fit_sigmoid(decision[mine, column], codes[mine] == i)
    note = f" Of the {FOLDS} folds for probabilities {otherwise} ended in another way." if otherwise else ""
    return replace(result, model=replace(machine, sigmoids=sigmoids), message=result.message + note)
