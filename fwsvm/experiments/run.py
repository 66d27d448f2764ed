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

from fwsvm._mapped import fitted
from fwsvm._memory import RAN_OUT, peak_memory_mib, reset_peak_memory
from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.data.labels import encode
from fwsvm.errors import DataError, FwsvmError, kind_and_words
from fwsvm.experiments import record, samples
from fwsvm.experiments.experiment import DataSpec, Resources
from fwsvm.experiments.plan import FINAL, SELECT, Cell, Chain
from fwsvm.experiments.prediction import decisions
from fwsvm.experiments.probability import refuse_probability, with_probabilities
from fwsvm.experiments.record import UNMEASURED, Row, noted, unmeasured
from fwsvm.experiments.samples import divided, validation_mask
from fwsvm.phases import Phase, enter, listening
from fwsvm.problems.machines import KernelModel
from fwsvm.problems.precomputed import is_given
from fwsvm.results.writing import utc_now
from fwsvm.solvers import Result, Settings, Status, fit
from fwsvm.solvers.c_path import CPath, Run
from fwsvm.solvers.fit import announce_compiling
from fwsvm.solvers.loop import Progress, TracePoint, Watch
from fwsvm.solvers.resolve import Resolved, resolve
from fwsvm.solvers.tuning import CERTIFY_AFTER
from fwsvm.status import BELOW_MAJORITY, FIRST_USE, TEST_UNMEASURED, TRAIN_UNMEASURED, accuracy_warning

if TYPE_CHECKING:
    from fwsvm.experiments.cluster_training import RemoteRows

