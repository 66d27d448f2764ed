"""One cell made into one row: load, divide, train, predict, record. What fails becomes a row that says so."""

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fwsvm._memory import ran_out
from fwsvm.data.dataset import Dataset, Table
from fwsvm.data.labels import encode
from fwsvm.data.splits import take
from fwsvm.errors import DataError, FwsvmError
from fwsvm.experiments import record, samples
from fwsvm.experiments.environment import environment, forget_peak_memory, peak_memory_mib
from fwsvm.experiments.plan import FINAL, Cell
from fwsvm.experiments.record import Row
from fwsvm.experiments.training import accuracy, costly, judged
from fwsvm.problems.features import fitted
from fwsvm.solvers import Result, Status
from fwsvm.solvers.c_path import CPath, Run
from fwsvm.solvers.loop import Progress
from fwsvm.solvers.result import TracePoint

Watch = Callable[[Cell, Progress], None]
Begins = Callable[[Cell], None]


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


@dataclass(frozen=True)
class _Bench:
    """What the cells of a task share: data, rows to train on, their class numbers, rows to judge by, and the path."""

    data: Dataset
    train: Table
    codes: np.ndarray
    judged: Table | None
    path: CPath

    def columns(self) -> Row:
        return {**record.about(self.data), "rows": self.train.rows}


class _Waiting(NamedTuple):
    """A cell that was trained, what is known of its row, and its run, whose certificate may be deferred."""

    cell: Cell
    more: Row
    run: Run


def run_task(
    cells: Sequence[Cell], resources: Resources, watch: Watch | None = None, dataset: Dataset | None = None,
    begins: Begins | None = None,
) -> Iterator[Record]:  # fmt: skip
    """Run cells one after another, and yield their records in order; whatever happens, each cell has one.

    Several in one task differ in C alone. Those of a chain each take over the kernel values, and start at the end, of
    the one before; where that one is not among them, failed, or was cut short by a clock, at the end of the last one
    that was not. The records of short runs come several at a time (`fwsvm.solvers.c_path`); ``begins`` is told of each
    before it begins.

    The data is loaded by name unless it is given; in either case its digest must be the planned one.

    Raises
    ------
    KeyboardInterrupt
        After the record of the interrupted run was yielded.
    """
    bench: _Bench | None = None
    waiting: list[_Waiting] = []
    way: tuple[float, ...] = ()  # the values of C that the path has gone through
    for cell in cells:
        if begins is not None:
            begins(cell)
        more: Row = {
            **cell.columns, "started_utc": record.now_utc(), "parallel_cells": resources.parallel_cells,
        }  # fmt: skip
        forget_peak_memory()
        follows = not cell.after or cell.after == way
        if bench is not None and not follows:
            yield from _recorded(bench, waiting)
            waiting = []
        try:
            bench = bench or _bench(cell, resources, dataset)
            more |= bench.columns()
            if not follows:
                bench.path.begin_again()
            more["shared"] = not bench.path.is_cold
            run = _train(bench.path, cell, resources, watch)
            more["peak_memory_mib"] = peak_memory_mib()
        except (Exception, KeyboardInterrupt) as error:
            if bench is not None:
                yield from _recorded(bench, waiting)
            waiting, way = [], ()
            yield _lost(cell, error, **more)
            if isinstance(error, KeyboardInterrupt):
                raise
            continue
        if run.cut:  # its certificate is no other run's matter, for it may not be here another time
            yield from _recorded(bench, waiting)
            waiting = []
        way = () if run.cut else cell.before
        waiting.append(_Waiting(cell, more, run))
        if bench.path.due([each.run for each in waiting]):
            yield from _recorded(bench, waiting)
            waiting = []
    if bench is not None:
        yield from _recorded(bench, waiting)


def _recorded(bench: _Bench, waiting: Sequence[_Waiting]) -> Iterator[Record]:
    """Yield the records of runs that wait for their certificates."""
    results: list[Result | None] = [None] * len(waiting)
    try:
        certified = bench.path.certify([each.run for each in waiting])
        results[:] = [result for _, result in certified]
        found = _accuracies(bench, [each.cell for each in waiting], certified)
    except (Exception, KeyboardInterrupt) as error:
        for (cell, more, _), result in zip(waiting, results, strict=True):
            yield _lost(cell, error, result, **more)
        if isinstance(error, KeyboardInterrupt):
            raise
        return
    for (cell, more, _), (_, ended), accuracies in zip(waiting, certified, found, strict=True):
        known = accuracies.get("train_accuracy")
        result = ended if known is None else judged(ended, known, bench.codes)
        said = record.untested(bench.data, result) if bench.judged is None else {}
        row = record.row({}, environment(), result, **more, **accuracies, **said)
        yield Record(cell, row, result.trace)
    if certified and certified[-1][1].status is Status.INTERRUPTED:
        raise KeyboardInterrupt


