"""Reads an experiment from YAML (conventions 5).

Settings may stand in five places: a file that is extended, the file, a profile, an entry of ``datasets``, an
entry of ``methods``; the later one of these wins. Whatever is wrong is said with file, line and the nearest
right word.
"""

import math
import os
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fwsvm.data.lock import lockfile
from fwsvm.errors import UsageError, shown
from fwsvm.experiments.experiment import Data, Experiment, HeldOut, Selection, Sweep, Trial
from fwsvm.experiments.inheritance import MOST_ENTRIES, Layer, merged, source
from fwsvm.experiments.source_location import Spot
from fwsvm.kernels.kernel import KERNELS, width_rules
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.solvers import FAMILIES, METHODS, Settings
from fwsvm.solvers.settings import PROTOCOLS, SEARCHES, STOPS

MOST_VALUES = 1000  # of one setting, repetitions, folds: a slip of the pen asks for more
MOST_TRIALS = 10_000  # data sets times methods
MOST_RUNS = 200_000  # of a whole experiment; the largest that is shipped has 46,290
MOST_WORKERS = 1000
WIDEST = 1e300  # the last value of a range over the first
#: Settings that may hold one value, a list of values, or ``{from, to, step}``: the runs are all combinations.
SWEPT = {"sigma2": "sigma2", "gamma": "gamma", "lambda": "lambda_", "C": "C", "tolerance": "tolerance"}
KERNEL = ("kernel", "kernel_parameters", "degree", "coef0", "sigma2", "gamma", "width_rule")
SOLVER = ("C", "lambda", "stop", "tolerance", "search", "protocol", "limits")
SETTINGS = (*KERNEL, *SOLVER, "repetitions", "select", "warm_start")
ROWS = ("rows", "test_rows", "test_fraction")
FILE = ("name", "extends", "datasets", "methods", *SETTINGS, *ROWS, "seed", "workers", "profiles")
SELECT = ("holdout", "folds", "method", "C", "sigma2", "gamma")
LIMITS = ("time_seconds", "iterations")
DEFAULT_PROFILE = "small"
LONGEST_NAME = 100


def load(path: Path, profile: str | None = None) -> Experiment:
    """Return the experiment of a YAML file.

    Without ``profile`` the file's ``small`` holds, where it has one.

    Raises
    ------
    UsageError
        Naming file, line and remedy.
    """
    file = source(path, FILE)
    if profile is None and DEFAULT_PROFILE in file.profile_names:
        profile = DEFAULT_PROFILE
    if profile is not None and profile not in file.profile_names:
        there = f"it has {', '.join(file.profile_names)}" if file.profile_names else "it has none"
        raise UsageError(f"{path}: there is no profile {profile!r}; {there}")
    keys = file.at(
        profile, [key for key in FILE if key not in {"name", "extends", "profiles"}], (*SETTINGS, *ROWS)
    )
    for key in ("name", "datasets", "methods"):
        if key not in keys:
            raise file.document.wrong(f"the key {key!r} is missing")
    name = keys["name"].text("name")
    if not re.fullmatch(r"[A-Za-z0-9][\w.+-]*", name) or len(name) > LONGEST_NAME:
        shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."
        raise keys["name"].wrong(
            f"name names a folder: letters, digits and . _ + -, at most {LONGEST_NAME}, not {shown!r}"
        )
    seed = keys["seed"].whole("seed", least=0) if "seed" in keys else 0
    trials = _trials(keys, seed)
    return Experiment(
        name=name,
        profile=profile or "",
        seed=seed,
        workers=keys["workers"].whole("workers", most=MOST_WORKERS) if "workers" in keys else 1,
        trials=tuple(trials),
        resolved=_plain_keys(keys),
    )


def _trials(keys: Layer, seed: int) -> list[Trial]:
    of_data, of_methods = ("name", "source", "methods", *SETTINGS, *ROWS), ("name", "parameters", *SETTINGS)
    datasets = [_entry(spot, of_data, "a data set") for spot in keys["datasets"].items(MOST_ENTRIES)]
    methods = [_entry(spot, of_methods, "a method") for spot in keys["methods"].items(MOST_ENTRIES)]
    if len(datasets) * len(methods) > MOST_TRIALS:
        asked = f"{len(methods):,} methods on {len(datasets):,} data sets"
        raise keys["methods"].wrong(f"{asked} are too many; {MOST_TRIALS:,} pairs are the most")
    listed: list[dict[str, Any]] = []
    for entry in methods:
        entry["name"].one_of(METHODS, "a method")
        if _plain_keys(entry) in listed:
            raise entry["name"].wrong(f"{entry['name'].value} is listed twice with the same settings")
        listed.append(_plain_keys(entry))
    trials: list[Trial] = []
    seen: set[Data] = set()
    runs = 0
    for entry in datasets:
        layer = merged(_only((*SETTINGS, *ROWS), keys), _only((*SETTINGS, *ROWS), entry))
        data = Data(
            name=_dataset(entry["name"]),
            source=entry["source"].text("source") if "source" in entry else None,
            rows=_rows(layer["rows"], "rows") if "rows" in layer else None,
            test_rows=_rows(layer["test_rows"], "test_rows") if "test_rows" in layer else None,
            test_fraction=layer["test_fraction"].number("test_fraction", below=1)
            if "test_fraction" in layer
            else None,
            seed=seed,
        )
        if data in seen:
            raise entry["name"].wrong(f"{data.name} is listed twice")
        seen.add(data)
        for method in _asked_of(entry, methods):
            trials.append(_trial(data, layer, method, methods))
            runs += trials[-1].runs
            if runs > MOST_RUNS:
                raise entry["name"].wrong(
                    f"with {data.name} and {method['name'].value} the experiment has {runs:,} runs; {MOST_RUNS:,} are "
                    "the most"
                )
    return trials


