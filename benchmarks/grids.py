"""A whole search: 13 values of C times 3 widths, 30 % of the rows held out, against GridSearchCV(SVC).

    python benchmarks/grids.py [--method auto] [--workers 2] [--repeat 1] [--csv FILE] [SET ...]

ours    `fwsvm grid` from the command to its rows: C = 2^0 ... 2^12, sigma^2 = D/2, D and 2D, and one final run.
peer    GridSearchCV(SVC) over the same values with the same share held out at random, refit on all rows.

Whole processes by turns, seconds of the wall. Each reports the best accuracy on its held-out rows.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import processes as bench
import yaml

SETS = ("a5a", "w7a", "letter")

COMMON = """
import csv, json, shutil, subprocess, sys, time
begun = time.perf_counter()
def tell(**found):
    print(json.dumps({"seconds": time.perf_counter() - begun} | found))
"""
PEER = (
    COMMON
    + """
import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.svm import SVC
from fwsvm import data
train, D = data.load(sys.argv[1]).train, float(sys.argv[2])
X = train.X
if sparse.issparse(X):
    X = sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
values = {"C": [2.0**k for k in range(13)], "gamma": [1 / D, 1 / (2 * D), 1 / (4 * D)]}
split = ShuffleSplit(1, test_size=0.3, random_state=0)
search = GridSearchCV(SVC(), values, cv=split, n_jobs=int(sys.argv[3])).fit(X, train.labels)
tell(accuracy=float(search.best_score_), C=search.best_params_["C"])
"""
)
OURS = (
    COMMON
    + """
file, out, workers = sys.argv[1:4]
shutil.rmtree(out, ignore_errors=True)
command = [sys.executable, "-m", "fwsvm", "grid", file, "--out", out, "--workers", workers]
subprocess.run(command, check=True, capture_output=True)
rows = list(csv.DictReader(open(out + "/runs.csv", newline="")))
tried = [row for row in rows if row["role"] == "select"]
best = max(tried, key=lambda row: float(row["test_accuracy"]))
tell(accuracy=float(best["test_accuracy"]), C=float(best["C"]), cells=len(tried))
"""
)


def mean_squared_distance(name: str) -> float:
    """Return D, twice the inverse of gamma by the rule ``paper``."""
    import fwsvm

    return 0.5 / fwsvm.train(name, max_iterations=1).settings["gamma"]


def compare(name: str, method: str, workers: int, repeat: int, folder: Path) -> dict[str, Any]:
    """Return the line of a data set."""
    D = mean_squared_distance(name)
    search = {
        "holdout": 0.3,
        "C": {"from": "2^0", "to": "2^12", "step": "log2"},
        "sigma2": [0.5 * D, D, 2.0 * D],
    }
    file = folder / f"{name}.yaml"
    file.write_text(
        yaml.safe_dump({"name": "grid", "datasets": [name], "methods": [method], "select": search})
    )
    commands = {
        "fwsvm": bench.python(OURS, file, folder / "out", workers),
        "peer": bench.python(PEER, name, D, workers),
    }
    runs = bench.by_turns(commands, repeat, warm_up=["fwsvm"])
    line: dict[str, Any] = {
        "set": name,
        "method": method,
        "workers": workers,
        "cells": runs["fwsvm"][0]["cells"],
    }
    for who, mine in runs.items():
        line |= {f"{who}_{key}": mine[0][key] for key in ("accuracy", "C")} | {
            f"{who}_seconds": bench.median(mine)
        }
    return line | {"ratio": line["peer_seconds"] / line["fwsvm_seconds"]}


def main() -> None:
    """Measure."""
    asked = bench.parser(__doc__, 1)
    asked.add_argument("sets", nargs="*", default=SETS)
    asked.add_argument("--method", default="auto")
    asked.add_argument("--workers", type=int, default=2)
    given = asked.parse_intermixed_args()

    def lines() -> Iterator[dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            for name in given.sets:
                yield compare(name, given.method, given.workers, given.repeat, Path(folder))

    bench.report(lines(), given.csv)


if __name__ == "__main__":
    main()
