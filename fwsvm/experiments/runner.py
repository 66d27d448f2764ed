"""Runs an experiment: what is missing of it, in order, each row written as soon as its run is finished.

Data set by data set the parameter search comes first, then the reported runs: these start cold, unless they are
told not to, and go one after another, so that their times mean something.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fwsvm.experiments import plan, selection
from fwsvm.experiments.execute import Record, failed
from fwsvm.experiments.executors import Executor
from fwsvm.experiments.experiment import Data, Experiment, Trial
from fwsvm.experiments.plan import Cell
from fwsvm.experiments.record import fields
from fwsvm.experiments.reuse import Reusable
from fwsvm.experiments.samples import Facts
from fwsvm.experiments.selection import Choice
from fwsvm.experiments.store import Store
from fwsvm.results.agreement import differing
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress

MISSING_CODE, ERROR_CODE, INTERRUPTED_CODE = 3, 4, 130


class Reporter(Protocol):
    """Who is told how the experiment goes."""

    def watch(self, cell: Cell, inside: Progress) -> None:
        """Hear how far a run is."""

    def note(self, said: str) -> None:
        """Hear something a person should know."""

    def ended(self, record: Record) -> None:
        """Hear that a run ended."""


class _StopNow(Exception):  # noqa: N818 - not an error, the user asked for it
    """A run failed, and the user asked to stop at the first failure."""


@dataclass
class Course:
    """How an experiment went: the reported cells in order, and the exit code's reasons."""

    finals: list[Cell] = field(default_factory=list)
    ended: dict[str, str] = field(default_factory=dict)  # status by run id
    interrupted: bool = False

    @property
    def statuses(self) -> Counter[str]:
        """How many runs ended how."""
        return Counter(self.ended.values())

    @property
    def exit_code(self) -> int:
        """0, or by conventions 3 what the caller should know."""
        if self.interrupted:
            return INTERRUPTED_CODE
        if self.statuses[Status.ERROR]:
            return ERROR_CODE
        return MISSING_CODE if self.statuses[Status.MISSING] else 0


