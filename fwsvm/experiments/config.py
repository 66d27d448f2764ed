"""From the keys of an experiment file to its trials: each method on each data set, its sweep and its selection."""

import json
import math
import os
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwsvm.data import lockfile
from fwsvm.data.labels import weights_by_label
from fwsvm.errors import UsageError, nearest, not_one_of
from fwsvm.experiments.config_files import (
    EXCLUSIVE,
    KERNEL_KEYS,
    MAX_VALUES,
    DataEntry,
    DataKeys,
    Keys,
    MethodEntry,
    Range,
    SelectKeys,
    SettingKeys,
    SolverKeys,
    checked,
    entry_of,
    listed_values,
    only_named,
    override,
    read_config_file,
)
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Sweep, Trial, ValidationRule
from fwsvm.kernels.kernel import KERNELS, width_rules
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.parameters import BALANCED
from fwsvm.settings import SEARCHES, STOPS
from fwsvm.solvers import FAMILIES, METHODS, Settings
from fwsvm.solvers.protocols import CANDIDATES, GRADIENTS, PROTOCOLS

#: Settings that may hold one value, a list of values, or a range: the runs are all combinations. Key to field.
SWEPT = {"sigma2": "sigma2", "gamma": "gamma", "lambda": "lambda_", "C": "C", "tolerance": "tolerance"}
DEFAULT_PROFILE = "small"


