"""Run one cell or a chain of cells along C: train, certify, measure accuracies, make rows.

`run_one` serves every run that starts by itself: of ``fwsvm train``, of a fold, of an experiment. `run_chain` serves
runs on the same rows that differ in C alone, each of which starts where the one before ended. `run_cells` makes the
records of an experiment's cells by either.
"""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fwsvm._memory import peak_memory_mib, ran_out, reset_peak_memory
from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import encode
from fwsvm.errors import DataError, FwsvmError, UsageError
from fwsvm.experiments import accuracy, record, samples
from fwsvm.experiments.plan import FINAL, Cell, run_id
from fwsvm.experiments.record import Row, settings_columns
from fwsvm.experiments.validation import divided, validation_mask
from fwsvm.phases import Phase, enter
from fwsvm.problems.precomputed import is_given
from fwsvm.results.columns import COLUMNS
from fwsvm.results.writing import utc_now
from fwsvm.solvers import FAMILIES, Result, Settings, Status, fit, method
from fwsvm.solvers.c_path import CPath, Run
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.loop import Progress, Watch
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.result import TracePoint

CellWatch = Callable[[Cell, Progress], None]


@dataclass(frozen=True)
class Resources:
    """Threads and memory of a run, and how many runs go on in parallel; None is the machine's default."""

    threads: int | None = None
    cache_mib: int | None = None
    parallel_cells: int = 1
    offline: bool = False

    def applied(self, settings: Settings) -> Settings:
        """Return settings with these threads and this memory."""
        threads = settings.threads if self.threads is None else self.threads
        cache_mib = settings.cache_mib if self.cache_mib is None else self.cache_mib
        return replace(settings, threads=threads, cache_mib=cache_mib)


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


class ChainRun(NamedTuple):
    """A run of a chain: its place, its result or the error that ended it, and columns of its row."""

    place: int
    result: Result | None
    columns: Row
    error: BaseException | None = None


