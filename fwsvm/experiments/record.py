"""One run as a row of results: every column, in order."""

import hashlib
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

from fwsvm import promises
from fwsvm.data.dataset import Dataset
from fwsvm.experiments.environment import environment
from fwsvm.kernels.kernel import KernelFamily
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.results.columns import COLUMNS, SCHEMA
from fwsvm.results.schemas import as_json
from fwsvm.solvers import Settings, method
from fwsvm.solvers.protocols import OPTIONS, PROTOCOLS
from fwsvm.solvers.registry import FAMILIES
from fwsvm.solvers.result import Result

Row = dict[str, Any]

#: Fields of a result that are columns.
OF_RESULT = tuple(field.name for field in fields(Result) if field.name in COLUMNS and field.name != "flags")


def data_columns(data: Dataset) -> dict[str, Any]:
    """Return the columns that describe a data set and its training rows."""
    return {
        "dataset": data.name,
        "data_sha256": data.fingerprint,
        "rows": data.train.rows,
        "features": data.train.features,
        "classes": len(data.classes),
        "load_seconds": data.load_seconds,
        "source": data.source,
        "flags": promises.FIRST_USE if data.first_use else None,
    }


def sample_columns(data: Dataset, result: Result) -> dict[str, Any]:
    """Return the columns that describe the rows of a machine of a sample, which are data of their own.

    The row then names the problem that its objective and certificate are of.
    """
    assert result.sample is not None  # noqa: S101  (who asks has looked)
    drawn = f"{data.fingerprint} sample of {result.sample.rows} rows, seed {result.settings['seed']}"
    return {"rows": result.sample.rows, "data_sha256": hashlib.sha256(drawn.encode()).hexdigest()}


def missing_test_note(data: Dataset, result: Result) -> dict[str, Any]:
    """Return the message of a run without test accuracy because the test rows cannot be found; else nothing."""
    return {"message": f"{result.message} {data.lacking}".strip()} if data.lacking else {}


def row(data: Mapping[str, Any], result: Result | None = None, **more: Any) -> Row:
    """Return the row of one run in this process, with every column in order.

    Parameters
    ----------
    data : mapping
        Columns that describe the data, see `data_columns`.
    result : Result, optional
        The result of the run; without it ``more`` has status, message and the requested settings.
    more : values by column name
        The rest: identity, accuracies, times. They take precedence over ``result``.

    Raises
    ------
    TypeError
        A value for a column that does not exist.
    """
    values: Row = dict.fromkeys(COLUMNS) | {"schema": SCHEMA}
    values |= environment().as_columns()
    if result is not None:
        values |= {name: value for name, value in result.settings.items() if name in COLUMNS}
        values |= {name: getattr(result, name) for name in OF_RESULT}
        values["status"] = str(result.status)
    unknown = [name for name in (*data, *more) if name not in COLUMNS]
    if unknown:
        raise TypeError(f"runs.csv has no column {', '.join(unknown)}")
    values |= dict(data) | more
    if result is not None:
        values["flags"] = " ".join([*(values["flags"] or "").split(), *_flags(result)]) or None
    return values


def _flags(result: Result) -> list[str]:
    numbers = result.objective, result.gap, result.relative_gap, result.gap_kind
    found = promises.gap_flags(*numbers) if result.status.done else []
    return [*found, *result.flags, *([promises.TRAINED_ON_SAMPLE] if result.sample is not None else [])]


def settings_columns(settings: Settings) -> dict[str, Any]:
    """Return the columns method, protocol, parameters, time_limit and max_iterations of a run.

    The protocol is empty for methods that neither sample rows nor stop by the MEB rule.
    """
    chosen = method(settings.method)
    family = FAMILIES[chosen.family]
    has_protocol = "sampled" in family.searches or "meb" in chosen.stops
    return {
        "method": chosen.name,
        "protocol": settings.protocol if has_protocol else None,
        "parameters": as_json(changed_parameters(settings)),
        "time_limit": settings.time_limit,
        "max_iterations": family.iteration_cap
        if settings.max_iterations is None
        else settings.max_iterations,
    }


def changed_parameters(settings: Settings) -> dict[str, Any]:
    """Return what differs from the method's defaults.

    These are its own parameters, settings of its protocol, those that its kernel alone has (``kernel.`` before their
    names), and weights of classes.
    """
    chosen, kernel = method(settings.method), kernel_of(settings)
    found = _differing(chosen.make(settings.parameters)._asdict(), chosen.parameters())
    if "sampled" in FAMILIES[chosen.family].searches:
        protocol = PROTOCOLS[settings.protocol]
        given = {name: getattr(settings, name) for name in OPTIONS}
        found |= {
            name: value for name, value in given.items() if value not in {None, getattr(protocol, name)}
        }
    own = _differing(kernel.own_values(settings.kernel_parameters), kernel.own)
    found |= {f"kernel.{name}": value for name, value in own.items()}
    weights = settings.class_weight
    if weights is not None:
        found["class_weight"] = weights if isinstance(weights, str) else dict(sorted(weights.items()))
    return found


def _differing(values: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    changed = {name: value for name, value in values.items() if value != defaults[name]}
    return {name: value.name.lower() if isinstance(value, Enum) else value for name, value in changed.items()}


def kernel_of(settings: Settings) -> KernelFamily:
    """Return the kernel of a run: the one given, else the default of the method's family."""
    return kernel_family(settings.kernel or FAMILIES[method(settings.method).family].default_kernel)
