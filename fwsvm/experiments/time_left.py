"""How long the runs of an experiment that are left will take, from those that ended."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from fwsvm.experiments.experiment import DataSpec
from fwsvm.experiments.plan import Cell

GROWTH = 1.5  # seconds of a run over its rows, as a power, where no run on the data set has ended yet

_DataAndRole = tuple[DataSpec, str]


class TimeLeft:
    """An estimate by data set and role: runs of one kind take about as long as each other.

    Where none of a data set has ended, the time limit of its runs bounds the guess: a run takes as many times its limit
    as the longest so far, certificate included, if that is more than one.

    ``rows`` are the training rows of each data set; runs without data (``missing``) take no time and are left out.
    """

    def __init__(self, cells: Iterable[Cell], rows: Mapping[DataSpec, int]) -> None:
        self.weight = {data: float(count) ** GROWTH for data, count in rows.items()}
        self.left: Counter[_DataAndRole] = Counter()
        self.limit: dict[_DataAndRole, float] = {}
        for cell in cells:
            if cell.data in rows:
                kind = cell.data, cell.role
                self.left[kind] += 1
                self.limit[kind] = max(self.limit.get(kind, 0.0), _limit(cell))
        self.beyond = 1.0  # what the longest run took, in parts of its time limit
        self.ended: Counter[_DataAndRole] = Counter()
        self.spent: Counter[_DataAndRole] = Counter()

    def end(self, cell: Cell, seconds: float) -> None:
        """Count a run that ended so many seconds after the one before."""
        kind = cell.data, cell.role
        if cell.data in self.weight:
            self.left[kind] -= 1
            self.ended[kind] += 1
            self.spent[kind] += seconds  # type: ignore[assignment]
            self.beyond = max(self.beyond, seconds / _limit(cell))

    def drop(self, cell: Cell, count: int) -> None:
        """Forget so many runs of a cell's kind, which will not be made."""
        self.left[cell.data, cell.role] -= count

    @property
    def seconds(self) -> float | None:
        """The estimate; None before any run ended."""
        if not self.ended:
            return None
        return sum(count * self._of_one(kind) for kind, count in self.left.items() if count > 0)

    def _of_one(self, kind: _DataAndRole) -> float:
        data, _ = kind
        for alike in ([kind], [other for other in self.ended if other[0] == data]):
            if runs := sum(self.ended[other] for other in alike):
                return sum(self.spent[other] for other in alike) / runs
        work = sum(count * self.weight[other] for (other, _), count in self.ended.items())
        guess = float(self.spent.total() * self.weight[data] / work)
        return min(guess, self.beyond * self.limit[kind])


def _limit(cell: Cell) -> float:
    return cell.settings.time_limit or math.inf
