"""What an experiment is: data sets, methods, settings, and how parameters are chosen."""

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fwsvm.solvers import Settings


@dataclass(frozen=True)
class Data:
    """A data set as an experiment uses it.

    ``rows`` and ``test_rows`` keep a seeded sample of so many rows, or below 1 of that part of them, stratified
    by class; None keeps all.
    ``test_fraction`` draws test rows, likewise, where the data set has none of its own. ``seed`` draws the
    samples, the folds, and the split of entries that have one.
    """

    name: str
    source: str | None = None
    rows: float | None = None
    test_rows: float | None = None
    test_fraction: float | None = None
    seed: int = 0


@dataclass(frozen=True)
class Sweep:
    """Settings, and the values that some of them run through (by the names of `Settings`' fields)."""

    base: Settings
    varied: Mapping[str, tuple[float, ...]]

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return math.prod(len(values) for values in self.varied.values())

    @property
    def first(self) -> Settings:
        """The combination of all first values."""
        return self._at(values[0] for values in self.varied.values())

    def points(self) -> list[Settings]:
        """Return all combinations, the last-named setting changing fastest."""
        return [self._at(values) for values in itertools.product(*self.varied.values())]

    def _at(self, values: Iterable[float]) -> Settings:
        return replace(self.base, **dict(zip(self.varied, values, strict=True)))  # type: ignore[arg-type]


@dataclass(frozen=True)
class HeldOut:
    """How validation rows are chosen: a stratified part of them, or ``folds`` stratified parts in turn."""

    holdout: float | None = None
    folds: int | None = None

    @property
    def parts(self) -> int:
        """How many times a setting is tried."""
        return self.folds or 1

    @property
    def words(self) -> str:
        """The rule as people and hashes read it."""
        return f"{self.folds} folds" if self.folds else f"{self.holdout:g} held out"


@dataclass(frozen=True)
class Selection:
    """Parameters to be chosen by validation: with one method, for all that run under the same selection."""

    held_out: HeldOut
    candidates: Sweep


@dataclass(frozen=True)
class Trial:
    """One method on one data set: the runs to report, and how parameters are chosen first, if they are.

    With ``warm_start`` the reported runs go from each C to the next higher one, where the last one ended.
    """

    data: Data
    finals: Sweep
    repetitions: int
    selection: Selection | None
    warm_start: bool = False

    @property
    def runs(self) -> int:
        """How many runs it asks for at most; those of a search may be another trial's as well."""
        search = self.selection
        searched = search.held_out.parts * search.candidates.size if search is not None else 0
        return searched + self.repetitions * self.finals.size


@dataclass(frozen=True)
class Experiment:
    """An experiment with every setting in its place; ``resolved`` is the same as a YAML document."""

    name: str
    profile: str
    seed: int
    workers: int
    trials: tuple[Trial, ...]
    resolved: Mapping[str, Any]

    @property
    def datasets(self) -> list[Data]:
        """The data sets, in the order of the file."""
        return list(dict.fromkeys(trial.data for trial in self.trials))
