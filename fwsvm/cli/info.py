"""``fwsvm info``: versions, machine, folders and extras, for bug reports."""

import json
import os
from pathlib import Path
from typing import Any

import click

NEEDED = ("numpy", "scipy", "numba", "llvmlite", "pandas", "pyyaml", "click", "rich", "requests")
EXTRAS = {
    "plots": ("matplotlib",),
    "distributed": ("dask", "distributed"),
    "sklearn": ("scikit-learn",),
}
VARIABLES = ("FWSVM_CACHE", "FWSVM_MIRROR", "NUMBA_CACHE_DIR", "NUMBA_CPU_NAME")
MB = 1e6


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """Say what fwsvm runs on: versions, machine, caches, extras.

    With the size of each cache folder, and how to get the extras that are missing.
    """
    facts = _facts()
    click.echo(json.dumps(facts, indent=2) if as_json else "\n".join(_lines(facts)))


def _facts() -> dict[str, Any]:
    from fwsvm._memory import available_bytes, default_cache_mib
    from fwsvm.experiments.record import environment
    from fwsvm.files import folders
    from fwsvm.numerics.compiled_cache import PACKAGE
    from fwsvm.numerics.threads import usable_threads

    here = environment()
    places = {
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
        "folders": {name: {"path": str(place), **_size(place)} for name, place in places.items()},
        "compiled_code": {"path": str(folders.code_folder()), **_size(folders.code_folder())},
        "extras": {extra: {name: _version(name) for name in names} for extra, names in EXTRAS.items()},
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
    }


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _size(folder: Path) -> dict[str, int]:
    """Return files and bytes below a folder, which other processes may be changing; zeros where there is none."""
    count = total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(place, name).stat().st_size
            except OSError:  # deleted meanwhile
                continue
            count += 1
    return {"files": count, "bytes": total}


def _lines(facts: dict[str, Any]) -> list[str]:
    commit = f" (commit {facts['commit']})" if facts["commit"] else ""
    rows = [
        ("fwsvm", f"{facts['fwsvm']}{commit}, in {facts['installed']}"),
        ("python", facts["python"]),
        *((name, found or "missing: reinstall fwsvm") for name, found in facts["packages"].items()),
        ("machine", facts["machine"]),
        ("cpu", facts["cpu"]),
        ("blas", facts["blas"] or "unknown"),
        ("threads", str(facts["threads"])),
        (
            "memory",
            f"{facts['free_memory_mib']:,} MiB free; kernel columns take up to {facts['cache_mib']:,} MiB",
        ),
        ("cache", f"{facts['cache']} (FWSVM_CACHE moves it)"),
        *((f"  {name}", _folder_text(place)) for name, place in facts["folders"].items()),
        ("compiled code", f"{_folder_text(facts['compiled_code'])}; `fwsvm warmup` fills it"),
        *((f"extra {extra}", _extra_text(extra, found)) for extra, found in facts["extras"].items()),
        *((name, value) for name, value in facts["environment"].items()),
    ]
    widest = max(len(label) for label, _ in rows)
    return [f"{label:{widest}}  {said}" for label, said in rows]


def _folder_text(place: dict[str, Any]) -> str:
    return f"{place['path']}: {place['files']:,} files, {place['bytes'] / MB:,.1f} MB"


def _extra_text(extra: str, found: dict[str, str | None]) -> str:
    if None in found.values():
        return f"not installed: pip install 'fwsvm[{extra}]'"
    return ", ".join(f"{name} {number}" for name, number in found.items())
