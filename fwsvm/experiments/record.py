"""One run as a row of results: every column, in order, with machine, versions and commit of this process."""

import contextlib
import functools
import json
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import fields, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numba
import numpy as np

import fwsvm
from fwsvm._memory import RAN_OUT
from fwsvm.errors import FwsvmError
from fwsvm.kernels.kernel import KernelFamily
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.problems.machines import Model
from fwsvm.results.columns import COLUMNS, SCHEMA
from fwsvm.results.writing import json_values
from fwsvm.solvers import Settings, method
from fwsvm.solvers.protocols import OPTIONS, PROTOCOLS
from fwsvm.solvers.registry import FAMILIES
from fwsvm.solvers.result import Result
from fwsvm.status import TRAINED_ON_SAMPLE, gap_flags

Row = dict[str, Any]
#: What leaves an accuracy unknown: no room to predict rows, or workers of a cluster that are gone.
UNMEASURED = (FwsvmError, MemoryError)

#: Fields of a result that are columns.
OF_RESULT = [field.name for field in fields(Result) if field.name in COLUMNS and field.name != "flags"]
#: Columns of a run's row that its model file keeps.
FACTS = (  # noqa: SIM905 - a list of names reads better unquoted
    "method dataset data_sha256 C lambda search stop tolerance seed status objective gap relative_gap gap_kind "
    "certified train_seconds fwsvm run_id"
).split()


@functools.cache
def environment() -> dict[str, str]:
    """Return machine, processor, versions and commit of this process, by column."""
    return {
        "machine": platform.node(),
        "cpu": _cpu(),
        "blas": _blas(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "fwsvm": fwsvm.__version__,
        "commit": _commit(Path(__file__).parents[2]),
    }


def _cpu() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith(("model name", "Model")):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _blas() -> str:
    import threadpoolctl

    np.dot(np.ones(2), np.ones(2))  # some libraries are loaded when they are first used
    libraries = [entry for entry in threadpoolctl.threadpool_info() if entry["user_api"] == "blas"]
    libraries.sort(key=lambda entry: ("numpy" not in entry["filepath"], entry["filepath"]))
    return next((f"{entry['internal_api']} {entry['version'] or ''}".strip() for entry in libraries), "")


def _commit(top: Path) -> str:
    if not (top / ".git").exists():
        return ""
    words = ["git", "-C", str(top), "rev-parse", "--short=12", "HEAD"]
    with contextlib.suppress(OSError):  # the machine has no git, or none that may be run
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return ""


def known_columns(values: Mapping[str, Any]) -> Row:
    """Return those of the values that are columns."""
    return {name: value for name, value in values.items() if name in COLUMNS}


def row(result: Result | None = None, **more: Any) -> Row:
    """Return the row of one run in this process, with every column in order.

    Parameters
    ----------
    result : Result, optional
        The result of the run; without it ``more`` has status, message and the requested settings.
    more : values by column name
        The rest: data, identity, accuracies, times. They take precedence over ``result``.
    """
    values: Row = dict.fromkeys(COLUMNS) | {"schema": SCHEMA} | environment()
    if result is None:
        return values | more
    values |= known_columns(result.settings) | {name: getattr(result, name) for name in OF_RESULT}
    values |= {"status": str(result.status)} | more
    flags = [
        *(values["flags"] or "").split(),
        *gap_flags(result.status, result.objective, result.gap, result.relative_gap, result.gap_kind),
        *result.flags,
        *([TRAINED_ON_SAMPLE] if result.sample is not None else []),
    ]
    return values | {"flags": " ".join(flags) or None}


def noted(result: Result, said: str, *flags: str) -> Result:
    """Return a result with another sentence in its message, and more flags."""
    return replace(result, message=f"{result.message} {said}", flags=(*result.flags, *flags))


def unmeasured(result: Result, what: str, error: FwsvmError | MemoryError, *flags: str) -> Result:
    """Return a result whose message says why something is not known."""
    why = RAN_OUT if isinstance(error, MemoryError) else error
    return noted(result, f"{what} could not be computed: {why}.", *flags)


def requested(settings: Settings) -> Row:
    """Return the requested settings, for the row of a run without result."""
    return known_columns(vars(settings)) | {"lambda": settings.lambda_} | settings_columns(settings)


def settings_columns(settings: Settings) -> Row:
    """Return the columns method, protocol, parameters, time_limit and max_iterations of a run.

    The protocol is empty for methods that neither sample rows nor stop by the MEB rule.
    """
    chosen = method(settings.method)
    family = FAMILIES[chosen.family]
    has_protocol = "sampled" in family.searches or "meb" in chosen.stops
    changed = changed_parameters(settings)
    return {
        "method": chosen.name,
        "protocol": settings.protocol if has_protocol else None,
        "parameters": json.dumps(changed) if changed else "",
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
    chosen = method(settings.method)
    kernel = kernel_of(settings)
    found = _differing(chosen.make(settings.parameters)._asdict(), chosen.parameters())
    if "sampled" in FAMILIES[chosen.family].searches:
        protocol = PROTOCOLS[settings.protocol]
        for name in OPTIONS:
            if (value := getattr(settings, name)) not in {None, getattr(protocol, name)}:
                found[name] = value
    own = _differing(kernel.own_values(settings.kernel_parameters), kernel.own)
    found |= {f"kernel.{name}": value for name, value in own.items()}
    weights = settings.class_weight
    if weights is not None:
        found["class_weight"] = weights if isinstance(weights, str) else dict(sorted(weights.items()))
    return found


def _differing(values: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.name.lower() if isinstance(value, Enum) else value
        for name, value in values.items()
        if value != defaults[name]
    }


def kernel_of(settings: Settings) -> KernelFamily:
    """Return the kernel of a run: the one given, else the default of the method's family."""
    return kernel_family(settings.kernel or FAMILIES[method(settings.method).family].default_kernel)


def with_facts(result: Result, of_run: Row) -> Model:
    """Return a result's model with those columns of its row that a model file keeps."""
    values = json_values(of_run)
    return replace(result.model, facts={**result.model.facts, **{name: values[name] for name in FACTS}})