def load(path: Path, profile: str | None = None) -> Experiment:
    """Return the experiment of a YAML file; the default profile is ``small``, if the file has it.

    Raises
    ------
    UsageError
        The file is not YAML or not a valid experiment; the file is named, with the line where it is of a key.
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
        trials=tuple(_Config(path, keys).trials()),
        resolved=json.loads(json.dumps(keys)),  # without objects that two places share
    )


@dataclass(frozen=True)
class _Config:
    """The keys of an experiment at a profile."""

    path: Path
    keys: Keys

    def error(self, said: str) -> UsageError:
        return UsageError(f"{self.path}: {said}")

    @contextmanager
    def located(self) -> Any:
        """Name the file in errors of the block."""
        try:
            yield
        except UsageError as error:
            raise self.error(str(error)) from None

    def trials(self) -> list[Trial]:
        """Return each data set with each of its methods, in the order of the file."""
        methods = [entry_of(value) for value in listed_values(self.keys["methods"])]
        for number, entry in enumerate(methods):
            self._one_of("a method", entry["name"], METHODS)
            if entry in methods[:number]:
                raise self.error(f"{entry['name']} is listed twice with the same settings")
        trials: list[Trial] = []
        seen: dict[str, DataSpec] = {}
        unused: dict[str, bool] = {}
        for entry in (entry_of(value) for value in listed_values(self.keys["datasets"])):
            inherited = override(only_named(DataKeys, self.keys), only_named(DataKeys, entry))
            data = self._data(entry, inherited)
            if data.name in seen:
                more = (
                    "" if seen[data.name] == data else ", with different rows: make two experiments of them"
                )
                raise self.error(f"{data.name} is listed twice{more}")
            seen[data.name] = data
            for method in self._methods_for(entry, methods):
                trial = self._trial(data, inherited, method, methods)
                if trial.selection is not None:
                    select = override(inherited, only_named(SettingKeys, method))["select"]
                    for key in ("sigma2", "gamma"):
                        if key in select:
                            unused[key] = (
                                unused.get(key, True) and key not in trial.selection.candidates.varied
                            )
                trials.append(trial)
        for key, is_unused in unused.items():
            if is_unused:
                raise self.error(f"no kernel of these methods has {key}; leave it out of select")
        return trials

    def _data(self, entry: Keys, inherited: Keys) -> DataSpec:
        name, known = entry["name"], lockfile.read()
        if known.find(name) is None and not name.startswith("synthetic:") and not os.path.exists(name):  # noqa: PTH110
            hint = nearest(name, known.entries, "`fwsvm data list` shows all names")
            raise self.error(f"{name}: neither a file nor a name in datasets.lock; {hint}")
        keys = checked(self.path, override(inherited, only_named(DataEntry, entry)), DataEntry)
        return DataSpec(
            name=name,
            source=keys.source,
            rows=_count_or_fraction(keys.rows),
            test_rows=_count_or_fraction(keys.test_rows),
            test_fraction=keys.test_fraction,
            seed=self.keys.get("seed", 0),
            zero_based=keys.zero_based,
            scale=keys.scale,
        )

    def _methods_for(self, entry: Keys, methods: list[Keys]) -> list[Keys]:
        """Return the methods to run on a data set: all, or those that its entry names."""
        if entry.get("methods") is None:
            return methods
        asked = listed_values(entry["methods"])
        for name in asked:
            self._one_of(f"methods of {entry['name']}", name, [method["name"] for method in methods])
        return [method for method in methods if method["name"] in asked]

    def _trial(self, data: DataSpec, inherited: Keys, method: Keys, methods: list[Keys]) -> Trial:
        """Return one method on one data set; ``inherited`` are the settings of the file and of the set's entry."""
        own = override(inherited, only_named(SettingKeys, method))
        finals = self._sweep(own, method)
        selection = None
        if "select" in own:
            selection = self._selection(own["select"], inherited, method, methods)
            for key, field in SWEPT.items():
                for chosen in selection.candidates.varied if field in finals.varied else ():
                    if key == chosen or any({key, chosen} <= {*group} for group in EXCLUSIVE):
                        what = "" if key == chosen else f"{chosen} "
                        raise self.error(
                            f"{key} is given here and {what}chosen by select; leave one of them out"
                        )
        warm_start = own.get("warm_start", False)
        chosen_method = METHODS[finals.base.method]
        if warm_start and chosen_method.family != "linear":
            raise self.error(f"warm_start is for linear methods; {chosen_method.name} starts cold")
        if warm_start and len(finals.varied.get("C", ())) < 2:
            raise self.error("warm_start goes from one C to the next higher one; give C several values")
        return Trial(data, finals, own.get("repetitions", 1), selection, warm_start)

    def _selection(self, select: Keys, inherited: Keys, method: Keys, methods: list[Keys]) -> Selection:
        """Return how C and the width are selected: with the method that ``select`` names, and this method's kernel."""
        asked: SelectKeys = checked(self.path, select, SelectKeys)
        if (asked.holdout is None) == (asked.folds is None):
            raise self.error("select needs either holdout (a fraction) or folds (a number)")
        if not any(key in select for key in SWEPT):
            raise self.error("select needs values to choose from: C, sigma2 or gamma")
        entry = entry_of(select["method"]) if "method" in select else methods[0]
        self._one_of("method of select", entry["name"], METHODS)
        if len(entry) == 1:
            entry = next((other for other in methods if other["name"] == entry["name"]), entry)
        keys = override(inherited, only_named(SolverKeys, entry))
        keys = override(keys, {key: method[key] for key in KERNEL_KEYS if key in method})
        keys = override(keys, {key: select[key] for key in SWEPT if key in select})
        if "C" in select:
            keys.pop("lambda", None)
        sweep = self._sweep(keys, entry)
        for key, field in SWEPT.items():
            if key not in select and len(sweep.varied.get(field, ())) > 1:
                raise self.error(f"select needs one {key}; give a single one, or have select choose it")
        fields: list[str] = [f for f in ("sigma2", "gamma", "C") if f in select and f in sweep.varied]
        chosen = {field: sweep.varied[field] for field in fields}
        return Selection(ValidationRule(asked.holdout, asked.folds), Sweep(sweep.first, chosen))

    def _sweep(self, keys: Keys, method: Keys) -> Sweep:
        """Return the settings of a method, and the values of those that are swept."""
        chosen = METHODS[method["name"]]
        family = FAMILIES[chosen.family]
        asked = override(only_named(SettingKeys, keys), {"name": chosen.name})
        typed: MethodEntry = checked(self.path, asked, MethodEntry)
        allowed: Mapping[str, Any] = {
            "kernel": family.kernels or [name for name, kernel in KERNELS.items() if not kernel.given],
            "width_rule": width_rules(),
            "stop": [stop for stop in STOPS if stop in chosen.stops],
            "search": SEARCHES,
            "protocol": tuple(PROTOCOLS),
            "candidates": CANDIDATES,
            "gradient": GRADIENTS,
        }
        for key, names in allowed.items():
            if key in keys:
                self._one_of(f"{key} of {chosen.name}", keys[key], names)
        own = ("degree", "retries", "first_level", "coef0", *allowed)
        given = {key: getattr(typed, key) for key in own if key in keys}
        kernel = KERNELS[given.get("kernel") or family.default_kernel]
        limits = typed.limits
        with self.located():
            given["parameters"] = _own_parameters(method.get("parameters"), chosen.make)
            check = kernel_family(kernel.name).own_values
            given["kernel_parameters"] = _own_parameters(keys.get("kernel_parameters"), check)
            if "class_weight" in keys:
                given["class_weight"] = _class_weight(keys["class_weight"])
        if limits is not None:
            given |= {"time_limit": limits.time_seconds, "max_iterations": limits.iterations}
        # in a grid a width may be about some of the methods only: the others have one run, not one for each width
        has_no = {"gamma": "gamma" not in kernel.parameters, "sigma2": not kernel.sigma2}
        varied = {
            field: self._values(key, getattr(typed, field))
            for key, field in SWEPT.items()
            if key in keys and not has_no.get(field, False)
        }
        return Sweep(Settings(method=chosen.name, **given), varied)

    def _values(self, key: str, values: "float | list[float] | Range") -> tuple[float, ...]:
        """Return the values of a setting."""
        if not isinstance(values, Range):
            found = tuple(map(float, listed_values(values)))
            if len(set(found)) < len(found):
                raise self.error(f"{key} holds a value twice")
            return found
        first, last = values.from_, values.to
        step = {"log2": 2.0, "log10": 10.0}.get(str(values.step)) or float(values.step)
        if last < first:
            raise self.error(f"{key}: to ({last:g}) is below from ({first:g})")
        count = math.floor((math.log(last) - math.log(first)) / math.log(step) + 1e-9) + 1
        if count > MAX_VALUES:
            raise self.error(f"these are {count:,} values of {key}; at most {MAX_VALUES:,} are allowed")
        return tuple(first * step**power for power in range(count))

    def _one_of(self, what: str, name: Any, names: Any) -> None:
        if name not in names:
            raise self.error(not_one_of(what, names, name))


def _count_or_fraction(rows: float | None) -> float | None:
    return rows if rows is None or rows < 1 else round(rows)


def _own_parameters(given: Keys | None, check: Callable[[Any], Any]) -> Keys:
    """Return the parameters of a method or kernel, which checks them."""
    if given:
        check(given)
    return given or {}


def _class_weight(given: "str | dict[Any, float]") -> str | dict[str, float]:
    """Return the weights of classes: "balanced", or a positive number for some labels."""
    if isinstance(given, str):
        if given != BALANCED:
            raise UsageError(not_one_of("class_weight, unless it maps labels to weights,", [BALANCED], given))
        return given
    return weights_by_label(given)
