"""From an experiment to its chains: cells along C, each with a run id, which are scheduled as one."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from fwsvm.errors import UsageError
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Trial, ValidationRule
from fwsvm.experiments.record import kernel_of, settings_columns
from fwsvm.experiments.samples import DataInfo
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


Chain = list[Cell]


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


def search_chains(
    experiment: Experiment, trials: Iterable[Trial], known: Mapping[DataSpec, DataInfo]
) -> list[Chain]:
    """Return the chains of all parameter searches, each once: several methods may share a search."""
    found: dict[tuple[str, ...], Chain] = {}
    for trial in trials:
        if trial.selection is not None and not known[trial.data].missing:
            for chain in selection_chains(experiment, trial.data, trial.selection, known[trial.data]):
                found.setdefault(tuple(cell.run_id for cell in chain), chain)
    return list(found.values())


def selection_chains(
    experiment: Experiment, data: DataSpec, selection: Selection, facts: DataInfo
) -> list[Chain]:
    """Return the chains of one selection: each candidate on each part, parts outermost.

    Where a run may start at the end of another, runs that differ in C alone are a chain in ascending C; others are
    chains of one. Chains depend on the selection alone, not on the number of workers or on what else there is.

    Raises
    ------
    UsageError
        There are fewer rows than folds, or no row is held out.
    """
    rule = selection.held_out
    if facts.rows and rule.parts > facts.rows:
        raise UsageError(f"{data.name}: {facts.rows:,} rows cannot make {rule.parts:,} folds")
    if facts.rows and rule.holdout is not None and rule.holdout * facts.rows < 0.5:
        raise UsageError(
            f"{data.name}: no row is held out by holdout {rule.holdout:g} of {facts.rows:,} rows; take a larger part"
        )
    points = sorted(selection.candidates.points(), key=lambda s: (s.sigma2 or 0, s.gamma or 0, s.C or 0))
    alike = [list(some) for _, some in groupby(points, key=lambda s: (s.sigma2, s.gamma))]
    groups = _split_last([(part, some) for part in range(rule.parts) for some in alike])
    found = []
    for part, some in groups:
        settings = [replace(point, seed=experiment.seed) for point in some]
        for chain in _chains(settings) if _goes_on(settings[0]) else [[each] for each in settings]:
            common = experiment, SELECT, data, facts
            found.append(_cells(common, chain, warm=_goes_on(settings[0]), held_out=rule, part=part))
    return found


def final_chains(
    experiment: Experiment, trial: Trial, facts: DataInfo, chosen: Mapping[str, float] | None = None
) -> list[Chain]:
    """Return the reported runs of a trial, with the selected parameters; those that start cold are chains of one."""
    found = []
    for repetition in range(trial.repetitions):
        points = [
            replace(point, seed=experiment.seed + repetition, **(chosen or {}))  # type: ignore[arg-type]
            for point in trial.finals.points()
        ]
        for chain in _chains(points) if trial.warm_start else [[point] for point in points]:
            common = experiment, FINAL, trial.data, facts
            found.append(_cells(common, chain, warm=trial.warm_start, repetition=repetition))
    return found


def _cells(
    common: tuple[Experiment, str, DataSpec, DataInfo],
    chain: Sequence[Settings],
    *,
    warm: bool,
    held_out: ValidationRule | None = None,
    part: int | None = None,
    repetition: int | None = None,
) -> Chain:
    """Return the cells of settings, each of which, if ``warm``, starts where the one before ended."""
    experiment, role, data, facts = common
    cells = []
    for number, settings in enumerate(chain):
        before = tuple(each.C or 0.0 for each in chain[:number]) if warm else None
        rule = held_out.description if held_out is not None else ""
        what = facts.name, facts.fingerprint, experiment.profile, settings, rule, part, repetition, before
        cells.append(
            Cell(
                run_id=run_id(*what),
                experiment=experiment.name,
                profile=experiment.profile,
                role=role,
                data=data,
                dataset=facts.name,
                fingerprint=facts.fingerprint,
                settings=settings,
                held_out=held_out,
                part=part,
                repetition=repetition,
                predecessors=before,
            )
        )
    return cells


def _goes_on(settings: Settings) -> bool:
    """Whether a run may start where that of another C ended: its method can, and its end does not depend on the start.

    Sampled search proves nothing: one that starts near the end of another may stop there, after a single sample.
    """
    return FAMILIES[method(settings.method).family].goes_on and search_of(settings) == "full"


def _split_last(search: list[tuple[int, list[Settings]]]) -> list[tuple[int, list[Settings]]]:
    """Return the groups of one search; of an odd number the last is split, so that two or four workers balance."""
    if len(search) < MIN_TO_SPLIT or len(search) % 2 == 0 or len(search[-1][1]) < MIN_TO_SPLIT:
        return search
    part, last = search[-1]
    return [*search[:-1], (part, last[: len(last) // 2]), (part, last[len(last) // 2 :])]


def _chains(points: Iterable[Settings]) -> list[list[Settings]]:
    """Return settings grouped into chains that differ in C alone, ascending."""
    chains: dict[str, list[Settings]] = {}
    for point in points:
        chains.setdefault(str(replace(point, C=None)), []).append(point)
    return [sorted(chain, key=lambda point: point.C or 0.0) for chain in chains.values()]
