"""Cross-validation of one setting (`fwsvm cv`), and the choice of C and of a kernel's width by it (`fwsvm easy`).

Along C the runs of a fold and width share kernel values, and each starts where the one before ended. Widths are tried
from the middle outwards, so that a search that time cuts short has tried the most likely ones.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from fwsvm.data.catalogue import scaled
from fwsvm.data.dataset import Dataset
from fwsvm.data.splits import fold, subsample
from fwsvm.experiments.experiment import DataSpec, Resources, Selection, ValidationRule
from fwsvm.experiments.plan import SEARCH_TOLERANCE, SELECT, Cell, Choice, choose, selection_chains
from fwsvm.experiments.record import Row
from fwsvm.experiments.run import TrainingRows, alone, run_cells, run_one
from fwsvm.experiments.samples import refuse_few_rows
from fwsvm.phases import Phase
from fwsvm.results.writing import csv_fields
from fwsvm.solvers import Settings, Status
from fwsvm.solvers.loop import Progress, Watch
from fwsvm.solvers.resolve import resolve

PENALTIES = tuple(4.0**k for k in range(-2, 6))
WIDTHS = (1.0, 4.0, 0.25, 16.0)  # times the width of the rule 1/(2D), in the order in which they are tried
MOST_ROWS = 5000  # that a search uses; more rows change the choice little, and its time with their square


def cross_validate(
    rows: TrainingRows, settings: Settings, folds: int, watch: Watch
) -> Iterator[tuple[Row, int]]:
    """Train without a fold and test on it, for each fold in turn; yield the run's row and the size of the fold.

    The settings' seed draws the folds.

    Raises
    ------
    DataError
        There are fewer rows than folds, or a class with a single row.
    """
    rule = ValidationRule(folds=folds)
    refuse_few_rows(rows.columns["dataset"], rows.codes, rows.classes, folds)
    for part in range(folds):
        left: TrainingRows = rows.without(fold(rows.codes, folds, part, settings.seed))
        cell = alone(left, settings, role=SELECT, held_out=rule, part=part)
        yield run_one(left, cell, watch)[1], left.test_count


def choose_width_and_penalty(
    data: Dataset,
    settings: Settings,
    folds: int,
    *,
    seconds: float | None,
    watch: Watch,
    count: Callable[[int, int], None],
) -> tuple[Choice, int]:
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

    Returns
    -------
    choice : Choice
        Without values if time was too short to try any on every fold.
    rows : int
        Training rows that it used.

    Raises
    ------
    DataError
        There are fewer rows than folds, or a class has too few to be in every training part.
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    refuse_few_rows(data.name, data.codes, data.classes, folds)
    table = subsample(data.train, MOST_ROWS, settings.seed, least=2 * folds)
    sample = replace(data, train=table, test=None)
    middle = resolve(settings, scaled(sample).train.X).as_columns()["gamma"]
    widths = tuple(middle * factor for factor in WIDTHS)
    base = replace(settings, tolerance=SEARCH_TOLERANCE)
    candidates = [replace(base, gamma=gamma, C=C) for gamma in widths for C in PENALTIES]
    selection = Selection(ValidationRule(folds=folds), candidates, ("gamma", "C"))
    spec = DataSpec(data.name, seed=settings.seed)
    like = Cell("easy", "", SELECT, spec, data.fingerprint, settings, data.name)
    chains = selection_chains(selection, like)
    chains.sort(key=lambda chain: widths.index(chain[0].settings.gamma or 0.0))
    cells = [cell for chain in chains for cell in chain]
    rows: dict[str, dict[str, str]] = {}

    def tell(_: Cell, inside: Progress | Phase) -> None:
        if isinstance(inside, Progress):
            watch(inside)

    for chain in chains:
        if (left := deadline - time.monotonic()) <= 0:
            break
        limit = None if seconds is None else left
        limited = [replace(cell, settings=replace(cell.settings, time_limit=limit)) for cell in chain]
        for cell, record in zip(chain, run_cells(limited, Resources(), tell, sample), strict=False):
            if record.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            if record.status is Status.TIME_LIMIT:
                break
            rows[cell.run_id] = csv_fields(record.row)
            count(len(rows), len(cells))
            if time.monotonic() >= deadline:
                break
    return choose(selection, cells, rows, table.rows), table.rows
