"""Run one cell or a chain of cells along C: train, certify, measure accuracies, make rows.

`run_one` serves every run that starts by itself: of ``fwsvm train`` and of a fold, here or on a cluster. `run_cells`
serves cells on the same rows that differ in C alone: of an experiment, and of the search of ``fwsvm easy``.
"""

import hashlib
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fwsvm._memory import peak_memory_mib, ran_out, reset_peak_memory
from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.data.labels import encode
from fwsvm.errors import DataError, FwsvmError
from fwsvm.experiments import record, samples
from fwsvm.experiments.experiment import DataSpec, Resources, ValidationRule
from fwsvm.experiments.plan import FINAL, SELECT, Cell, Chain
from fwsvm.experiments.probability import train_model
from fwsvm.experiments.record import UNMEASURED, Row, unmeasured
from fwsvm.experiments.validation import divided, masks, refuse_few_rows, validation_mask
from fwsvm.phases import Phase, enter, listening
from fwsvm.problems.machines import KernelModel, fitted
from fwsvm.problems.precomputed import is_given
from fwsvm.results.writing import utc_now
from fwsvm.solvers import Result, Settings, Status, fit
from fwsvm.solvers.c_path import CPath, Run, decisions
from fwsvm.solvers.fit import announce_compiling
from fwsvm.solvers.loop import Progress, Watch
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.result import TracePoint
from fwsvm.status import BELOW_MAJORITY, FIRST_USE, TEST_UNMEASURED, TRAIN_UNMEASURED, accuracy_warning

if TYPE_CHECKING:
    from fwsvm.experiments.cluster_training import RemoteRows

#: Rows to train and to test on, wherever they are.
TrainingRows: TypeAlias = "LocalRows | RemoteRows"
CellWatch = Callable[[Cell, Progress], None]
CellReporter = Callable[[Cell, Progress | Phase], None]
Deliver = Callable[["Record"], None]
Trained: TypeAlias = tuple[Cell, Run, "Row"]
ALONE: Row = {"parallel_cells": 1, "shared": False}  # columns of a run by itself
MAX_KERNEL_VALUES = 5e9  # for the training accuracy: about half a minute


@dataclass(frozen=True)
class Record:
    """A cell's row, the trace of a reported run, and the traceback of an unexpected error, for the log."""

    cell: Cell
    row: Row
    trace: tuple[TracePoint, ...] = ()
    failure: str = ""

    @property
    def status(self) -> Status:
        """How the run ended."""
        return Status(self.row["status"])


class LocalRows:
    """A data set in this process; unscaled rows are scaled as the data set says.

    With ``probability`` models have probabilities. ``weights`` (m,) multiply the penalties of training rows; those of
    weight 0 do not decide how rows are scaled.
    """

    def __init__(
        self, data: Dataset, *, probability: bool = False, weights: np.ndarray | None = None
    ) -> None:
        self.as_loaded, self.probability, self.weights = data, probability, weights
        self.data = data = scaled(data, None if weights is None else weights != 0)
        self.codes = encode(data.train.labels, data.classes)
        self.columns: Row = {  # that describe the data
            "dataset": data.name,
            "data_sha256": data.fingerprint,
            "rows": data.train.rows,
            "features": data.train.features,
            "classes": len(data.classes),
            "load_seconds": data.load_seconds,
            "source": data.source,
            "flags": FIRST_USE if data.first_use else None,
        }
        self.identity = data.fingerprint  # of the data, in run ids
        self.counts = np.bincount(self.codes)  # training rows of each class, shape (K,)
        self.lacking = data.lacking if data.test is None else ""  # why there are no test rows
        self.notices = data.notices
        self.test_count = 0 if data.test is None else data.test.rows

    def train(self, settings: Settings, watch: Watch | None, resolved: Resolved | None = None) -> Result:
        """Return the result of training."""
        data, train = self.data, self.data.train
        train_by = partial(train_model, name=data.name) if self.probability else fit
        result = train_by(
            train.X, self.codes, data.classes, settings, weights=self.weights, watch=watch, resolved=resolved
        )
        zero_based = None if is_given(settings.kernel) else train.zero_based
        return result.with_rows(ranges=train.ranges, feature_names=train.feature_names, zero_based=zero_based)

    def parts(self, folds: int, seed: int) -> Iterator["LocalRows"]:
        """Yield the rows with each fold held out in turn, scaled by the ranges of those left to train on."""
        refuse_few_rows(self.data.name, self.codes, self.data.classes, folds)
        for held_out in masks(self.codes, ValidationRule(folds=folds), seed):
            yield LocalRows(divided(self.as_loaded, held_out))

    def training_accuracy(self, result: Result) -> float | None:
        """Return the training accuracy, unless predicting could outlast the training."""
        model, train = result.model, self.data.train
        values = float(train.rows) * model.counts.sum() if isinstance(model, KernelModel) else 0.0
        if result.sample is not None or values > MAX_KERNEL_VALUES:
            return None
        return accuracy(result, train, self.data.classes)

    def test_accuracy(self, result: Result) -> float | None:
        """Return the test accuracy."""
        test = self.data.test
        return accuracy(result, test, self.data.classes) if test is not None and self.test_count else None


