"""Prediction (`fwsvm predict`, `fwsvm.predict`), here or on a Dask cluster: classes, decision values, accuracy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fwsvm._mapped import RowMatrix, all_finite, fitted
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.inputs import parts_of, read_rows
from fwsvm.data.labels import encode, unknown
from fwsvm.data.partitions import Partition, cut, read
from fwsvm.errors import DataError, UsageError
from fwsvm.kernels.distances import precision
from fwsvm.kernels.rows import as_rows
from fwsvm.phases import Phase, enter
from fwsvm.problems.machines import (
    NOT_FINITE,
    KernelModel,
    LinearModel,
    Model,
    Prepared,
    decisions_together,
    prepared,
    refuse_other_width,
    refuse_undecided,
    takes_kernel_values,
)
from fwsvm.problems.probability import probabilities

if TYPE_CHECKING:
    from fwsvm.solvers import Result

DECISION, PROBABILITY = "decision", "probability"  # values that may be wanted beside the classes
#: Decision values that are held at a time. Evidence: none; 128 MiB.
DECISIONS_HELD = 1 << 24
#: Sums of decision values that a kernel value goes into at a time. Evidence: with 32, predictions of ten C and ten
#: classes take 1.8 to 2.5 times as long, of 26 classes 1.3 times (usps, letter).
DECIDED_TOGETHER = 256


@dataclass(frozen=True)
class Prediction:
    """Predictions of a model for rows.

    Attributes
    ----------
    codes : ndarray of int, shape (rows,), places in the model's classes
    values : ndarray, shape (rows, columns), or None
        Decision values, a column a pair of classes or a class (`decision_columns`), or probabilities of the classes.
    correct : int or None
        Rows whose label is the one predicted; None where the rows have no labels.
    unknown : tuple of str
        Labels of the rows that are no classes of the model; such rows count as wrong.
    ignored : int
        Non-zeros in features that the model was not trained on, which are ignored.
    far : int
        Rows with a value far outside the model's training ranges (`fwsvm.scaling.FAR`).
    notices : tuple of str
        Messages about the values, for the user.
    """

    codes: np.ndarray
    values: np.ndarray | None
    correct: int | None
    unknown: tuple[str, ...]
    ignored: int
    far: int
    notices: tuple[str, ...]


def predict(
    model: Model, table: LabelledRows, threads: int = 1, *, wanted: str = "", name: str = "rows"
) -> Prediction:
    """Predict the rows of a table, mapped ones in pieces; features that the model lacks are ignored, missing are zeros.

    Unscaled rows are scaled by the model's ranges, see `_scaled`. Where probabilities are wanted the class is the most
    probable one, as in svm-predict, which may differ from the one that most pairs vote for.

    Raises
    ------
    UsageError
        Probabilities of a model without sigmoids; values that are not finite.
    RangeError
        A row has no decision value in double precision.
    DataError
        Only some rows have labels; ``name`` is what has the rows.
    """
    return _joined([_predict(model, part, threads, wanted) for part in parts_of(table)], name)


def _predict(model: Model, table: LabelledRows, threads: int, wanted: str) -> Prediction:
    if not all_finite(table.X):
        raise UsageError(NOT_FINITE)
    sigmoids = model.sigmoids if wanted == PROBABILITY and isinstance(model, KernelModel) else None
    if wanted == PROBABILITY and sigmoids is None:
        raise UsageError(
            "the model has no probabilities; train it with `fwsvm train --probability`, in Python with probability=True"
        )
    X, ignored, far, notices = _scaled(model, table)
    enter(Phase.PREDICT)
    values = model.decision(X, threads)
    refuse_undecided(values)
    codes = model.choose(values)
    if sigmoids is not None:
        values = probabilities(values, sigmoids, len(model.classes))
        codes = values.argmax(axis=1)
    labelled = not (table.labels.dtype.kind == "f" and np.isnan(table.labels).all())
    return Prediction(
        codes,
        values if wanted else None,
        int((encode(table.labels, model.classes) == codes).sum()) if labelled else None,
        unknown(table.labels, model.classes) if labelled else (),
        ignored,
        far,
        (*notices, *table.notices),
    )


def decisions(results: Sequence["Result"], X: RowMatrix, trained: Any) -> Iterator[np.ndarray]:
    """Yield the decision values of the rows of X (t, n) of each result of one path.

    ``trained`` (m, n) are the rows of the path, None where they are not in memory. Decision values are to compare
    accuracies: kernel values are float32 where that tells rows apart.
    """
    K = len(results[0].model.classes) if results else 2
    at_once = max(1, min(DECIDED_TOGETHER // (K - 1), DECISIONS_HELD // (X.shape[0] * K * (K - 1) // 2)))
    for first in range(0, len(results), at_once):
        some = results[first : first + at_once]
        threads = int(some[0].settings["threads"])
        models: list[Any] = [result.model for result in some]
        numbers: list[Any] = [result.support for result in some]
        if len(some) > 1 and trained is not None and isinstance(models[0], KernelModel):
            dtype = precision(models[0].kernel, as_rows(X))
            yield from decisions_together(models, numbers, trained, X, threads, dtype)
        else:
            yield from (result.model.decision(X, threads) for result in some)


def read_unseen(
    model: Model, data: str | Path, *, zero_based: bool | None = None, label: str | None = None
) -> LabelledRows:
    """Return the rows of a file or a name that a model is to predict, not scaled.

    Features are counted as in the training rows unless ``zero_based`` says otherwise; for ``label`` and errors see
    `fwsvm.data.inputs.read_rows`.
    """
    table = read_rows(
        data,
        unseen=True,
        zero_based=_base(model, zero_based),
        label=label,
        feature_names=model.feature_names,
        features=model.features if zero_based is None and model.zero_based else None,
    )
    if isinstance(table.X, np.ndarray):
        refuse_other_width(table.X, model.features)
    return table


def _base(model: Model, zero_based: bool | None) -> bool | None:
    """Return how features of rows to predict are counted; of kernel values index 0 is the number of the row."""
    return takes_kernel_values(model) or (model.zero_based if zero_based is None else zero_based)


def predict_on_cluster(
    address: str, model: Model, data: str, *, wanted: str, zero_based: bool | None
) -> Prediction:
    """Have the workers of a cluster read the rows of a file or folder, each a part, and predict them.

    Raises
    ------
    UsageError, DataError
        As `fwsvm.distributed.cluster.connect`, `fwsvm.data.partitions.cut`, and what workers say.
    """
    from fwsvm.distributed.cluster import Cluster

    enter(Phase.PREDICT)
    partitions = cut(data, zero_based=_base(model, zero_based))
    cluster = Cluster(address)
    try:
        found = cluster.gather(cluster.each(_predict_partition, partitions, cluster.send(model), wanted))
    finally:
        cluster.close()
    parts = [part for part in found if part is not None]
    if not parts:
        raise DataError(f"{data}: there are no rows to predict")
    return _joined(parts, data)


def _predict_partition(partition: Partition, model: Model, wanted: str) -> Prediction | None:
    """Read and predict a partition, None of no rows; this runs on a worker."""
    table = read(partition, unlabelled=True)
    return predict(model, table, wanted=wanted) if table.rows else None


def _joined(parts: Sequence[Prediction], name: str) -> Prediction:
    """Return the predictions of all rows; DataError where only some have labels."""
    if len(parts) == 1:
        return parts[0]
    correct = [part.correct for part in parts if part.correct is not None]
    if correct and len(correct) < len(parts):
        raise DataError(f"{name}: some rows have labels and others have none")
    codes = np.concatenate([part.codes for part in parts])
    far = sum(part.far for part in parts)
    said = [f"{far:,} of {len(codes):,} rows lie far outside the training ranges"] if far else []
    said += [notice for part in parts for notice in part.notices[1 if part.far else 0 :]]
    values = [part.values for part in parts if part.values is not None]
    return Prediction(
        codes,
        np.concatenate(values) if values else None,
        sum(correct) if correct else None,
        tuple(sorted({name for part in parts for name in part.unknown})),
        sum(part.ignored for part in parts),
        far,
        tuple(dict.fromkeys(said)),
    )


def _scaled(model: Model, table: LabelledRows) -> Prepared:
    """Return the rows of a table with the model's features, scaled by its ranges if they are not scaled yet.

    Raises
    ------
    UsageError
        The rows have other columns than the training rows, or were scaled already, and not by the model's ranges.
    """
    _refuse_other_columns(model.feature_names, table.feature_names)
    if table.ranges is None:
        return prepared(model, table.X)
    if model.ranges is None or table.ranges.text() != model.ranges.text():
        raise UsageError(
            f"the rows were scaled to {table.ranges.interval} before, and not by the ranges of the model; load them "
            "with raw=True, and the model scales them as its training did"
        )
    return Prepared(*fitted(table.X, model.features))


def _refuse_other_columns(names: tuple[str, ...], given: tuple[str, ...]) -> None:
    """Raise `UsageError` where rows have other column names, or another order of them, than the training rows."""
    if not names or not given or names == given:
        return
    others = {"missing": set(names).difference(given), "unknown": set(given).difference(names)}
    said = "; ".join(f"{what}: {', '.join(sorted(some)[:5])}" for what, some in others.items() if some)
    raise UsageError(
        f"the columns are not those that the model was trained on: {said or 'they are in another order'}"
    )


def decision_columns(model: Model) -> list[str]:
    """Return a name for each column of decision values: ``i/j`` (positive for i rather than j), or a class."""
    if isinstance(model, LinearModel) and len(model.classes) > 2:
        return list(model.classes)
    return [f"{i}/{j}" for i, j in combinations(model.classes, 2)]
