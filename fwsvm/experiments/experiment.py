"""An experiment: data sets, methods, settings, and how parameters are selected."""

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fwsvm.errors import UsageError, not_one_of
from fwsvm.solvers import Settings


@dataclass(frozen=True)
class DataSpec:
    """Which rows of a data set an experiment uses.

    ``rows`` and ``test_rows`` are the size of a stratified sample, or below 1 its fraction; None keeps all rows.
    ``test_fraction`` is the fraction of training rows held out for testing if the data set has no test rows. ``seed``
    draws the samples, the folds, and the split of entries that have one. ``test`` is a file of test rows; the other
    fields are those of `fwsvm.data.load`.
    """

    name: str
    source: str | None = None
    rows: float | None = None
    test_rows: float | None = None
    test_fraction: float | None = None
    seed: int = 0
    zero_based: bool | None = None
    scale: str | None = None
    test: str | None = None
    label: str | None = None


@dataclass(frozen=True)
class Resources:
    """Threads and memory of a run, and how many runs go on in parallel; None is the machine's default."""

    threads: int | None = None
    cache_mib: int | None = None
    parallel_cells: int = 1
    offline: bool = False


@dataclass(frozen=True)
class ValidationRule:
    """How validation rows are chosen: one stratified ``holdout`` fraction, or each of ``folds`` stratified parts."""

    holdout: float | None = None
    folds: int | None = None

    @property
    def description(self) -> str:
        """The rule as text, for messages and for run ids."""
        return f"{self.folds} folds" if self.folds else f"{self.holdout} held out"


@dataclass(frozen=True)
class Selection:
    """Parameters selected by validation: the rule, the settings to choose from, and what they differ in."""

    held_out: ValidationRule
    candidates: list[Settings]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """One method on one data set: its reported runs, and the parameter selection before them, if there is one."""

    data: DataSpec
    finals: list[Settings]
    repetitions: int
    selection: Selection | None


@dataclass(frozen=True)
class Experiment:
    """An experiment with all settings resolved; ``resolved`` is the same as a YAML document."""

    name: str
    profile: str
    seed: int
    workers: int
    trials: tuple[Trial, ...]
    resolved: Mapping[str, Any]

    @property
    def datasets(self) -> list[DataSpec]:
        """The data sets, in the order of the file."""
        return list(dict.fromkeys(trial.data for trial in self.trials))

    def only(self, conditions: Sequence[str]) -> "Experiment":
        """Return the experiment with the trials that the conditions admit.

        A condition is ``COLUMN=VALUE``; the columns are method and dataset, and a value may have the wildcards ``*``
        and ``?``. Several values of one column admit each of them. The runs of the parameter search stay those of the
        whole experiment, so that the runs admitted are the same as in it.

        Raises
        ------
        UsageError
            A condition that is none, or that no method or data set of the experiment meets.
        """
        names = {
            "method": list(dict.fromkeys(trial.finals[0].method for trial in self.trials)),
            "dataset": [data.name for data in self.datasets],
        }
        admitted: dict[str, list[str]] = {}
        for condition in conditions:
            column, _, value = condition.partition("=")
            if column not in names:
                raise UsageError(
                    f"--only {condition}: give method=NAME or dataset=NAME; other columns are for --where of table, "
                    "stats and plot"
                )
            if not (met := fnmatch.filter(names[column], value)):
                raise UsageError(f"--only {condition}: {not_one_of(column, names[column], value)}")
            admitted[column] = [*admitted.get(column, []), *met]
        names |= admitted
        left = tuple(
            trial
            for trial in self.trials
            if trial.finals[0].method in names["method"] and trial.data.name in names["dataset"]
        )
        if not left:
            raise UsageError(f"--only {','.join(conditions)}: no such method on such a data set")
        return replace(self, trials=left)
