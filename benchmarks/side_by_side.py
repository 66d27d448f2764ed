"""What the benchmarks share: commands in fresh processes that take turns, medians and spread, a table, a CSV file.

A competitor is a command that prints one JSON object with `seconds` and whatever else is to stand beside it. All of
them run once before anything counts, then by turns, so that a busy minute of the machine touches all alike.
"""

import argparse
import csv
import importlib.util
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Command = list[str]

#: Imports liquidSVM, whose loader asks for a configuration variable that Python no longer has.
LIQUIDSVM = """
import distutils.sysconfig, sysconfig
real = sysconfig.get_config_var
def variable(name):
    return real("EXT_SUFFIX" if name == "SO" else name)
sysconfig.get_config_var = distutils.sysconfig.get_config_var = variable
import liquidSVM
"""


def parser(doc: str | None, repeat: int) -> argparse.ArgumentParser:
    """Return a parser with the options that all of them have, described by the first line of ``doc``."""
    asked = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    asked.add_argument("--mirror", help="folder of data files")
    asked.add_argument("--repeat", type=int, default=repeat, help="runs that count")
    asked.add_argument("--csv", help="write the figures to this file, too")
    return asked


def parse(asked: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the arguments, with the mirror where fwsvm looks for it."""
    given = asked.parse_intermixed_args()
    if given.mirror:
        os.environ["FWSVM_MIRROR"] = given.mirror
    return given


def python(script: str, *words: object) -> Command:
    """Return the command that runs a script of ours in a fresh interpreter."""
    return [sys.executable, "-c", script, *map(str, words)]


def fwsvm(*words: object) -> Command:
    """Return a command of fwsvm."""
    return [sys.executable, "-m", "fwsvm", *map(str, words)]


def run(command: Command) -> dict[str, Any]:
    """Run a command that prints one JSON object, and return that; a failure ends the benchmark with what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)[:300]}\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def by_turns(commands: Mapping[str, Command], repeat: int) -> dict[str, list[dict[str, Any]]]:
    """Run each command once and forget it, then all of them ``repeat`` times by turns."""
    for command in commands.values():
        run(command)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in commands}
    for _ in range(repeat):
        for name, command in commands.items():
            found[name].append(run(command))
    return found


def median(runs: list[dict[str, Any]], key: str = "seconds") -> float:
    """Return the median of a figure."""
    return float(statistics.median(each[key] for each in runs))


def spread(runs: list[dict[str, Any]], key: str = "seconds") -> str:
    """Return all values of a figure, from the least to the largest."""
    return listed(each[key] for each in runs)


def listed(values: Iterable[float], digits: int = 4) -> str:
    """Return values from the least to the largest, as a CSV file has them."""
    return " ".join(f"{value:.{digits}g}" for value in sorted(values))


def installed(module: str) -> bool:
    """Return whether a peer is there; if not, say so in a line."""
    there = importlib.util.find_spec(module) is not None
    if not there:
        print(f"{module}: not installed here, left out (make peers)")
    return there


def machine() -> dict[str, str]:
    """Return what the figures depend on; the commit ends in ``+`` where the package is not as it was committed."""
    from fwsvm.experiments.environment import environment

    found = environment().as_columns()
    if found["commit"] and changed():
        found["commit"] += "+"
    names = ("cpu", "blas", "python", "numpy", "numba", "commit")
    return {"cores": str(os.cpu_count()), **{name: found[name] for name in names}}


def changed() -> bool:
    """Return whether a source of the package differs from the commit."""
    asked = ["git", "-C", str(Path(__file__).parents[1]), "status", "--porcelain", "--", "fwsvm"]
    return bool(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)


def geometric_mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean, NaN of nothing."""
    values = list(ratios)
    return statistics.geometric_mean(values) if values else float("nan")


def show(row: Mapping[str, Any]) -> None:
    """Print a line as soon as it is known."""
    words = (
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()
    )
    print("  ".join(words), flush=True)


def write(path: str | Path | None, rows: list[dict[str, Any]]) -> None:
    """Write what there is so far, with the machine in each row, if a file is asked for."""
    if not path or not rows:
        return
    facts = machine()
    names = list(dict.fromkeys(key for row in rows for key in row))
    with open(path, "w", newline="", encoding="utf-8") as stream:  # noqa: PTH123
        writer = csv.DictWriter(stream, [*names, *facts])
        writer.writeheader()
        for row in rows:
            plain = {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()}
            writer.writerow(plain | facts)