def _asked_of(entry: Layer, methods: list[Layer]) -> list[Layer]:
    """Return the methods that are asked of a data set: all, or those that its entry names."""
    if "methods" not in entry:
        return methods
    names = [method["name"].value for method in methods]
    asked = [
        spot.one_of(names, f"methods of {entry['name'].value}")
        for spot in entry["methods"].items(MOST_ENTRIES)
    ]
    return [method for method in methods if method["name"].value in asked]


def _entry(spot: Spot, known: tuple[str, ...], what: str) -> Layer:
    """Return an entry of datasets or methods, which may be a name alone."""
    if not isinstance(spot.value, dict):
        return {"name": spot}
    entry = spot.mapping(known, what)
    if "name" not in entry:
        raise spot.wrong(f"{what} needs a name")
    return entry


def _dataset(spot: Spot) -> str:
    """Return the name of a data set that there is, or a path."""
    name, known = spot.text("a data set"), lockfile.read()
    if known.find(name) is None and not name.startswith("synthetic:") and not os.path.exists(name):  # noqa: PTH110
        near = get_close_matches(name, known.entries, 1)
        hint = f"; did you mean {near[0]}?" if near else " (`fwsvm data list` shows all names)"
        raise spot.wrong(f"{name}: neither a file nor a name in datasets.lock{hint}")
    return name


def _rows(spot: Spot, what: str) -> float:
    """Return how many rows to keep, or below 1 which part of them."""
    return spot.number(what) if spot.number(what) < 1 else spot.whole(what)


def _trial(data: Data, layer: Layer, method: Layer, methods: list[Layer]) -> Trial:
    own = merged(layer, _only(SETTINGS, method))
    selection = None
    if "select" in own:
        selection = _selection(own["select"], layer, method, methods)
        for key, field in SWEPT.items():
            if field in selection.candidates.varied and key in own:
                raise own[key].wrong(f"{key} is given here and chosen by select; leave one of them out")
    finals = _sweep(own, method)
    repetitions = own["repetitions"].whole("repetitions", most=MOST_VALUES) if "repetitions" in own else 1
    return Trial(
        data=data,
        finals=finals,
        repetitions=repetitions,
        selection=selection,
        warm_start="warm_start" in own and _warm_start(own["warm_start"], finals),
    )


def _warm_start(spot: Spot, finals: Sweep) -> bool:
    """Return whether reported runs start where those with a lower C ended; refuse it where there is no such run."""
    wanted = spot.truth("warm_start")
    chosen = METHODS[finals.base.method]
    if wanted and chosen.family != "linear":
        raise spot.wrong(f"warm_start is for linear methods; {chosen.name} starts cold")
    if wanted and len(finals.varied.get("C", ())) < 2:
        raise spot.wrong("warm_start goes from one C to the next higher one; give C several values")
    return wanted


def _selection(spot: Spot, layer: Layer, method: Layer, methods: list[Layer]) -> Selection:
    """Return how C and the width are chosen: by the method that select names, under the same kernel."""
    select = spot.mapping(SELECT, "select")
    if ("holdout" in select) == ("folds" in select):
        raise spot.wrong("select needs either holdout (a fraction) or folds (a number)")
    if not any(key in select for key in SWEPT):
        raise spot.wrong("select needs values to choose from: C, sigma2 or gamma")
    held_out = HeldOut(
        holdout=select["holdout"].number("holdout", below=1) if "holdout" in select else None,
        folds=select["folds"].whole("folds", least=2, most=MOST_VALUES) if "folds" in select else None,
    )
    tuner = select.get("method", methods[0]["name"])
    tuner.one_of(METHODS, "method of select")
    entry = next((other for other in methods if other["name"].value == tuner.value), {"name": tuner})
    settings = merged(layer, _only(SOLVER, entry))
    settings = merged(settings, _only(KERNEL, method))
    settings = merged(settings, _only(tuple(SWEPT), select))
    sweep = _sweep({key: value for key, value in settings.items() if key != "lambda"}, entry)
    if len(sweep.varied.get("tolerance", ())) > 1:
        raise settings["tolerance"].wrong("select needs one tolerance; give its method a single one")
    chosen: dict[str, tuple[float, ...]] = {}
    for field in ("sigma2", "gamma", "C"):
        if field in select:
            chosen[field] = sweep.varied[field]
    return Selection(held_out, Sweep(sweep.first, chosen))


