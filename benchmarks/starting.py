"""How soon fwsvm starts: whole commands in fresh processes, the compiled cache warm, or empty.

    python benchmarks/starting.py [--repeat 11] [--cold 0] [--csv FILE]

`fwsvm --help`, and `fwsvm train` on a generated file of 300 rows, each beside `python -c 'import numba'`: of the latter
its time is taken off. Seconds of the wall. The ratio is the time of `import numba` / that of the command.

With --cold N `fwsvm train` is run N times with an empty cache as well, in which it must compile what it needs. Beside
the seconds of the wall stand those of the processor, of the second process that compiles, too.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import side_by_side as bench

BASE = "import numba"


def seconds(command: bench.Command) -> float:
    """Return how long a command takes."""
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun


def cold(command: bench.Command) -> tuple[float, float]:
    """Return the seconds of the wall and of the processor that a command takes with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=os.environ | {"FWSVM_CACHE": folder})
        spent, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure, print a line a command, and write them as CSV if asked to."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--repeat", type=int, default=11)
    asked.add_argument("--cold", type=int, default=0)
    asked.add_argument("--csv")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file, random = Path(folder) / "300.svm", np.random.default_rng(0)
        file.write_text("".join(f"{1 - 2 * (i % 2)} 1:{random.normal() + i % 2:.4f} 2:{random.normal():.4f}\n"
                                for i in range(300)))  # fmt: skip
        commands = {
            BASE: [sys.executable, "-c", "import numba"],
            "fwsvm --help": bench.fwsvm("--help"),
            "fwsvm train, 300 rows": bench.fwsvm("train", file),
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(given.repeat + 2):
            for name, command in commands.items():
                spent = seconds(command)
                if turn >= 2:
                    times[name].append(spent)
        first_runs = [cold(commands["fwsvm train, 300 rows"]) for _ in range(given.cold)]
    medians = {name: statistics.median(spent) for name, spent in times.items()}
    rows = []
    for name, spent in times.items():
        row = {"command": name, "seconds": medians[name], "least": min(spent), "most": max(spent),
               "over_import_numba": medians[name] - medians[BASE]}  # fmt: skip
        if name != BASE:
            row |= {
                "ratio": medians[BASE] / medians[name],
                "base_all": bench.listed(times[BASE]),
                "all": bench.listed(spent),
            }
        rows.append(row)
    if first_runs:
        walls, processor = zip(*first_runs, strict=True)
        rows.append(
            {"command": "fwsvm train, 300 rows, empty cache", "seconds": statistics.median(walls), "least": min(walls),
             "most": max(walls), "processor_seconds": statistics.median(processor), "all": bench.listed(walls)}
        )  # fmt: skip
    for row in rows:
        bench.show(row)
    bench.write(given.csv, rows)


if __name__ == "__main__":
    main()
