"""Running an experiment: the chains that are not finished, in order; each row is stored as soon as its run ends.

For each data set the parameter search comes first, then the reported runs. By default these start cold and run one at a
time, so that their times are comparable. A chain of which a run is not finished begins again, and
its rows replace those there.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fwsvm import exit_codes
from fwsvm.experiments import plan, selection
from fwsvm.experiments.executors import Executor
from fwsvm.experiments.experiment import DataSpec, Experiment, Trial
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import Record, failure_record
from fwsvm.experiments.samples import DataInfo
from fwsvm.experiments.selection import Choice
from fwsvm.experiments.store import ResultsStore, ReusableRun
from fwsvm.files.lock import held_back
from fwsvm.phases import Phase
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
    _choices: dict[tuple[str, ...], Choice] = field(default_factory=dict)

    def run(self) -> RunReport:
        """Run the experiment and return its outcome."""
        slots = self.executor.slots
        batches = [[data] for data in self.experiment.datasets] if slots == 1 else [self.experiment.datasets]
        try:
            for batch in batches:
                trials = [trial for trial in self.experiment.trials if trial.data in batch]
                self._run_chains(plan.search_chains(self.experiment, trials, self.known), at_once=slots)
                finals = [chain for trial in trials for chain in self._finals(trial)]
                self._run_chains(finals, at_once=slots if self.beside else 1)
        except KeyboardInterrupt:
            self.report.interrupted = True
        except _FailFast:
            self._note("stopped at the first failure (--fail-fast)")
        return self.report

    def _run_chains(self, chains: Sequence[Chain], *, at_once: int) -> None:
        """Run the chains that are not finished."""
        left: dict[tuple[str, ...], Chain] = {}  # two spellings of a data set ask for the same runs
        for chain in chains:
            for cell in chain:
                self._reuse(cell)
            if all(self.store.done(cell.run_id) for cell in chain) and not self.force:
                for cell in chain:
                    self.report.ended[cell.run_id] = self.store.rows[cell.run_id]["status"]
            else:
                left.setdefault(tuple(cell.run_id for cell in chain), chain)
        if left:
            # as many in parallel as in an uninterrupted run, so that each has the same threads and memory
            at_once = min(at_once, len(chains))
            self.executor.run(list(left.values()), self._deliver, self.reporter.watch, at_once=at_once)

    def _reuse(self, cell: Cell) -> None:
        """Copy the run from another folder if it is finished there and not here."""
        run = self.reusable.get(cell.run_id)
        if run is not None and not self.store.done(cell.run_id):
            self.store.copy_from(run, cell)
            self.store.log("taken", run_id=cell.run_id, cell=cell.label, source=run.folder)

    def _deliver(self, record: Record) -> None:
        """Store a record; the run may have a row already, which a chain that begins again replaces."""
        cell, status = record.cell, record.status
        if cell.run_id not in self.report.ended or not Status(self.report.ended[cell.run_id]).done:
            with held_back():  # a finished run is not lost
                failure = {"failure": record.failure} if record.failure else {}
                self.store.add(record.row, record.trace)
                self.store.log("run", run_id=cell.run_id, cell=cell.label, status=status, **failure)
                self.report.ended[cell.run_id] = status
                self.reporter.ended(record)
        if status is Status.ERROR:
            self._note_error(record)

    def _finals(self, trial: Trial) -> list[Chain]:
        """Return the chains of the reported runs of a trial; of those that cannot run, record why and return none."""
        facts = self.known[trial.data]
        status, why, values = Status.MISSING, facts.missing, {}
        if trial.selection is not None and not why:
            choice = self._choice(trial, facts)
            status, why, values = Status.ERROR, choice.why_not, dict(choice.values)
        chains = plan.final_chains(self.experiment, trial, facts, values)
        cells = [cell for chain in chains for cell in chain]
        self.report.finals += cells
        if not why:
            return chains
        for cell in cells:
            self._record_refused(cell, status, why)
        return []

    def _choice(self, trial: Trial, facts: DataInfo) -> Choice:
        """Return the selected parameters of a trial; they are announced once, though several methods may share them."""
        assert trial.selection is not None  # noqa: S101 - the caller asks only then
        chains = plan.selection_chains(self.experiment, trial.data, trial.selection, facts)
        cells = [cell for chain in chains for cell in chain]
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

    def _record_refused(self, cell: Cell, status: Status, why: str) -> None:
        """Record a cell that cannot run, unless the folder has the same message, or a finished run, already.

        Missing runs are no work, so the reporter does not count them.
        """
        if self.store.done(cell.run_id):
            return
        row = self.store.rows.get(cell.run_id, {})
        record = failure_record(cell, status, why)
        self.report.ended[cell.run_id] = status
        if (row.get("status"), row.get("message")) != (status, record.row["message"]):
            self.store.add(record.row)
            self.store.log("run", run_id=cell.run_id, cell=cell.label, status=status)
        if status is Status.ERROR:
            self.reporter.ended(record)
            self._note_error(record)

    def _note_error(self, record: Record) -> None:
        self._note(f"{record.cell.label}: {record.row['message']}")
        if self.fail_fast:
            raise _FailFast
