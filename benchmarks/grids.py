"""A whole grid: 13 values of C times 3 of sigma^2, 30 % held out, against GridSearchCV(SVC) and against cold cells.

    python benchmarks/grids.py [--mirror FOLDER] [--method newton] [--repeat 1] [--tolerance 1e-3] [--csv FILE]
                               [--against peer,cold] [SET ...]

ours    `fwsvm grid --workers 2` on a file with this selection, from the command to its table: C = 2^0 ... 2^12,
        sigma^2 = D/2, D and 2D (D the mean squared distance), and one final run on all rows.
peer    GridSearchCV(SVC) over the same values with the same part held out at random, two workers, refit on all rows.
cold    our method on each cell from nothing, in one process: no kernel value and no point is passed on.

Whole processes, by turns, seconds of the wall. Each reports the best accuracy on its held-out part.
"""

import tempfile
from pathlib import Path
from typing import Any

import side_by_side as bench
import yaml

SETS = ("a5a", "w7a", "letter")

PEER = """
import json, sys, time
begun = time.perf_counter()
import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.svm import SVC
from fwsvm import data
from fwsvm.kernels.kernel import family

X, y = (lambda t: (t.X, t.labels))(data.load(sys.argv[1]).train)
gamma = family("rbf").width("paper")[1].gamma(X)
if sparse.issparse(X):
    X = sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
values = {"C": [2.0**k for k in range(13)], "gamma": [2 * gamma, gamma, gamma / 2]}
search = GridSearchCV(SVC(kernel="rbf"), values, cv=ShuffleSplit(1, test_size=0.3, random_state=0), n_jobs=2).fit(X, y)
print(json.dumps({"seconds": time.perf_counter() - begun, "accuracy": float(search.best_score_),
                  "C": search.best_params_["C"]}))
"""

OURS = """
import csv, json, shutil, subprocess, sys, time
file, out = sys.argv[1:3]
shutil.rmtree(out, ignore_errors=True)
begun = time.perf_counter()
command = [sys.executable, "-m", "fwsvm", "grid", file, "--out", out, "--workers", "2"]
subprocess.run(command, check=True, capture_output=True)
seconds = time.perf_counter() - begun
with open(out + "/runs.csv", newline="") as stream:
    rows = list(csv.DictReader(stream))
tried = [row for row in rows if row["role"] == "select"]
best = max(tried, key=lambda row: float(row["test_accuracy"]))
print(json.dumps({"seconds": seconds, "accuracy": float(best["test_accuracy"]), "C": float(best["C"]),
                  "cells": len(tried), "solving": sum(float(row["train_seconds"]) for row in tried)}))
"""

COLD = """
import json, sys, time
begun = time.perf_counter()
import numpy as np
from fwsvm import data
from fwsvm.data.labels import encode
from fwsvm.kernels.kernel import family
from fwsvm.solvers import Settings, fit

found = data.load(sys.argv[1])
X, codes = found.train.X, encode(found.train.labels, found.classes)
gamma, order = family("rbf").width("paper")[1].gamma(X), np.random.default_rng(0).permutation(len(codes))
held, kept = np.sort(order[: round(0.3 * len(codes))]), np.sort(order[round(0.3 * len(codes)):])
best = (-1.0, 0.0)
for width in (2 * gamma, gamma, gamma / 2):
    for k in range(13):
        settings = Settings(method=sys.argv[2], C=2.0**k, gamma=width, tolerance=float(sys.argv[3]))
        machine = fit(X[kept], codes[kept], found.classes, settings).model
        best = max(best, (float(np.mean(machine.predict(X[held], 2) == codes[held])), 2.0**k))
print(json.dumps({"seconds": time.perf_counter() - begun, "accuracy": best[0], "C": best[1]}))
"""


def experiment(name: str, method: str, tolerance: float, folder: Path) -> Path:
    """Write the file of our grid."""
    from fwsvm import data
    from fwsvm.kernels.kernel import family

    D = 1.0 / (2.0 * family("rbf").width("paper")[1].gamma(data.load(name).train.X))
    content = {
        "name": "grid", "datasets": [name], "methods": [method], "kernel": "rbf", "tolerance": tolerance,
        "select": {"holdout": 0.3, "C": {"from": "2^0", "to": "2^12", "step": "log2"},
                   "sigma2": [0.5 * D, D, 2.0 * D]},
    }  # fmt: skip
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def main() -> None:
    """Measure, print a line a set, and write them as CSV if asked to."""
    asked = bench.parser(__doc__, 1)
    asked.add_argument("sets", nargs="*", default=SETS)
    asked.add_argument("--method", default="newton")
    asked.add_argument("--tolerance", type=float, default=1e-3)
    asked.add_argument("--against", default="peer,cold", help="one or both, or '' for none")
    given = bench.parse(asked)
    against = [who for who in given.against.split(",") if who]
    if unknown := set(against) - {"peer", "cold"}:
        asked.error(f"--against: {', '.join(sorted(unknown))} is none of peer, cold")
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in given.sets:
            file = experiment(name, given.method, given.tolerance, Path(scratch))
            commands = {"fwsvm": bench.python(OURS, file, Path(scratch) / "out")}
            others = {
                "peer": bench.python(PEER, name),
                "cold": bench.python(COLD, name, given.method, given.tolerance),
            }
            commands |= {who: others[who] for who in against}
            found = bench.by_turns(commands, given.repeat)
            row: dict[str, Any] = {"set": name, "method": given.method, "cells": found["fwsvm"][0]["cells"]}
            for who, runs in found.items():
                row |= {f"{who}_seconds": bench.median(runs), f"{who}_accuracy": runs[0]["accuracy"],
                        f"{who}_C": runs[0]["C"]}  # fmt: skip
                if who != "fwsvm":
                    row[f"{who}_ratio"] = row[f"{who}_seconds"] / row["fwsvm_seconds"]
            row["fwsvm_solving"] = found["fwsvm"][0]["solving"]
            bench.show(row)
            rows.append(row | {f"{who}_all": bench.spread(runs) for who, runs in found.items()})
            bench.write(given.csv, rows)


if __name__ == "__main__":
    main()
