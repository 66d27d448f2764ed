"""Reading an experiment from YAML.

    located_value    YAML values that know their file and line, with typed access
    inheritance      files that extend others, profiles, and which of several settings wins
    sweeps           the settings of a method, the values they are swept over, and parameter selection

A setting may be given in five places: an extended file, the file, a profile, an entry of ``datasets``, an entry of
``methods``; the later one wins. Errors name file, line and the most similar known name.
"""

import os
import re
from pathlib import Path
from typing import Any

from fwsvm.data import lockfile
from fwsvm.errors import UsageError, nearest
from fwsvm.experiments.config.inheritance import MAX_ENTRIES, Keys, entry_of, merge_keys, read_config_file
from fwsvm.experiments.config.located_value import LocatedValue
from fwsvm.experiments.config.sweeps import (
    METHOD_KEYS,
    SETTING_KEYS,
    SWEPT,
    only_named,
    selected_widths,
    swept_values,
    trial_of,
)
from fwsvm.experiments.experiment import DataSpec, Experiment, Trial
from fwsvm.solvers import METHODS

MAX_TRIALS = 10_000  # data sets times methods
MAX_RUNS = 200_000  # of a whole experiment; the largest that is shipped has 46,290
MAX_WORKERS = 1000
ROW_KEYS = ("rows", "test_rows", "test_fraction")
FILE_KEYS = (
    "name", "extends", "datasets", "methods", *SETTING_KEYS, *ROW_KEYS, "seed", "workers", "profiles",
)  # fmt: skip
DEFAULT_PROFILE = "small"
MAX_EXPERIMENT_NAME = 100


def load(path: Path, profile: str | None = None) -> Experiment:
    """Return the experiment of a YAML file; the default profile is ``small``, if the file has it.

    Raises
    ------
    UsageError
        The file is not YAML or not a valid experiment; file, line and remedy are named.
    """
    file = read_config_file(path, FILE_KEYS)
    if profile is None and DEFAULT_PROFILE in file.profile_names:
        profile = DEFAULT_PROFILE
    if profile is not None and profile not in file.profile_names:
        there = f"it has {', '.join(file.profile_names)}" if file.profile_names else "it has none"
        raise UsageError(f"{path}: there is no profile {profile!r}; {there}")
    keys = file.at(
        profile,
        [key for key in FILE_KEYS if key not in {"name", "extends", "profiles"}],
        (*SETTING_KEYS, *ROW_KEYS),
    )
    for key in ("name", "datasets", "methods"):
        if key not in keys:
            raise file.document.error(f"the key {key!r} is missing")
    name = keys["name"].text("name")
    if not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", name) or len(name) > MAX_EXPERIMENT_NAME:
        shown = name if len(name) <= MAX_EXPERIMENT_NAME else f"{name[:MAX_EXPERIMENT_NAME]}..."
        raise keys["name"].error(
            f"name names a folder: letters, digits and . _ + -, at most {MAX_EXPERIMENT_NAME}, not {shown!r}"
        )
    seed = keys["seed"].integer("seed", least=0) if "seed" in keys else 0
    trials = _trials(keys, seed)
    return Experiment(
        name=name,
        profile=profile or "",
        seed=seed,
        workers=keys["workers"].integer("workers", most=MAX_WORKERS) if "workers" in keys else 1,
        trials=tuple(trials),
        resolved=_plain_keys(keys),
    )