def _lost(cell: Cell, error: BaseException, result: Result | None = None, **more: Any) -> Record:
    """Return the record of a run that an error ended."""
    if isinstance(error, KeyboardInterrupt):
        return failed(cell, Status.INTERRUPTED, Status.INTERRUPTED.sentence, "", result, **more)
    if isinstance(error, FwsvmError):
        status = Status.MISSING if isinstance(error, DataError) else Status.ERROR
        return failed(cell, status, str(error), "", result, **more)
    if isinstance(error, MemoryError):
        return failed(cell, Status.ERROR, ran_out(error), "", result, **more)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    particulars = "".join(traceback.format_exception(error))
    return failed(cell, Status.ERROR, said, particulars, result, **more)


def failed(
    cell: Cell, status: Status, said: str, failure: str = "", result: Result | None = None, **more: Any
) -> Record:
    """Return the record of a run that came to nothing, or that was cut off after training."""
    known = {"started_utc": record.now_utc(), **cell.columns, **more}
    known |= {} if result is not None else cell.asked
    known = {"dataset": cell.data.name, "data_sha256": cell.fingerprint, "shared": False} | known
    row = record.row({}, environment(), result, **known | {"status": str(status), "message": said})
    return Record(cell, row, result.trace if result is not None else (), failure)


def _bench(cell: Cell, resources: Resources, given: Dataset | None) -> _Bench:
    data = given if given is not None else samples.load(cell.data, offline=resources.offline)
    if data.fingerprint != cell.fingerprint:
        here, planned = data.fingerprint[:12], cell.fingerprint[:12]
        raise DataError(f"{cell.data.name}: the data here ({here}) is not what was planned ({planned})")
    train, rest = _divided(cell, data)
    codes = encode(train.labels, data.classes)
    return _Bench(data, train, codes, rest, CPath(train.X, codes, data.classes, warm=cell.after is not None))


def _divided(cell: Cell, data: Dataset) -> tuple[Table, Table | None]:
    """Return the rows to train on and the rows to judge by (None where there are none)."""
    if cell.held_out is None:
        return data.train, data.test
    codes = encode(data.train.labels, data.classes)
    held_out = samples.held_out_rows(codes, cell.held_out, cell.data.seed, cell.part or 0)
    return take(data.train, np.flatnonzero(~held_out)), take(data.train, np.flatnonzero(held_out))


def _train(path: CPath, cell: Cell, resources: Resources, watch: Watch | None) -> Run:
    given = {name: getattr(resources, name) for name in ("threads", "cache_mib")}
    settings = replace(cell.settings, **{name: value for name, value in given.items() if value is not None})
    return path.train(settings, (lambda progress: watch(cell, progress)) if watch is not None else None)


def _accuracies(
    bench: _Bench, cells: Sequence[Cell], certified: Sequence[tuple[Run, Result]]
) -> list[dict[str, Any]]:
    """Return the accuracies of certified runs, and for each its share of the seconds of predicting."""
    results = [result for _, result in certified]
    found: list[dict[str, Any]] = [{} for _ in results]
    if bench.judged is not None and bench.judged.rows:
        started = time.perf_counter()
        X, _ = fitted(bench.judged.X, bench.train.features)
        right = encode(bench.judged.labels, bench.data.classes)
        for columns, result, decision in zip(found, results, bench.path.decisions(certified, X), strict=True):
            columns["test_accuracy"] = float(np.mean(result.model.choose(decision) == right))
        for columns in found:
            columns["predict_seconds"] = (time.perf_counter() - started) / len(found)
    for columns, cell, result in zip(found, cells, results, strict=True):
        if cell.role == FINAL and not costly(result, bench.train):
            columns["train_accuracy"] = accuracy(result, bench.train, bench.data.classes)
    return found
