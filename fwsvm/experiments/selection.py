"""Parameter selection from the rows of a search.

The candidate of highest validation accuracy wins, among those with finite numbers; ties go to the smallest C, then to
the largest sigma^2. The accuracy of a cross-validation is over the rows of all folds together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fwsvm import promises
from fwsvm.experiments.experiment import Selection
from fwsvm.experiments.plan import Cell
from fwsvm.experiments.validation import validation_count
from fwsvm.solvers import Settings
from fwsvm.status import Status

Point = tuple[float, ...]  # a candidate's values, in the order of `Sweep.varied`
RowsById = Mapping[str, Mapping[str, str]]  # rows of runs.csv by run id


@dataclass(frozen=True)
class Choice:
    """The selected parameters.

    Attributes
    ----------
    values : mapping of settings' fields to numbers
        The selected C, sigma2 or gamma; empty if no candidate has an accuracy.
    accuracy : float
        Validation accuracy of the selected candidate, 0 to 1.
    on_edge : tuple of str
        The parameters whose selected value is the smallest or largest candidate.
    why_not : str
        Why no candidate could be selected, or empty.
    """

    values: Mapping[str, float]
    accuracy: float
    on_edge: tuple[str, ...]
    why_not: str = ""


def choose(selection: Selection, cells: Iterable[Cell], rows: RowsById, training_rows: int) -> Choice:
    """Return the best candidate.

    Parameters
    ----------
    selection : Selection
    cells : iterable of Cell
        All cells of the selection.
    rows : mapping of run id to row of runs.csv
    training_rows : int
        Rows of the whole training set, of which each part holds out some.
    """
    names = tuple(selection.candidates.varied)
    right, failed = judged(selection, cells, rows, training_rows)
    if not right:
        return Choice({}, float("nan"), (), f"no candidate could be judged: {next(iter(failed.values()))}")
    best = min(right, key=lambda point: (-right[point], _preference(dict(zip(names, point, strict=True)))))
    values = dict(zip(names, best, strict=True))
    return Choice(values, right[best] / held_out_rows(selection, training_rows), _on_edge(selection, values))


def judged(
    selection: Selection, cells: Iterable[Cell], rows: RowsById, training_rows: int
) -> tuple[dict[Point, int], dict[Point, str]]:
    """Return how many validation rows each candidate has right, and of the others why they have no such number."""
    right: dict[Point, int] = {}
    failed: dict[Point, str] = {}
    for cell in cells:
        point = point_of(cell.settings, selection)
        row = rows.get(cell.run_id)
        accuracy = _accuracy(row) if row is not None else None
        if accuracy is None:
            failed.setdefault(point, _why_none(row) if row else "not run")
            continue
        count = validation_count(training_rows, selection.held_out, cell.part or 0)
        right[point] = right.get(point, 0) + round(accuracy * count)
    return {point: number for point, number in right.items() if point not in failed}, failed


def point_of(settings: Settings, selection: Selection) -> Point:
    """Return a candidate's values from its settings."""
    return tuple(getattr(settings, name) for name in selection.candidates.varied)


def _why_none(row: Mapping[str, str]) -> str:
    """Return why a run has no accuracy; the message of one that is done speaks of something else."""
    return "its runs have no accuracy or objective" if Status(row["status"]).done else row["message"]


def held_out_rows(selection: Selection, training_rows: int, parts: Iterable[int] | None = None) -> int:
    """Return the number of validation rows of a candidate, of these parts together, without them of all."""
    parts = range(selection.held_out.parts) if parts is None else parts
    return sum(validation_count(training_rows, selection.held_out, part) for part in parts)


def _accuracy(row: Mapping[str, str]) -> float | None:
    """Return the validation accuracy of a finished run with finite numbers, else None."""
    if not Status(row["status"]).done:
        return None
    try:
        accuracy, objective = float(row["test_accuracy"]), float(row.get("objective") or "nan")
    except ValueError:
        return None
    return accuracy if 0.0 <= accuracy <= 1.0 and promises.is_finite(objective, row["flags"]) else None


def _preference(values: Mapping[str, float]) -> tuple[float, float, float]:
    """Return the sort key of ties: C, then minus sigma^2 or gamma."""
    return values.get("C", 0.0), -values.get("sigma2", 0.0), values.get("gamma", 0.0)


def _on_edge(selection: Selection, values: Mapping[str, float]) -> tuple[str, ...]:
    tried = selection.candidates.varied
    return tuple(
        name for name, value in values.items()
        if len(tried[name]) > 1 and value in {min(tried[name]), max(tried[name])}
    )  # fmt: skip


def describe(values: Mapping[str, float]) -> str:
    """Return selected values as text."""
    return ", ".join(f"{name} = {value:g}" for name, value in values.items())
