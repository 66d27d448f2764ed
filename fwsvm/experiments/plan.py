"""From an experiment to its cells, each one run, with an identity that tells whether it was done before."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

from fwsvm.experiments.experiment import Data, Experiment, HeldOut, Selection, Trial
from fwsvm.experiments.samples import Facts
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.numerics.compile import code_digest
from fwsvm.parameters import labelled
from fwsvm.solvers import Settings, method
from fwsvm.solvers.registry import FAMILIES

SELECT, FINAL = "select", "final"
FEWEST = 3  # chains of a search, and cells of the last: a cut of fewer costs more than a worker that waits
#: Settings that change the speed of a run but not what is computed.
RESOURCES = ("threads", "cache_mib", "final_gap")


@dataclass(frozen=True)
class Cell:
    """One run to make.

    Attributes
    ----------
    run_id : str
        See `run_id`.
    experiment, profile : str
    role : {"select", "final"}
    data : Data
    fingerprint : str
        Digest that the data must have.
    settings : Settings
    held_out : HeldOut or None
        How validation rows are chosen (select), and ``part``, which of them.
    repetition : int
    after : tuple of float or None
        For a run of a chain, which starts where the one before ended: the values of C that were gone through, none at
        the first. None: it starts cold.
    """

    run_id: str
    experiment: str
    profile: str
    role: str
    data: Data
    fingerprint: str
    settings: Settings
    held_out: HeldOut | None = None
    part: int | None = None
    repetition: int | None = None
    after: tuple[float, ...] | None = None

    @property
    def before(self) -> tuple[float, ...]:
        """The values of C that its chain has gone through after it: what the next cell's ``after`` is."""
        return (*(self.after or ()), self.settings.C or 0.0)

    @property
    def label(self) -> str:
        """The cell in a few words, for progress lines."""
        s = self.settings
        words = [self.data.name, method_label(s), self.role]
        words += [
            f"{name}={value:g}" for name, value in (("C", s.C), ("sigma2", s.sigma2)) if value is not None
        ]
        words += (
            [f"fold {self.part}"] if self.part is not None and self.held_out and self.held_out.folds else []
        )
        words += [f"#{self.repetition}"] if self.repetition else []
        return " ".join(words)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that say which cell this is."""
        return {
            "run_id": self.run_id,
            "experiment": self.experiment,
            "profile": self.profile,
            "role": self.role,
            "method": method_label(self.settings),
            "seed": self.settings.seed,
            "fold": self.part,
            "repetition": self.repetition,
        }

    @property
    def asked(self) -> dict[str, Any]:
        """The settings as asked for, under the names of their columns: what a run that never was can tell."""
        s = self.settings
        names = ("kernel", "gamma", "sigma2", "C", "search", "stop", "tolerance", "threads", "cache_mib")
        return {**{name: getattr(s, name) for name in names}, "lambda": s.lambda_}


def method_label(settings: Settings) -> str:
    """Return the method's name, with those of its parameters that differ from their defaults."""
    chosen = method(settings.method)
    return labelled(settings.method, chosen.make(settings.parameters)._asdict(), chosen.parameters())


def run_id(
    fingerprint: str,
    profile: str,
    settings: Settings,
    held_out: str = "",
    part: int | None = None,
    repetition: int | None = None,
    after: tuple[float, ...] | None = None,
) -> str:
    """Return a run's identity, 16 hexadecimal digits.

    It is the hash of data digest, profile, method and all its parameters, limits, seed, fold, repetition and
    the digest of the code that computes (conventions 3); of a run of a chain also of the values of C that led there.
    Threads, cache size and commit are not part of it.
    """
    what = asdict(replace(settings, parameters={}, kernel_parameters={}))
    chosen = method(settings.method)
    kernel = kernel_family(settings.kernel or FAMILIES[chosen.family].default_kernel)
    own = {
        "parameters": chosen.make(settings.parameters)._asdict(),
        "kernel_parameters": kernel.own_values(settings.kernel_parameters),
    }
    what |= {key: {name: str(value) for name, value in values.items()} for key, values in own.items()}
    what = {name: value for name, value in what.items() if name not in RESOURCES}
    code = code_digest(chosen.rule.__module__, kernel.make.__module__)
    led_there = [after] if after else []
    key = json.dumps(
        [fingerprint, profile, what, held_out, part, repetition, code, *led_there], sort_keys=True
    )
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def select_cells(experiment: Experiment, trials: Iterable[Trial], known: Mapping[Data, Facts]) -> list[Cell]:
    """Return the cells of the parameter search, each once though many methods may rely on it."""
    cells: dict[str, Cell] = {}
    for trial in trials:
        if trial.selection is not None and not known[trial.data].missing:
            for cell in candidates(experiment, trial.data, trial.selection, known[trial.data]):
                cells.setdefault(cell.run_id, cell)
    return list(cells.values())


