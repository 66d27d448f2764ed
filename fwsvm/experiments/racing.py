"""Racing (Maron and Moore 1994): candidates of a selection that cannot win leave it after rough runs on some folds.

All candidates run on the first fold to a larger relative gap, which their rows say, and those that stay on the next. A
candidate leaves if it has, on the folds so far, more validation errors than the best by over `DEVIATIONS` standard
deviations of the best's number, counted as Poisson. The choice is among those that stay after the last fold, by their
runs to the selection's own tolerance. One part that is held out is a single fold.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from fwsvm.experiments import plan, selection
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Trial
from fwsvm.experiments.plan import Cell
from fwsvm.experiments.samples import DataInfo
from fwsvm.experiments.selection import Point, RowsById
from fwsvm.solvers import Settings, Status

DEVIATIONS = 3.0

Known = Mapping[DataSpec, DataInfo]


@dataclass(frozen=True)
class Look:
    """A first look at a trial's candidates, as far as it is known from the rows that there are.

    Attributes
    ----------
    cells : list of Cell
        The runs on each fold up to the first that is not complete.
    later : list of Cell
        The runs on the folds after that, if no more candidates leave.
    stay : collection of Point
        The candidates that have not left.
    """

    cells: list[Cell]
    later: list[Cell]
    stay: Collection[Point]
    is_open: bool


def search_cells(experiment: Experiment, trials: Iterable[Trial], known: Known, rows: RowsById) -> list[Cell]:
    """Return all runs of the searches, each once, if no more candidates leave than have left by these rows."""
    searched = list(_searched(trials, known))
    looks = [first_look(experiment, trial, known[trial.data], rows) for trial in searched]
    deciding = [deciding_cells(experiment, trial, known[trial.data], rows) for trial in searched]
    return _each_once([cell for look in looks for cell in (*look.cells, *look.later)], *deciding)


def look_cells(experiment: Experiment, trials: Iterable[Trial], known: Known, rows: RowsById) -> list[Cell]:
    """Return the runs of first looks that are known to be needed, each once."""
    looks = (first_look(experiment, trial, known[trial.data], rows) for trial in _searched(trials, known))
    return _each_once(*(look.cells for look in looks))


def deciding_cells(experiment: Experiment, trial: Trial, facts: DataInfo, rows: RowsById) -> list[Cell]:
    """Return the runs that a selection is made from: of a raced one those of candidates that have not left."""
    assert trial.selection is not None  # noqa: S101 - the caller asks only then
    stay = first_look(experiment, trial, facts, rows).stay
    points = _among(stay, trial.selection)
    return list(plan.selection_cells(experiment, trial.data, trial.selection, facts, points))


def first_look(experiment: Experiment, trial: Trial, facts: DataInfo, rows: RowsById) -> Look:
    """Return the first look of a trial; a selection without race has none, and all candidates stay."""
    assert trial.selection is not None  # noqa: S101 - the caller asks only then
    stay: Collection[Point] = [_point(each, trial.selection) for each in trial.selection.candidates.points()]
    if trial.selection.race is None:
        return Look([], [], stay, is_open=False)
    rough = _rough(trial.selection)
    folds = range(rough.held_out.parts)
    cells: list[Cell] = []
    for fold in folds:
        some = _among(stay, rough)
        on_fold = list(plan.selection_cells(experiment, trial.data, rough, facts, some, [fold]))
        cells += on_fold
        if not all(_has_ended(cell, rows) for cell in on_fold):
            later = plan.selection_cells(experiment, trial.data, rough, facts, some, folds[fold + 1 :])
            return Look(cells, list(later), stay, is_open=True)
        stay = _staying(
            rough, [cell for cell in cells if _point(cell.settings, rough) in stay], rows, facts.rows
        )
    return Look(cells, [], stay, is_open=False)


def _staying(rough: Selection, cells: list[Cell], rows: RowsById, training_rows: int) -> Collection[Point]:
    """Return the candidates that stay after these runs: all, if none could be judged."""
    right, _ = selection.judged(rough, cells, rows, training_rows)
    if not right:
        return {_point(cell.settings, rough) for cell in cells}
    held_out = selection.held_out_rows(rough, training_rows, {cell.part or 0 for cell in cells})
    least = held_out - max(right.values())
    most = least + DEVIATIONS * math.sqrt(least + 1)
    return {point for point, number in right.items() if held_out - number <= most}


def _searched(trials: Iterable[Trial], known: Known) -> Iterator[Trial]:
    """Yield the trials that have a search and data."""
    for trial in trials:
        if trial.selection is not None and not known[trial.data].missing:
            yield trial


def _each_once(*some: Iterable[Cell]) -> list[Cell]:
    """Return the cells, of several with one run id the first: several methods may share a search."""
    found: dict[str, Cell] = {}
    for cells in some:
        for cell in cells:
            found.setdefault(cell.run_id, cell)
    return list(found.values())


def _has_ended(cell: Cell, rows: RowsById) -> bool:
    row = rows.get(cell.run_id)
    return row is not None and row["status"] != Status.INTERRUPTED


def _rough(wanted: Selection) -> Selection:
    """Return the selection with the tolerance of the first look."""
    base = replace(wanted.candidates.base, tolerance=wanted.race)
    return replace(wanted, race=None, candidates=replace(wanted.candidates, base=base))


def _point(settings: Settings, wanted: Selection) -> Point:
    return tuple(getattr(settings, name) for name in wanted.candidates.varied)


def _among(stay: Collection[Point], wanted: Selection) -> list[Settings]:
    """Return the candidates that stay, in their order, with the settings of this selection."""
    return [each for each in wanted.candidates.points() if _point(each, wanted) in stay]
