"""The settings of a method, the values they are swept over, and how parameters are selected by validation."""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fwsvm.data.class_weight import by_label_text
from fwsvm.errors import UsageError, shown
from fwsvm.experiments.config.inheritance import EXCLUSIVE, Keys, entry_of, merge_keys
from fwsvm.experiments.config.located_value import LocatedValue
from fwsvm.experiments.experiment import DataSpec, Selection, Sweep, Trial, ValidationRule
from fwsvm.kernels.kernel import KERNELS, width_rules
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.parameters import BALANCED
from fwsvm.solvers import FAMILIES, METHODS, Settings
from fwsvm.solvers.protocols import CANDIDATES, GRADIENTS, PROTOCOLS
from fwsvm.solvers.resolve import search_of, stop_of
from fwsvm.solvers.settings import SEARCHES, STOPS

MAX_SWEPT_VALUES = 1000  # of one setting, repetitions, folds: more is a typing mistake
MAX_SWEEP_RATIO = 1e300  # of the last value of a range to the first
#: Settings that may hold one value, a list of values, or ``{from, to, step}``: the runs are all combinations.
SWEPT = {"sigma2": "sigma2", "gamma": "gamma", "lambda": "lambda_", "C": "C", "tolerance": "tolerance"}
T = TypeVar("T")

KERNEL_KEYS = ("kernel", "kernel_parameters", "degree", "coef0", "sigma2", "gamma", "width_rule")
SOLVER_KEYS = (
    "C",
    "lambda",
    "class_weight",
    "stop",
    "tolerance",
    "search",
    "protocol",
    "retries",
    "first_level",
    "candidates",
    "gradient",
    "limits",
)
SETTING_KEYS = (*KERNEL_KEYS, *SOLVER_KEYS, "repetitions", "select", "warm_start")
METHOD_KEYS = ("name", "parameters", *SETTING_KEYS)
SELECT_KEYS = ("holdout", "folds", "race", "method", "C", "sigma2", "gamma")
TUNER_KEYS = ("name", "parameters", *(key for key in SOLVER_KEYS if key not in ("C", "lambda")))
LIMIT_KEYS = ("time_seconds", "iterations")


def trial_of(data: DataSpec, inherited: Keys, method: Keys, methods: list[Keys]) -> Trial:
    """Return one method on one data set; ``inherited`` are the settings of the file and of the data set's entry."""
    own = merge_keys(inherited, only_named(SETTING_KEYS, method))
    finals = _sweep(own, method)
    selection = None
    if "select" in own:
        selection = _selection(own["select"], inherited, method, methods)
        for key, field in SWEPT.items():
            for chosen in selection.candidates.varied if field in finals.varied else ():
                if key == chosen or any({key, chosen} <= {*group} for group in EXCLUSIVE):
                    what = "" if key == chosen else f"{chosen} "
                    raise own[key].error(
                        f"{key} is given here and {what}chosen by select; leave one of them out"
                    )
    repetitions = (
        own["repetitions"].integer("repetitions", most=MAX_SWEPT_VALUES) if "repetitions" in own else 1
    )
    return Trial(
        data=data,
        finals=finals,
        repetitions=repetitions,
        selection=selection,
        warm_start="warm_start" in own and _warm_start(own["warm_start"], finals),
    )


def _warm_start(located: LocatedValue, finals: Sweep) -> bool:
    """Return whether reported runs start where the run of the next lower C ended; refuse it without such runs."""
    wanted = located.boolean("warm_start")
    chosen = METHODS[finals.base.method]
    if wanted and chosen.family != "linear":
        raise located.error(f"warm_start is for linear methods; {chosen.name} starts cold")
    if wanted and len(finals.varied.get("C", ())) < 2:
        raise located.error("warm_start goes from one C to the next higher one; give C several values")
    return wanted