@dataclass
class Runner:
    """One pass over an experiment.

    Attributes
    ----------
    experiment : Experiment
    known : mapping of Data to Facts
    store : Store, open
    executor : Executor
    reporter : Reporter
    force : bool
        Also repeat what is done.
    fail_fast : bool
        Stop at the first run that fails.
    beside : bool
        Let reported runs go on beside each other, too.
    lent : mapping of run id to Reusable
        Finished runs of other folders, which are taken over instead of made.
    """

    experiment: Experiment
    known: Mapping[Data, Facts]
    store: Store
    executor: Executor
    reporter: Reporter
    force: bool = False
    fail_fast: bool = False
    beside: bool = False
    lent: Mapping[str, Reusable] = field(default_factory=dict)
    course: Course = field(default_factory=Course)
    _refused: set[str] = field(default_factory=set)
    _made: set[str] = field(default_factory=set)  # finished and recorded in this pass
    _adrift: set[str] = field(
        default_factory=set
    )  # start elsewhere than they should, for an earlier run failed
    _choices: dict[tuple[str, ...], Choice] = field(default_factory=dict)
    _followers: dict[str, set[str]] = field(default_factory=dict)  # of each cell: those after it in its task

    def run(self) -> Course:
        """Run all that is to be run, and return how it went."""
        slots = self.executor.slots
        batches = [[data] for data in self.experiment.datasets] if slots == 1 else [self.experiment.datasets]
        try:
            for batch in batches:
                trials = [trial for trial in self.experiment.trials if trial.data in batch]
                self._make(plan.select_cells(self.experiment, trials, self.known), at_once=slots)
                finals = [cell for trial in trials for cell in self._finals(trial)]
                self.course.finals += finals
                self._make(finals, at_once=slots if self.beside else 1)
        except KeyboardInterrupt:
            self.course.interrupted = True
        except _StopNow:
            self._note("stopped at the first failure (--fail-fast)")
        return self.course

    def _make(self, cells: Sequence[Cell], *, at_once: int) -> None:
        """Run those of the cells that are not done, and again those of their chains."""
        for cell in cells:
            self._take_over(cell)
            if self.store.done(cell.run_id) and not self.force:
                self.course.ended[cell.run_id] = self.store.rows[cell.run_id]["status"]
        wanted = [cell for cell in cells if cell.run_id not in self._refused]
        tasks = plan.unfinished(wanted, self._is_done, self._was_cut)
        again = sum(self._is_done(cell) for task in tasks for cell in task)
        if again:
            self._note(f"{again} finished runs are made again, for others start where they end")
        if (
            tasks
        ):  # as many beside each other as if nothing had been done: each has the same threads and memory
            at_once = min(at_once, len(plan.tasks(wanted)))
            self._followers = {
                cell.run_id: {later.run_id for later in task[number + 1 :]}
                for task in tasks
                for number, cell in enumerate(task)
            }
            self.executor.run(tasks, self._deliver, self.reporter.watch, at_once=at_once)

    def _is_done(self, cell: Cell) -> bool:
        return self.store.done(cell.run_id) and not self.force

    def _was_cut(self, cell: Cell) -> bool:
        return self.store.rows[cell.run_id]["status"] == Status.TIME_LIMIT

    def _take_over(self, cell: Cell) -> None:
        """Take a run from another folder that lends it."""
        loan = self.lent.get(cell.run_id)
        if loan is not None and not self.store.done(cell.run_id):
            self.store.take(loan.row, self.experiment.name, loan.folder)
            self.store.log("taken", run_id=cell.run_id, cell=cell.label, source=loan.folder)

    def _deliver(self, record: Record) -> None:
        """Write a record, unless the folder has it: a chain that begins again comes by runs that are done."""
        cell, status = record.cell, record.status
        facts = {"run_id": cell.run_id, "cell": cell.label, "status": status}
        if self.store.done(cell.run_id) and (not self.force or cell.run_id in self._made):
            self._deliver_again(record, facts)
        elif cell.run_id not in self._adrift:
            self.store.add(record.row, record.trace)
            self.store.log("run", **facts, **({"failure": record.failure} if record.failure else {}))
            self._made |= {cell.run_id} if status.done else set()
            self.course.ended[cell.run_id] = status
            self.reporter.ended(record)
        if status is Status.ERROR:
            self._note(f"{cell.label}: {record.row['message']}")
            if self.fail_fast:
                raise _StopNow

    def _deliver_again(self, record: Record, facts: Mapping[str, object]) -> None:
        """Write a record of a run that is done if it ended elsewhere: a failure may have kept those before it from it.

        Where the run failed this time its row stays, and what would have started at its end is left for another pass.
        """
        run_id = record.cell.run_id
        if not record.status.done:
            self._adrift |= self._followers.get(run_id, set())
            self.course.ended[run_id] = record.status
        elif run_id not in self._adrift and (
            unlike := differing(fields(record.row), self.store.rows[run_id])
        ):
            self.store.add(record.row, record.trace)
            self.store.log("run", **facts, unlike=unlike)
            return
        self.store.log("again", **facts)

    def _finals(self, trial: Trial) -> Iterable[Cell]:
        """Return the reported runs of a trial; where they cannot be, record why."""
        facts = self.known[trial.data]
        if facts.missing:
            cells = list(plan.final_cells(self.experiment, trial, facts))
            self._refuse(cells, Status.MISSING, facts.missing)
            return cells
        if trial.selection is None:
            return plan.final_cells(self.experiment, trial, facts)
        choice = self._choice(trial, facts)
        cells = list(plan.final_cells(self.experiment, trial, facts, choice.values))
        if choice.why_not:
            self._refuse(cells, Status.ERROR, choice.why_not)
        return cells

    def _choice(self, trial: Trial, facts: Facts) -> Choice:
        """Return what the search of a trial chose; said and logged once, though many methods share it."""
        assert trial.selection is not None  # noqa: S101 - the caller asks only then
        cells = list(plan.candidates(self.experiment, trial.data, trial.selection, facts))
        key = tuple(cell.run_id for cell in cells)
        if key not in self._choices:
            self._choices[key] = selection.choose(trial.selection, cells, self.store.rows, facts.rows)
            self._say(trial, self._choices[key])
        return self._choices[key]

    def _say(self, trial: Trial, chosen: Choice) -> None:
        if chosen.why_not:
            return
        words = selection.words(chosen.values)
        held_out = trial.selection.held_out.words if trial.selection is not None else ""
        self.store.log("selected", dataset=trial.data.name, values=chosen.values, accuracy=chosen.accuracy)
        self._note(f"{trial.data.name}: {words} ({100 * chosen.accuracy:.2f} % right, {held_out})")
        for name in chosen.on_edge:
            edge = f"{name} = {chosen.values[name]:g} lies on the edge of the values tried"
            self._note(f"{trial.data.name}: warning: {edge}; a better one may lie beyond")

    def _note(self, said: str) -> None:
        self.store.log("note", said=said)
        self.reporter.note(said)

    def _refuse(self, cells: Iterable[Cell], status: Status, why: str) -> None:
        """Record cells that cannot run, unless the folder says the same already."""
        for cell in cells:
            self._refused.add(cell.run_id)
            row = self.store.rows.get(cell.run_id, {})
            record = failed(cell, status, why)
            if (row.get("status"), row.get("message")) == (status, record.row["message"]):
                self.course.ended[cell.run_id] = status
                self.reporter.ended(record)
            elif not self.store.done(cell.run_id):
                self._deliver(record)
