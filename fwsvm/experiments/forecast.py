"""The state of each cell of an experiment before it runs."""

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from fwsvm.experiments import plan, racing, selection
from fwsvm.experiments.experiment import DataSpec, Experiment
from fwsvm.experiments.plan import FINAL, SELECT, Cell
from fwsvm.experiments.samples import DataInfo
from fwsvm.experiments.selection import RowsById
from fwsvm.solvers import Status

YEAR = 365.2425 * 86400  # seconds


@dataclass(frozen=True)
class PlannedRun:
    """A cell and its state: a status, "to do", "missing" (no data) or "open".

    An open one of a search may leave the race; the parameters of an open reported run are not selected yet. One that
    ended is made ``again`` if another run of its chain, which starts where it ends, is to do.
    """

    cell: Cell
    state: str
    again: bool = False

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return self.state not in {"to do", "missing", "open"} and not self.again


def planned_runs(
    experiment: Experiment, known: Mapping[DataSpec, DataInfo], rows: RowsById
) -> list[PlannedRun]:
    """Return every cell of the experiment with its state, in the order in which they run.

    A cell that two spellings of a data set ask for is one run.
    """
    expected: list[PlannedRun] = []
    for data in experiment.datasets:
        trials = [trial for trial in experiment.trials if trial.data == data]
        searched: dict[str, PlannedRun] = {}
        for runs in racing.all_selections(experiment, trials, known, rows):
            states = [(cell, _state(cell, rows)) for cell in runs.cells]
            states += [(cell, "open") for cell in runs.later]
            for cell, state in states:
                searched.setdefault(cell.run_id, PlannedRun(cell, state))
        expected += _with_repeated(searched.values())
        for trial in trials:
            values, ready = {}, trial.selection is None
            if trial.selection is not None and not known[data].missing:
                cells = racing.selection_runs(experiment, trial, known[data], rows).deciding
                ready = all(searched[cell.run_id].state not in {"to do", "open"} for cell in cells)
                values = (
                    dict(selection.choose(trial.selection, cells, rows, known[data].rows).values)
                    if ready
                    else {}
                )
            finals = [
                PlannedRun(
                    cell, "missing" if known[data].missing else _state(cell, rows) if ready else "open"
                )
                for cell in plan.final_cells(experiment, trial, known[data], values)
            ]
            expected += _with_repeated(finals)
    first = {run.cell.run_id: run for run in reversed(expected)}
    return [run for run in expected if run.state in {"missing", "open"} or run is first[run.cell.run_id]]


def _with_repeated(runs: Collection[PlannedRun]) -> list[PlannedRun]:
    """Return the runs with those marked that are made again, see `fwsvm.experiments.plan.unfinished`."""
    planned = {run.cell.run_id: run for run in runs}
    tasks = plan.unfinished(
        [run.cell for run in runs if run.state not in {"missing", "open"}],
        lambda cell: planned[cell.run_id].done,
        lambda cell: planned[cell.run_id].state == Status.TIME_LIMIT,
    )
    made = {cell.run_id for task in tasks for cell in task}
    return [replace(run, again=run.done and run.cell.run_id in made) for run in runs]


def _state(cell: Cell, rows: RowsById) -> str:
    status = rows.get(cell.run_id, {}).get("status")
    return status if status is not None and Status(status).done else "to do"


def describe(expected: list[PlannedRun]) -> str:
    """Return the numbers of runs by state, and the sum of the time limits of the remaining ones.

    Time limits bound the training alone: loading, certificates and predictions are not included.
    """
    final = sum(e.cell.role == FINAL for e in expected)
    missing = sum(e.state == "missing" for e in expected)
    raced = any(e.state == "open" and e.cell.role == SELECT for e in expected)
    said = "at most " if raced else ""
    said += f"{len(expected)} runs: {len(expected) - final} to choose parameters, {final} to report"
    said += f"; {sum(e.done for e in expected)} done" + (f", {missing} without data" if missing else "")
    again = sum(e.again for e in expected)
    said += f", {again} made again, because others start where they end" if again else ""
    limits = [e.cell.settings.time_limit for e in expected if not e.done and e.state != "missing"]
    free = limits.count(None)
    if free:
        return said + f"; {free} have no time limit, so the total time is not known in advance"
    return said + (
        f"; at most {format_duration(sum(limit or 0.0 for limit in limits))} by their time limits"
        if limits
        else ""
    )


def format_duration(seconds: float) -> str:
    """Return a duration as text: 8 s, 5 min, 3 h 20 min, 2e+03 years."""
    if seconds >= 1000 * YEAR:
        return f"{min(seconds, sys.float_info.max) / YEAR:.0e} years"  # a sum may be beyond a double
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