def _selection(located: LocatedValue, inherited: Keys, method: Keys, methods: list[Keys]) -> Selection:
    """Return how C and the width are selected: with the method that ``select`` names, and this method's kernel."""
    select = located.mapping(SELECT_KEYS, "select")
    if ("holdout" in select) == ("folds" in select):
        raise located.error("select needs either holdout (a fraction) or folds (a number)")
    if not any(key in select for key in SWEPT):
        raise located.error("select needs values to choose from: C, sigma2 or gamma")
    held_out = ValidationRule(
        holdout=select["holdout"].number("holdout", below=1) if "holdout" in select else None,
        folds=select["folds"].integer("folds", least=2, most=MAX_SWEPT_VALUES) if "folds" in select else None,
    )
    entry = entry_of(select["method"], TUNER_KEYS, "method of select") if "method" in select else methods[0]
    entry["name"].one_of(METHODS, "method of select")
    if len(entry) == 1:
        entry = next((other for other in methods if other["name"].value == entry["name"].value), entry)
    settings = merge_keys(inherited, only_named(SOLVER_KEYS, entry))
    settings = merge_keys(settings, only_named(KERNEL_KEYS, method))
    settings = merge_keys(settings, only_named(tuple(SWEPT), select))
    if "C" in select:
        settings = {key: value for key, value in settings.items() if key != "lambda"}
    sweep = _sweep(settings, entry)
    for key, field in SWEPT.items():
        if key not in select and len(sweep.varied.get(field, ())) > 1:
            raise settings[key].error(f"select needs one {key}; give a single one, or have select choose it")
    chosen: dict[str, tuple[float, ...]] = {}
    for field in ("sigma2", "gamma", "C"):
        if field in select and field in sweep.varied:
            chosen[field] = sweep.varied[field]
    race = _race(select["race"], sweep.first) if "race" in select else None
    return Selection(held_out, Sweep(sweep.first, chosen), race)


def selected_widths(inherited: Keys, method: Keys) -> Keys:
    """Return the widths that ``select`` gives values for to a method, whether or not its kernel has them."""
    select = merge_keys(inherited, only_named(SETTING_KEYS, method))["select"]
    return only_named(("sigma2", "gamma"), select.mapping(SELECT_KEYS, "select"))


def _race(located: LocatedValue, settings: Settings) -> float:
    """Return the relative gap of first runs; refuse one that is no larger, or of runs without relative gap."""
    stop, tolerance = stop_of(settings)
    if stop != "relative" or search_of(settings) != "full":
        raise located.error("race is for runs with stop: relative and search: full; leave it out")
    race = located.number("race", below=1)
    if race <= tolerance:
        raise located.error(f"race is the relative gap of first runs: above {tolerance:g}, not {race:g}")
    return race


def _sweep(keys: Keys, method: Keys) -> Sweep:
    """Return the settings of a method, and the values of those that are swept."""
    chosen = METHODS[method["name"].value]
    family = FAMILIES[chosen.family]
    given: dict[str, Any] = {"method": chosen.name, "parameters": _parameters(method)}
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
            given[key] = keys[key].one_of(names, f"{key} of {chosen.name}")
    if "degree" in keys:
        given["degree"] = keys["degree"].integer("degree")
    if "retries" in keys:
        given["retries"] = keys["retries"].integer("retries", least=1)
    if "first_level" in keys:
        given["first_level"] = keys["first_level"].number("first_level")
    if "coef0" in keys:
        given["coef0"] = keys["coef0"].number("coef0", above=-math.inf)
    given["kernel_parameters"] = _kernel_parameters(keys, given.get("kernel", family.default_kernel))
    if "class_weight" in keys:
        given["class_weight"] = _class_weight(keys["class_weight"])
    limits = keys["limits"].mapping(LIMIT_KEYS, "limits") if "limits" in keys else {}
    if "time_seconds" in limits:
        given["time_limit"] = limits["time_seconds"].number("time_seconds")
    if "iterations" in limits:
        given["max_iterations"] = limits["iterations"].integer("iterations")
    kernel = KERNELS[given.get("kernel") or family.default_kernel]
    has_no = {"gamma": "gamma" not in kernel.parameters, "sigma2": not kernel.sigma2}
    varied = {field: swept_values(keys[key], key) for key, field in SWEPT.items() if key in keys}
    # in a grid a width may be about some of the methods only: the others have one run, not one for each width
    return Sweep(Settings(**given), {f: values for f, values in varied.items() if not has_no.get(f, False)})


