"""Running an experiment: the cells that are not finished, in order; each row is stored as soon as its run ends.

For each data set the parameter search comes first, then the reported runs. By default these start cold and run one at a
time, so that their times are comparable.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fwsvm import exit_codes
from fwsvm.experiments import plan, racing, selection
from fwsvm.experiments.execute import Record, failure_record
from fwsvm.experiments.executors import Executor
from fwsvm.experiments.experiment import DataSpec, Experiment, Trial
from fwsvm.experiments.plan import Cell
from fwsvm.experiments.samples import DataInfo
from fwsvm.experiments.selection import Choice
from fwsvm.experiments.store import ResultsStore, ReusableRun
from fwsvm.files.interrupts import held_back
from fwsvm.phases import Phase
from fwsvm.results.agreement import differing
from fwsvm.results.writing import csv_fields
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress


class Reporter(Protocol):
    """Receives the progress of an experiment."""

    def watch(self, cell: Cell, inside: Progress | Phase) -> None:
        """Receive the progress of a run, or the phase that it enters."""

    def note(self, said: str) -> None:
        """Receive a message for the user."""

    def ended(self, record: Record) -> None:
        """Receive the record of a run that ended."""

    def dropped(self, cell: Cell, count: int) -> None:
        """Receive that so many runs of a kind, such as this cell, are not needed."""


class _FailFast(Exception):  # noqa: N818 - not an error
    """A run failed, and --fail-fast stops the experiment."""


@dataclass
class RunReport:
    """The outcome of running an experiment: the reported cells in order, and the status of each run."""

    finals: list[Cell] = field(default_factory=list)
    ended: dict[str, str] = field(default_factory=dict)  # status by run id
    interrupted: bool = False

    @property
    def statuses(self) -> Counter[str]:
        """The number of runs of each status."""
        return Counter(self.ended.values())

    @property
    def exit_code(self) -> int:
        """The exit code of ``fwsvm grid``."""
        if self.interrupted:
            return exit_codes.INTERRUPTED
        if self.statuses[Status.ERROR]:
            return exit_codes.FAILED
        return exit_codes.DATA if self.statuses[Status.MISSING] else 0


@dataclass
class Runner:
    """One run of an experiment, which may continue an earlier one.

    Attributes
    ----------
    experiment : Experiment
    known : mapping of DataSpec to DataInfo
    store : ResultsStore, open
    executor : Executor
    reporter : Reporter
    force : bool
        Also repeat finished runs.
    fail_fast : bool
        Stop at the first run that fails.
    beside : bool
        Run the reported runs in parallel, too.
    reusable : mapping of run id to ReusableRun
        Finished runs of other folders, which are copied instead of run.
    """

    experiment: Experiment
    known: Mapping[DataSpec, DataInfo]
    store: ResultsStore
    executor: Executor
    reporter: Reporter
    force: bool = False
    fail_fast: bool = False
    beside: bool = False
    reusable: Mapping[str, ReusableRun] = field(default_factory=dict)
    report: RunReport = field(default_factory=RunReport)
    _refused: set[str] = field(default_factory=set)
    _made: set[str] = field(default_factory=set)  # that this object has delivered, finished or made again
    #: Cells that would start elsewhere than planned, since an earlier cell of their chain failed.
    _displaced: set[str] = field(default_factory=set)
    _kept: set[str] = field(default_factory=set)  # runs whose stored rows stay, whatever a repetition finds
    _choices: dict[tuple[str, ...], Choice] = field(default_factory=dict)
    _followers: dict[str, set[str]] = field(default_factory=dict)  # cells after each cell in its task

    def run(self) -> RunReport:
        """Run the experiment and return its outcome."""
        slots = self.executor.slots
        batches = [[data] for data in self.experiment.datasets] if slots == 1 else [self.experiment.datasets]
        try:
            for batch in batches:
                trials = [trial for trial in self.experiment.trials if trial.data in batch]
                self._search(trials)
                finals = [cell for trial in trials for cell in self._finals(trial)]
                self.report.finals += finals
                # two spellings of a data set ask for the same runs
                self._run_cells(racing.each_once(finals), at_once=slots if self.beside else 1)
        except KeyboardInterrupt:
            self.report.interrupted = True
        except _FailFast:
            self._note("stopped at the first failure (--fail-fast)")
        return self.report

    def _search(self, trials: Sequence[Trial]) -> None:
        """Run the searches: those without a race at once, of races one round after another."""
        raced = [trial for trial in trials if trial.selection and trial.selection.race is not None]
        others = [trial for trial in trials if trial.selection and trial.selection.race is None]
        self._run_cells(racing.search_cells(self.experiment, others, self.known), at_once=self.executor.slots)
        self._race(raced)

    def _race(self, trials: Sequence[Trial]) -> None:
        """Run the searches of trials that race: the rows of each round tell who is in the next."""
        if self.reusable:
            for cells, _ in self._rounds(trials):
                for cell in cells:
                    self._reuse(cell)
        raced_now: set[DataSpec] = set()
        planned = racing.search_cells(self.experiment, trials, self.known)
        left = planned if self.force else []  # made again, those count that are in the race no more
        for cells, still_planned in self._rounds(trials):
            self._drop(left, still_planned)
            left = still_planned
            raced_now |= {cell.data for cell in cells if not self._is_done(cell)}
            self._run_cells(cells, at_once=self.executor.slots)
        for data in self.experiment.datasets:
            most, count = (sum(cell.data == data for cell in cells) for cells in (planned, left))
            if data in raced_now and count < most:
                said = f"{most - count} of {most} runs are left out: their candidates are too far behind"
                self._note(f"{data.name}: {said}")

    def _rounds(self, trials: Sequence[Trial]) -> Iterator[tuple[list[Cell], list[Cell]]]:
        """Yield, round by round, the cells that are needed now and were not yielded before, and all still planned.

        The last round has no cells.
        """
        begun: set[str] = set()
        cells: list[Cell] | None = None
        while cells is None or cells:
            found = list(racing.all_selections(self.experiment, trials, self.known, self.store.rows))
            known = racing.each_once(cell for runs in found for cell in runs.cells)
            cells = [cell for cell in known if cell.run_id not in begun]
            begun |= {cell.run_id for cell in cells}
            yield cells, racing.each_once(cell for runs in found for cell in (*runs.cells, *runs.later))

    def _drop(self, before: Sequence[Cell], after: Iterable[Cell]) -> None:
        """Tell the reporter how many runs of each data set's search are no longer needed."""
        gone = Counter(cell.data for cell in before)
        gone.subtract(Counter(cell.data for cell in after))
        for data, cell in {cell.data: cell for cell in before}.items():
            if gone[data]:
                self.reporter.dropped(cell, gone[data])

    def _run_cells(self, cells: Sequence[Cell], *, at_once: int) -> None:
        """Run the cells that are not done, and all cells of their chains."""
        for cell in cells:
            self._reuse(cell)
            if self.store.done(cell.run_id) and not self.force:
                self.report.ended[cell.run_id] = self.store.rows[cell.run_id]["status"]
        wanted = [cell for cell in cells if cell.run_id not in self._refused]
        tasks = plan.unfinished(wanted, self._is_done, self._was_cut)
        again = sum(self._is_done(cell) for task in tasks for cell in task)
        if again:
            self._note(f"{again} finished runs are made again, because others start where they end")
        if tasks:
            # as many in parallel as in an uninterrupted run, so that each has the same threads and memory
            at_once = min(at_once, len(plan.tasks(wanted)))
            self._followers = defaultdict(set)
            for task in tasks:
                for number, cell in enumerate(task):
                    self._followers[cell.run_id].update(later.run_id for later in task[number + 1 :])
            self.executor.run(tasks, self._deliver, self.reporter.watch, at_once=at_once)

    def _is_done(self, cell: Cell) -> bool:
        return self.store.done(cell.run_id) and not self.force

    def _was_cut(self, cell: Cell) -> bool:
        return self.store.rows[cell.run_id]["status"] == Status.TIME_LIMIT

    def _reuse(self, cell: Cell) -> None:
        """Copy the run from another folder if it is finished there and not here."""
        run = self.reusable.get(cell.run_id)
        if run is not None and not self.store.done(cell.run_id):
            self.store.copy_from(run, cell)
            self.store.log("taken", run_id=cell.run_id, cell=cell.label, source=run.folder)

    def _deliver(self, record: Record) -> None:
        """Store a record, unless the folder has the run: a chain that starts again repeats finished runs."""
        cell, status = record.cell, record.status
        facts = {"run_id": cell.run_id, "cell": cell.label, "status": status}
        with held_back():  # a finished run is not lost
            if self.store.done(cell.run_id) and (not self.force or cell.run_id in self._made):
                self._deliver_rerun(record, facts)
            elif cell.run_id not in self._displaced:
                self.store.add(record.row, record.trace)
                self.store.log("run", **facts, **({"failure": record.failure} if record.failure else {}))
                self._made |= {cell.run_id} if status.done else set()
                self.report.ended[cell.run_id] = status
                self.reporter.ended(record)
        if status is Status.ERROR:
            self._note(f"{cell.label}: {record.row['message']}")
            if self.fail_fast:
                raise _FailFast

    def _deliver_rerun(self, record: Record, facts: Mapping[str, object]) -> None:
        """Store the record of a repeated run if its result differs, since an earlier failure changed where it started.

        If the repeated run failed, its stored row stays, and the cells after it in the chain are left for another time.
        If its time limit cut it, as it did not before, its stored row and those after it stay: that is
        chance. A cell after it that was not stored yet is stored as it comes.
        """
        run_id, followers = record.cell.run_id, self._followers.get(record.cell.run_id, set())
        if run_id not in self._made:
            self._made.add(run_id)
            self.reporter.ended(record)
        if not record.status.done:
            self._displaced |= followers
            self.report.ended[run_id] = record.status
        elif record.status is Status.TIME_LIMIT and not self._was_cut(record.cell):
            self._kept |= {run_id, *followers}
        elif run_id not in self._displaced | self._kept and (
            unlike := differing(csv_fields(record.row), self.store.rows[run_id])
        ):
            self.store.add(record.row, record.trace)
            self.store.log("run", **facts, unlike=unlike)
            return
        self.store.log("again", **facts)

    def _finals(self, trial: Trial) -> Iterable[Cell]:
        """Return the reported runs of a trial; if they cannot run, record why."""
        facts = self.known[trial.data]
        if facts.missing:
            cells = list(plan.final_cells(self.experiment, trial, facts))
            self._record_refused(cells, Status.MISSING, facts.missing)
            return cells
        if trial.selection is None:
            return plan.final_cells(self.experiment, trial, facts)
        choice = self._choice(trial, facts)
        cells = list(plan.final_cells(self.experiment, trial, facts, choice.values))
        if choice.why_not:
            self._record_refused(cells, Status.ERROR, choice.why_not)
        return cells

    def _choice(self, trial: Trial, facts: DataInfo) -> Choice:
        """Return the selected parameters of a trial; they are announced once, though several methods may share them."""
        assert trial.selection is not None  # noqa: S101 - the caller asks only then
        cells = racing.selection_runs(self.experiment, trial, facts, self.store.rows).deciding
        key = tuple(cell.run_id for cell in cells)
        if key not in self._choices:
            self._choices[key] = selection.choose(trial.selection, cells, self.store.rows, facts.rows)
            self._announce(trial, self._choices[key])
        return self._choices[key]

    def _announce(self, trial: Trial, chosen: Choice) -> None:
        if chosen.why_not:
            return
        words = selection.describe(chosen.values)
        held_out = trial.selection.held_out.description if trial.selection is not None else ""
        self.store.log("selected", dataset=trial.data.name, values=chosen.values, accuracy=chosen.accuracy)
        self._note(f"{trial.data.name}: {words} ({100 * chosen.accuracy:.2f} % right, {held_out})")
        for name in chosen.on_edge:
            edge = f"{name} = {chosen.values[name]:g} lies on the edge of the values tried"
            self._note(f"{trial.data.name}: warning: {edge}; a better one may lie beyond")

    def _note(self, said: str) -> None:
        self.store.log("note", said=said)
        self.reporter.note(said)

    def _record_refused(self, cells: Iterable[Cell], status: Status, why: str) -> None:
        """Record cells that cannot run, unless the folder has the same message already."""
        for cell in cells:
            self._refused.add(cell.run_id)
            row = self.store.rows.get(cell.run_id, {})
            record = failure_record(cell, status, why)
            if (row.get("status"), row.get("message")) == (status, record.row["message"]):
                self.report.ended[cell.run_id] = status
                self.reporter.ended(record)
            elif not self.store.done(cell.run_id):
                self._deliver(record)
