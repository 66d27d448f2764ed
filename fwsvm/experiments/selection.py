"""Parameter selection from the rows of a search.

The candidate of highest validation accuracy wins, among those with finite numbers; ties go to the smallest C, then to
the largest sigma^2. The accuracy of a cross-validation is over the rows of all folds together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fwsvm import promises
from fwsvm.experiments.experiment import Selection
from fwsvm.experiments.validation import validation_count
from fwsvm.status import Status

if TYPE_CHECKING:
    from fwsvm.experiments.plan import Cell


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


def choose(
    selection: Selection, cells: Iterable["Cell"], rows: Mapping[str, Mapping[str, str]], training_rows: int
) -> Choice:
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
    tried = selection.candidates.varied
    right: dict[tuple[float, ...], int] = {}
    failed: dict[tuple[float, ...], str] = {}
    for cell in cells:
        point = tuple(getattr(cell.settings, name) for name in tried)
        row = rows.get(cell.run_id)
        if row is None or (accuracy := _accuracy(row)) is None:
            failed.setdefault(point, "not run" if row is None else _why_none(row))
            continue
        count = validation_count(training_rows, selection.held_out, cell.part or 0)
        right[point] = right.get(point, 0) + round(accuracy * count)
    candidates = [dict(zip(tried, point, strict=True)) for point in right if point not in failed]
    if not candidates:
        return Choice({}, float("nan"), (), f"no candidate could be judged: {next(iter(failed.values()))}")

    def rank(values: Mapping[str, float]) -> tuple[float, ...]:
        narrowness = values.get("gamma", -values.get("sigma2", 0.0))
        return -right[tuple(values.values())], values.get("C", 0.0), narrowness

    best = min(candidates, key=rank)
    judged = sum(
        validation_count(training_rows, selection.held_out, part) for part in range(selection.held_out.parts)
    )
    edges = {name: {min(values), max(values)} for name, values in tried.items() if len(values) > 1}
    on_edge = tuple(name for name, ends in edges.items() if best[name] in ends)
    return Choice(best, right[tuple(best.values())] / judged, on_edge)


def _why_none(row: Mapping[str, str]) -> str:
    """Return why a run has no accuracy; the message of one that is done speaks of something else."""
    return "its runs have no accuracy or objective" if Status(row["status"]).done else row["message"]


def _accuracy(row: Mapping[str, str]) -> float | None:
    """Return the validation accuracy of a finished run with finite numbers, else None."""
    if not Status(row["status"]).done:
        return None
    try:
        accuracy, objective = float(row["test_accuracy"]), float(row.get("objective") or "nan")
    except ValueError:
        return None
    return accuracy if 0.0 <= accuracy <= 1.0 and promises.is_finite(objective, row["flags"]) else None
