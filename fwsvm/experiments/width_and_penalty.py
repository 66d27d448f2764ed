"""The choice of C and of a kernel's width by cross-validation (`fwsvm easy`), within a time limit.

Along C the runs of a fold and width share kernel values, and each starts where the one before ended. Widths are tried
from the middle outwards, so that a search that time cuts short has tried the most likely ones.
"""

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset
from fwsvm.data.splits import subsample
from fwsvm.experiments.experiment import ValidationRule
from fwsvm.experiments.run import ChainRun, run_chain
from fwsvm.experiments.validation import SEARCH_TOLERANCE, parts, refuse_more_folds
from fwsvm.solvers import Settings, Status
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.resolve import resolve

PENALTIES = tuple(4.0**k for k in range(-2, 6))
WIDTHS = (1.0, 4.0, 0.25, 16.0)  # times the width of the rule 1/(2D), in the order in which they are tried
MOST_ROWS = 5000  # that a search uses; more rows change the choice little, and its time with their square


@dataclass(frozen=True)
class Tried:
    """A width and C that were tried on all folds: how many of ``judged`` held-out rows were predicted right.

    ``gamma`` is None for a kernel without a width.
    """

    gamma: float | None
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
        return min(
            self.tried, key=lambda one: (-one.right / one.judged, one.C, one.gamma or 0.0), default=None
        )


def choose_width_and_penalty(
    data: Dataset,
    settings: Settings,
    folds: int,
    *,
    seconds: float | None = None,
    watch: Watch | None = None,
    count: Callable[[int, int], None] = lambda _done, _of: None,
) -> SearchResult:
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
    gammas = [None] if middle is None else [middle * factor for factor in WIDTHS]
    settings = replace(settings, tolerance=SEARCH_TOLERANCE, final_gap=True)
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    limit = None if seconds is None else lambda: deadline - time.monotonic()
    tried, runs, interrupted = [], 0, False
    try:
        for gamma in gammas:
            chain = [replace(settings, C=C, gamma=gamma) for C in PENALTIES]
            right, judged = [0] * len(chain), [0] * len(chain)
            for part in parts(sample, ValidationRule(folds=folds), settings.seed):
                rows = table.rows - part.train.rows
                found = run_chain(part, chain, start=lambda _: watch, seconds_left=limit)
                for run in itertools.takewhile(_has_ended, found):
                    right[run.place] += round(run.columns["test_accuracy"] * rows)
                    judged[run.place] += rows
                    runs += 1
                    count(runs, len(gammas) * folds * len(chain))
            whole = [k for k in range(len(chain)) if judged[k] == table.rows]  # on all folds
            tried += [Tried(gamma, PENALTIES[k], right[k], table.rows) for k in whole]
            if time.monotonic() >= deadline:
                break
    except KeyboardInterrupt:
        interrupted = True
    cut = time.monotonic() >= deadline and not interrupted
    return SearchResult(
        tuple(sorted(tried, key=lambda one: (one.C, one.gamma or 0.0))), table.rows, runs, cut, interrupted
    )


def _has_ended(run: ChainRun) -> bool:
    """Return whether a run ended by itself, not by the clock, and was judged; raise what ended it otherwise."""
    if run.error is not None:
        raise run.error
    ended = run.result is not None and run.result.status is not Status.TIME_LIMIT
    return ended and "test_accuracy" in run.columns
