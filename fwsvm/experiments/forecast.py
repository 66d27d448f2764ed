"""What an experiment still has to do, before it does it."""

from collections.abc import Mapping
from dataclasses import dataclass

from fwsvm.experiments import plan, selection
from fwsvm.experiments.experiment import Data, Experiment
from fwsvm.experiments.plan import FINAL, Cell
from fwsvm.experiments.progress import span
from fwsvm.experiments.samples import Facts
from fwsvm.solvers import Status

Rows = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Expected:
    """A cell and where it stands: its status, to do, missing (no data) or open (parameters to be chosen)."""

    cell: Cell
    state: str

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return self.state not in {"to do", "missing", "open"}


def forecast(experiment: Experiment, known: Mapping[Data, Facts], rows: Rows) -> list[Expected]:
    """Return every cell of the experiment, in the order in which they run, with its state."""
    expected = []
    for data in experiment.datasets:
        trials = [trial for trial in experiment.trials if trial.data == data]
        expected += [Expected(c, _state(c, rows)) for c in plan.select_cells(experiment, trials, known)]
        for trial in trials:
            values, ready = {}, trial.selection is None
            if trial.selection is not None and not known[data].missing:
                cells = list(plan.candidates(experiment, data, trial.selection, known[data]))
                ready = all(_state(cell, rows) != "to do" for cell in cells)
                values = (
                    dict(selection.choose(trial.selection, cells, rows, known[data].rows).values)
                    if ready
                    else {}
                )
            for cell in plan.final_cells(experiment, trial, known[data], values):
                state = "missing" if known[data].missing else _state(cell, rows) if ready else "open"
                expected.append(Expected(cell, state))
    return expected


def _state(cell: Cell, rows: Rows) -> str:
    status = rows.get(cell.run_id, {}).get("status")
    return status if status is not None and Status(status).done else "to do"


def words(expected: list[Expected]) -> str:
    """Return how many runs there are, and how long those that are left take at most by their time limits.

    Limits are on the clock of the algorithm: loading, certificates and predictions come on top.
    """
    final = sum(e.cell.role == FINAL for e in expected)
    missing = sum(e.state == "missing" for e in expected)
    said = f"{len(expected)} runs: {len(expected) - final} to choose parameters, {final} to report"
    said += f"; {sum(e.done for e in expected)} done" + (f", {missing} without data" if missing else "")
    limits = [e.cell.settings.time_limit for e in expected if not e.done and e.state != "missing"]
    free = limits.count(None)
    if free:
        return said + f"; {free} have no time limit, so how long this takes shows as it goes"
    return said + (
        f"; at most {span(sum(limit or 0.0 for limit in limits))} by their time limits" if limits else ""
    )
