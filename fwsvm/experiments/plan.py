"""From an experiment to its cells (one run each, with a run id), and from cells to tasks."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from fwsvm.errors import UsageError
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Trial, ValidationRule
from fwsvm.experiments.samples import DataInfo
from fwsvm.experiments.settings_columns import kernel_of, settings_columns
from fwsvm.results.schemas import method_label
from fwsvm.solvers import Settings, method
from fwsvm.solvers.registry import FAMILIES
from fwsvm.solvers.resolve import search_of, stop_of, width_rule_of

SELECT, FINAL = "select", "final"
MIN_TO_SPLIT = 3  # chains of a search, and cells of the last: splitting fewer costs more than an idle worker


@dataclass(frozen=True)
class Cell:
    """One run to make.

    Attributes
    ----------
    run_id : str
        See `run_id`.
    experiment, profile : str
    role : {"select", "final"}
    data : DataSpec
    dataset : str
        Its name in rows: `DataSpec` may have another one for it, or a path spelled otherwise.
    fingerprint : str
        Digest that the data must have.
    settings : Settings
    held_out : ValidationRule or None
        How validation rows are chosen in a search, and ``part``, which of the parts.
    repetition : int
    predecessors : tuple of float or None
        For a run of a chain, which starts where the one before ended: the values of C before it, empty for the first.
        None: it starts cold.
    """

    run_id: str
    experiment: str
    profile: str
    role: str
    data: DataSpec
    fingerprint: str
    settings: Settings
    held_out: ValidationRule | None = None
    part: int | None = None
    repetition: int | None = None
    predecessors: tuple[float, ...] | None = None
    dataset: str = ""

    @property
    def up_to_here(self) -> tuple[float, ...]:
        """Its chain's values of C up to its own: the ``predecessors`` of the next cell."""
        return (*(self.predecessors or ()), self.settings.C or 0.0)

    @property
    def label(self) -> str:
        """A short description for progress messages."""
        s = self.settings
        asked = settings_columns(s)
        words = [self.data.name, method_label(asked["method"], asked["parameters"]), self.role]
        numbers = {
            "C": s.C,
            "lambda": s.lambda_,
            "gamma": s.gamma,
            "sigma2": s.sigma2,
            "tolerance": s.tolerance,
        }
        words += [f"{name}={value:g}" for name, value in numbers.items() if value is not None]
        words += (
            [f"fold {self.part}"] if self.part is not None and self.held_out and self.held_out.folds else []
        )
        words += [f"#{self.repetition}"] if self.repetition else []
        return " ".join(words)

    @property
    def identity_columns(self) -> dict[str, Any]:
        """The columns that identify the cell."""
        return {
            "run_id": self.run_id,
            "experiment": self.experiment,
            "profile": self.profile,
            "role": self.role,
            **settings_columns(self.settings),
            "seed": self.settings.seed,
            "fold": self.part,
            "repetition": self.repetition,
        }

    @property
    def requested(self) -> dict[str, Any]:
        """The requested settings under the names of their columns, for the row of a run without result."""
        s = self.settings
        names = ("kernel", "gamma", "sigma2", "C", "search", "stop", "tolerance", "threads", "cache_mib")
        return {**{name: getattr(s, name) for name in names}, "lambda": s.lambda_}


def run_id(
    dataset: str,
    fingerprint: str,
    profile: str,
    settings: Settings,
    held_out: str = "",
    part: int | None = None,
    repetition: int | None = None,
    predecessors: tuple[float, ...] | None = None,
) -> str:
    """Return a run's identity, 16 hexadecimal digits.

    It is the hash of the data set's name and fingerprint, profile, settings with defaults filled in, seed, fold,
    repetition, and a chain's earlier values of C. Threads, memory and the version of the code are not part of it.
    """
    kernel = kernel_of(settings)
    stop, tolerance = stop_of(settings)
    what: dict[str, Any] = {**settings_columns(settings), "kernel": kernel.name, "seed": settings.seed}
    what |= {"stop": stop, "tolerance": float(tolerance), "search": search_of(settings)}
    what |= {name: getattr(settings, name) for name in ("degree", "coef0") if name in kernel.parameters}
    if "gamma" in kernel.parameters:
        width = settings.gamma, settings.sigma2
        what["width"] = kernel.width(width_rule_of(settings))[0] if width == (None, None) else width
    what["penalty"] = (settings.C or 1.0) if settings.lambda_ is None else ("lambda", settings.lambda_)
    if not settings.final_gap:
        what["final_gap"] = False
    led_there = [predecessors] if predecessors else []
    key = json.dumps([dataset, fingerprint, profile, what, held_out, part, repetition, *led_there])
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def selection_cells(
    experiment: Experiment, data: DataSpec, selection: Selection, facts: DataInfo,
    candidates: Sequence[Settings] | None = None, parts: Sequence[int] | None = None,
) -> Iterator[Cell]:  # fmt: skip
    """Yield the cells of one selection: each candidate on each part (some, if given), parts outermost, C innermost.

    `UsageError` where there are fewer rows than folds, or no row is held out.

    Where a run may start at the end of another, cells that differ in C alone are a chain in ascending C. Chains depend
    on the selection alone, so a cell starts from the same point whatever the number of workers and finished cells.
    """
    if selection.held_out.parts > facts.rows:
        raise UsageError(f"{data.name}: {facts.rows:,} rows cannot make {selection.held_out.parts:,} folds")
    part_held_out = selection.held_out.holdout
    if part_held_out is not None and part_held_out * facts.rows < 0.5:
        raise UsageError(
            f"{data.name}: no row is held out by holdout {part_held_out:g} of {facts.rows:,} rows; take a larger part"
        )
    points = selection.candidates.points() if candidates is None else candidates
    points = sorted(points, key=lambda s: (s.sigma2 or 0, s.gamma or 0, s.C or 0))
    alike = [list(some) for _, some in groupby(points, key=lambda s: (s.sigma2, s.gamma))]
    parts = range(selection.held_out.parts) if parts is None else parts
    groups = _split_last_chain([(part, some) for part in parts for some in alike])
    for part, some in groups:
        for settings, led in _chains(replace(point, seed=experiment.seed) for point in some):
            after = led if _goes_on(settings) else None
            identity = run_id(
                facts.name,
                facts.fingerprint,
                experiment.profile,
                settings,
                selection.held_out.description,
                part,
                predecessors=after,
            )
            yield Cell(
                identity, experiment.name, experiment.profile, SELECT, data, facts.fingerprint, settings,
                selection.held_out, part, predecessors=after, dataset=facts.name,
            )  # fmt: skip