def accuracy(result: Result, table: LabelledRows, classes: tuple[str, ...]) -> float:
    """Return the fraction of rows whose label a model predicts."""
    enter(Phase.PREDICT)
    X, _ = fitted(table.X, result.model.features)
    predicted = result.model.predict(X, int(result.settings["threads"]))
    return float(np.mean(predicted == encode(table.labels, classes)))


def alone(rows: TrainingRows, settings: Settings, **more: Any) -> Cell:
    """Return the cell of a run by itself, a reported one; of a fold with ``role``, ``held_out`` and ``part``."""
    name = rows.columns["dataset"]
    return replace(Cell("", "", FINAL, DataSpec(name), rows.identity, settings, name), **more)


def run_one(
    rows: TrainingRows, cell: Cell, watch: Watch | None = None, resolved: Resolved | None = None
) -> tuple[Result, Row]:
    """Train, measure accuracies, and return the result and its row.

    An accuracy that cannot be computed is empty, and the message says why.

    Parameters
    ----------
    rows : TrainingRows
    cell : Cell
        As of `alone`.
    watch : callable, optional
        Receives the progress.
    resolved : Resolved, optional
        What `resolve` made of the settings and of rows that are scaled already.
    """
    started = utc_now()
    reset_peak_memory()
    result = rows.train(cell.settings, watch, resolved)
    known = rows.columns | {"started_utc": started, "peak_memory_mib": peak_memory_mib()}
    if (sample := result.sample) is not None:  # objective and certificate are those of the sample
        drawn = f"{known['data_sha256']} sample of {sample.rows} rows, seed {cell.settings.seed}"
        known |= {"rows": sample.rows, "data_sha256": hashlib.sha256(drawn.encode()).hexdigest()}
        cell = replace(cell, fingerprint=known["data_sha256"])
    of_search = cell.experiment and cell.role == SELECT
    result, more = measured(rows, result, ("test",) if of_search else ("training", "test"))
    return result, record.row(result, **ALONE | cell.identity_columns | known | more)


def measured(rows: TrainingRows, result: Result, wanted: Sequence[str]) -> tuple[Result, Row]:
    """Return a result, and its accuracies as columns.

    Where one cannot be computed there is none, and the message says why: the model is no worse for it.
    """
    known: Row = {}
    measures = {"training": rows.training_accuracy, "test": rows.test_accuracy}
    for which in wanted:
        begun = time.perf_counter()
        try:
            found = measures[which](result)
        except UNMEASURED as error:
            flag = TEST_UNMEASURED if which == "test" else TRAIN_UNMEASURED
            result = unmeasured(result, f"The {which} accuracy", error, flag)
            continue
        except KeyboardInterrupt:
            said = f"{result.message} Interrupted while rows were predicted."
            return replace(result, status=Status.INTERRUPTED, message=said), known
        if found is None:
            continue
        if which == "test":
            known |= {"test_accuracy": found, "predict_seconds": time.perf_counter() - begun}
            continue
        known["train_accuracy"] = found
        if note := accuracy_warning(found, rows.counts.tolist()):
            flags = (*result.flags, BELOW_MAJORITY)
            result = replace(result, message=f"{result.message} {note}", flags=flags)
    return result, known | ({"message": f"{result.message} {rows.lacking}"} if rows.lacking else {})