def run_one(
    data: Dataset, settings: Settings, watch: Watch | None = None, resolved: Resolved | None = None,
    *, identity: Mapping[str, Any] | None = None, measure_training: bool = True,
) -> tuple[Result, Row]:  # fmt: skip
    """Train on a data set, measure accuracies, and return the result and its row.

    An accuracy that cannot be computed is empty, and the message says why.

    Parameters
    ----------
    data : Dataset
        Unscaled rows are scaled first, as the data set says (`fwsvm.data.catalogue.scaled`).
    settings : Settings
    watch : callable, optional
        Receives the progress.
    resolved : Resolved, optional
        What `resolve` made of the settings and of rows that are scaled already.
    identity : mapping, optional
        Columns that say which run it is; by default those of a reported run by itself.
    measure_training : bool
        Whether to compute the training accuracy.
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
    more: Row = {
        **_identity(data, settings),
        **(identity or {}),
        "started_utc": started,
        "peak_memory_mib": peak_memory_mib(),
    }
    if result.sample is not None:
        more |= record.sample_columns(data, result)
        more["run_id"] = run_id(data.name, more["data_sha256"], "", settings)
    try:
        if measure_training and result.sample is None and not accuracy.is_costly(result, data.train):
            result, known = accuracy.on_training_rows(
                result, lambda of: accuracy.accuracy(of, data.train, data.classes), np.bincount(codes)
            )
            more |= known
        if data.test is None:
            more |= record.missing_test_note(data, result)
        elif data.test.rows:
            result, known = accuracy.on_test_rows(result, data.test, data.classes)
            more |= known
    except KeyboardInterrupt:
        result = accuracy.interrupted(result)
    return result, record.row(record.data_columns(data), result, **more)


def error_row(data: Dataset, settings: Settings, resolved: Resolved, message: str) -> Row:
    """Return the row of a run on loaded data that an error ended."""
    asked = {name: value for name, value in resolved.as_columns().items() if name in COLUMNS}
    more = {
        **_identity(data, settings),
        "status": str(Status.ERROR),
        "message": message,
        "started_utc": utc_now(),
    }
    return record.row(record.data_columns(data), **asked | more)


def _identity(data: Dataset, settings: Settings) -> Row:
    """Return the columns that say which run a reported run by itself is."""
    return {
        "run_id": run_id(data.name, data.fingerprint, "", settings),
        **settings_columns(settings),
        "role": FINAL,
        "parallel_cells": 1,
        "shared": False,
    }


def run_chain(
    data: Dataset, chain: Sequence[Settings], *, start: Callable[[int], Watch | None],
    columns: ColumnStore | None = None, seconds_left: Callable[[], float] | None = None,
) -> Iterator[ChainRun]:  # fmt: skip
    """Train for one C after another on the same rows, and yield each run in order, with its test accuracy.

    Short runs come several at a time, since their certificates are computed together (`fwsvm.solvers.c_path`). After a
    run that failed, or that a time limit cut, the next one starts where the last complete run ended.

    Parameters
    ----------
    data : Dataset
    chain : sequence of Settings
        In ascending C; they differ in C alone.
    start : callable
        Called with the place of each run that begins; returns what receives its progress.
    columns : ColumnStore, optional
        Memory of the chains before, which this one takes over.
    seconds_left : callable, optional
        Returns the seconds that the chain may still take: the limit of each run; no run begins once there are none.

    Raises
    ------
    KeyboardInterrupt
        After the interrupted run was yielded.
    """
    codes = encode(data.train.labels, data.classes)
    weight = chain[0].class_weight
    path = CPath(data.train.X, codes, data.classes, class_weight=weight, warm=True, columns=columns)
    waiting: list[tuple[int, Run, Row]] = []  # without certificate yet
    together: list[Run] = []  # of the next places, trained together
    broken = False
    for place, asked in enumerate(chain):
        watch = start(place)
        known: Row = {"started_utc": utc_now()}
        reset_peak_memory()
        settings = asked
        if seconds_left is not None:
            if (left := seconds_left()) <= 0:
                break
            settings = replace(asked, time_limit=left)
        try:
            if broken:
                path.begin_again()
            known["shared"] = bool(together) or not path.is_cold
            if place == 0 and seconds_left is None:
                together = path.train_together(chain, watch) or []
                known["shared"] = bool(together)
            run = together.pop(0) if together else path.train(settings, watch)
            known["peak_memory_mib"] = peak_memory_mib()
        except (Exception, KeyboardInterrupt) as error:
            yield from _certified(path, data, waiting)
            waiting, broken = [], True
            yield ChainRun(place, None, known, error)
            if isinstance(error, KeyboardInterrupt):
                raise
            continue
        broken = run.cut
        if run.cut:  # prove the others without this run, which might end elsewhere another time
            yield from _certified(path, data, waiting)
            waiting = []
        waiting.append((place, run, known))
        if path.due([each for _, each, _ in waiting]):
            yield from _certified(path, data, waiting)
            waiting = []
    yield from _certified(path, data, waiting)


def _certified(path: CPath, data: Dataset, waiting: Sequence[tuple[int, Run, Row]]) -> Iterator[ChainRun]:
    """Yield trained runs, after computing their certificates and test accuracies together."""
    results: list[Result | None] = [None] * len(waiting)
    try:
        certified = path.certify([run for _, run, _ in waiting])
        results = [result for _, result in certified]
        found: list[Row] = [{} for _ in waiting]
        if data.test is not None and data.test.rows:
            found = accuracy.of_path(path, certified, data.test, data.classes)
    except (Exception, KeyboardInterrupt) as error:
        for (place, _, known), result in zip(waiting, results, strict=True):
            yield ChainRun(place, result, known, error)
        if isinstance(error, KeyboardInterrupt):
            raise
        return
    for (place, _, known), result, more in zip(waiting, results, found, strict=True):
        yield ChainRun(place, result, known | more)
    if any(result.status is Status.INTERRUPTED for _, result in certified):
        raise KeyboardInterrupt


def run_cells(
    cells: Sequence[Cell], resources: Resources, watch: CellWatch | None = None, dataset: Dataset | None = None,
    on_start: Callable[[Cell], None] | None = None, columns: ColumnStore | None = None,
) -> Iterator[Record]:  # fmt: skip
    """Run the cells of a chain and yield their records in order; every cell gets one.

    Data is loaded by name unless ``dataset`` is given; its fingerprint must be the planned one. ``on_start`` is called
    with each cell before it starts.

    Raises
    ------
    KeyboardInterrupt
        After the record of the interrupted run was yielded.
    """
    first = cells[0]
    if on_start is not None:
        on_start(first)
    try:
        data = _data_of(first, resources, dataset)
    except (Exception, KeyboardInterrupt) as error:
        for cell in cells[:1] if isinstance(error, KeyboardInterrupt) else cells:
            yield _error_record(cell, error, is_loaded=False)
        if isinstance(error, KeyboardInterrupt):
            raise
        return
    common = record.data_columns(data) | {"parallel_cells": resources.parallel_cells}
    if first.predecessors is None:
        made = _single(first, data, resources, watch, common)
        yield made
        if made.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return

    def start(place: int) -> Watch | None:
        if on_start is not None and place:
            on_start(cells[place])
        return _watch_of(cells[place], watch)

    asked = [resources.applied(cell.settings) for cell in cells]
    for run in run_chain(data, asked, start=start, columns=columns):
        cell, more = cells[run.place], {**common, **cells[run.place].identity_columns, **run.columns}
        if run.error is not None or run.result is None:
            yield _error_record(cell, run.error, run.result, **more)
            continue
        result = run.result
        if cell.role == FINAL and not accuracy.is_costly(result, data.train):
            codes = encode(data.train.labels, data.classes)
            result, known = accuracy.on_training_rows(
                result, lambda of: accuracy.accuracy(of, data.train, data.classes), np.bincount(codes)
            )
            more |= known
        note = record.missing_test_note(data, result) if data.test is None else {}
        yield Record(cell, record.row({}, result, **more, **note), result.trace)


def _single(cell: Cell, data: Dataset, resources: Resources, watch: CellWatch | None, common: Row) -> Record:
    """Return the record of a cell that starts by itself."""
    identity = {**cell.identity_columns, "parallel_cells": resources.parallel_cells}
    try:
        result, row = run_one(
            data, resources.applied(cell.settings), _watch_of(cell, watch),
            identity=identity, measure_training=cell.role == FINAL,
        )  # fmt: skip
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - it becomes a row
        return _error_record(cell, error, **common)
    if cell.role != FINAL and row["test_accuracy"] is None and result.status.done:
        row |= {"status": str(Status.ERROR)}  # it was made for that number alone
    return Record(cell, row, result.trace)


def _watch_of(cell: Cell, watch: CellWatch | None) -> Watch | None:
    return (lambda progress: watch(cell, progress)) if watch is not None else None


def _data_of(cell: Cell, resources: Resources, given: Dataset | None) -> Dataset:
    """Return the rows to train and to test on: in a search those held out."""
    if FAMILIES[method(cell.settings.method).family].train is not None:
        raise UsageError(
            f"experiments do not train by {cell.settings.method}; `fwsvm train` and Python's train do"
        )
    if is_given(cell.settings.kernel):
        raise UsageError("experiments have no precomputed kernels; `fwsvm train`, `cv` and `predict` have")
    enter(Phase.LOAD)
    data = given if given is not None else samples.load(cell.data, offline=resources.offline)
    if data.fingerprint != cell.fingerprint:
        here, planned = data.fingerprint[:12], cell.fingerprint[:12]
        raise DataError(
            f"{cell.data.name}: the data here ({here}) is not what was planned ({planned}); run the command again"
        )
    if cell.held_out is None:
        return data
    codes = encode(data.train.labels, data.classes)
    return divided(data, validation_mask(codes, cell.held_out, cell.data.seed, cell.part or 0))


def _error_record(
    cell: Cell,
    error: BaseException | None,
    result: Result | None = None,
    *,
    is_loaded: bool = True,
    **more: Any,
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
    text = "".join(traceback.format_exception(error)) if error is not None else ""
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
