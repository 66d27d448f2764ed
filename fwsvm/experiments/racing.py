"""Racing (Maron and Moore 1994): a rough look at all candidates of a selection, then full runs of those that may win.

The first look runs every candidate to a larger relative gap, which its rows say. A candidate leaves the race if it has
more validation errors than the best by over `DEVIATIONS` standard deviations of the best's number, counted as Poisson.
The choice is among those that stay, by their runs to the selection's own tolerance.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from fwsvm.experiments import plan, selection
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Trial
from fwsvm.experiments.plan import Cell
from fwsvm.experiments.samples import DataInfo
from fwsvm.experiments.selection import RowsById
from fwsvm.solvers import Settings, Status

DEVIATIONS = 3.0

Known = Mapping[DataSpec, DataInfo]


def look_cells(experiment: Experiment, trials: Iterable[Trial], known: Known) -> list[Cell]:
    """Return the cells of first looks, each once."""
    raced = [
        replace(trial, selection=_rough(trial.selection))
        for trial in trials
        if trial.selection is not None and trial.selection.race is not None
    ]
    return plan.search_cells(experiment, raced, known)


def is_open(experiment: Experiment, trial: Trial, facts: DataInfo, rows: RowsById) -> bool:
    """Whether a first look is not complete, so that it is not known which runs decide."""
    return not all(_has_ended(cell, rows) for cell in _look(experiment, trial, facts))


def deciding_cells(experiment: Experiment, trial: Trial, facts: DataInfo, rows: RowsById) -> list[Cell]:
    """Return the cells that a selection is made from: of a raced one those that stay, by the rows of its look.

    While that is open (`is_open`), no candidate has left.
    """
    assert trial.selection is not None  # noqa: S101 - the caller asks only then
    stay = None if trial.selection.race is None else _in_race(experiment, trial, facts, rows)
    return list(plan.selection_cells(experiment, trial.data, trial.selection, facts, stay))


def _look(experiment: Experiment, trial: Trial, facts: DataInfo) -> list[Cell]:
    """Return the cells of a trial's first look; none, if it has none."""
    if trial.selection is None or trial.selection.race is None:
        return []
    return list(plan.selection_cells(experiment, trial.data, _rough(trial.selection), facts))


def _has_ended(cell: Cell, rows: RowsById) -> bool:
    row = rows.get(cell.run_id)
    return row is not None and row["status"] != Status.INTERRUPTED


def _rough(wanted: Selection) -> Selection:
    """Return the selection that looks at all candidates."""
    base = replace(wanted.candidates.base, tolerance=wanted.race)
    return replace(wanted, race=None, candidates=replace(wanted.candidates, base=base))


def _in_race(experiment: Experiment, trial: Trial, facts: DataInfo, rows: RowsById) -> list[Settings]:
    """Return the candidates that stay in the race: all, if the look is open or could judge none."""
    assert trial.selection is not None  # noqa: S101
    candidates = trial.selection.candidates
    if is_open(experiment, trial, facts, rows):
        return candidates.points()
    cells = _look(experiment, trial, facts)
    right, _ = selection.judged(trial.selection, cells, rows, facts.rows)
    if not right:
        return candidates.points()
    held_out = selection.held_out_rows(trial.selection, facts.rows)
    errors = {point: held_out - number for point, number in right.items()}
    least = min(errors.values())
    most = least + DEVIATIONS * math.sqrt(least + 1)
    return [
        point for point in candidates.points()
        if errors.get(tuple(getattr(point, name) for name in candidates.varied), math.inf) <= most
    ]  # fmt: skip
