"""Run the cells of a task: load the data, train along C, measure accuracy, make each cell's record.

Every cell gets a record: a failed or interrupted run is a row with its status and message.
"""

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fwsvm._memory import peak_memory_mib, ran_out, reset_peak_memory
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.data.labels import encode
from fwsvm.data.splits import take
from fwsvm.errors import DataError, FwsvmError
from fwsvm.experiments import accuracy, record, samples
from fwsvm.experiments.plan import FINAL, Cell
from fwsvm.experiments.record import Row
from fwsvm.phases import Phase, enter
from fwsvm.results.writing import utc_now
from fwsvm.solvers import Result, Settings, Status
from fwsvm.solvers.c_path import CPath, Run
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.loop import Progress, Watch
from fwsvm.solvers.result import TracePoint

CellWatch = Callable[[Cell, Progress], None]
OnStart = Callable[[Cell], None]


@dataclass(frozen=True)
class Resources:
    """Threads and memory of a run, and how many runs go on in parallel; None is the machine's default."""

    threads: int | None = None
    cache_mib: int | None = None
    parallel_cells: int = 1
    offline: bool = False


@dataclass(frozen=True)
class Record:
    """A cell's row, its trace, and the traceback of an unexpected error, for the log."""

    cell: Cell
    row: Row
    trace: tuple[TracePoint, ...] = ()
    failure: str = ""

    @property
    def status(self) -> Status:
        """How the run ended."""
        return Status(self.row["status"])


@dataclass(frozen=True)
class _TaskData:
    """What the cells of a task share: data set, training rows, their class codes (m,), test rows, the path along C."""

    data: Dataset
    train: LabelledRows
    codes: np.ndarray
    test: LabelledRows | None
    path: CPath

    def columns(self) -> Row:
        return {**record.data_columns(self.data), "rows": self.train.rows}


class _TrainedCell(NamedTuple):
    """A cell that was trained, the known columns of its row, and its run, whose certificate may be deferred."""

    cell: Cell
    more: Row
    run: Run


def run_task(
    cells: Sequence[Cell], resources: Resources, watch: CellWatch | None = None, dataset: Dataset | None = None,
    on_start: OnStart | None = None, columns: ColumnStore | None = None,
) -> Iterator[Record]:  # fmt: skip
    """Run cells one after another and yield their records in order; every cell gets one.

    Several cells of a task differ in C alone. A cell with predecessors reuses their kernel values and starts where the
    one before it ended; if that is not in the task, failed, or was cut short by a time limit, it starts where the last
    complete run ended. Records of short runs come several at a time, since their certificates are computed together
    (`fwsvm.solvers.c_path`). ``on_start`` is called with each cell before it starts. ``columns`` are those of the tasks
    before in this process, whose memory serves a search.

    Data is loaded by name unless ``dataset`` is given; its fingerprint must be the planned one.

    Raises
    ------
    KeyboardInterrupt
        After the record of the interrupted run was yielded.
    """
    task: _TaskData | None = None
    trained: list[_TrainedCell] = []  # without certificate yet
    # runs of the next cells, trained together with this one, and when they began
    ahead: list[tuple[Run, str]] = []
    position: tuple[float, ...] = ()  # the values of C trained so far along the path

    def finish() -> Iterator[Record]:
        nonlocal trained
        waiting, trained = trained, []
        if task is not None:
            yield from _finished_records(task, waiting)

    for place, cell in enumerate(cells):
        continues = not cell.predecessors or cell.predecessors == position
        if not continues:
            yield from finish()
        if on_start is not None:
            on_start(cell)
        more: Row = {
            **cell.identity_columns, "started_utc": utc_now(), "parallel_cells": resources.parallel_cells,
        }  # fmt: skip
        reset_peak_memory()
        try:
            task = task or _load_task(cell, resources, dataset, columns)
            more |= task.columns()
            if not continues:
                task.path.begin_again()
            warm = not task.path.is_cold
            if not ahead and not cell.predecessors:
                ahead = _trained_together(task.path, _along(cells[place:]), resources, watch)
            more["shared"] = bool(ahead) or warm
            if ahead:
                run, more["started_utc"] = ahead.pop(0)
            else:
                run = _train(task.path, cell, resources, watch)
            more["peak_memory_mib"] = peak_memory_mib()
        except (Exception, KeyboardInterrupt) as error:
            yield from finish()
            position = ()
            yield _error_record(cell, error, is_loaded=task is not None, **more)
            if isinstance(error, KeyboardInterrupt):
                raise
            continue
        if run.cut:  # prove the others without this run, which might end elsewhere another time
            yield from finish()
        position = () if run.cut else cell.up_to_here
        trained.append(_TrainedCell(cell, more, run))
        if task.path.due([each.run for each in trained]):
            yield from finish()
    yield from finish()


def _finished_records(task: _TaskData, trained: Sequence[_TrainedCell]) -> Iterator[Record]:
    """Yield the records of trained runs, after computing their certificates and accuracies."""
    results: list[Result | None] = [None] * len(trained)
    try:
        certified = task.path.certify([each.run for each in trained])
        results[:] = [result for _, result in certified]
        measured = _measured(task, [each.cell for each in trained], certified)
    except (Exception, KeyboardInterrupt) as error:
        for (cell, more, _), result in zip(trained, results, strict=True):
            yield _error_record(cell, error, result, **more)
        if isinstance(error, KeyboardInterrupt):
            raise
        return
    for (cell, more, _), (result, columns) in zip(trained, measured, strict=True):
        note = record.missing_test_note(task.data, result) if task.test is None else {}
        yield Record(cell, record.row({}, result, **more, **columns, **note), result.trace)
    if any(result.status is Status.INTERRUPTED for _, result in certified):
        raise KeyboardInterrupt


