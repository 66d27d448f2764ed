"""One cell made into one row: load, divide, train, predict, record. What fails becomes a row that says so."""

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import encode
from fwsvm.data.splits import take
from fwsvm.errors import DataError, FwsvmError
from fwsvm.experiments import record, samples
from fwsvm.experiments.environment import environment, forget_peak_memory, peak_memory_mib
from fwsvm.experiments.plan import FINAL, Cell
from fwsvm.experiments.record import Row
from fwsvm.experiments.training import accuracy, costly
from fwsvm.solvers import Result, Status, fit
from fwsvm.solvers.handover import Handover
from fwsvm.solvers.loop import Progress
from fwsvm.solvers.result import TracePoint

Watch = Callable[[Cell, Progress], None]


@dataclass(frozen=True)
class Resources:
    """What a run may use, and how many may go on beside it; None leaves it to the machine."""

    threads: int | None = None
    cache_mib: int | None = None
    parallel_cells: int = 1
    offline: bool = False


@dataclass(frozen=True)
class Record:
    """A cell's row, its trace, and the particulars of a failure for the log."""

    cell: Cell
    row: Row
    trace: tuple[TracePoint, ...] = ()
    failure: str = ""

    @property
    def status(self) -> Status:
        """How the run ended."""
        return Status(self.row["status"])


def run_task(
    cells: Sequence[Cell], resources: Resources, watch: Watch | None = None, dataset: Dataset | None = None
) -> Iterator[Record]:
    """Run cells one after another, and yield each record as its run ends.

    Several in one task differ in C alone: each takes over the kernel values, and starts at the end, of the one
    before.

    The data is loaded by name unless it is given; in either case its digest must be the planned one.

    Raises
    ------
    KeyboardInterrupt
        After the record of the interrupted run was yielded.
    """
    handover = Handover() if len(cells) > 1 else None
    for number, cell in enumerate(cells):
        done = run_cell(cell, resources, watch, dataset, handover, taken_over=number > 0)
        yield done
        if done.status is Status.INTERRUPTED:
            raise KeyboardInterrupt


def run_cell(
    cell: Cell,
    resources: Resources,
    watch: Watch | None = None,
    dataset: Dataset | None = None,
    handover: Handover | None = None,
    *,
    taken_over: bool = False,
) -> Record:
    """Run one cell; whatever happens, return its record.

    ``taken_over`` says that an earlier run left something in ``handover``.
    """
    started, result = record.now_utc(), None
    more: dict[str, Any] = {
        **cell.columns,
        "started_utc": started,
        "parallel_cells": resources.parallel_cells,
    }
    forget_peak_memory()
    try:
        data = _data(cell, dataset, resources)
        more |= record.about(data)
        train, judged = _divided(cell, data)
        more["rows"] = train.rows
        result = _fit(cell, data, train, resources, watch, handover)
        more |= {"shared": taken_over, "peak_memory_mib": peak_memory_mib()}
        more |= _accuracies(cell, data, train, judged, result)
        return Record(cell, record.row({}, environment(), result, **more), result.trace)
    except KeyboardInterrupt:
        status, said, failure = Status.INTERRUPTED, Status.INTERRUPTED.sentence, ""
    except DataError as error:
        status, said, failure = Status.MISSING, str(error), ""
    except FwsvmError as error:
        status, said, failure = Status.ERROR, str(error), ""
    except Exception as error:  # noqa: BLE001 - one failing run must not stop the others
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        status, failure = Status.ERROR, traceback.format_exc()
    return failed(cell, status, said, failure, result, **more)


def failed(
    cell: Cell, status: Status, said: str, failure: str = "", result: Result | None = None, **more: Any
) -> Record:
    """Return the record of a run that came to nothing, or that was cut off after training."""
    known = {"started_utc": record.now_utc(), **cell.columns, **more}
    known |= {} if result is not None else cell.asked
    known = {"dataset": cell.data.name, "data_sha256": cell.sha256, "shared": False} | known
    row = record.row({}, environment(), result, **known | {"status": str(status), "message": said})
    return Record(cell, row, result.trace if result is not None else (), failure)


def _data(cell: Cell, given: Dataset | None, resources: Resources) -> Dataset:
    data = given if given is not None else samples.load(cell.data, offline=resources.offline)
    if data.sha256 != cell.sha256:
        here, planned = data.sha256[:12], cell.sha256[:12]
        raise DataError(f"{cell.data.name}: the data here ({here}) is not what was planned ({planned})")
    return data


def _divided(cell: Cell, data: Dataset) -> tuple[Any, Any]:
    """Return the rows to train on and the rows to judge by (None where there are none)."""
    if cell.held_out is None:
        return data.train, data.test
    codes = encode(data.train.labels, data.classes)
    held_out = samples.held_out_rows(codes, cell.held_out, cell.data.seed, cell.part or 0)
    return take(data.train, np.flatnonzero(~held_out)), take(data.train, np.flatnonzero(held_out))


def _fit(
    cell: Cell,
    data: Dataset,
    train: Any,
    resources: Resources,
    watch: Watch | None,
    handover: Handover | None,
) -> Result:
    codes = encode(train.labels, data.classes)
    given = {name: getattr(resources, name) for name in ("threads", "cache_mib")}
    settings = replace(cell.settings, **{name: value for name, value in given.items() if value is not None})
    told = (lambda progress: watch(cell, progress)) if watch is not None else None
    return fit(train.X, codes, data.classes, settings, watch=told, handover=handover)


def _accuracies(cell: Cell, data: Dataset, train: Any, judged: Any, result: Result) -> dict[str, Any]:
    """Return the accuracies, and the seconds of predicting the rows to judge by."""
    found: dict[str, Any] = {}
    if judged is not None and judged.rows:
        started = time.perf_counter()
        found["test_accuracy"] = accuracy(result, judged, data.classes)
        found["predict_seconds"] = time.perf_counter() - started
    if cell.role == FINAL and not costly(result, train):
        found["train_accuracy"] = accuracy(result, train, data.classes)
    return found
