"""The settings of a training run: names, types, defaults and allowed values; settings.csv has a row of each.

Fields of `Settings` are the keys of YAML files and of `fwsvm.train`. A row has the option of the command line with its
help, the values that are allowed, the families whose scikit-learn classifiers have the setting, and its name, default
(JSON) and meaning there, where these differ. So another setting is one field and one row.
"""

import csv
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STOPS = ("relative", "gap", "meb", "eps")
SEARCHES = ("full", "sampled")
UNIFORM, BALANCED = "uniform", "balanced"  # candidates
CHEAPER, COMPUTED, KEPT = "cheaper", "computed", "kept"  # gradients
POSITIVE = "a positive number"
FINITE = "a finite number"


@dataclass(frozen=True)
class Settings:
    """Settings of one run, in the words of the command line and of the YAML files.

    ``None`` means: the default that `fwsvm.solvers.resolve` fills in from the method, the data and the machine. At most
    one of gamma, sigma2 and width_rule may be set, and one of ``C`` and ``lambda_``.
    """

    method: str = "auto"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    kernel: str | None = None
    gamma: float | None = None
    sigma2: float | None = None
    width_rule: str | None = None
    degree: int = 3
    coef0: float = 1.0
    kernel_parameters: Mapping[str, Any] = field(default_factory=dict)
    C: float | None = None
    lambda_: float | None = None
    class_weight: str | Mapping[str, float] | None = None
    stop: str | None = None
    tolerance: float | None = None
    search: str | None = None
    protocol: str = "default"
    retries: int | None = None
    first_level: float | None = None
    candidates: str | None = None
    gradient: str | None = None
    time_limit: float | None = None
    max_iterations: int | None = None
    seed: int = 0
    threads: int | None = None
    cache_mib: int | None = None
    final_gap: bool = True


@functools.cache
def table() -> list[dict[str, str]]:
    """Return the rows of settings.csv."""
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


def options() -> dict[str, dict[str, str]]:
    """Return the row of each setting that is an option."""
    return {row["setting"]: row for row in table() if row["options"]}


def _values(text: str) -> str | range | tuple[str, ...]:
    """Return what a row allows: a kind of number, whole numbers from one to another, or one of some words."""
    first, _, last = text.partition(" to ")
    if last:
        return range(int(first), int(last) + 1)
    return text if text in {POSITIVE, FINITE} else tuple(text.split())


#: Values that a setting may have, where they are limited.
ALLOWED = {name: _values(row["allowed"]) for name, row in options().items() if row["allowed"]}


def with_options(text: str) -> str:
    """Return a message that names settings as Python does, with the command line's options in their place.

    >>> with_options('time_limit is small; take method="nested"'), with_options("probability=True is slow")
    ('--time-limit is small; take --method nested', '--probability is slow')
    """
    names = {
        name: re.split("[ /]", row["options"])[0]
        for name, row in options().items()
        if "_" in name.rstrip("_")
    }
    text = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text)
    return re.sub(r"\b(\w+)=True", r"--\1", re.sub(r'\b(\w+)="([^" ]*)"', r"--\1 \2", text))
