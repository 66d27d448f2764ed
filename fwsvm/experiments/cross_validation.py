"""Cross-validation of one setting (`fwsvm cv`), and the choice of C and of a kernel's width by it (`fwsvm easy`).

Along C the runs of a fold and width share kernel values, and each starts where the one before ended. Widths are tried
from the middle outwards, so that a search that time cuts short has tried the most likely ones.
"""

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset
from fwsvm.data.splits import subsample
from fwsvm.experiments.experiment import ValidationRule
from fwsvm.experiments.record import Row
from fwsvm.experiments.run import ChainRun, TrainingRows, identity_of, run_chain, run_one
from fwsvm.experiments.validation import SEARCH_TOLERANCE, Choice, best_of, parts, refuse_more_folds
from fwsvm.solvers import Result, Settings, Status
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import resolve

PENALTIES = tuple(4.0**k for k in range(-2, 6))
WIDTHS = (1.0, 4.0, 0.25, 16.0)  # times the width of the rule 1/(2D), in the order in which they are tried
MOST_ROWS = 5000  # that a search uses; more rows change the choice little, and its time with their square


class Fold(NamedTuple):
    """One fold: the result of training without it, its row, its size, and how many of its rows are predicted right.

    A fold that was interrupted, or could not predict its rows, has none right.
    """

    result: Result
    row: Row
    held_out: int
    right: int


def cross_validate(
    rows: TrainingRows, settings: Settings, folds: int, watch: Watch | None = None
) -> Iterator[Fold]:
    """Train on all rows but a fold and test on the fold, for each fold in turn; the settings' seed draws them.

    Raises
    ------
    DataError
        There are fewer rows than folds, or a class with a single row.
    """
    how = ValidationRule(folds=folds).description + (", scaled by what is left" if rows.scales else "")
    every: Iterator[TrainingRows] = rows.parts(folds, settings.seed)
    for part, left in enumerate(every):
        result, row = run_one(left, settings, watch, identity=identity_of(left, settings, how, part))
        measured = result.status is not Status.INTERRUPTED and row["test_accuracy"] is not None
        right = round(row["test_accuracy"] * left.test_count) if measured else 0
        yield Fold(result, row, left.test_count, right)


class Search(NamedTuple):
    """What a search came to.

    Attributes
    ----------
    choice : Choice or None
        gamma and C; None if time was too short to try any on every fold.
    right : dict of (gamma, C) to int
        Held-out rows predicted right, of what was tried on every fold.
    rows : int
        Training rows that it used.
    """

    choice: Choice | None
    right: dict[tuple[float, ...], int]
    rows: int


def choose_width_and_penalty(
    data: Dataset,
    settings: Settings,
    folds: int,
    *,
    seconds: float | None = None,
    watch: Watch | None = None,
    count: Callable[[int, int], None] = lambda _done, _of: None,
) -> Search:
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
    refuse_more_folds(data.name, data.train.rows, folds)
    table = subsample(data.train, MOST_ROWS, settings.seed, least=2 * folds)
    sample = replace(data, train=table, test=None)
    middle = resolve(settings, scaled(sample).train.X).as_columns()["gamma"]
    settings = replace(settings, tolerance=SEARCH_TOLERANCE)
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    limit = None if seconds is None else lambda: deadline - time.monotonic()
    right: Counter[tuple[float, ...]] = Counter()  # by width and C
    ended: Counter[tuple[float, ...]] = Counter()  # folds
    every = list(parts(sample, ValidationRule(folds=folds), settings.seed))
    for factor, part in itertools.product(WIDTHS, every):
        if time.monotonic() >= deadline:
            break
        chain = [replace(settings, C=C, gamma=middle * factor) for C in PENALTIES]
        found = run_chain(part, chain, start=lambda _: watch, seconds_left=limit)
        for run in itertools.takewhile(_has_ended, found):
            point = (middle * factor, PENALTIES[run.place])
            right[point] += round(run.columns["test_accuracy"] * (table.rows - part.train.rows))
            ended[point] += 1
            count(ended.total(), len(WIDTHS) * len(every) * len(chain))
    whole = {point: right[point] for point in ended if ended[point] == folds}
    choice = best_of(("gamma", "C"), whole, table.rows) if whole else None
    return Search(choice, whole, table.rows)


def _has_ended(run: ChainRun) -> bool:
    """Return whether a run ended by itself, not by the clock, and was judged; raise what ended it otherwise."""
    if run.error is not None:
        raise run.error
    ended = run.result is not None and run.result.status is not Status.TIME_LIMIT
    return ended and "test_accuracy" in run.columns