def _class_weight(located: LocatedValue) -> str | dict[str, float]:
    """Return the weights of classes: "balanced", or a positive number for some labels."""
    if not isinstance(located.value, dict):
        return located.one_of([BALANCED], "class_weight, unless it is a mapping of labels to weights,")
    found: dict[str, float] = {}
    for label, weight in located.mapping(None, "class_weight").items():
        found[label] = weight.number(f"the weight of class {shown(label)}")
    return _with_location(located, lambda: by_label_text(found))


def _parameters(method: Keys) -> dict[str, Any]:
    """Return the method's own parameters, checked by the method."""
    chosen = METHODS[method["name"].value]
    return _own_parameters(method["parameters"], chosen.name, chosen.make) if "parameters" in method else {}


def _kernel_parameters(keys: Keys, kernel: str) -> dict[str, Any]:
    """Return the kernel's own parameters, checked by the kernel."""
    check = kernel_family(kernel).own_values
    given = keys.get("kernel_parameters")
    return _own_parameters(given, f"the {kernel} kernel", check) if given is not None else {}


def _own_parameters(parameters: LocatedValue, owner: str, check: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the parameters of a method or kernel, which checks them one by one."""
    given = {}
    for key, located in parameters.mapping(None, f"parameters of {owner}").items():
        if isinstance(located.value, (dict, list)) or located.value is None:
            raise located.error(
                f"parameter {shown(key)[1:-1]} of {owner} must be one value, not {located.quoted}"
            )
        given[key] = located.value
        _with_location(located, lambda: check(given))
    return given


def _with_location(located: LocatedValue, check: Callable[[], T]) -> T:
    """Return what a check returns; file and line are added to its error."""
    try:
        return check()
    except UsageError as error:
        raise located.error(str(error)) from None


def only_named(names: tuple[str, ...], keys: Keys) -> Keys:
    """Return those of the keys that are among the names."""
    return {key: located for key, located in keys.items() if key in names}


def swept_values(located: LocatedValue, what: str) -> tuple[float, ...]:
    """Return a setting's values, given as one, a list, or ``{from, to, step}`` with step log2, log10 or a factor."""
    if not isinstance(located.value, dict):
        values = tuple(item.number(what) for item in located.items(MAX_SWEPT_VALUES))
        if len(set(values)) < len(values):
            raise located.error(f"{what} holds a value twice")
        return values
    span = located.mapping(("from", "to", "step"), what)
    if len(span) < 3:
        raise located.error(f"{what} needs from, to and step (log2, log10 or a factor)")
    first, last = span["from"].number("from"), span["to"].number("to")
    named = {"'log2'": 2.0, "'log10'": 10.0}.get(span["step"].quoted)
    step = named or span["step"].number("step (log2, log10 or a factor)", above=1)
    if last < first:
        raise span["to"].error(f"to ({last:g}) is below from ({first:g})")
    if last / first > MAX_SWEEP_RATIO:
        raise span["to"].error(
            f"from {first:g} to {last:g} is too wide; a factor of {MAX_SWEEP_RATIO:g} is the most"
        )
    count = math.floor(math.log(last / first) / math.log(step) + 1e-9) + 1
    if count > MAX_SWEPT_VALUES:
        raise span["step"].error(
            f"these are {count:,} values of {what}; at most {MAX_SWEPT_VALUES:,} are allowed"
        )
    return tuple(first * step**power for power in range(count))