#: Rows to train and to test on, wherever they are.
TrainingRows: TypeAlias = "LocalRows | RemoteRows"
CellWatch = Callable[[Cell, Progress | Phase], None]
Deliver = Callable[["Record"], None]
Trained: TypeAlias = tuple[Cell, Run, "Row"]
ALONE: Row = {"parallel_cells": 1, "shared": False}  # columns of a run by itself
TRAINING = "training"
TEST = "test"
#: Column of an accuracy, and flag of a run without it.
ACCURACIES = {TRAINING: ("train_accuracy", TRAIN_UNMEASURED), TEST: ("test_accuracy", TEST_UNMEASURED)}
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
    weight 0 do not decide how rows are scaled. ``labels`` (K,) are the classes as models return them.
    """

    def __init__(
        self,
        data: Dataset,
        *,
        probability: bool = False,
        weights: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> None:
        self.as_loaded, self.probability, self.weights, self.labels = data, probability, weights, labels
        self.data = data = scaled(data, None if weights is None else weights != 0)
        self.codes = data.codes
        self.classes = data.classes
        self.columns: Row = ALONE | {  # that describe the data
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
        self.lacking = data.lacking if data.test is None else ""  # why there are no test rows
        self.notices = data.notices
        self.test_count = 0 if data.test is None else data.test.rows

    def train(
        self,
        settings: Settings,
        watch: Watch | None,
        resolved: Resolved | None = None,
        *,
        traced: bool = True,
    ) -> Result:
        """Return the result of training."""
        train = self.data.train
        codes = self.codes
        more: dict[str, Any] = {"weights": self.weights, "watch": watch}
        if self.probability:
            refuse_probability(self.data.name, codes, self.classes, settings, self.weights)
        result = fit(train.X, codes, self.classes, settings, resolved=resolved, traced=traced, **more)
        if self.probability:
            try:
                result = with_probabilities(train.X, codes, result, settings, **more)
            except UNMEASURED as error:
                result = unmeasured(result, "Probabilities", error)
        model = replace(
            result.model,
            labels=self.labels,
            ranges=train.ranges,
            feature_names=train.feature_names,
            zero_based=None if is_given(settings.kernel) else train.zero_based,
        )
        return replace(result, model=model)

    def without(self, held_out: np.ndarray) -> "LocalRows":
        """Return the rows outside a boolean mask (m,), scaled by their own ranges, and those inside to test on."""
        return LocalRows(divided(self.as_loaded, held_out))

    def accuracies(self, results: Sequence[Result], which: str) -> list[float]:
        """Return the accuracy on the training or test rows for each result.

        There is none without test rows, nor on training rows whose prediction could outlast training.
        """
        if which == TEST:
            return accuracies(results, self.data.test, self.classes, self.data.train.X)
        models = [result.model for result in results]
        m = float(self.data.train.rows)
        values = sum(m * model.counts.sum() for model in models if isinstance(model, KernelModel))
        if values > MAX_KERNEL_VALUES or any(result.sample is not None for result in results):
            return []
        return accuracies(results, self.data.train, self.classes, self.data.train.X)


def accuracies(
    results: Sequence[Result],
    table: LabelledRows | None,
    classes: tuple[str, ...],
    trained: Any = None,
) -> list[float]:
    """Return the fraction of rows whose label a model predicts, for each result; none without rows.

    Several results of one path on the rows ``trained`` are predicted together.
    """
    if table is None or not table.rows:
        return []
    enter(Phase.PREDICT)
    codes = encode(table.labels, classes)
    decided = decisions(results, fitted(table.X, results[0].model.features)[0], trained)
    return [float(np.mean(result.model.choose(next(decided)) == codes)) for result in results]


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
    ((result, more),) = measured(rows, [result], *([] if of_search else [TRAINING]), TEST)
    if "train_accuracy" in more and (
        note := accuracy_warning(more["train_accuracy"], np.bincount(rows.codes).tolist())
    ):
        result = noted(result, note, BELOW_MAJORITY)
    return result, _row_of(rows, cell, result, known | more)


def measured(rows: TrainingRows, results: list[Result], *wanted: str) -> list[tuple[Result, Row]]:
    """Return each result with its test or training accuracies as columns.

    Where one cannot be computed there is none, and the message says why: the model is no worse for it. Seconds of
    prediction are equal shares of the whole.
    """
    columns: list[Row] = [{} for _ in results]
    try:
        for which in wanted:
            begun, (column, flag) = time.perf_counter(), ACCURACIES[which]
            try:
                found = rows.accuracies(results, which)
            except UNMEASURED as error:
                results = [unmeasured(each, f"The {which} accuracy", error, flag) for each in results]
                continue
            seconds = (time.perf_counter() - begun) / len(results)
            for own, accuracy in zip(columns, found, strict=False):
                own[column] = accuracy
                if which == TEST:
                    own["predict_seconds"] = seconds
    except KeyboardInterrupt:
        said = "Interrupted while rows were predicted."
        results = [replace(noted(each, said), status=Status.INTERRUPTED) for each in results]
    return list(zip(results, columns, strict=True))


def _row_of(rows: TrainingRows, cell: Cell, result: Result, known: Row) -> Row:
    """Return the row of a result; columns that are known take precedence over those of the cell."""
    message = f"{result.message} {rows.lacking}".rstrip()
    return record.row(result, **cell.identity_columns | known | {"message": message})


def run_cells(
    cells: Sequence[Cell],
    resources: Resources,
    watch: CellWatch = lambda *_: None,
    dataset: Dataset | None = None,
) -> Iterator[Record]:
    """Train for one C after another on the same rows, and yield a record of each cell, in order.

    Short runs come several at a time, since their certificates are computed together (`fwsvm.solvers.c_path`). After a
    run that failed, or that a time limit cut, the next one starts anew. After Ctrl-C the record is that of an
    interrupted run, and the caller takes no further one.

    Parameters
    ----------
    cells : sequence of Cell
        A chain: in ascending C, in which alone the settings differ.
    resources : Resources
    watch : callable
        Receives the phase in which each cell begins, then its progress.
    dataset : Dataset, optional
        By default it is loaded by name; its fingerprint must be the planned one.
    """
    try:
        watch(cells[0], Phase.LOAD)
        rows = _rows_of(cells[0], resources, dataset)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - it becomes rows
        status = Status.MISSING if isinstance(error, DataError) else Status.ERROR
        yield from (failure_record(cell, error, status) for cell in cells)
        return
    announce_compiling()
    rows.columns["parallel_cells"] = resources.parallel_cells
    own = {name: getattr(resources, name) for name in ("threads", "cache_mib") if getattr(resources, name)}
    asked = [replace(cell.settings, **own) for cell in cells]
    path: CPath | None = None
    waiting: list[Trained] = []  # without certificate yet
    for number, (cell, settings) in enumerate(zip(cells, asked, strict=True)):
        told = partial(watch, cell)
        known = {**rows.columns, "started_utc": utc_now()}
        reset_peak_memory()
        try:
            watch(cell, Phase.TRAIN)
            if cell.predecessors is None:
                resolved = resolve(settings, rows.data.train.X, traced=cell.role == FINAL)
                result, row = run_one(rows, replace(cell, settings=settings), told, resolved)
                yield _record_of(cell, result, row)
                continue
            if path is None:
                path = CPath(rows.data.train.X, rows.codes, rows.classes, asked)
            run = path.train(number, told)
            known["shared"] = run.shared
            known["peak_memory_mib"] = peak_memory_mib()
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001
            yield from _certified(rows, path, waiting)
            yield failure_record(cell, error, **known)
            continue
        if run.cut:  # prove the others without this run, which might end elsewhere another time
            yield from _certified(rows, path, waiting)
        waiting.append((cell, run, known))
        if run.cut or sum(each.work for _, each, _ in waiting) >= CERTIFY_AFTER:
            yield from _certified(rows, path, waiting)
    yield from _certified(rows, path, waiting)


def _certified(rows: LocalRows, path: CPath | None, waiting: list[Trained]) -> Iterator[Record]:
    """Yield the records of trained runs, whose certificates and test accuracies are computed together."""
    if path is None or not waiting:
        return
    some = waiting.copy()
    waiting.clear()
    try:
        certified = path.certify([run for _, run, _ in some])
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001
        yield from (failure_record(cell, error, **known) for cell, _, known in some)
        return
    for (cell, _, known), (result, more) in zip(some, measured(rows, certified, TEST), strict=True):
        yield _record_of(cell, result, _row_of(rows, cell, result, known | more))


def _record_of(cell: Cell, result: Result, row: Row) -> Record:
    """Return the record of a run; one of a search without accuracy, for which it was made, is an error."""
    if cell.held_out is not None and row["test_accuracy"] is None and result.status.done:
        row |= {"status": str(Status.ERROR)}
    return Record(cell, row, result.trace if cell.role == FINAL else ())


def _rows_of(cell: Cell, resources: Resources, given: Dataset | None) -> LocalRows:
    """Return the rows to train and to test on: in a search those held out."""
    data = given if given is not None else samples.load(cell.data, offline=resources.offline)
    if data.fingerprint != cell.fingerprint:
        here = data.fingerprint[:12]
        planned = cell.fingerprint[:12]
        raise DataError(
            f"{cell.data.name}: the data here ({here}) is not what was planned ({planned}); run the command again"
        )
    rows = LocalRows(data)
    rule = cell.held_out
    return rows.without(validation_mask(rows.codes, rule, cell.data.seed, cell.part or 0)) if rule else rows


def failure_record(
    cell: Cell, error: BaseException | str, status: Status = Status.ERROR, **more: Any
) -> Record:
    """Return the record of a run that an error, or Ctrl-C, ended before it had a result."""
    failure = ""
    said = str(error)
    if isinstance(error, KeyboardInterrupt):
        status, said = Status.INTERRUPTED, "Interrupted; this run has no result yet."
    elif isinstance(error, MemoryError):
        said = RAN_OUT
    elif not isinstance(error, FwsvmError | str):
        failure = "".join(traceback.format_exception(error))
        said = kind_and_words(error)
    known = {
        "dataset": cell.dataset or cell.data.name,
        "data_sha256": cell.fingerprint,
        "shared": False,
        "started_utc": utc_now(),
        **record.requested(cell.settings),
        **cell.identity_columns,
        **more,
    }
    return Record(cell, record.row(**known | {"status": str(status), "message": said}), failure=failure)


def run_here(
    chain: Chain,
    resources: Resources,
    deliver: Deliver,
    watch: CellWatch,
    dataset: Dataset | None = None,
) -> None:
    """Run a chain in this process; the phases of its cells are told like their progress.

    Raises
    ------
    KeyboardInterrupt
        After the record of the interrupted run was delivered.
    """
    present = [chain[0]]

    def tell(cell: Cell, inside: Progress | Phase) -> None:
        present[0] = cell
        watch(cell, inside)

    with listening(lambda phase: watch(present[0], phase)):
        for found in run_cells(chain, resources, tell, dataset):
            deliver(found)
            if found.status is Status.INTERRUPTED:
                raise KeyboardInterrupt


class Inline:
    """The executor without workers."""

    slots = 1

    def __init__(self, resources: Resources) -> None:
        self.resources = resources

    def run(self, chains: Sequence[Chain], deliver: Deliver, watch: CellWatch, *, at_once: int) -> None:  # noqa: ARG002
        """Run all chains, one after another; see `fwsvm.experiments.executors.run_chains`."""
        for chain in chains:
            run_here(chain, self.resources, deliver, watch)

    def close(self) -> None:
        """Do nothing: this process goes on."""
