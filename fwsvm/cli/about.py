"""``fwsvm methods``, ``kernels``, ``info`` and ``warmup``: what there is, and this machine."""

import inspect
import os
import re
import tempfile
import time
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm.cli._lines import print_facts

if TYPE_CHECKING:
    from fwsvm.solvers.registry import Method

PACKAGES = (  # noqa: SIM905 - a list of names reads better unquoted
    "numpy scipy numba llvmlite pandas pyyaml click rich requests matplotlib dask distributed scikit-learn"
).split()
VARIABLES = ("FWSVM_CACHE", "FWSVM_MIRROR", "NUMBA_CACHE_DIR", "NUMBA_CPU_NAME")
KINDS = {int: "whole number", float: "number", bool: "true or false", str: "text"}
ROWS, FEATURES, STEPS = 80, 4, 300  # of a run that is made so that its code is compiled


@click.command()
@click.argument("name", required=False)
def methods(name: str | None) -> None:
    """List the methods by family, or say what NAME does.

    With NAME, also when it stops and what parameters it has.

    \b
    fwsvm methods
    fwsvm methods swap
    """  # noqa: D301
    from fwsvm.solvers import METHODS, method

    if name is not None:
        print_facts(facts_of(method(name)))
        return
    found: dict[str, Any] = {}
    for known, each in sorted(METHODS.items()):
        found.setdefault(each.family, {})[known] = f"{each.summary} [{each.paper}]"
    print_facts(found)


def facts_of(method: "Method") -> dict[str, Any]:
    """Return the description of a method as plain values."""
    from fwsvm.kernels.kernel import KERNELS
    from fwsvm.parameters import types_of
    from fwsvm.solvers import FAMILIES

    family = FAMILIES[method.family]
    kinds = types_of(method.rule)
    text, _, section = inspect.cleandoc(method.rule.__doc__ or "").partition("\n\nParameters\n----------\n")
    meanings: dict[str, str] = {}
    for names, meaning in re.findall(r"^(\S.*?) : (.*(?:\n .*)*)", section, re.MULTILINE):
        meanings |= dict.fromkeys(names.split(", "), " ".join(meaning.split()))
    return {
        "name": method.name,
        "family": family.name,
        "paper": method.paper,
        "summary": method.summary,
        "description": [" ".join(part.split()) for part in text.split("\n\n")[1:]],
        "tolerance": method.tolerance,
        "stops": method.stops,
        "kernels": sorted(
            name for name in family.kernels or KERNELS if not (family.divide and KERNELS[name].given)
        ),
        "default_kernel": family.default_kernel,
        "multiclass": family.multiclass,
        "iteration_cap": family.iteration_cap,
        "parameters": {
            key: {
                "default": value.name.lower() if isinstance(value, Enum) else value,
                "kind": KINDS.get(kinds[key]) or " or ".join(member.name.lower() for member in kinds[key]),
                "meaning": meanings.get(key),
            }
            for key, value in method.parameters().items()
        },
    }


@click.command()
@click.argument("name", required=False)
def kernels(name: str | None) -> None:
    """List the kernels with their formulas, or say what NAME is.

    With NAME, also its parameters and default widths. Where gamma is not given it follows from the training rows: D is
    the mean squared distance of two training rows. Parameters that only one kernel has are given by --param NAME=VALUE.

    \b
    fwsvm kernels
    fwsvm kernels rbf
    """  # noqa: D301
    from fwsvm.kernels.kernel import KERNELS, family

    if name is None:
        print_facts({known: KERNELS[known].formula for known in sorted(KERNELS)})
        return
    one = family(name)
    print_facts(
        {
            "name": name,
            "formula": one.formula,
            "parameters": one.parameters,
            "own": one.own,
            "widths": {rule: width.formula for rule, width in one.widths.items()},
            "libsvm": one.libsvm,
        }
    )


@click.command()
def info() -> None:
    """Show versions, machine and caches.

    With packages that are not installed.
    """
    from fwsvm._memory import available_bytes, default_cache_mib
    from fwsvm.experiments.record import environment
    from fwsvm.files import folders
    from fwsvm.numerics.compile import PACKAGE
    from fwsvm.numerics.threads import usable_threads

    print_facts(
        {
            **environment(),
            "installed": str(PACKAGE),
            "packages": {name: _version(name) for name in PACKAGES},
            "threads": usable_threads(),
            "free_memory_mib": available_bytes() >> 20,
            "cache_mib": default_cache_mib(),
            "cache": str(folders.cache_root()),
            "folders": {
                "data": str(folders.data_folder()),
                "parsed": str(folders.parsed_folder()),
                "compiled_code": str(folders.code_folder()),
            },
            "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        }
    )


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


@click.command()
@click.option(
    "--method", "-m", "chosen", multiple=True, help="Only this one; may be repeated [default: all]."
)
def warmup(chosen: tuple[str, ...]) -> None:
    """Compile everything now, so that later runs start at once.

    Without this command, solvers, kernels and the file reader are compiled when first used. The code is kept for every
    later process, until fwsvm itself changes.
    """
    from fwsvm.data.formats import svmlight
    from fwsvm.files.folders import code_folder
    from fwsvm.solvers import METHODS, method

    # those two run the code of auto
    names = ["auto" if name in ("nested", "cells") else name for name in chosen or METHODS]
    runs = [(each.name, more) for each in map(method, dict.fromkeys(names)) for more in _variants(each)]
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.svm")
        file.write_text("1 1:0.5 2:1\n-1 1:1\n" * STEPS)
        svmlight.read(file)
    for number, (name, more) in enumerate(runs, 1):
        _train(name, **more)
        said = " ".join([name, *(f"{key}={value}" for key, value in more.items())])
        click.echo(f"[{number}/{len(runs)}] {said}: {time.perf_counter() - started:.1f} s", err=True)
    click.echo(f"Ready; compiled code is in {code_folder()}")


def _variants(method: "Method") -> list[dict[str, Any]]:
    """Return the settings of all runs whose code a method needs."""
    from fwsvm.solvers import FAMILIES

    family = FAMILIES[method.family]
    variants: list[tuple[dict[str, Any], object]] = [
        ({}, True),
        ({"max_iterations": None}, family.solve_at_once),  # small problems
        ({"search": "sampled"}, "sampled" in family.searches),
        ({"tolerance": 1e-15}, family.searches),  # double precision
        # C alone tells the rows apart: single precision holds no factor of theirs
        ({"times": 2, "C": 1e9}, method.name in ("auto", "newton")),
    ]
    return [settings for settings, is_needed in variants if is_needed]


def _train(method: str, times: int = 1, **given: Any) -> None:
    """Train on three small clusters, dense and sparse, each row so many times, and predict."""
    import numpy as np
    from scipy import sparse

    from fwsvm.solvers import Settings, fit
    from fwsvm.status import Status

    codes = np.arange(ROWS) % 3
    X = np.random.default_rng(0).normal(size=(ROWS, FEATURES)) + codes[:, None]
    X = np.repeat(X, times, axis=0)
    codes = np.repeat(codes, times)
    settings = Settings(method=method, cache_mib=1, **{"max_iterations": STEPS} | given)
    fifths = np.eye(5)[np.arange(len(X)) % 5]  # for rows of which a fifth of the numbers are stored
    for rows in (X, sparse.csr_array((fifths[:, :, None] * X[:, None]).reshape(len(X), -1))):
        result = fit(rows, codes, ("1", "2", "3"), settings)
        if result.status is Status.INTERRUPTED:  # what training takes for its end, ends the command
            raise KeyboardInterrupt
        result.model.predict(rows)
