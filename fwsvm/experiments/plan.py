"""From an experiment to its chains: cells along C, each with a run id, which are scheduled and resumed as one."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import PurePath
from typing import Any, NamedTuple

from fwsvm.errors import counted
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Trial, ValidationRule
from fwsvm.experiments.record import kernel_of, requested, settings_columns
from fwsvm.experiments.samples import DataInfo, refuse_folds
from fwsvm.results.schemas import method_label
from fwsvm.solvers import Settings, method
from fwsvm.solvers.registry import FAMILIES
from fwsvm.solvers.resolve import search_of, stop_of, width_rule_of
from fwsvm.status import NOT_FINITE_FLAG, Status

SELECT = "select"
FINAL = "final"
VARIED = ("C", "lambda", "gamma", "sigma2", "tolerance")  # of what a label tells of
MIN_TO_SPLIT = 3  # chains of a search, and cells of the last: splitting fewer costs more than an idle worker
#: Relative gap of the runs of a search by exact kernel methods: it chooses values as good as 1e-3 does in less time
#: (`benchmarks/folds.py`).
SEARCH_TOLERANCE = 0.1


@dataclass(frozen=True)
class Cell:
    """One run to make.

    Attributes
    ----------
    experiment, profile : str
    role : {"select", "final"}
    data : DataSpec
    fingerprint : str
        Digest that the data must have.
    settings : Settings
    dataset : str
        Its name in rows: `DataSpec` may have another one for it, or a path spelled otherwise.
    held_out : ValidationRule or None
        How validation rows are chosen in a search, and ``part``, which of the parts.
    repetition : int
    predecessors : tuple of float or None
        For a run of a chain, which starts where the one before ended: the values of C before it, empty for the first.
        None: it starts cold.
    """

    experiment: str
    profile: str
    role: str
    data: DataSpec
    fingerprint: str
    settings: Settings
    dataset: str = ""
    held_out: ValidationRule | None = None
    part: int | None = None
    repetition: int | None = None
    predecessors: tuple[float, ...] | None = None

    @cached_property
    def run_id(self) -> str:
        """Its identity, 16 hexadecimal digits.

        It is the hash of the data set's name and fingerprint, profile, settings with defaults filled in, seed, fold,
        repetition, and a chain's earlier values of C. Threads, memory and the version of the code are not part of it.
        """
        settings = self.settings
        kernel = kernel_of(settings)
        stop, tolerance = stop_of(settings)
        what: dict[str, Any] = {
            **settings_columns(settings),
            "kernel": kernel.name,
            "seed": settings.seed,
            "stop": stop,
            "tolerance": float(tolerance),
            "search": search_of(settings),
        }
        what |= {name: getattr(settings, name) for name in ("degree", "coef0") if name in kernel.parameters}
        if "gamma" in kernel.parameters:
            width = settings.gamma, settings.sigma2
            what["width"] = kernel.width(width_rule_of(settings))[0] if width == (None, None) else width
        what["penalty"] = (settings.C or 1.0) if settings.lambda_ is None else ("lambda", settings.lambda_)
        if not settings.final_gap:
            what["final_gap"] = False
        rule = self.held_out.description if self.held_out is not None else ""
        key: list[Any] = [
            self.dataset,
            self.fingerprint,
            self.profile,
            what,
            rule,
            self.part,
            self.repetition,
        ]
        key += [self.predecessors] if self.predecessors else []
        return hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """A short description for progress messages."""
        asked = requested(self.settings)
        words = [PurePath(self.data.name).name, method_label(asked["method"], asked["parameters"]), self.role]
        words += [f"{name}={asked[name]:g}" for name in VARIED if asked[name] is not None]
        words += [f"fold {self.part}"] if self.held_out and self.held_out.folds else []
        return " ".join([*words, *([f"#{self.repetition}"] if self.repetition else [])])

    @property
    def identity_columns(self) -> dict[str, Any]:
        """The columns that identify the cell."""
        return {
            **{name: getattr(self, name) or None for name in ("run_id", "experiment", "profile", "role")},
            "repetition": self.repetition,
            "seed": self.settings.seed,
            "fold": self.part,
            **settings_columns(self.settings),
        }


Chain = list[Cell]
Known = Mapping[DataSpec, DataInfo]
Point = tuple[float, ...]  # values of the parameters that a search chooses
RowsById = Mapping[str, Mapping[str, str]]  # rows of runs.csv by run id


def search_chains(experiment: Experiment, trials: Iterable[Trial], known: Known) -> list[Chain]:
    """Return the chains of all parameter searches, each once: several methods may share a search.

    `DataError` where there are fewer rows than folds.
    """
    found: dict[str, Chain] = {}
    for trial in trials:
        facts = known[trial.data]
        if trial.selection is None or facts.missing:
            continue
        if facts.rows:  # known once the data is loaded
            refuse_folds(trial.data.name, facts.rows, trial.selection.held_out.folds or 0)
        for chain in selection_chains(trial.selection, like_all(experiment, trial, facts)):
            found[chain[-1].run_id] = chain  # whose id includes the values of C before it
    return list(found.values())


def selection_chains(selection: Selection, like: Cell) -> list[Chain]:
    """Return the chains of one selection: each candidate on each part, parts outermost.

    Data, experiment and seed are those of another cell. Where a run may start at the end of another, runs that differ
    in C alone are a chain in ascending C; others are chains of one. Chains depend on the selection alone, not on the
    number of workers or on what else there is.
    """
    like = replace(like, role=SELECT, held_out=selection.held_out)
    points = [replace(point, seed=like.settings.seed) for point in selection.candidates]
    points.sort(key=lambda s: (s.sigma2 or 0, s.gamma or 0, s.C or 0))
    alike = [list(some) for _, some in groupby(points, key=lambda s: (s.sigma2, s.gamma))]
    groups = [(part, some) for part in range(selection.held_out.folds or 1) for some in alike]
    # of an odd number of groups the last is split, so that two or four workers balance
    if len(groups) >= MIN_TO_SPLIT and len(groups) % 2 and len(groups[-1][1]) >= MIN_TO_SPLIT:
        part, last = groups.pop()
        groups += [(part, last[: len(last) // 2]), (part, last[len(last) // 2 :])]
    is_path = goes_on(points[0])
    chains = [
        [
            replace(
                like,
                settings=each,
                part=part,
                predecessors=tuple(before.C or 0.0 for before in some[:place]) if is_path else None,
            )
            for place, each in enumerate(some)
        ]
        for part, some in groups
    ]
    return chains if is_path else [[cell] for chain in chains for cell in chain]


def final_cells(trial: Trial, like: Cell, chosen: Mapping[str, float] | None = None) -> list[Cell]:
    """Return the reported runs of a trial, with the selected parameters; each starts cold."""
    selected = dict[str, Any](chosen or {})
    return [
        replace(
            like,
            settings=replace(point, seed=like.settings.seed + repetition, **selected),
            repetition=repetition,
        )
        for repetition in range(trial.repetitions)
        for point in trial.finals
    ]


def like_all(experiment: Experiment, trial: Trial, facts: DataInfo) -> Cell:
    """Return a cell with what all cells of a trial have alike."""
    return Cell(
        experiment.name,
        experiment.profile,
        FINAL,
        trial.data,
        facts.fingerprint,
        Settings(seed=experiment.seed),
        facts.name,
    )


def goes_on(settings: Settings) -> bool:
    """Whether a run may start where that of another C ended: its method can, and its end does not depend on the start.

    Sampled search proves nothing: one that starts near the end of another may stop there, after a single sample.
    """
    return FAMILIES[method(settings.method).family].goes_on and search_of(settings) == "full"


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
    tried : int
        How many candidates were judged.
    why_not : str
        Why none was selected, or empty.
    """

    values: Mapping[str, float]
    accuracy: float
    on_edge: tuple[str, ...] = ()
    tried: int = 0
    why_not: str = ""


