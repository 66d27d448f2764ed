"""A search of 10 values of C and 10 widths by five folds, at several tolerances of the search.

    python benchmarks/folds.py [--tolerance 1e-3 0.1] [--rows N] [--test-rows N] [--method auto] [--workers 1]
        [--csv FILE] [SET ...]

Each line is one `fwsvm grid`, from the command to its table: processor seconds of all its processes, the seconds of its
500 cells by what they did, the values that it chose, and the test accuracy of the reported model, trained to 1e-3, in
per cent. The first tolerance is the reference: ``difference`` is how much more accurate its choice is, and ``error``
the standard error of an accuracy on so many test rows.

The values are those of liquidSVM's default grid: C = 1 / (2 lambda n) for n rows of a fold's training part, lambda from
1e-2 to 2e-7, and widths that fall by its factor from the mean squared distance.
"""

import csv
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import processes as bench
import yaml

SETS = (
    *("a5a", "w7a", "usps", "letter", "satimage", "dna", "splice", "svmguide1", "pendigits"),
    *("wdbc", "australian", "diabetes", "german.numer", "magic"),
)
LAMBDAS = np.geomspace(1e-2, 2e-7, 10)
NARROWER = 0.47  # a width's square beside that before it
FOLDS = 5


def experiment(name: str, method: str, sample: dict[str, int]) -> tuple[dict[str, Any], int]:
    """Return the keys of an experiment without the tolerance of its search, and the number of its test rows."""
    from fwsvm.experiments import samples
    from fwsvm.experiments.experiment import DataSpec
    from fwsvm.kernels.kernel import family

    data = samples.load(DataSpec(name, None, sample.get("rows"), sample.get("test_rows"), 0.3))
    D = 1.0 / (2.0 * family("rbf").width("paper")[1].gamma(data.train.X))
    rows = data.train.rows * (FOLDS - 1) / FOLDS
    search = {
        "folds": FOLDS,
        "C": [float(f"{1.0 / (2.0 * each * rows):.4g}") for each in LAMBDAS],
        "sigma2": [float(f"{D * NARROWER**k:.5g}") for k in range(10)],
    }
    keys = {"name": "folds", "datasets": [name], "methods": [method], "select": search}
    assert data.test is not None  # noqa: S101
    return keys | {"tolerance": 1e-3, "test_fraction": 0.3} | sample, data.test.rows


def search(keys: dict[str, Any], tolerance: float, workers: int, folder: Path) -> dict[str, Any]:
    """Run a search and return its line."""
    folder.mkdir(exist_ok=True)
    file, out = folder / "folds.yaml", folder / f"out-{tolerance:g}"
    file.write_text(yaml.safe_dump(keys | {"select": keys["select"] | {"tolerance": tolerance}}))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = bench.fwsvm("grid", file, "--out", out, "--workers", workers, "--quiet")
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (out / "runs.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    tried = [row for row in rows if row["role"] == "select"]
    (final,) = (row for row in rows if row["role"] == "final")
    line = {
        "tolerance": tolerance,
        "cells": len(tried),
        "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }
    line |= {name: sum(float(row[f"{name}_seconds"]) for row in tried) for name in ("train", "predict")}
    line |= {name: float(final[name]) for name in ("C", "sigma2")}
    return line | {"accuracy": 100.0 * float(final["test_accuracy"])}


def main() -> None:
    """Measure."""
    asked = bench.parser(__doc__, 1)
    asked.add_argument("sets", nargs="*", default=SETS)
    asked.add_argument("--tolerance", type=float, nargs="+", default=[1e-3, 0.1])
    asked.add_argument("--rows", type=int)
    asked.add_argument("--test-rows", type=int)
    asked.add_argument("--method", default="auto")
    asked.add_argument("--workers", type=int, default=1)
    given = asked.parse_intermixed_args()
    sample = {name: getattr(given, name) for name in ("rows", "test_rows") if getattr(given, name)}

    def lines() -> Iterator[dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            for name in given.sets:
                keys, tested = experiment(name, given.method, sample)
                best: float | None = None
                for tolerance in given.tolerance:
                    found = search(keys, tolerance, given.workers, Path(folder) / name)
                    best = found["accuracy"] if best is None else best
                    error = (best * (100.0 - best) / tested) ** 0.5
                    yield {"set": name, **found, "difference": best - found["accuracy"], "error": error}

    bench.report(lines(), given.csv)


if __name__ == "__main__":
    main()
