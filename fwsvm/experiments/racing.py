"""The runs of a parameter search, and racing (Maron and Moore 1994): candidates that cannot win leave it early.

Without a race every candidate runs on every fold. In a race all run on the first fold to a larger relative gap, which
their rows say, and those that stay run to the selection's own tolerance, one fold after another. A candidate leaves if
it has, on the folds so far, more validation errors than the best by over `DEVIATIONS` standard deviations of the best's
number, counted as Poisson. The choice is among those that ran on all folds. One part that is held out is a single fold.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from fwsvm.experiments import plan, selection
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Trial
from fwsvm.experiments.plan import Cell
from fwsvm.experiments.samples import DataInfo
from fwsvm.experiments.selection import Point, RowsById
from fwsvm.solvers import Status

DEVIATIONS = 3.0

Known = Mapping[DataSpec, DataInfo]


@dataclass(frozen=True)
class SelectionRuns:
    """The runs that select a trial's parameters, as far as it is known from the rows that there are.

    Attributes
    ----------
    cells : list of Cell
        The runs of all rounds up to the first that is not complete: without a race there is one.
    later : list of Cell
        The runs of the rounds after that, if no more candidates leave.
    deciding : list of Cell
        Those of both that the selection is made from: of the candidates that have not left, to its own tolerance.
    """

    cells: list[Cell]
    later: list[Cell]
    deciding: list[Cell]


def all_selections(
    experiment: Experiment, trials: Iterable[Trial], known: Known, rows: RowsById
) -> Iterator[SelectionRuns]:
    """Yield the selection runs of the trials that have any, and data."""
    for trial in trials:
        if trial.selection is not None and not known[trial.data].missing:
            yield selection_runs(experiment, trial, known[trial.data], rows)


def search_cells(experiment: Experiment, trials: Iterable[Trial], known: Known) -> list[Cell]:
    """Return the cells of all selections, each once, if no candidate leaves."""
    found = all_selections(experiment, trials, known, {})
    return each_once(cell for runs in found for cell in (*runs.cells, *runs.later))


def each_once(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells, of several with one run id the first: several methods may share a search."""
    found: dict[str, Cell] = {}
    for cell in cells:
        found.setdefault(cell.run_id, cell)
    return list(found.values())


def selection_runs(experiment: Experiment, trial: Trial, facts: DataInfo, rows: RowsById) -> SelectionRuns:
    """Return the selection runs of a trial that has any."""
    wanted = trial.selection
    assert wanted is not None  # noqa: S101 - the caller asks only then
    if wanted.race is None:
        cells = list(plan.selection_cells(experiment, trial.data, wanted, facts))
        return SelectionRuns(cells, [], cells)
    folds = range(wanted.held_out.parts)
    stay: Collection[Point] = {selection.point_of(each, wanted) for each in wanted.candidates.points()}
    rounds: list[list[Cell]] = []
    complete = 0
    for of_round, fold in [(_rough(wanted), 0), *((wanted, fold) for fold in folds)]:
        some = [each for each in of_round.candidates.points() if selection.point_of(each, of_round) in stay]
        cells = list(plan.selection_cells(experiment, trial.data, of_round, facts, some, [fold]))
        rounds.append(cells)
        if complete == len(rounds) - 1 and all(_has_ended(cell, rows) for cell in cells):
            complete += 1
            if complete <= len(folds):  # of those that ran on all folds none leaves: the best is chosen
                judged = cells if complete == 1 else _of_points(rounds[1:], wanted, stay)
                stay = _staying(of_round, judged, rows, facts.rows)
    known, later = rounds[: complete + 1], rounds[complete + 1 :]
    return SelectionRuns([*chain(*known)], [*chain(*later)], _of_points(rounds[1:], wanted, stay))


def _staying(wanted: Selection, cells: list[Cell], rows: RowsById, training_rows: int) -> Collection[Point]:
    """Return the candidates that stay after these runs: all, if none could be judged."""
    right, _ = selection.judged(wanted, cells, rows, training_rows)
    if not right:
        return {selection.point_of(cell.settings, wanted) for cell in cells}
    held_out = selection.held_out_rows(wanted, training_rows, {cell.part or 0 for cell in cells})
    least = held_out - max(right.values())
    most = least + DEVIATIONS * math.sqrt(least + 1)
    return {point for point, number in right.items() if held_out - number <= most}


def _has_ended(cell: Cell, rows: RowsById) -> bool:
    row = rows.get(cell.run_id)
    return row is not None and row["status"] != Status.INTERRUPTED


def _rough(wanted: Selection) -> Selection:
    """Return the selection with the tolerance of the first runs."""
    base = replace(wanted.candidates.base, tolerance=wanted.race)
    return replace(wanted, race=None, candidates=replace(wanted.candidates, base=base))


def _of_points(rounds: Iterable[list[Cell]], wanted: Selection, points: Collection[Point]) -> list[Cell]:
    """Return the cells of these candidates."""
    return [cell for cell in chain(*rounds) if selection.point_of(cell.settings, wanted) in points]
