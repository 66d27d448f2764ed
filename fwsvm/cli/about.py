"""``fwsvm methods``, ``kernels``, ``info`` and ``warmup``: what there is, and this machine."""

import inspect
import itertools
import json
import os
import re
import tempfile
import time
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm.cli._lines import align, wrap
from fwsvm.cli._options import NAMED, json_option

if TYPE_CHECKING:
    from fwsvm.solvers.registry import Method

NEEDED = ("numpy", "scipy", "numba", "llvmlite", "pandas", "pyyaml", "click", "rich", "requests")
EXTRAS = {"plots": ("matplotlib",), "distributed": ("dask", "distributed"), "sklearn": ("scikit-learn",)}
VARIABLES = ("FWSVM_CACHE", "FWSVM_MIRROR", "NUMBA_CACHE_DIR", "NUMBA_CPU_NAME")
KINDS = {int: "whole number", float: "number", bool: "true or false", str: "text"}
ROWS, FEATURES, STEPS = 80, 4, 300  # of a run that is made so that its code is compiled
FIRST_SECONDS, NEXT_SECONDS = 30, 5  # of one processor, for the first part, and for each further one


@click.command()
@click.argument("name", required=False)
@json_option
def methods(name: str | None, as_json: bool) -> None:
    """List the methods by family, or say what NAME does.

    With NAME, also when it stops and what parameters it has.

    \b
    fwsvm methods
    fwsvm methods swap
    """  # noqa: D301
    from fwsvm.solvers import METHODS, method

    if name is not None:
        facts = facts_of(method(name))
        _print(facts, _described(facts), as_json=as_json)
    else:
        every = [facts_of(METHODS[known]) for known in sorted(METHODS)]
        _print({"methods": every}, _listed(every), as_json=as_json)


