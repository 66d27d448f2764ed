"""The choice of C and of the width of the rbf kernel by cross-validation (`fwsvm easy`), within a time limit.

Along C the runs of a fold and width share kernel values, and each starts where the one before ended. Widths are tried
from the middle outwards, so that a search that time cuts short has tried the most likely ones.
"""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset
from fwsvm.data.labels import encode, lacking
from fwsvm.data.splits import take
from fwsvm.data.stratified import subsample
from fwsvm.errors import DataError, clipped
from fwsvm.experiments import accuracy, samples
from fwsvm.experiments.experiment import ValidationRule
from fwsvm.solvers import Settings, Status
from fwsvm.solvers.c_path import CPath
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import resolve

PENALTIES = tuple(4.0**k for k in range(-2, 6))
WIDTHS = (1.0, 4.0, 0.25, 16.0)  # times the width of the rule 1/(2D), in the order in which they are tried
TOLERANCE = (
    1e-2  # of the runs of the search: their accuracies are not known to a hundredth of their error bars
)
MOST_ROWS = 5000  # that a search uses; more rows change the choice little, and its time with their square


@dataclass(frozen=True)
class Tried:
    """A width and C that were tried on all folds: how many of ``judged`` held-out rows were predicted right."""

    gamma: float
    C: float
    right: int
    judged: int

    @property
    def accuracy(self) -> float:
        """The part of the held-out rows that were predicted right."""
        return self.right / self.judged


@dataclass(frozen=True)
class SearchResult:
    """What a search came to.

    Attributes
    ----------
    tried : tuple of Tried
        What was tried on every fold, in the order of C and gamma; empty if time was too short for any.
    rows : int
        Training rows that it used.
    runs : int
        How often a machine was trained.
    cut, interrupted : bool
        Whether the time limit, or the user, ended it.
    """

    tried: tuple[Tried, ...]
    rows: int
    runs: int
    cut: bool
    interrupted: bool = False

    @property
    def best(self) -> Tried | None:
        """The highest accuracy; of equal ones the smallest C, then the widest kernel."""
        return min(self.tried, key=lambda one: (-one.right / one.judged, one.C, one.gamma), default=None)


def choose_width_and_penalty(
    data: Dataset, settings: Settings, folds: int, *, seconds: float | None = None, watch: Watch | None = None,
    count: Callable[[int, int], None] = lambda _done, _of: None,
) -> SearchResult:  # fmt: skip
    """Try widths and penalties on folds of the training rows, or of a stratified sample of them if there are many.

    Parameters
    ----------
    data : Dataset
        Not scaled yet: each fold is scaled by the rows it trains on.
    settings : Settings
        Method, seed, threads and memory; its C and width are not used.
    folds : int
    seconds : float, optional
        After which no new run begins.
    watch, count : callable
        Told of the progress of a run, and of the runs that ended.

    Raises
    ------
    DataError
        There are fewer rows than folds, or a class has too few to be in every training part.
    """
    samples.refuse_more_folds(data.name, data.train.rows, folds)
    table = subsample(data.train, MOST_ROWS, settings.seed, least=2 * folds)
    codes, rule = encode(table.labels, data.classes), ValidationRule(folds=folds)
    parts = [samples.validation_mask(codes, rule, settings.seed, part) for part in range(folds)]
    for held_out in parts:
        _require_all_classes(data, codes[~held_out])
    middle = resolve(settings, scaled(replace(data, train=table, test=None)).train.X).as_columns()["gamma"]
    search = _Search(settings, watch, count, len(WIDTHS) * folds * len(PENALTIES), seconds)
    tried: list[Tried] = []
    interrupted = False
    try:
        for factor in WIDTHS:
            gamma, right = middle * factor, np.zeros(len(PENALTIES), dtype=int)
            for held_out in parts:
                inside, outside = (take(table, np.flatnonzero(which)) for which in (~held_out, held_out))
                part = scaled(replace(data, train=inside, test=outside))
                found = search.along_C(part, gamma)
                right[: len(found)] += np.round(np.array(found) * outside.rows).astype(int)
                right[len(found) :] = -len(codes)  # not tried on all folds
            tried += [
                Tried(gamma, C, int(n), len(codes)) for C, n in zip(PENALTIES, right, strict=True) if n >= 0
            ]
            if search.is_over:
                break
    except KeyboardInterrupt:
        interrupted = True
    in_order = tuple(sorted(tried, key=lambda one: (one.C, one.gamma)))
    return SearchResult(in_order, table.rows, search.runs, search.is_over and not interrupted, interrupted)


class _Search:
    """Runs along C until the time is over; ``runs`` counts them."""

    def __init__(
        self, settings: Settings, watch: Watch | None, count: Callable[[int, int], None], total: int,
        seconds: float | None,
    ) -> None:  # fmt: skip
        self.settings = replace(settings, tolerance=TOLERANCE, final_gap=True)
        self.watch, self.count, self.total = watch, count, total
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.runs = 0
        self.columns = ColumnStore()

    @property
    def is_over(self) -> bool:
        """Whether there is no time left."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def along_C(self, data: Dataset, gamma: float) -> list[float]:  # noqa: N802 - C is the papers' symbol
        """Return the accuracies on the test rows for each C in turn, as far as time goes."""
        assert data.test is not None  # noqa: S101 - the rows held out
        path = CPath(
            data.train.X, encode(data.train.labels, data.classes), data.classes, columns=self.columns
        )
        found: list[float] = []
        for C in itertools.takewhile(lambda _: not self.is_over, PENALTIES):
            left = None if self.deadline is None else max(0.01, self.deadline - time.monotonic())
            run = path.train(replace(self.settings, C=C, gamma=gamma, time_limit=left), self.watch)
            if run.trained.solved.interrupted:
                raise KeyboardInterrupt
            if run.cut:
                break
            certified = path.certify([run])
            if certified[0][1].status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            found.append(accuracy.of_path(path, certified, data.test, data.classes)[0]["test_accuracy"])
            self.runs += 1
            self.count(self.runs, self.total)
        return found


def _require_all_classes(data: Dataset, codes: np.ndarray) -> None:
    lost = lacking(np.bincount(codes, minlength=len(data.classes)), data.classes)
    if lost is not None:
        raise DataError(
            f"{data.name}: class {clipped(lost, 60)} has a single row, and a part of the rows is held out in turn; "
            "add rows of it or leave it out"
        )
