"""From the keys of an experiment file to its trials: each method on each data set, its sweep and its selection."""

import itertools
import json
import math
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from fwsvm.data import lockfile, unknown_name
from fwsvm.data.labels import weights_by_label
from fwsvm.errors import UsageError, not_one_of
from fwsvm.experiments.config_files import (
    EXCLUSIVE,
    KERNEL_KEYS,
    MAX_VALUES,
    OF_TUNER,
    SWEPT,
    ConfigFile,
    Keys,
    entry_of,
    listed_values,
    override,
    picked,
    read_config_file,
)
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Trial, ValidationRule
from fwsvm.experiments.plan import SEARCH_TOLERANCE, goes_on
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.solvers import FAMILIES, METHODS, Settings
from fwsvm.solvers.resolve import resolve, stop_of

CHOSEN = ("sigma2", "gamma", "C")  # what a search can choose
DEFAULT_PROFILE = "small"
STEPS = {"log2": 2.0, "log10": 10.0}
OF_DATA = [each.name for each in fields(DataSpec)]
OF_SETTINGS = {each.name for each in fields(Settings)} - {*SWEPT.values(), "seed"}


def load(path: Path, profile: str | None = None) -> Experiment:
    """Return the experiment of a YAML file; the default profile is ``small``, if the file has it.

    Raises
    ------
    UsageError
        The file is not YAML or not a valid experiment; file, line and key are named.
    """
    file = read_config_file(path)
    names = file.profile_names
    if profile is None and DEFAULT_PROFILE in names:
        profile = DEFAULT_PROFILE
    if profile not in {None, *names}:
        raise UsageError(f"{path}: there is no profile {profile!r}; it has {', '.join(names) or 'none'}")
    keys = file.at(profile)
    for key in ("name", "datasets", "methods"):
        if not keys.get(key):
            raise UsageError(f"{path}: the key {key!r} is missing or empty")
    return Experiment(
        name=keys["name"],
        profile=profile or "",
        seed=keys.get("seed", 0),
        workers=keys.get("workers", 1),
        trials=tuple(_Trials(file, keys).all()),
        resolved=json.loads(json.dumps(keys)),  # without objects that two places share
    )