def _print(facts: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    click.echo(json.dumps(facts, indent=2) if as_json else "\n".join(lines))


def facts_of(method: "Method") -> dict[str, Any]:
    """Return the description of a method as plain values."""
    from fwsvm.kernels.kernel import KERNELS
    from fwsvm.parameters import types_of
    from fwsvm.solvers import FAMILIES

    family, kinds = FAMILIES[method.family], types_of(method.rule)
    text, _, section = inspect.cleandoc(method.rule.__doc__ or "").partition("Parameters\n----------\n")
    meanings: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section.strip()):
        names, _, meaning = entry.partition(" : ")
        meanings |= dict.fromkeys(names.split(", "), " ".join(meaning.split()))
    return {
        "name": method.name,
        "family": family.name,
        "paper": method.paper,
        "summary": method.summary,
        "description": [" ".join(part.split()) for part in text.split("\n\n")[1:] if part.strip()],
        "tolerance": method.tolerance,
        "stops": list(method.stops),
        "kernels": sorted(family.kernels or KERNELS),
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


def _listed(every: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    widest = max(len(facts["name"]) for facts in every)
    for family in dict.fromkeys(facts["family"] for facts in every):
        members = [facts for facts in every if facts["family"] == family]
        kernels = members[0]["kernels"]
        any_of = f"the {kernels[0]} kernel" if len(kernels) == 1 else "any kernel"
        lines.append(f"{family}: {any_of}, {members[0]['multiclass']}")
        for facts in members:
            lines += wrap(f"{facts['summary']} [{facts['paper']}]", f"  {facts['name']:{widest}}  ")
        lines.append("")
    return [*lines, "fwsvm methods NAME tells more about one of them."]


def _described(facts: dict[str, Any]) -> list[str]:
    cap = facts["iteration_cap"]
    rows = {
        "family": f"{facts['family']}, several classes {facts['multiclass']}",
        "paper": facts["paper"],
        "kernels": f"{', '.join(facts['kernels'])} [default: {facts['default_kernel']}]",
        "--stop": f"{' or '.join(facts['stops'])} [default: {facts['stops'][0]}]",
        "--tol": facts["tolerance"],
        "iterations": f"at most {cap:,}, unless --max-iterations says otherwise"
        if cap
        else "no limit, unless --max-iterations sets one",
    }
    lines = [*wrap(facts["summary"], f"{facts['name']}: ", "  "), ""]
    for paragraph in facts["description"]:
        lines += [*wrap(paragraph, "  "), ""]
    for label, said in rows.items():
        lines += wrap(said, f"  {label:<12}")
    lines += ["", "parameters (--param NAME=VALUE)" if facts["parameters"] else "no parameters of its own"]
    for (kind, meaning), some in itertools.groupby(
        facts["parameters"].items(), lambda pair: (pair[1]["kind"], pair[1]["meaning"])
    ):
        values = [(key, about["default"]) for key, about in some]
        texts = [f"{k}={v:g}" if isinstance(v, float) else f"{k}={str(v).lower()}" for k, v in values]
        lines += wrap(f"{', '.join(texts)}  ({kind}){f': {meaning}' if meaning else ''}", "  ", "      ")
    return lines


@click.command()
@json_option
def kernels(as_json: bool) -> None:
    """List the kernels: formula, parameters, and default widths.

    Where gamma is not given it follows from the training rows: D is the mean squared distance of two training rows.
    Parameters that only one kernel has are given by --kernel-param NAME=VALUE.
    """
    from fwsvm.kernels.kernel import KERNELS

    found, lines = [], []
    for name, family in sorted(KERNELS.items()):
        widths = {rule: width.formula for rule, width in family.widths.items()}
        own, parameters = family.own, list(family.parameters)
        found.append(
            {
                "name": name,
                "formula": family.formula,
                "parameters": parameters,
                "own": own,
                "widths": widths,
                "libsvm": family.libsvm or None,
            }
        )
        about = {
            "options": ", ".join(f"--{each}" for each in parameters if each not in own),
            "--kernel-param": ", ".join(f"{each}={value}" for each, value in own.items()),
            "gamma": "; ".join(f"{rule}: {formula}" for rule, formula in widths.items()),
        }
        lines += [f"{name}: {family.formula}", *(f"  {key:<15}{said}" for key, said in about.items() if said)]
    _print({"kernels": found}, lines, as_json=as_json)


@click.command()
@json_option
def info(as_json: bool) -> None:
    """Show versions, machine, caches and extras.

    With the size of each cache folder, and how to get the extras that are missing.
    """
    facts = _facts()
    _print(facts, _lines(facts), as_json=as_json)


def _facts() -> dict[str, Any]:
    from fwsvm._memory import available_bytes, default_cache_mib
    from fwsvm.experiments.record import environment
    from fwsvm.files import folders
    from fwsvm.numerics.compiled_cache import PACKAGE
    from fwsvm.numerics.threads import usable_threads

    here = environment()
    caches = {
        "data": folders.data_folder(),
        "parsed": folders.parsed_folder(),
        "numba": folders.numba_folder(),
    }
    return {
        "fwsvm": here["fwsvm"],
        "commit": here["commit"] or None,
        "installed": str(PACKAGE),
        "python": here["python"],
        "packages": {name: _version(name) for name in NEEDED},
        "machine": here["machine"],
        "cpu": here["cpu"],
        "blas": here["blas"],
        "threads": usable_threads(),
        "free_memory_mib": available_bytes() >> 20,
        "cache_mib": default_cache_mib(),
        "cache": str(folders.cache_root()),
        "folders": {name: _folder(place) for name, place in caches.items()},
        "compiled_code": _folder(folders.code_folder()),
        "extras": {extra: {name: _version(name) for name in names} for extra, names in EXTRAS.items()},
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
    }


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _folder(folder: Path) -> dict[str, Any]:
    """Return path, files and bytes of a folder, which other processes may be changing; zeros where there is none."""
    sizes = []
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                sizes.append(Path(place, name).stat().st_size)
            except OSError:  # deleted meanwhile
                continue
    return {"path": str(folder), "files": len(sizes), "bytes": sum(sizes)}


def _lines(facts: dict[str, Any]) -> list[str]:
    commit = f" (commit {facts['commit']})" if facts["commit"] else ""
    free, columns = facts["free_memory_mib"], facts["cache_mib"]
    rows = {"fwsvm": f"{facts['fwsvm']}{commit}, in {facts['installed']}", "python": facts["python"]}
    rows |= {name: found or "missing: reinstall fwsvm" for name, found in facts["packages"].items()}
    rows |= {name: str(facts[name]) for name in ("machine", "cpu", "blas", "threads")}
    rows["memory"] = f"{free:,} MiB free; kernel columns take up to {columns:,} MiB"
    rows["cache"] = f"{facts['cache']} (FWSVM_CACHE moves it)"
    for name, place in {**facts["folders"], "compiled code": facts["compiled_code"]}.items():
        rows[f"  {name}"] = f"{place['path']}: {place['files']:,} files, {place['bytes'] / 1e6:,.1f} MB"
    for extra, found in facts["extras"].items():
        known = ", ".join(f"{name} {number}" for name, number in found.items())
        missing = f"not installed: pip install 'fwsvm[{extra}]'"
        rows[f"extra {extra}"] = missing if None in found.values() else known
    return align([*rows.items(), *facts["environment"].items()])


@click.command()
@click.option(
    "--method",
    "-m",
    "chosen",
    multiple=True,
    type=NAMED["method"],
    help="Only this one; may be repeated [default: all].",
)
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    help="For this kernel, and without --method all methods that have it; may be repeated [default: rbf, or the "
    "method's only one].",
)
def warmup(chosen: tuple[str, ...], kernels: tuple[str, ...]) -> None:
    """Compile everything now, so that later runs start at once.

    Without this command, solvers, kernels and the file reader are compiled when first used. The code is kept for every
    later process, until fwsvm itself changes.
    """
    from fwsvm.files.folders import code_folder
    from fwsvm.solvers import METHODS, method

    names = ["auto" if name == "nested" else name for name in chosen or METHODS]  # nested runs auto's code
    runs: list[tuple[str, tuple[str, str, dict[str, Any]] | None]] = [("file reader", None)]
    for each in map(method, dict.fromkeys(names)):
        for kernel in _kernels(each, kernels, named=bool(chosen)):
            runs += [
                (f"{each.name}, {kernel}{label}", (each.name, kernel, more))
                for label, more in _variants(each).items()
            ]
    about = FIRST_SECONDS + NEXT_SECONDS * len(runs)
    click.echo(f"{len(runs)} parts; about {about} s of one processor where nothing is compiled yet", err=True)
    started = time.perf_counter()
    for number, (label, run) in enumerate(runs, 1):
        began = time.perf_counter()
        if run is None:
            _read()
        else:
            _train(run[0], run[1], **run[2])
        click.echo(f"[{number}/{len(runs)}] {label}: {time.perf_counter() - began:.1f} s", err=True)
    click.echo(f"Ready after {time.perf_counter() - started:.1f} s; compiled code is in {code_folder()}")


def _kernels(method: "Method", asked: tuple[str, ...], *, named: bool) -> list[str]:
    """Return the kernels to compile a method for; `UsageError` if one that was named supports none of those asked."""
    from fwsvm.errors import UsageError
    from fwsvm.kernels.kernel import family
    from fwsvm.solvers import FAMILIES

    known = FAMILIES[method.family]
    wanted = [family(name).name for name in asked] or [known.default_kernel]
    found = [name for name in wanted if known.kernels is None or name in known.kernels]
    if named and not found:
        has = " or ".join(known.kernels or ())
        raise UsageError(f"{method.name} works with the {has} kernel, not with {', '.join(wanted)}")
    return found


def _variants(method: "Method") -> dict[str, dict[str, Any]]:
    """Return the settings of all runs whose code a method needs, by what follows the kernel in their labels."""
    from fwsvm.solvers import FAMILIES

    family = FAMILIES[method.family]
    found: dict[str, dict[str, Any]] = {"": {}}
    if family.solve_at_once is not None:
        found[", small problems"] = {"max_iterations": None}
    if "sampled" in family.searches:
        found[", sampled"] = {"search": "sampled"}
    if family.searches:
        found[", double precision"] = {"tolerance": 1e-15}
    if method.name in ("auto", "newton"):
        # C alone tells the rows apart: single precision holds no factor of theirs
        found[", rows twice"] = {"times": 2, "C": 1e9}
    return found


def _train(method: str, kernel: str, times: int = 1, **given: Any) -> None:
    """Compile runs on dense and on sparse rows, train on three small clusters, each row so many times, and predict."""
    import numpy as np

    from fwsvm.kernels.kernel import family
    from fwsvm.problems.precomputed import with_numbers
    from fwsvm.solvers import Settings, fit, resolve
    from fwsvm.solvers.warm_up import compile_runs

    codes = np.arange(ROWS) % 3
    X = np.random.default_rng(0).normal(size=(ROWS, FEATURES)) + codes[:, None]
    X, codes = np.repeat(X, times, axis=0), np.repeat(codes, times)
    if family(kernel).given:
        X = with_numbers(X @ X.T)
    settings = Settings(method=method, kernel=kernel, cache_mib=1, **{"max_iterations": STEPS} | given)
    mixed = np.vstack([np.ones(2 * FEATURES), np.eye(2 * FEATURES)])
    compile_runs(resolve(settings, mixed), mixed)
    fit(X, codes, ("1", "2", "3"), settings).model.predict(X)


def _read() -> None:
    """Write a small file in LIBSVM's format, and read it."""
    import numpy as np

    from fwsvm.data.formats import svmlight

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.svm")
        svmlight.write(file, np.eye(FEATURES), np.array([1.0, -1.0] * (FEATURES // 2)))
        svmlight.read(file)
