"""One training run outside an experiment (`fwsvm train`): data set and settings to result and row."""

from typing import Any

import numpy as np

from fwsvm._memory import peak_memory_mib, reset_peak_memory
from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import encode
from fwsvm.experiments import accuracy, record
from fwsvm.experiments.plan import run_id
from fwsvm.experiments.record import Row
from fwsvm.experiments.settings_columns import settings_columns
from fwsvm.problems.precomputed import is_given
from fwsvm.results.columns import COLUMNS
from fwsvm.results.writing import utc_now
from fwsvm.solvers import Result, Settings, Status, fit
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import Resolved


def train(
    data: Dataset, settings: Settings, watch: Watch | None = None, resolved: Resolved | None = None
) -> tuple[Result, Row]:
    """Train on a data set, measure accuracies, and return the result and its row.

    Unscaled rows are scaled first, as the data set says (`fwsvm.data.catalogue.scaled`); the machine keeps the ranges.
    ``resolved``, where it is given, is what `resolve` made of the settings and of rows that are scaled already.
    An accuracy that cannot be computed is empty, and the message says why.
    """
    data = scaled(data)
    started = utc_now()
    reset_peak_memory()
    codes = encode(data.train.labels, data.classes)
    result = fit(data.train.X, codes, data.classes, settings, watch=watch, resolved=resolved)
    result = result.with_rows(
        ranges=data.train.ranges,
        feature_names=data.train.feature_names,
        zero_based=None if is_given(settings.kernel) else data.train.zero_based,
    )
    more: dict[str, Any] = {
        "run_id": run_id(data.name, data.fingerprint, "", settings),
        **settings_columns(settings),
        "role": "final",
        "started_utc": started,
        "peak_memory_mib": peak_memory_mib(),
        "parallel_cells": 1,
        "shared": False,
    }
    if result.sample is not None:
        more |= record.sample_columns(data, result)
        more["run_id"] = run_id(data.name, more["data_sha256"], "", settings)
    try:
        if result.sample is None and not accuracy.is_costly(result, data.train):
            result, known = accuracy.on_training_rows(
                result, lambda of: accuracy.accuracy(of, data.train, data.classes), np.bincount(codes)
            )
            more |= known
        if data.test is None:
            more |= record.missing_test_note(data, result)
        else:
            result, known = accuracy.on_test_rows(result, data.test, data.classes)
            more |= known
    except KeyboardInterrupt:
        result = accuracy.interrupted(result)
    return result, record.row(record.data_columns(data), result, **more)


def error_row(data: Dataset, settings: Settings, resolved: Resolved, message: str) -> Row:
    """Return the row of a run on loaded data that an error ended."""
    asked = {name: value for name, value in resolved.as_columns().items() if name in COLUMNS}
    more: dict[str, Any] = {
        "run_id": run_id(data.name, data.fingerprint, "", settings), "status": str(Status.ERROR), "message": message,
        "role": "final", "started_utc": utc_now(), "parallel_cells": 1, "shared": False,
        **settings_columns(settings),
    }  # fmt: skip
    return record.row(record.data_columns(data), **asked | more)