class _Trials:
    """The trials that the keys of a file at a profile describe."""

    def __init__(self, file: ConfigFile, keys: Keys) -> None:
        self.file = file
        self.keys = keys
        self.methods = [entry_of(value) for value in listed_values(keys["methods"])]

    def all(self) -> list[Trial]:
        """Return each data set with each of its methods, in the order of the file."""
        trials: list[Trial] = []
        names = [method["name"] for method in self.methods]
        for name in names:
            self._one_of("name", name, METHODS, "a method")
        for value in listed_values(self.keys["datasets"]):
            entry = entry_of(value)
            keys = override(self.keys, entry)
            data = self._data(entry, keys)
            if any(trial.data.name == data.name for trial in trials):
                raise self.file.error(
                    f"{data.name} is listed twice; make two experiments of them", "datasets", value
                )
            asked = listed_values(entry.get("methods") or names)
            for name in asked:
                self._one_of("methods", name, names, f"methods of {data.name}")
            trials += [self._trial(data, keys, each) for each in self.methods if each["name"] in asked]
        tried = {key for trial in trials if trial.selection for key in trial.selection.names}
        for key in {"sigma2", "gamma"} & {*self.keys.get("select", {})} - tried:
            raise self.file.error(
                f"no kernel of these methods has {key}; leave it out of select", key, self.keys["select"][key]
            )
        return trials

    def _data(self, entry: Keys, keys: Keys) -> DataSpec:
        """Return the rows of an entry; ``keys`` are its own and those of the file."""
        name = entry.get("name") or entry.get("train")
        if name is None or {"name", "train"} <= {*entry}:
            raise self.file.error("an entry of datasets needs either name or train", "datasets", entry)
        if lockfile.read().find(name) is None and not (name.startswith("synthetic:") or os.path.exists(name)):  # noqa: PTH110
            raise self.file.error(unknown_name(name), "train" if "train" in entry else "name", name)
        label = {"label": str(entry["label"])} if "label" in entry else {}
        return DataSpec(**picked(keys, OF_DATA) | {"name": name} | label)

    def _trial(self, data: DataSpec, inherited: Keys, method: Keys) -> Trial:
        """Return one method on one data set; ``inherited`` are the settings of the file and of the set's entry."""
        keys = override(inherited, method)
        finals = self._sweep(keys)
        selection = self._selection(keys["select"], inherited, method) if "select" in keys else None
        for chosen in selection.names if selection is not None else ():
            for key in next(group for group in EXCLUSIVE if chosen in group):
                if key in SWEPT and getattr(finals[0], SWEPT[key]) is not None:
                    what = "" if key == chosen else f"{chosen} "
                    raise self.file.error(
                        f"{key} is given here and {what}chosen by select; leave one of them out",
                        key,
                        keys[key],
                    )
        return Trial(data, finals, keys.get("repetitions", 1), selection)

    def _selection(self, select: Keys, inherited: Keys, method: Keys) -> Selection:
        """Return how C and the width are selected: with the method that ``select`` names, and this method's kernel."""
        if ("holdout" in select) == ("folds" in select):
            raise self.file.error(
                "select needs either holdout (a fraction) or folds (a number)", "select", select
            )
        if select.keys().isdisjoint(CHOSEN):
            raise self.file.error("select needs values to choose from: C, sigma2 or gamma", "select", select)
        entry = entry_of(select.get("method", self.methods[0]))
        self._one_of("method", entry["name"], METHODS, "method of select")
        if len(entry) == 1:
            entry = next((other for other in self.methods if other["name"] == entry["name"]), entry)
        keys = override(inherited, picked(entry, OF_TUNER))
        keys = override(override(keys, picked(method, KERNEL_KEYS)), picked(select, SWEPT))
        points = self._sweep(keys)
        for key, field in SWEPT.items():
            if key not in select and len({getattr(point, field) for point in points}) > 1:
                raise self.file.error(
                    f"select needs one {key}; give a single one, or have select choose it", key, keys[key]
                )
        first = points[0]
        exact = FAMILIES[METHODS[first.method].family].multiclass == "one-vs-one" and goes_on(first)
        if first.tolerance is None and exact and stop_of(first)[0] == "relative":
            points = [replace(point, tolerance=SEARCH_TOLERANCE) for point in points]
        names = tuple(key for key in CHOSEN if key in select and getattr(first, key) is not None)
        return Selection(ValidationRule(select.get("holdout"), select.get("folds")), points, names)

    def _sweep(self, keys: Keys) -> list[Settings]:
        """Return the settings of a method, all combinations of the values that are swept."""
        limits = keys.get("limits", {})
        weights = keys.get("class_weight")
        found = {"method": keys["name"], **picked(keys, OF_SETTINGS)}
        found |= {"time_limit": limits.get("time_seconds"), "max_iterations": limits.get("iterations")}
        varied = {field: self._values(key, keys[key]) for key, field in SWEPT.items() if key in keys}
        try:
            if isinstance(weights, dict):
                found["class_weight"] = weights_by_label(weights.items())
            family = FAMILIES[METHODS[keys["name"]].family]
            kernel = kernel_family(keys.get("kernel") or family.default_kernel)
            # in a grid a width may be about some of the methods only: the others have one run, not one for each width
            for width, known in {"gamma": "gamma" in kernel.parameters, "sigma2": kernel.sigma2}.items():
                if not known:
                    varied.pop(width, None)
            if kernel.given or family.train is not None:
                what = kernel.name if kernel.given else keys["name"]
                raise UsageError(f"experiments have no {what!r}")  # noqa: TRY301
            values = itertools.product(*varied.values())  # the last-named setting changes fastest
            points = [
                msgspec.convert({**found, **dict(zip(varied, each, strict=True))}, Settings)
                for each in values
            ]
            # which refuses names and combinations that make no sense; a schedule may begin below a tolerance
            resolve(replace(points[0], first_level=None), np.eye(2))
        except UsageError as error:
            raise self.file.error(str(error)) from None
        return points

    def _values(self, key: str, values: Any) -> tuple[float, ...]:
        """Return the values of a setting: one, a list of them, or a range."""
        if not isinstance(values, dict):
            return tuple(dict.fromkeys(map(float, listed_values(values))))
        first, last, step = float(values["from"]), float(values["to"]), values["step"]
        factor = STEPS.get(step) or float(step)
        powers = math.floor(math.log(last * (1.0 + 1e-9) / first, factor))
        if not 0 <= powers < MAX_VALUES:
            raise self.file.error(
                f"{key} from {first:g} to {last:g} has no value, or more than {MAX_VALUES:,}", key, values
            )
        return tuple(first * factor**power for power in range(powers + 1))

    def _one_of(self, key: str, name: Any, names: Any, what: str) -> None:
        if name not in names:
            raise self.file.error(not_one_of(what, names, name), key, name)