def candidates(experiment: Experiment, data: Data, selection: Selection, facts: Facts) -> Iterator[Cell]:
    """Yield the cells of one selection: each candidate on each part, parts outermost, C innermost.

    Those that differ in C alone are a chain, in ascending C, where the method can start where another run ended. The
    chains follow from the selection alone: however many workers there are, and whatever was done before, a cell
    starts where it would have.
    """
    points = sorted(selection.candidates.points(), key=lambda s: (s.sigma2 or 0, s.gamma or 0, s.C or 0))
    alike = [list(some) for _, some in groupby(points, key=lambda s: (s.sigma2, s.gamma))]
    groups = _evened([(part, some) for part in range(selection.held_out.parts) for some in alike])
    for part, some in groups:
        for settings, led in _ascending(replace(point, seed=experiment.seed) for point in some):
            after = led if FAMILIES[method(settings.method).family].goes_on else None
            identity = run_id(
                facts.fingerprint, experiment.profile, settings, selection.held_out.words, part, after=after
            )
            yield Cell(
                identity, experiment.name, experiment.profile, SELECT, data, facts.fingerprint, settings,
                selection.held_out, part, after=after,
            )  # fmt: skip


Group = tuple[int, list[Settings]]


def _evened(search: list[Group]) -> list[Group]:
    """Return the chains of one search, the last of three or more in two halves if their number is odd.

    So two workers, or four, end together.
    """
    part, last = search[-1]
    if len(search) < FEWEST or len(search) % 2 == 0 or len(last) < FEWEST:
        return search
    return [*search[:-1], (part, last[: len(last) // 2]), (part, last[len(last) // 2 :])]


def final_cells(
    experiment: Experiment, trial: Trial, facts: Facts, chosen: Mapping[str, float] | None = None
) -> Iterator[Cell]:
    """Yield the reported runs of a trial, with the parameters chosen for it."""
    for repetition in range(trial.repetitions):
        points = [
            replace(point, seed=experiment.seed + repetition, **(chosen or {}))  # type: ignore[arg-type]
            for point in trial.finals.points()
        ]
        for settings, after in (
            _ascending(points) if trial.warm_start else ((point, None) for point in points)
        ):
            identity = run_id(
                facts.fingerprint, experiment.profile, settings, repetition=repetition, after=after
            )
            yield Cell(
                identity, experiment.name, experiment.profile, FINAL, trial.data, facts.fingerprint, settings,
                repetition=repetition, after=after,
            )  # fmt: skip


def _ascending(points: Iterable[Settings]) -> Iterator[tuple[Settings, tuple[float, ...]]]:
    """Yield settings that differ in C alone one after another, each with the lower values of C."""
    chains: dict[str, list[Settings]] = {}
    for point in points:
        chains.setdefault(str(replace(point, C=None)), []).append(point)
    for chain in chains.values():
        chain.sort(key=lambda point: point.C or 0.0)
        for number, point in enumerate(chain):
            yield point, tuple(before.C or 0.0 for before in chain[:number])


def tasks(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return the cells in the groups that one worker takes at a time, in the order of their first ones.

    A chain is one group, in ascending C. A chain that goes another way from some C on is another one, which has the
    cells before that, too. Cold cells of a search that differ in C alone share their rows; a cold final cell stands
    alone.
    """
    chained = {_place(cell, cell.before): cell for cell in cells if cell.after is not None}
    leads = {_place(cell, cell.after) for cell in chained.values() if cell.after}
    found: dict[Any, list[Cell]] = {}
    for cell in cells:
        if cell.after is None:
            key = cell.run_id if cell.role == FINAL else _place(cell, ())
            found.setdefault(key, []).append(cell)
        elif (place := _place(cell, cell.before)) not in leads:
            ways = [cell.before[: number + 1] for number in range(len(cell.before))]
            found[place] = [chained[at] for way in ways if (at := _place(cell, way)) in chained]
    first = {cell.run_id: number for number, cell in reversed(list(enumerate(cells)))}
    return sorted(found.values(), key=lambda group: first[group[0].run_id])


def _place(cell: Cell, way: tuple[float, ...]) -> Any:
    """Return what tells a chain's cells from all others: all but C, and the values of C that lead there."""
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
    """Return the groups of cells to be made: a chain as a whole as soon as one of its cells is not ``done``.

    So each starts where it would have, had nothing been done before. But a cell that is done and was ``cut`` short by
    a clock need not be made again: no other starts where it ended (`fwsvm.solvers.c_path.Path.begin_again`).
    """
    found = []
    for group in tasks(cells):
        wanted = [cell for cell in group if not done(cell)]
        if wanted and group[0].after is not None:
            wanted = [cell for cell in group if not (done(cell) and cut(cell))]
        if wanted:
            found.append(wanted)
    return found
