"""Names of methods in rows and tables: a method with what was changed of it.

Most settings have a column of their own, which tells the runs of a method apart. Those of `_without_column` have none:
where they alone tell two trials of an experiment apart, the later one is named by them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fwsvm.experiments.experiment import DataSpec, Sweep, Trial
from fwsvm.kernels.kernel import KernelFamily
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.parameters import labelled
from fwsvm.solvers import Settings, class_weight, method
from fwsvm.solvers.protocols import OPTIONS
from fwsvm.solvers.registry import FAMILIES


def method_label(settings: Settings, unlike: Mapping[str, Any] | None = None) -> str:
    """Return the method's name with what was changed: its parameters, settings of its protocol, weights of classes.

    ``unlike`` is named whatever it is, see `Trial`.
    """
    chosen = method(settings.method)
    sampling = "sampled" in FAMILIES[chosen.family].searches
    changed = {name: getattr(settings, name) for name in OPTIONS if sampling}
    changed["class_weight"] = class_weight.label(settings.class_weight)
    named = {key: str(value) for key, value in (unlike or {}).items()}
    return labelled(
        settings.method,
        chosen.make(settings.parameters)._asdict() | changed | named,
        chosen.parameters() | dict.fromkeys({**changed, **named}) | {"class_weight": ""},
    )


def kernel_of(settings: Settings) -> KernelFamily:
    """Return the kernel of a run: the one given, else the default of the method's family."""
    return kernel_family(settings.kernel or FAMILIES[method(settings.method).family].default_kernel)


def told_apart(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials, with ``unlike`` where rows would not tell one from an earlier one."""
    found: list[Trial] = []
    earlier: dict[tuple[DataSpec, str], list[Sweep]] = {}
    for trial in trials:
        usual = Settings()
        base = replace(
            trial.finals.base, time_limit=usual.time_limit, max_iterations=usual.max_iterations,
            protocol=usual.protocol, kernel_parameters={},
        )  # fmt: skip
        alike = earlier.setdefault((trial.data, str(base)), [])
        own = _without_column(trial.finals.base)
        others = [_without_column(other.base) for other in alike if _overlap(other, trial.finals)]
        unlike = {name: value for name, value in own.items() if any(other[name] != value for other in others)}
        alike.append(trial.finals)
        found.append(replace(trial, unlike=unlike))
    return found


def _without_column(settings: Settings) -> dict[str, Any]:
    """Return the settings that decide a run and have no column in its row."""
    values = kernel_of(settings).own_values(settings.kernel_parameters)
    own = {f"kernel.{name}": value for name, value in values.items()}
    return {name: getattr(settings, name) for name in ("time_limit", "max_iterations", "protocol")} | own


def _overlap(one: Sweep, other: Sweep) -> bool:
    """Whether two sweeps have a combination of values in common."""
    return one.varied.keys() == other.varied.keys() and all(
        set(values) & set(other.varied[name]) for name, values in one.varied.items()
    )
