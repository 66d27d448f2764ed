"""What the scripts share: commands in fresh processes that take turns, medians, a line printed, a CSV file.

A competitor is a command that prints one JSON object. Those that compile run once before anything counts, then all by
turns, so that a busy minute of the machine touches all alike.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

Command = list[str]


def parser(doc: str | None, repeat: int) -> argparse.ArgumentParser:
    """Return a parser with the options that all scripts have."""
    asked = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--repeat", type=int, default=repeat, help="runs that count")
    asked.add_argument("--csv", type=Path, help="also write the lines to this file")
    return asked


def python(script: str, *words: object) -> Command:
    """Return the command that runs a script in a fresh interpreter."""
    return [sys.executable, "-c", script, *map(str, words)]


def fwsvm(*words: object) -> Command:
    """Return a command of fwsvm."""
    return [sys.executable, "-m", "fwsvm", *map(str, words)]


def run(command: Command, before: Callable[[], None] | None = None) -> dict[str, Any]:
    """Run a command that prints one JSON object, and return that; a failure ends the script with its message."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=before)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)[:300]}\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def by_turns(
    commands: Mapping[str, Command], repeat: int, warm_up: Iterable[str] | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Run each command, or those to ``warm_up``, once and forget it, then all of them ``repeat`` times by turns."""
    for name in commands if warm_up is None else warm_up:
        run(commands[name])
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in commands}
    for _ in range(repeat):
        for name, command in commands.items():
            found[name].append(run(command))
    return found


def median(runs: list[dict[str, Any]], key: str = "seconds") -> float:
    """Return the median of a measurement."""
    return float(statistics.median(each[key] for each in runs))


def report(lines: Iterable[dict[str, Any]], path: Path | None) -> list[dict[str, Any]]:
    """Print lines as they come and write those so far to a file, each with the machine; return them."""
    from fwsvm.experiments.record import environment

    columns = environment()
    machine = {
        "cores": os.cpu_count(),
        **{name: columns[name] for name in ("cpu", "python", "numpy", "numba", "commit")},
    }
    found: list[dict[str, Any]] = []
    for line in lines:
        found.append({k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in line.items()})
        print("  ".join(f"{key}={value}" for key, value in found[-1].items()), flush=True)
        if path is not None:
            with path.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.DictWriter(
                    stream, [*dict.fromkeys(key for each in found for key in each), *machine]
                )
                writer.writeheader()
                writer.writerows(each | machine for each in found)
    return found
