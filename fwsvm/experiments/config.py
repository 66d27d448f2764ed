"""From the keys of an experiment file to its trials: each method on each data set, its sweep and its selection."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fwsvm.data import lockfile
from fwsvm.data.labels import weights_by_label
from fwsvm.errors import UsageError, nearest, not_one_of, shown
from fwsvm.experiments.config_files import (
    EXCLUSIVE,
    KERNEL_KEYS,
    MAX_VALUES,
    ConfigFile,
    DataKeys,
    Keys,
    TunerEntry,
    entry_of,
    listed_values,
    names_of,
    override,
    read_config_file,
)
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Sweep, Trial, ValidationRule
from fwsvm.kernels.kernel import KERNELS, width_rules
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.parameters import BALANCED
from fwsvm.scaling import SCALINGS
from fwsvm.settings import SEARCHES, STOPS
from fwsvm.solvers import FAMILIES, METHODS, Settings
from fwsvm.solvers.protocols import CANDIDATES, GRADIENTS, PROTOCOLS

#: Settings that may hold one value, a list of values, or a range: the runs are all combinations. Key to field.
SWEPT = {"sigma2": "sigma2", "gamma": "gamma", "lambda": "lambda_", "C": "C", "tolerance": "tolerance"}
DEFAULT_PROFILE = "small"
STEPS = {"log2": 2.0, "log10": 10.0}


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
    if profile is not None and profile not in names:
        there = f"it has {', '.join(names)}" if names else "it has none"
        raise UsageError(f"{path}: there is no profile {profile!r}; {there}")
    keys = file.at(profile)
    for key in ("name", "datasets", "methods"):
        if key not in keys:
            raise UsageError(f"{path}: the key {key!r} is missing")
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
        self.file, self.keys = file, keys
        self.methods = [entry_of(value) for value in listed_values(keys["methods"])]

    def all(self) -> list[Trial]:
        """Return each data set with each of its methods, in the order of the file."""
        for number, (value, entry) in enumerate(
            zip(listed_values(self.keys["methods"]), self.methods, strict=True)
        ):
            self._one_of("name", entry["name"], METHODS, "a method")
            if entry in self.methods[:number]:
                raise self._error(f"{entry['name']} is listed twice with the same settings", "methods", value)
        trials: list[Trial] = []
        for value in listed_values(self.keys["datasets"]):
            entry = entry_of(value)
            inherited = override(self.keys, {key: entry[key] for key in names_of(DataKeys) if key in entry})
            data = self._data(entry, inherited)
            if any(trial.data.name == data.name for trial in trials):
                more = "" if data in {trial.data for trial in trials} else ", with different rows"
                raise self._error(
                    f"{data.name} is listed twice{more}; make two experiments of them", "datasets", value
                )
            asked = listed_values(entry.get("methods") or [method["name"] for method in self.methods])
            for name in asked:
                known = [method["name"] for method in self.methods]
                self._one_of("methods", name, known, f"methods of {data.name}")
            trials += [
                self._trial(data, inherited, method) for method in self.methods if method["name"] in asked
            ]
        self._refuse_unused_widths(trials)
        return trials

    def _data(self, entry: Keys, keys: Keys) -> DataSpec:
        name, known = entry.get("name") or entry.get("train"), lockfile.read()
        if name is None or {"name", "train"} <= {*entry}:
            raise self._error("an entry of datasets needs either name or train", "datasets", entry)
        if entry.get("test") is not None and entry.get("test_fraction") is not None:
            raise self._error(
                "test and test_fraction exclude each other", "test_fraction", entry["test_fraction"]
            )
        if known.find(name) is None and not name.startswith("synthetic:") and not os.path.exists(name):  # noqa: PTH110
            hint = nearest(name, known.entries, "`fwsvm data list` shows all names")
            said = f"{name}: neither a file nor a name in datasets.lock; {hint}"
            raise self._error(said, "train" if "train" in entry else "name", name)
        if "scale" in keys:
            self._one_of("scale", keys["scale"], SCALINGS)
        more: Keys = {
            key: keys[key] for key in ("test_fraction", "zero_based", "scale", "seed") if key in keys
        }
        more |= {key: str(entry[key]) for key in ("source", "test", "label") if entry.get(key) is not None}
        for key in ("rows", "test_rows"):
            if (value := keys.get(key)) is not None:
                more[key] = value if value < 1 else round(value)
        return DataSpec(name=name, **more)

    def _trial(self, data: DataSpec, inherited: Keys, method: Keys) -> Trial:
        """Return one method on one data set; ``inherited`` are the settings of the file and of the set's entry."""
        keys = override(inherited, method)
        finals = self._sweep(keys)
        selection = self._selection(keys["select"], inherited, method) if "select" in keys else None
        for key, field in SWEPT.items() if selection is not None else ():
            for chosen in selection.candidates.varied if selection and field in finals.varied else ():
                if key == chosen or any({key, chosen} <= {*group} for group in EXCLUSIVE):
                    what = "" if key == chosen else f"{chosen} "
                    said = f"{key} is given here and {what}chosen by select; leave one of them out"
                    raise self._error(said, key, keys[key])
        warm_start = keys.get("warm_start", False)
        if warm_start and METHODS[method["name"]].family != "linear":
            said = f"warm_start is for linear methods; {method['name']} starts cold"
            raise self._error(said, "warm_start", True)
        if warm_start and len(finals.varied.get("C", ())) < 2:
            said = "warm_start goes from one C to the next higher one; give C several values"
            raise self._error(said, "warm_start", True)
        return Trial(data, finals, keys.get("repetitions", 1), selection, warm_start)

    def _selection(self, select: Keys, inherited: Keys, method: Keys) -> Selection:
        """Return how C and the width are selected: with the method that ``select`` names, and this method's kernel."""
        if ("holdout" in select) == ("folds" in select):
            raise self._error(
                "select needs either holdout (a fraction) or folds (a number)", "select", select
            )
        if not any(key in select for key in SWEPT):
            raise self._error("select needs values to choose from: C, sigma2 or gamma", "select", select)
        entry = entry_of(select.get("method", self.methods[0]))
        self._one_of("method", entry["name"], METHODS, "method of select")
        if len(entry) == 1:
            entry = next((other for other in self.methods if other["name"] == entry["name"]), entry)
        keys = override(inherited, {key: entry[key] for key in names_of(TunerEntry) if key in entry})
        keys = override(keys, {key: method[key] for key in KERNEL_KEYS if key in method})
        keys = override(keys, {key: select[key] for key in SWEPT if key in select})
        sweep = self._sweep(keys)
        for key, field in SWEPT.items():
            if key not in select and len(sweep.varied.get(field, ())) > 1:
                said = f"select needs one {key}; give a single one, or have select choose it"
                raise self._error(said, key, keys[key])
        fields = [name for name in ("sigma2", "gamma", "C") if name in select and name in sweep.varied]
        rule = ValidationRule(select.get("holdout"), select.get("folds"))
        return Selection(rule, Sweep(sweep.first, {name: sweep.varied[name] for name in fields}))

    def _refuse_unused_widths(self, trials: list[Trial]) -> None:
        """Refuse a width among the values to choose from that no kernel has."""
        for key in ("sigma2", "gamma"):
            chosen = [trial.selection for trial in trials if trial.selection is not None]
            if key in self.keys.get("select", {}) and not any(key in one.candidates.varied for one in chosen):
                said = f"no kernel of these methods has {key}; leave it out of select"
                raise self._error(said, key, self.keys["select"][key])

    def _sweep(self, keys: Keys) -> Sweep:
        """Return the settings of a method, and the values of those that are swept."""
        method = METHODS[keys["name"]]
        family = FAMILIES[method.family]
        allowed: Mapping[str, Any] = {
            "kernel": family.kernels or [name for name, kernel in KERNELS.items() if not kernel.given],
            "width_rule": width_rules(),
            "stop": [stop for stop in STOPS if stop in method.stops],
            "search": SEARCHES,
            "protocol": PROTOCOLS,
            "candidates": CANDIDATES,
            "gradient": GRADIENTS,
        }
        for key, names in allowed.items():
            if key in keys:
                self._one_of(key, keys[key], names, f"{key} of {method.name}")
        given = {key: keys[key] for key in ("degree", "retries", *allowed) if key in keys}
        given |= {key: float(keys[key]) for key in ("first_level", "coef0") if key in keys}
        kernel = KERNELS[given.get("kernel") or family.default_kernel]
        checks = {
            "parameters": method.make,
            "kernel_parameters": kernel_family(kernel.name).own_values,
            "class_weight": _checked_weights,
        }
        for key, check in checks.items():
            if keys.get(key):
                try:
                    checked = check(keys[key])
                except UsageError as error:
                    said, own = str(error), keys[key] if isinstance(keys[key], dict) else {}
                    name = next((name for name in own if f"'{name}'" in said), key)
                    raise self._error(said, name, own.get(name, keys[key])) from None
                given[key] = checked if key == "class_weight" else keys[key]
        limits = keys.get("limits", {})
        if limits.get("time_seconds") is not None:
            given["time_limit"] = float(limits["time_seconds"])
        given["max_iterations"] = limits.get("iterations")
        # in a grid a width may be about some of the methods only: the others have one run, not one for each width
        has_no = {"gamma": "gamma" not in kernel.parameters, "sigma2": not kernel.sigma2}
        varied = {
            field: self._values(key, keys[key])
            for key, field in SWEPT.items()
            if key in keys and not has_no.get(field, False)
        }
        return Sweep(Settings(method=method.name, **given), varied)

    def _values(self, key: str, values: Any) -> tuple[float, ...]:
        """Return the values of a setting: one, a list of them, or a range."""
        if not isinstance(values, dict):
            found = tuple(map(float, listed_values(values)))
            if len(set(found)) < len(found):
                raise self._error(f"{key} holds a value twice", key, values)
            return found
        first, last = float(values["from"]), float(values["to"])
        step: Any = STEPS.get(values["step"], values["step"])
        if isinstance(step, str):
            said = f"the step of {key} must be a factor above 1, log2 or log10, not {shown(step)}"
            raise self._error(said, key, values)
        if last < first:
            raise self._error(f"{key}: to ({last:g}) is below from ({first:g})", key, values)
        count = math.floor((math.log(last) - math.log(first)) / math.log(step) + 1e-9) + 1
        if count > MAX_VALUES:
            said = f"these are {count:,} values of {key}; at most {MAX_VALUES:,} are allowed"
            raise self._error(said, key, values)
        return tuple(first * float(step) ** power for power in range(count))

    def _one_of(self, key: str, name: Any, names: Any, what: str = "") -> None:
        if name not in names:
            raise self._error(not_one_of(what or key, names, name), key, name)

    def _error(self, said: str, key: str, value: Any) -> UsageError:
        return self.file.error(said, key, value)


def _checked_weights(given: "str | dict[Any, Any]") -> str | dict[str, float]:
    """Return the weights of classes: "balanced", or a positive number for some labels."""
    if isinstance(given, str):
        if given != BALANCED:
            raise UsageError(not_one_of("class_weight, unless it maps labels to weights,", [BALANCED], given))
        return given
    weights = weights_by_label(given)
    for label, weight in weights.items():
        if not 0 < weight < math.inf:
            raise UsageError(f"the weight of class {shown(label)} must be above 0, not {weight:g}")
    return weights