def _goes_on(settings: Settings) -> bool:
    """Whether a run may start where that of another C ended: its method can, and its end does not depend on the start.

    Sampled search proves nothing: one that starts near the end of another may stop there, after a single sample.
    """
    return FAMILIES[method(settings.method).family].goes_on and search_of(settings) == "full"


Group = tuple[int, list[Settings]]


def _split_last_chain(search: list[Group]) -> list[Group]:
    """Return the chains of one search; of an odd number the last is split, so that two or four workers balance."""
    if len(search) < MIN_TO_SPLIT or len(search) % 2 == 0 or len(search[-1][1]) < MIN_TO_SPLIT:
        return search
    part, last = search[-1]
    return [*search[:-1], (part, last[: len(last) // 2]), (part, last[len(last) // 2 :])]


def final_cells(
    experiment: Experiment, trial: Trial, facts: DataInfo, chosen: Mapping[str, float] | None = None
) -> Iterator[Cell]:
    """Yield the reported runs of a trial, with the selected parameters."""
    for repetition in range(trial.repetitions):
        points = [
            replace(point, seed=experiment.seed + repetition, **(chosen or {}))  # type: ignore[arg-type]
            for point in trial.finals.points()
        ]
        for settings, after in _chains(points) if trial.warm_start else ((point, None) for point in points):
            identity = run_id(
                facts.name,
                facts.fingerprint,
                experiment.profile,
                settings,
                repetition=repetition,
                predecessors=after,
            )
            yield Cell(
                identity, experiment.name, experiment.profile, FINAL, trial.data, facts.fingerprint, settings,
                repetition=repetition, predecessors=after, dataset=facts.name,
            )  # fmt: skip


def _chains(points: Iterable[Settings]) -> Iterator[tuple[Settings, tuple[float, ...]]]:
    """Yield settings grouped into chains that differ in C alone, ascending, each with the lower values of C."""
    chains: dict[str, list[Settings]] = {}
    for point in points:
        chains.setdefault(str(replace(point, C=None)), []).append(point)
    for chain in chains.values():
        chain.sort(key=lambda point: point.C or 0.0)
        for number, point in enumerate(chain):
            yield point, tuple(before.C or 0.0 for before in chain[:number])


def tasks(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return the cells in tasks, each for one worker, in the order of their first cells.

    A chain is one task, in ascending C. Chains that branch at some C are separate tasks, which both have the cells
    before it. Cold search cells that differ in C alone are one task, since they share the data; a cold final cell is a
    task of its own.
    """
    chained = {_chain_key(cell, cell.up_to_here): cell for cell in cells if cell.predecessors is not None}
    leads = {_chain_key(cell, cell.predecessors) for cell in chained.values() if cell.predecessors}
    found: dict[Any, list[Cell]] = {}
    for cell in cells:
        if cell.predecessors is None:
            key = cell.run_id if cell.role == FINAL else _chain_key(cell, ())
            found.setdefault(key, []).append(cell)
        elif (place := _chain_key(cell, cell.up_to_here)) not in leads:
            ways = [cell.up_to_here[: number + 1] for number in range(len(cell.up_to_here))]
            found[place] = [chained[at] for way in ways if (at := _chain_key(cell, way)) in chained]
    first = {cell.run_id: number for number, cell in reversed(list(enumerate(cells)))}
    return sorted(found.values(), key=lambda group: first[group[0].run_id])


def _chain_key(cell: Cell, way: tuple[float, ...]) -> Any:
    """Return a key of a position in a chain: all settings but C, and the values of C up to there."""
    return (
        cell.role,
        cell.data,
        cell.held_out,
        cell.part,
        cell.repetition,
        str(replace(cell.settings, C=None)),
        way,
    )


def unfinished(
    cells: Sequence[Cell], done: Callable[[Cell], bool], cut: Callable[[Cell], bool]
) -> list[list[Cell]]:
    """Return the tasks to run: of a chain all cells, if one of them is not ``done``.

    So each cell starts where it would have in an uninterrupted run. A done cell that was ``cut`` short by a time limit
    is not repeated, since no other cell starts where it ended (`fwsvm.solvers.c_path.CPath.begin_again`).
    """
    found = []
    for group in tasks(cells):
        wanted = [cell for cell in group if not done(cell)]
        if wanted and group[0].predecessors is not None:
            wanted = [cell for cell in group if not (done(cell) and cut(cell))]
        if wanted:
            found.append(wanted)
    return found
