"""One training outside an experiment: data set and settings in, result and complete row out."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from fwsvm import promises
from fwsvm._occurring import occurring
from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset, Table
from fwsvm.data.labels import encode
from fwsvm.errors import RangeError
from fwsvm.experiments import record
from fwsvm.experiments.environment import environment, forget_peak_memory, peak_memory_mib
from fwsvm.experiments.plan import run_id
from fwsvm.experiments.record import Row
from fwsvm.problems.features import fitted
from fwsvm.problems.machines import KernelModel
from fwsvm.results.columns import COLUMNS
from fwsvm.solvers import Result, Settings, Status, fit
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import resolve

MOST_VALUES = 5e9  # kernel values to predict the training rows by: half a minute's worth
UNEVEN = 100.0  # ranges of features this far apart are worth a warning


def train(data: Dataset, settings: Settings, watch: Watch | None = None) -> tuple[Result, Row]:
    """Train on a data set, judge by its training and test rows, and return the result and its row.

    Raw rows are scaled first, as the data set says (`fwsvm.data.catalogue.scaled`); the machine has the ranges.
    """
    data = scaled(data)
    started = record.now_utc()
    forget_peak_memory()
    codes = encode(data.train.labels, data.classes)
    result = fit(data.train.X, codes, data.classes, settings, watch=watch).with_ranges(data.train.ranges)
    more: dict[str, Any] = {
        "run_id": run_id(data.fingerprint, "", settings),
        "role": "final",
        "started_utc": started,
        "peak_memory_mib": peak_memory_mib(),
        "parallel_cells": 1,
        "shared": False,
    }
    try:
        if not costly(result, data.train):
            more["train_accuracy"] = accuracy(result, data.train, data.classes)
            result = judged(result, more["train_accuracy"], codes)
        if data.test is None:
            more |= record.untested(data, result)
        else:
            begun = time.perf_counter()
            more["test_accuracy"] = accuracy(result, data.test, data.classes)
            more["predict_seconds"] = time.perf_counter() - begun
    except KeyboardInterrupt:
        said = f"{result.message} Interrupted while rows were predicted."
        result = replace(result, status=Status.INTERRUPTED, certified=False, message=said)
    return result, record.row(record.about(data), environment(), result, **more)


def judged(result: Result, train_accuracy: float, codes: np.ndarray) -> Result:
    """Return the result with a word in its message if more training rows (m,) are in one class than it gets right."""
    said = promises.of_accuracy(train_accuracy, np.bincount(codes).tolist())
    return replace(result, message=f"{result.message} {said}") if said else result


def refused(data: Dataset, settings: Settings, error: RangeError) -> Row:
    """Return the row of a training that its numbers do not allow."""
    asked = {
        name: value for name, value in resolve(settings, data.train.X).as_columns().items() if name in COLUMNS
    }
    more: dict[str, Any] = {
        "run_id": run_id(data.fingerprint, "", settings), "status": str(Status.ERROR), "message": str(error),
        "role": "final", "started_utc": record.now_utc(), "parallel_cells": 1, "shared": False,
    }  # fmt: skip
    return record.row(record.about(data), environment(), **asked, **more)


def costly(result: Result, table: Table) -> bool:
    """Whether predicting the rows takes so many kernel values that it could outlast the training."""
    return (
        isinstance(result.model, KernelModel) and float(table.rows) * result.model.counts.sum() > MOST_VALUES
    )


def accuracy(result: Result, table: Table, classes: tuple[str, ...]) -> float:
    """Return the fraction of rows whose label the machine predicts."""
    X, _ = fitted(table.X, result.model.features)
    predicted = result.model.predict(X, int(result.settings["threads"]))
    return float(np.mean(predicted == encode(table.labels, classes)))


def scaling_warning(X: np.ndarray | sparse.csr_array) -> str:
    """Return a sentence where some features are so much wider than others that they decide all distances, else ''."""
    X = occurring(X).X
    columns = sparse.csc_array(X) if sparse.issparse(X) else X
    width = np.ravel(
        (columns.max(axis=0) - columns.min(axis=0)).toarray() if sparse.issparse(X) else np.ptp(X, axis=0)
    )
    width = width[width > 0]
    if not len(width) or width.max() <= UNEVEN * np.median(width):
        return ""
    return (
        f"the widest feature spans {width.max():.3g}, the median one {np.median(width):.3g}: it decides the distances; "
        "--scale [0,1] brings all to one range"
    )