def _sweep(keys: Layer, method: Layer) -> Sweep:
    """Return the settings of a method and the values they run through."""
    chosen = METHODS[method["name"].value]
    family = FAMILIES[chosen.family]
    given: dict[str, Any] = {"method": chosen.name, "parameters": _parameters(method)}
    allowed: Mapping[str, Any] = {
        "kernel": family.kernels or tuple(KERNELS),
        "width_rule": width_rules(),
        "stop": [stop for stop in STOPS if stop in family.stops],
        "search": SEARCHES,
        "protocol": PROTOCOLS,
    }
    for key, names in allowed.items():
        if key in keys:
            given[key] = keys[key].one_of(names, f"{key} of {chosen.name}")
    if "degree" in keys:
        given["degree"] = keys["degree"].whole("degree")
    if "coef0" in keys:
        given["coef0"] = keys["coef0"].number("coef0", above=-math.inf)
    given["kernel_parameters"] = _kernel_parameters(keys, given.get("kernel", family.default_kernel))
    limits = keys["limits"].mapping(LIMITS, "limits") if "limits" in keys else {}
    if "time_seconds" in limits:
        given["time_limit"] = limits["time_seconds"].number("time_seconds")
    if "iterations" in limits:
        given["max_iterations"] = limits["iterations"].whole("iterations")
    varied = {field: numbers(keys[key], key) for key, field in SWEPT.items() if key in keys}
    return Sweep(Settings(**given), varied)


def _parameters(method: Layer) -> dict[str, Any]:
    """Return the method's own parameters, checked by the method."""
    chosen = METHODS[method["name"].value]
    return _own(method["parameters"], chosen.name, chosen.make) if "parameters" in method else {}


def _kernel_parameters(keys: Layer, kernel: str) -> dict[str, Any]:
    """Return the kernel's own parameters, checked by the kernel."""
    check = kernel_family(kernel).own_values
    given = keys.get("kernel_parameters")
    return _own(given, f"the {kernel} kernel", check) if given is not None else {}


def _own(parameters: Spot, owner: str, check: Callable[[Any], Any]) -> dict[str, Any]:
    given = {}
    for key, spot in parameters.mapping(None, f"parameters of {owner}").items():
        if isinstance(spot.value, (dict, list)) or spot.value is None:
            raise spot.wrong(f"parameter {shown(key)[1:-1]} of {owner} must be one value, not {spot.shown}")
        given[key] = spot.value
        _say_where(spot, lambda: check(given))
    return given


def _say_where(spot: Spot, check: Callable[[], Any]) -> None:
    """Run a check that knows no file, and name the place where it fails."""
    try:
        check()
    except UsageError as error:
        raise spot.wrong(str(error)) from None


def _only(names: tuple[str, ...], keys: Layer) -> Layer:
    return {key: spot for key, spot in keys.items() if key in names}


def numbers(spot: Spot, what: str) -> tuple[float, ...]:
    """Return a setting's values: one, a list, or ``{from, to, step}``; step is log2, log10 or a factor."""
    if not isinstance(spot.value, dict):
        values = tuple(item.number(what) for item in spot.items(MOST_VALUES))
        if len(set(values)) < len(values):
            raise spot.wrong(f"{what} holds a value twice")
        return values
    span = spot.mapping(("from", "to", "step"), what)
    if len(span) < 3:
        raise spot.wrong(f"{what} needs from, to and step (log2, log10 or a factor)")
    first, last = span["from"].number("from"), span["to"].number("to")
    named = {"'log2'": 2.0, "'log10'": 10.0}.get(span["step"].shown)
    step = named or span["step"].number("step (log2, log10 or a factor)", above=1)
    if last < first:
        raise span["to"].wrong(f"to ({last:g}) is below from ({first:g})")
    if last / first > WIDEST:
        raise span["to"].wrong(f"from {first:g} to {last:g} is too wide; a factor of {WIDEST:g} is the most")
    count = math.floor(math.log(last / first) / math.log(step) + 1e-9) + 1
    if count > MOST_VALUES:
        raise span["step"].wrong(f"these are {count:,} values of {what}; {MOST_VALUES:,} are the most")
    return tuple(first * step**power for power in range(count))


def _plain_keys(keys: Layer) -> dict[str, Any]:
    return {key: _plain(key, spot) for key, spot in keys.items()}


def _plain(key: str, spot: Spot) -> Any:
    """Return the value as YAML, with numbers as numbers and ranges written out."""
    if key in SWEPT:
        values = numbers(spot, key)
        return values[0] if len(values) == 1 and not isinstance(spot.value, (list, dict)) else list(values)
    if isinstance(spot.value, dict):
        return _plain_keys(spot.value)
    return [_plain("", item) for item in spot.value] if isinstance(spot.value, list) else spot.value