def _error_record(
    cell: Cell, error: BaseException, result: Result | None = None, *, is_loaded: bool = True, **more: Any
) -> Record:
    """Return the record of a run that an error ended; it is missing if its data could not be loaded."""
    if isinstance(error, KeyboardInterrupt):
        return interrupted_record(cell, result, **more)
    if isinstance(error, FwsvmError):
        status = Status.MISSING if isinstance(error, DataError) and not is_loaded else Status.ERROR
        return failure_record(cell, status, str(error), "", result, **more)
    if isinstance(error, MemoryError):
        return failure_record(cell, Status.ERROR, ran_out(error), "", result, **more)
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    text = "".join(traceback.format_exception(error))
    return failure_record(cell, Status.ERROR, message, text, result, **more)


def failure_record(
    cell: Cell, status: Status, message: str, failure: str = "", result: Result | None = None, **more: Any
) -> Record:
    """Return the record of a run without result, or of one that was interrupted after training."""
    known = {"started_utc": utc_now(), **cell.identity_columns, **more}
    known |= {} if result is not None else cell.requested
    known = {
        "dataset": cell.dataset or cell.data.name,
        "data_sha256": cell.fingerprint,
        "shared": False,
    } | known
    row = record.row({}, result, **known | {"status": str(status), "message": message})
    return Record(cell, row, result.trace if result is not None else (), failure)


def interrupted_record(cell: Cell, result: Result | None = None, **more: Any) -> Record:
    """Return the record of a run that was interrupted, with the point that it had reached or without any."""
    said = Status.INTERRUPTED.sentence if result is not None else "Interrupted; this run has no result yet."
    return failure_record(cell, Status.INTERRUPTED, said, "", result, **more)


def _load_task(
    cell: Cell, resources: Resources, given: Dataset | None, columns: ColumnStore | None
) -> _TaskData:
    enter(Phase.LOAD)
    data = given if given is not None else samples.load(cell.data, offline=resources.offline)
    if data.fingerprint != cell.fingerprint:
        here, planned = data.fingerprint[:12], cell.fingerprint[:12]
        raise DataError(
            f"{cell.data.name}: the data here ({here}) is not what was planned ({planned}); run the command again"
        )
    train, test = _split(cell, data)
    codes = encode(train.labels, data.classes)
    weight, warm = cell.settings.class_weight, cell.predecessors is not None
    path = CPath(train.X, codes, data.classes, class_weight=weight, warm=warm, columns=columns)
    return _TaskData(data, train, codes, test, path)


def _split(cell: Cell, data: Dataset) -> tuple[LabelledRows, LabelledRows | None]:
    """Return the rows to train on and the rows to test on (None if there are none): validation rows in a search."""
    if cell.held_out is None:
        return data.train, data.test
    codes = encode(data.train.labels, data.classes)
    mask = samples.validation_mask(codes, cell.held_out, cell.data.seed, cell.part or 0)
    return take(data.train, np.flatnonzero(~mask)), take(data.train, np.flatnonzero(mask))


def _along(cells: Sequence[Cell]) -> list[Cell]:
    """Return the first cell, and those that go on from it one after another."""
    found = list(cells[:1])
    for cell in cells[1:]:
        if cell.predecessors != found[-1].up_to_here:
            break
        found.append(cell)
    return found


def _trained_together(
    path: CPath, cells: Sequence[Cell], resources: Resources, watch: CellWatch | None
) -> list[tuple[Run, str]]:
    """Train cells of one path together, and say when they began; return none where they are trained by themselves."""
    begun, (told, settings) = utc_now(), _asked(cells, resources, watch)
    runs = path.train_together(settings, told)
    return [(run, begun) for run in runs or ()]


def _train(path: CPath, cell: Cell, resources: Resources, watch: CellWatch | None) -> Run:
    told, (settings,) = _asked([cell], resources, watch)
    return path.train(settings, told)


def _asked(
    cells: Sequence[Cell], resources: Resources, watch: CellWatch | None
) -> tuple[Watch | None, list[Settings]]:
    """Return the watcher of the first cell, and the settings of each."""
    given = {name: getattr(resources, name) for name in ("threads", "cache_mib")}
    known = {name: value for name, value in given.items() if value is not None}
    told = (lambda progress: watch(cells[0], progress)) if watch is not None else None
    return told, [replace(cell.settings, **known) for cell in cells]


def _measured(
    task: _TaskData, cells: Sequence[Cell], certified: Sequence[tuple[Run, Result]]
) -> list[tuple[Result, dict[str, Any]]]:
    """Return the results of certified runs, and their accuracy columns.

    Raises
    ------
    FwsvmError, MemoryError
        The validation rows of a search cannot be predicted: its runs are made for that number alone.
    """
    results = [result for _, result in certified]
    columns: list[dict[str, Any]] = [{} for _ in certified]
    if task.test is not None and task.test.rows:
        try:
            columns = accuracy.of_path(task.path, certified, task.test, task.data.classes)
        except accuracy.UNMEASURED as error:
            if any(cell.role != FINAL for cell in cells):
                raise
            results = [accuracy.unmeasured(result, accuracy.TEST, error) for result in results]
    rows = task.train, task.data.classes
    for place, cell in enumerate(cells):
        result = results[place]
        if cell.role == FINAL and not accuracy.is_costly(result, task.train):
            results[place], known = accuracy.on_training_rows(
                result, lambda of: accuracy.accuracy(of, *rows), np.bincount(task.codes)
            )
            columns[place] |= known
    return list(zip(results, columns, strict=True))
