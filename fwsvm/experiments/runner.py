"""Running an experiment: the chains that are not finished, in order; each row is stored as soon as its run ends.

For each data set the parameter search comes first, then the reported runs. These start cold and run one at a
time, so that their times are comparable. A chain of which a run is not finished begins again, and
its rows replace those there.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from fwsvm import exit_codes
from fwsvm.experiments import plan
from fwsvm.experiments.experiment import Experiment, Selection
from fwsvm.experiments.plan import Cell, Chain, Choice, Known
from fwsvm.experiments.run import Record, failure_record
from fwsvm.experiments.store import ResultsStore
from fwsvm.files.lock import held_back
from fwsvm.solvers import Status
from fwsvm.solvers.resolve import stop_of

if TYPE_CHECKING:
    from fwsvm.experiments.executors import ClusterExecutor, Workers
    from fwsvm.experiments.run import Inline

    Executor: TypeAlias = Inline | Workers | ClusterExecutor


class _FailFast(Exception):  # noqa: N818 - not an error
    """A run failed, and --fail-fast stops the experiment."""


@dataclass
class Runner:
    """One run of an experiment, which may continue an earlier one.

    Attributes
    ----------
    experiment : Experiment
    known : mapping of DataSpec to DataInfo
    store : ResultsStore, open
    executor : Executor
    reporter : object with methods watch(cell, progress or phase), note(message, warns) and ended(record)
    force : bool
        Also repeat finished runs.
    fail_fast : bool
        Stop at the first run that fails.
    finals : list of Cell
        The reported cells, in order.
    statuses : dict of run id to str
        How each run ended.
    interrupted : bool
    announced : set of str
        What was said of searches.
    """

    experiment: Experiment
    known: Known
    store: ResultsStore
    executor: "Executor"
    reporter: Any
    force: bool = False
    fail_fast: bool = False
    finals: list[Cell] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    announced: set[str] = field(default_factory=set)

    @property
    def counts(self) -> Counter[str]:
        """The number of runs of each status."""
        return Counter(self.statuses.values())

    @property
    def exit_code(self) -> int:
        """The exit code of ``fwsvm grid``."""
        if self.interrupted:
            return exit_codes.INTERRUPTED
        if self.counts[Status.ERROR]:
            return exit_codes.FAILED
        return exit_codes.DATA if self.counts[Status.MISSING] else 0

    def run(self) -> None:
        """Run the experiment."""
        slots = self.executor.slots
        every = self.experiment.datasets
        try:
            for batch in [[data] for data in every] if slots == 1 else [every]:
                trials = [trial for trial in self.experiment.trials if trial.data in batch]
                self._run_chains(plan.search_chains(self.experiment, trials, self.known), at_once=slots)
                chains: list[Chain] = []
                for trial in trials:
                    facts = self.known[trial.data]
                    asked = plan.finals(self.experiment, trial, facts, self.store.rows)
                    self.finals += asked.cells
                    if refused := asked.choice.why_not:
                        status = Status.MISSING if facts.missing else Status.ERROR
                        for cell in asked.cells:
                            if self.store.rows.get(cell.run_id, {}).get("message") == refused:
                                self.statuses[cell.run_id] = status  # the row is there already
                            elif not self.store.done(cell.run_id):
                                self._deliver(failure_record(cell, refused, status))
                        continue
                    chains += [[cell] for cell in asked.cells]
                    if trial.selection is not None:
                        self._announce(trial.data.name, trial.selection, asked.choice)
                self._run_chains(chains, at_once=1)
        except KeyboardInterrupt:
            self.interrupted = True
        except _FailFast:
            self._note("stopped at the first failure (--fail-fast)", warns=True)

    def _run_chains(self, chains: Sequence[Chain], *, at_once: int) -> None:
        """Run the chains that are not finished; finished runs of other folders are copied."""
        left: dict[str, Chain] = {}  # two spellings of a data set ask for the same runs
        for chain in chains:
            for cell in chain:
                self.store.take(cell)
            if all(self.store.done(cell.run_id) for cell in chain) and not self.force:
                self.statuses |= {cell.run_id: self.store.rows[cell.run_id]["status"] for cell in chain}
            else:
                left.setdefault(chain[-1].run_id, chain)
        if left:
            # as many in parallel as in an uninterrupted run, so that each has the same threads and memory
            at_once = min(at_once, len(chains))
            self.executor.run(list(left.values()), self._deliver, self.reporter.watch, at_once=at_once)

    def _deliver(self, record: Record) -> None:
        """Store a record; a finished run of a chain that begins again keeps its row."""
        cell, status, said = record.cell, record.status, record.row["message"]
        if not Status(self.statuses.get(cell.run_id, Status.ERROR)).done:
            with held_back():  # a finished run is not lost
                self.statuses[cell.run_id] = status
                self.store.add(record.row, record.trace)
                failure = {"failure": record.failure} if record.failure else {}
                self.store.log("run", run_id=cell.run_id, cell=cell.label, status=status, **failure)
                if status is not Status.MISSING:  # which is no work
                    self.reporter.ended(record)
        if status is Status.ERROR:
            self._note(f"{cell.label}: {said}", warns=True)
            if self.fail_fast:
                raise _FailFast

    def _announce(self, name: str, selection: Selection, chosen: Choice) -> None:
        """Tell what a search chose, once for all methods."""
        values = chosen.values
        tolerance = stop_of(selection.candidates[0])[1]
        words = ", ".join(f"{key} = {value:g}" for key, value in values.items())
        said = (
            f"{name}: {words} ({chosen.accuracy:.2%} right, {selection.held_out.description}, "
            f"tolerance {tolerance:g})"
        )
        if said in self.announced:
            return
        self.announced.add(said)
        self._note(said)
        for key in chosen.on_edge:
            edge = f"{key} = {values[key]:g} lies on the edge of the values tried"
            self._note(f"{name}: warning: {edge}; a better one may lie beyond", warns=True)

    def _note(self, said: str, *, warns: bool = False) -> None:
        self.store.log("note", said=said)
        self.reporter.note(said, warns=warns)