def choose(selection: Selection, cells: Iterable[Cell], rows: RowsById, training_rows: int) -> Choice:
    """Return the best candidate of a selection, whose cells are given.

    That is the one of highest validation accuracy among those with finite numbers; ties go to the smallest C, then to
    the largest sigma^2. The accuracy is over the rows of all parts together.

    ``rows`` are those of runs.csv by run id; each part holds out some of the ``training_rows``.
    """
    names = selection.names
    judged = Counter[Point]()
    right = Counter[Point]()
    failed: dict[Point, str] = {}
    for cell in cells:
        point = tuple(getattr(cell.settings, name) for name in names)
        row = rows.get(cell.run_id, {"status": "missing", "message": "not run"})
        if (accuracy := _accuracy(row)) is not None:
            held_out = training_rows - int(row["rows"])
            right[point] += round(accuracy * held_out)
            judged[point] += held_out
        else:
            failed.setdefault(point, row["message"])
    tried = judged.keys() - failed.keys()
    if not tried:
        return Choice({}, math.nan, why_not=f"no candidate could be judged: {next(iter(failed.values()))}")

    def rank(point: Point) -> Point:
        values = dict(zip(names, point, strict=True))
        return -right[point], values.get("C", 0.0), values.get("gamma", -values.get("sigma2", 0.0))

    best = min(tried, key=rank)
    values = zip(names, best, zip(*tried, strict=True), strict=True)
    on_edge = tuple(
        name for name, value, some in values if min(some) < max(some) and value in {min(some), max(some)}
    )
    return Choice(dict(zip(names, best, strict=True)), right[best] / judged[best], on_edge, len(tried))


