"""What is left to do of an experiment: the state of each cell before it runs, and how long the rest takes."""

import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fwsvm.experiments import plan, selection
from fwsvm.experiments.experiment import DataSpec, Experiment
from fwsvm.experiments.plan import FINAL, Cell, Chain
from fwsvm.experiments.samples import DataInfo
from fwsvm.experiments.selection import RowsById
from fwsvm.solvers import Status

YEAR = 365.2425 * 86400  # seconds
GROWTH = 1.5  # seconds of a run over its rows, as a power, where no run on the data set has ended yet


@dataclass(frozen=True)
class PlannedRun:
    """A cell and its state: a status, "to do", "again", "missing" (no data) or "open".

    A run of a chain that is not finished is made again. The parameters of an open run are not selected yet.
    """

    cell: Cell
    state: str

    @property
    def is_left(self) -> bool:
        """Whether the run is to be made, as far as is known."""
        return self.state in {"to do", "again", "open"}


def planned_runs(
    experiment: Experiment, known: Mapping[DataSpec, DataInfo], rows: RowsById
) -> list[PlannedRun]:
    """Return every cell of the experiment with its state, in the order in which they run."""
    found: list[PlannedRun] = []
    for data in experiment.datasets:
        facts = known[data]
        trials = [trial for trial in experiment.trials if trial.data == data]
        for chain in plan.search_chains(experiment, trials, known):
            found += _states(chain, rows)
        for trial in trials:
            state, values = "missing" if facts.missing else "", {}
            if trial.selection is not None and not facts.missing:
                chains = plan.selection_chains(experiment, data, trial.selection, facts)
                cells = [cell for chain in chains for cell in chain]
                if facts.rows and all(_is_done(cell, rows) for cell in cells):
                    values = dict(selection.choose(trial.selection, cells, rows, facts.rows).values)
                else:
                    state = "open"
            for chain in plan.final_chains(experiment, trial, facts, values):
                found += [PlannedRun(cell, state) for cell in chain] if state else _states(chain, rows)
    # two spellings of a data set ask for the same runs
    first = {run.cell.run_id: run for run in reversed(found)}
    return [run for run in found if run.state in {"missing", "open"} or run is first[run.cell.run_id]]


def _states(chain: Chain, rows: RowsById) -> list[PlannedRun]:
    done = {cell.run_id for cell in chain if _is_done(cell, rows)}
    found = []
    for cell in chain:
        status = rows[cell.run_id]["status"] if len(done) == len(chain) else "again"
        found.append(PlannedRun(cell, status if cell.run_id in done else "to do"))
    return found


def _is_done(cell: Cell, rows: RowsById) -> bool:
    row = rows.get(cell.run_id)
    return row is not None and Status(row["status"]).done


def describe(planned: list[PlannedRun]) -> str:
    """Return the numbers of runs by state, and the sum of the time limits of the remaining ones.

    Time limits bound the training alone: loading, certificates and predictions are not included.
    """
    states = Counter(run.state for run in planned)
    final = sum(run.cell.role == FINAL for run in planned)
    left = [run.cell.settings.time_limit for run in planned if run.is_left]
    said = f"{len(planned)} runs: {len(planned) - final} to choose parameters, {final} to report"
    said += f"; {len(planned) - len(left) - states['missing']} done"
    said += f", {states['missing']} without data" if states["missing"] else ""
    said += f", {states['again']} made again with the rest of their chains" if states["again"] else ""
    if free := left.count(None):
        return said + f"; {free} have no time limit, so the total time is not known in advance"
    total = sum(limit or 0.0 for limit in left)
    return said + (f"; at most {format_duration(total)} by their time limits" if left else "")


def format_duration(seconds: float) -> str:
    """Return a duration as text: 8 s, 5 min, 3 h 20 min, 2e+03 years."""
    if seconds >= 1000 * YEAR:
        return f"{min(seconds, sys.float_info.max) / YEAR:.0e} years"  # a sum may be beyond a double
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


class TimeLeft:
    """How long the runs that are left take, from those that ended: runs of one data set and role take about as long.

    Where none of a data set has ended, seconds grow with the rows, up to the time limit of its runs.
    """

    def __init__(self, cells: Iterable[Cell], rows: Mapping[DataSpec, int]) -> None:
        self.rows = rows
        self.left: Counter[tuple[DataSpec, str]] = Counter()
        self.limit: dict[tuple[DataSpec, str], float] = {}
        self.ended: Counter[tuple[DataSpec, str]] = Counter()
        self.spent: dict[tuple[DataSpec, str], float] = {}
        for cell in cells:
            kind = cell.data, cell.role
            self.left[kind] += 1
            self.limit[kind] = cell.settings.time_limit or math.inf

    def end(self, cell: Cell, seconds: float) -> None:
        """Count a run that ended so many seconds after the one before."""
        kind = cell.data, cell.role
        self.left[kind] -= 1
        self.ended[kind] += 1
        self.spent[kind] = self.spent.get(kind, 0.0) + seconds

    @property
    def seconds(self) -> float | None:
        """The estimate; None before any run ended."""
        if not self.ended:
            return None
        return sum(count * self._of_one(kind) for kind, count in self.left.items() if count > 0)

    def _of_one(self, kind: tuple[DataSpec, str]) -> float:
        alike = [other for other in self.ended if other == kind] or [
            other for other in self.ended if other[0] == kind[0]
        ]
        if alike:
            return sum(self.spent[other] for other in alike) / sum(self.ended[other] for other in alike)
        work = sum(count * self.rows[other[0]] ** GROWTH for other, count in self.ended.items())
        guess = sum(self.spent.values()) * self.rows[kind[0]] ** GROWTH / max(1.0, work)
        return float(min(guess, self.limit[kind]))
