"""The accuracy of trained machines: on test rows, and on training rows if predicting them is cheap."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fwsvm import promises
from fwsvm._memory import ran_out
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.labels import encode
from fwsvm.errors import FwsvmError
from fwsvm.phases import Phase, enter
from fwsvm.problems.features import fitted
from fwsvm.problems.machines import KernelModel
from fwsvm.solvers import Result, Status
from fwsvm.solvers.c_path import CPath, Run

MAX_KERNEL_VALUES = 5e9  # for the training rows: about half a minute
TRAINING, TEST = "The training accuracy", "The test accuracy"
#: What leaves an accuracy unknown: no room to predict rows, or workers of a cluster that are gone.
UNMEASURED = (FwsvmError, MemoryError)


def accuracy(result: Result, table: LabelledRows, classes: tuple[str, ...]) -> float:
    """Return the fraction of rows whose label the machine predicts."""
    enter(Phase.PREDICT)
    X, _ = fitted(table.X, result.model.features)
    predicted = result.model.predict(X, int(result.settings["threads"]))
    return float(np.mean(predicted == encode(table.labels, classes)))


def on_test_rows(
    result: Result, test: LabelledRows, classes: tuple[str, ...]
) -> tuple[Result, dict[str, Any]]:
    """Return the result of a run, and ``test_accuracy`` and ``predict_seconds``.

    Where they cannot be computed there are none, and the message says why: the machine is no worse for it.
    """
    started = time.perf_counter()
    try:
        found = accuracy(result, test, classes)
    except UNMEASURED as error:
        return unmeasured(result, TEST, error), {}
    return result, {"test_accuracy": found, "predict_seconds": time.perf_counter() - started}


def unmeasured(result: Result, which: str, error: FwsvmError | MemoryError) -> Result:
    """Return the result of a run, its message saying why ``which`` accuracy is not known."""
    why = ran_out(error) if isinstance(error, MemoryError) else str(error)
    flag = {TRAINING: promises.TRAIN_UNMEASURED, TEST: promises.TEST_UNMEASURED}.get(which)
    flags = result.flags if flag is None else (*result.flags, flag)
    return replace(result, message=f"{result.message} {which} could not be computed: {why}.", flags=flags)


def interrupted(result: Result) -> Result:
    """Return the result of a run that Ctrl-C ended while rows were predicted."""
    said = f"{result.message} Interrupted while rows were predicted."
    return replace(result, status=Status.INTERRUPTED, message=said)


def of_path(
    path: CPath, certified: Sequence[tuple[Run, Result]], test: LabelledRows, classes: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return ``test_accuracy`` and ``predict_seconds`` of certified runs, which share kernel values.

    Seconds are each run's equal share of the whole.
    """
    enter(Phase.PREDICT)
    started = time.perf_counter()
    X, _ = fitted(test.X, path.X.shape[1])
    codes = encode(test.labels, classes)
    columns = [
        {"test_accuracy": float(np.mean(result.model.choose(decision) == codes))}
        for (_, result), decision in zip(certified, path.decisions(certified, X), strict=True)
    ]
    seconds = (time.perf_counter() - started) / max(1, len(columns))
    return [{**each, "predict_seconds": seconds} for each in columns]


def is_costly(result: Result, table: LabelledRows) -> bool:
    """Return whether predicting the rows needs so many kernel values that it could outlast the training."""
    return (
        isinstance(result.model, KernelModel)
        and float(table.rows) * result.model.counts.sum() > MAX_KERNEL_VALUES
    )


def on_training_rows(
    result: Result, measure: Callable[[Result], float], counts: np.ndarray
) -> tuple[Result, dict[str, Any]]:
    """Return the result of a run, and ``train_accuracy`` as ``measure`` returns it; else as `on_test_rows`.

    The message says so if it is below the largest class's share. ``counts`` are the training rows of each class, (K,).
    """
    try:
        found = measure(result)
    except UNMEASURED as error:
        return unmeasured(result, TRAINING, error), {}
    if note := promises.accuracy_warning(found, counts.tolist()):
        flags = (*result.flags, promises.BELOW_MAJORITY)
        result = replace(result, message=f"{result.message} {note}", flags=flags)
    return result, {"train_accuracy": found}