def _accuracy(row: Mapping[str, str]) -> float | None:
    """Return the validation accuracy of a finished run with finite numbers, else None."""
    if not Status(row["status"]).done:
        return None
    accuracy, objective = (float(row.get(name) or "nan") for name in ("test_accuracy", "objective"))
    is_finite = not math.isinf(objective) and NOT_FINITE_FLAG not in row["flags"]
    return accuracy if is_finite and 0.0 <= accuracy <= 1.0 else None


class Finals(NamedTuple):
    """The reported runs of a trial.

    Attributes
    ----------
    cells : list of Cell
    choice : Choice
        The selected parameters; its ``why_not`` says why the runs cannot be made.
    is_open : bool
        Whether runs of the selection are not finished yet.
    """

    cells: list[Cell]
    choice: Choice
    is_open: bool = False


def finals(experiment: Experiment, trial: Trial, facts: DataInfo, rows: RowsById) -> Finals:
    """Return the reported runs of a trial, with the parameters that the rows of its search select."""
    like = like_all(experiment, trial, facts)
    nothing = Choice({}, math.nan, why_not=facts.missing)
    if facts.missing or trial.selection is None:
        return Finals(final_cells(trial, like), nothing)
    cells = [cell for chain in selection_chains(trial.selection, like) for cell in chain]
    is_open = not facts.rows or not all(is_done(rows.get(cell.run_id)) for cell in cells)
    choice = choose(trial.selection, cells, rows, facts.rows) if facts.rows else nothing
    return Finals(final_cells(trial, like, choice.values), choice, is_open)


def is_done(row: Mapping[str, str] | None) -> bool:
    """Whether a row, if there is one, is of a finished run."""
    return row is not None and Status(row["status"]).done


class PlannedRun(NamedTuple):
    """A cell and its state: a status, "to do", "missing" (no data) or "open" (its parameters are not selected yet)."""

    cell: Cell
    state: str

    @property
    def is_left(self) -> bool:
        """Whether the run is to be made, as far as is known."""
        return self.state in {"to do", "open"}


def planned_runs(experiment: Experiment, known: Known, rows: RowsById) -> list[PlannedRun]:
    """Return every cell of the experiment with its state, in the order in which they run.

    A chain that is not finished is made again, so all of its cells are to do.
    """
    found: dict[str, PlannedRun] = {}  # two spellings of a data set ask for the same runs

    def add(chain: Chain, state: str = "") -> None:
        whole = all(is_done(rows.get(cell.run_id)) for cell in chain)
        for cell in chain:
            own = rows[cell.run_id]["status"] if whole else "to do"
            found.setdefault(cell.run_id, PlannedRun(cell, state or own))

    for data in experiment.datasets:
        trials = [trial for trial in experiment.trials if trial.data == data]
        for chain in search_chains(experiment, trials, known):
            add(chain)
        for trial in trials:
            asked = finals(experiment, trial, known[data], rows)
            for cell in asked.cells:
                add([cell], "missing" if known[data].missing else "open" if asked.is_open else "")
    return list(found.values())


def describe(planned: Sequence[PlannedRun]) -> str:
    """Return the numbers of runs by state."""
    roles = Counter(run.cell.role for run in planned)
    left = sum(run.is_left for run in planned)
    missing = sum(run.state == "missing" for run in planned)
    said = (
        f"{counted(len(planned), 'run')}: {roles[SELECT]} to choose parameters, {roles[FINAL]} to report; "
        f"{len(planned) - left - missing} done"
    )
    return said + (f", {missing} without data" if missing else "")