def run_cells(
    cells: Sequence[Cell],
    resources: Resources,
    watch: CellWatch | None = None,
    dataset: Dataset | None = None,
    on_start: Callable[[Cell], None] = lambda _: None,
) -> Iterator[Record]:
    """Train for one C after another on the same rows, and yield a record of each cell, in order.

    Short runs come several at a time, since their certificates are computed together (`fwsvm.solvers.c_path`). After a
    run that failed, or that a time limit cut, the next one starts anew.

    Parameters
    ----------
    cells : sequence of Cell
        A chain: in ascending C, in which alone the settings differ.
    resources : Resources
    watch, on_start : callable
        Receive each cell's progress, and each cell before it starts.
    dataset : Dataset, optional
        By default it is loaded by name; its fingerprint must be the planned one.

    Raises
    ------
    KeyboardInterrupt
        After the record of the interrupted run was yielded.
    """
    first, refused = cells[0], Status.MISSING
    on_start(first)
    try:
        rows = LocalRows(_data_of(first, resources, dataset))
        rows.columns["parallel_cells"] = resources.parallel_cells
        refused = Status.ERROR
        announce_compiling()
        path = None
        if first.predecessors is not None:
            path = CPath(rows.data.train.X, rows.codes, rows.data.classes, first.settings.class_weight)
    except (Exception, KeyboardInterrupt) as error:
        status = refused if isinstance(error, DataError) else Status.ERROR
        if isinstance(error, KeyboardInterrupt):
            yield error_record(first, error)
            raise
        yield from (error_record(cell, error, status) for cell in cells)
        return
    own = {name: getattr(resources, name) for name in ("threads", "cache_mib") if getattr(resources, name)}
    asked = [replace(cell.settings, **own) for cell in cells]
    if path is None:
        yield from _run_cold(rows, first, asked[0], watch and partial(watch, first))
        return
    waiting: list[Trained] = []  # without certificate yet
    together: list[Run] = []  # of the next cells, trained together
    for cell, settings in zip(cells, asked, strict=True):
        on_start(cell)
        told = watch and partial(watch, cell)
        known = {**rows.columns, **cell.identity_columns, "started_utc": utc_now()}
        reset_peak_memory()
        try:
            if cell is first:
                together = path.train_together(asked, told) or []
            known["shared"] = bool(together) or not path.is_cold
            run = together.pop(0) if together else path.train(settings, told)
            known["peak_memory_mib"] = peak_memory_mib()
        except (Exception, KeyboardInterrupt) as error:
            yield from _records(rows, path, waiting)
            yield error_record(cell, error, **known)
            if isinstance(error, KeyboardInterrupt):
                raise
            continue
        if run.cut:  # prove the others without this run, which might end elsewhere another time
            yield from _records(rows, path, waiting)
        waiting.append((cell, run, known))
        if path.due([each for _, each, _ in waiting]):
            yield from _records(rows, path, waiting)
    yield from _records(rows, path, waiting)


def _run_cold(rows: LocalRows, cell: Cell, settings: Settings, watch: Watch | None) -> Iterator[Record]:
    """Yield the record of a run that starts by itself."""
    try:
        resolved = replace(resolve(settings, rows.data.train.X), traced=cell.role == FINAL)
        result, row = run_one(rows, replace(cell, settings=settings), watch, resolved)
    except (Exception, KeyboardInterrupt) as error:
        yield error_record(cell, error, **rows.columns)
        if isinstance(error, KeyboardInterrupt):
            raise
        return
    yield record_of(cell, result, row)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt


def run_here(chain: Chain, resources: Resources, deliver: Deliver, watch: CellReporter) -> None:
    """Run a chain in this process; the phases of its cells are told like their progress."""
    present = [chain[0]]

    def start(cell: Cell) -> None:
        present[0] = cell

    with listening(lambda phase: watch(present[0], phase)):
        for record in run_cells(chain, resources, watch, on_start=start):
            deliver(record)


class Inline:
    """The executor without workers."""

    slots = 1

    def __init__(self, resources: Resources) -> None:
        self.resources = resources

    def run(self, chains: Sequence[Chain], deliver: Deliver, watch: CellReporter, *, at_once: int) -> None:  # noqa: ARG002
        """Run all chains, one after another; see `fwsvm.experiments.executors.Workers.run`."""
        for chain in chains:
            run_here(chain, self.resources, deliver, watch)

    def close(self) -> None:
        """Do nothing: this process goes on."""


def _records(rows: LocalRows, path: CPath, waiting: list[Trained]) -> Iterator[Record]:
    """Yield the records of trained runs, whose certificates and test accuracies are computed together.

    Their seconds of prediction are equal shares of the whole.
    """
    some, test = waiting.copy(), rows.data.test
    waiting.clear()
    try:
        certified = path.certify([run for _, run, _ in some])
    except Exception as error:  # noqa: BLE001 - it becomes rows
        yield from (error_record(cell, error, **known) for cell, _, known in some)
        return
    accuracies: list[Row] = [{} for _ in some]
    if test is not None and test.rows and some:
        try:
            enter(Phase.PREDICT)
            begun = time.perf_counter()
            codes = encode(test.labels, rows.data.classes)
            found = decisions(certified, fitted(test.X, path.features)[0])
            right = [result.model.choose(next(found)) == codes for result in certified]
            seconds = (time.perf_counter() - begun) / len(right)
            accuracies = [{"test_accuracy": float(each.mean()), "predict_seconds": seconds} for each in right]
        except UNMEASURED as error:
            certified = [
                unmeasured(result, "The test accuracy", error, TEST_UNMEASURED) for result in certified
            ]
    for (cell, _, known), result, tested in zip(some, certified, accuracies, strict=True):
        yield record_of(cell, result, record.row(result, **known | tested))
    if any(result.status is Status.INTERRUPTED for result in certified):
        raise KeyboardInterrupt


def record_of(cell: Cell, result: Result, row: Row) -> Record:
    """Return the record of a run; one of a search without accuracy, for which it was made, is an error."""
    if cell.held_out is not None and row["test_accuracy"] is None and result.status.done:
        row |= {"status": str(Status.ERROR)}
    return Record(cell, row, result.trace if cell.role == FINAL else ())


def _data_of(cell: Cell, resources: Resources, given: Dataset | None) -> Dataset:
    """Return the rows to train and to test on: in a search those held out."""
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


def error_record(
    cell: Cell, error: BaseException | None, status: Status = Status.ERROR, **more: Any
) -> Record:
    """Return the record of a run that an error, or Ctrl-C, ended before it had a result."""
    if isinstance(error, KeyboardInterrupt):
        return failure_record(cell, Status.INTERRUPTED, "Interrupted; this run has no result yet.", **more)
    if isinstance(error, FwsvmError | MemoryError):
        said = ran_out(error) if isinstance(error, MemoryError) else str(error)
        return failure_record(cell, status, said, **more)
    message = f"{type(error).__name__}: {error}".removesuffix(": ")
    text = "".join(traceback.format_exception(error))
    return replace(failure_record(cell, status, message, **more), failure=text)


def failure_record(cell: Cell, status: Status, message: str, **more: Any) -> Record:
    """Return the record of a run without result."""
    known = {
        "dataset": cell.dataset or cell.data.name,
        "data_sha256": cell.fingerprint,
        "shared": False,
        "started_utc": utc_now(),
        **record.requested(cell.settings),
        **cell.identity_columns,
        **more,
    }
    return Record(cell, record.row(**known | {"status": str(status), "message": message}))