def _trials(keys: Keys, seed: int) -> list[Trial]:
    """Return each data set with each of its methods, in the order of the file."""
    of_data = ("name", "source", "methods", *SETTING_KEYS, *ROW_KEYS)
    datasets = [entry_of(located, of_data, "a data set") for located in keys["datasets"].items(MAX_ENTRIES)]
    methods = [entry_of(located, METHOD_KEYS, "a method") for located in keys["methods"].items(MAX_ENTRIES)]
    if len(datasets) * len(methods) > MAX_TRIALS:
        asked = f"{len(methods):,} methods on {len(datasets):,} data sets"
        raise keys["methods"].error(f"{asked} are too many; at most {MAX_TRIALS:,} pairs are allowed")
    listed: list[dict[str, Any]] = []
    for entry in methods:
        entry["name"].one_of(METHODS, "a method")
        if _plain_keys(entry) in listed:
            raise entry["name"].error(f"{entry['name'].value} is listed twice with the same settings")
        listed.append(_plain_keys(entry))
    trials: list[Trial] = []
    widths: dict[
        tuple[str, int, str], tuple[LocatedValue, bool]
    ] = {}  # of selects, and whether any method has them
    seen: dict[str, DataSpec] = {}
    runs = 0
    for entry in datasets:
        inherited = merge_keys(
            only_named((*SETTING_KEYS, *ROW_KEYS), keys), only_named((*SETTING_KEYS, *ROW_KEYS), entry)
        )
        data = DataSpec(
            name=_dataset(entry["name"]),
            source=entry["source"].text("source") if "source" in entry else None,
            rows=_rows(inherited["rows"], "rows") if "rows" in inherited else None,
            test_rows=_rows(inherited["test_rows"], "test_rows") if "test_rows" in inherited else None,
            test_fraction=inherited["test_fraction"].number("test_fraction", below=1)
            if "test_fraction" in inherited
            else None,
            seed=seed,
        )
        if (before := seen.setdefault(data.name, data)) is not data:
            if before == data:
                raise entry["name"].error(f"{data.name} is listed twice")
            raise entry["name"].error(
                f"{data.name} is listed twice, with different rows or sources; results are told apart by the "
                "name: make two experiments of them"
            )
        for method in _methods_for(entry, methods):
            trials.append(trial_of(data, inherited, method, methods))
            if (selection := trials[-1].selection) is not None:
                for key, located in selected_widths(inherited, method).items():
                    place = located.file, located.line, key
                    used = place in widths and widths[place][1]
                    widths[place] = located, used or key in selection.candidates.varied
            runs += trials[-1].runs
            if runs > MAX_RUNS:
                raise entry["name"].error(
                    f"with {data.name} and {method['name'].value} the experiment has {runs:,} runs; at most "
                    f"{MAX_RUNS:,} are allowed"
                )
    for (_, _, key), (located, used) in widths.items():
        if not used:
            raise located.error(f"no kernel of these methods has {key}; leave it out of select")
    return trials


def _methods_for(entry: Keys, methods: list[Keys]) -> list[Keys]:
    """Return the methods to run on a data set: all, or those that its entry names."""
    if "methods" not in entry:
        return methods
    names = [method["name"].value for method in methods]
    asked = [
        located.one_of(names, f"methods of {entry['name'].value}")
        for located in entry["methods"].items(MAX_ENTRIES)
    ]
    return [method for method in methods if method["name"].value in asked]


def _dataset(located: LocatedValue) -> str:
    """Return a name in the lock, a path of a file, or ``synthetic:...``; refuse anything else."""
    name, known = located.text("a data set"), lockfile.read()
    if known.find(name) is None and not name.startswith("synthetic:") and not os.path.exists(name):  # noqa: PTH110
        hint = nearest(name, known.entries, "`fwsvm data list` shows all names")
        raise located.error(f"{name}: neither a file nor a name in datasets.lock; {hint}")
    return name


def _rows(located: LocatedValue, what: str) -> float:
    """Return a number of rows, or a fraction of them below 1."""
    return located.number(what) if located.number(what) < 1 else located.integer(what)


def _plain_keys(keys: Keys) -> dict[str, Any]:
    return {key: _plain(key, located) for key, located in keys.items()}


def _plain(key: str, located: LocatedValue) -> Any:
    """Return the value for experiment.yaml, with numbers parsed and ranges expanded."""
    if key in SWEPT:
        values = swept_values(located, key)
        return values[0] if len(values) == 1 and not isinstance(located.value, (list, dict)) else list(values)
    if isinstance(located.value, dict):
        return _plain_keys(located.value)
    return [_plain("", item) for item in located.value] if isinstance(located.value, list) else located.value
