"""`fwsvm train` against scikit-learn's SVC: seconds of training alone, in fresh processes that take turns.

Each uses the rbf kernel with gamma = 1/(2D); SVC stops at its default tolerance, fwsvm at a certified relative gap of
1e-3. SVC has one thread, so fwsvm gets one too (``--threads`` for more). Each command runs once before it counts.
The ratio is peer time / fwsvm time, of medians.

    python benchmarks/training.py --mirror FOLDER [--repeat 3] [--threads 1] [--csv FILE] [NAME:C ...]
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

SETS = ("a7a:1", "a9a:1", "w7a:8")

PEER = """
import json, sys, time
import numpy as np
from sklearn.svm import SVC
from fwsvm import data
from fwsvm.kernels.widths import default_gamma

found = data.load(sys.argv[1])
X, y, gamma = found.train.X, found.train.labels, default_gamma("rbf", found.train.X)
machine = SVC(C=float(sys.argv[2]), kernel="rbf", gamma=gamma)
begun = time.perf_counter()
machine.fit(X, y)
seconds = time.perf_counter() - begun
right = float(np.mean(machine.predict(found.test.X) == found.test.labels))
print(json.dumps({"train_seconds": seconds, "test_accuracy": right, "support_vectors": int(machine.n_support_.sum())}))
"""


def run(command: list[str]) -> dict[str, float]:
    """Run a command that prints one JSON object, and return that."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    """Measure, print a table, and write it as CSV if asked to."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("sets", nargs="*", default=SETS, metavar="NAME:C")
    asked.add_argument("--mirror", help="folder of data files")
    asked.add_argument("--repeat", type=int, default=3)
    asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--method", default="swap-2o")
    asked.add_argument("--csv", type=Path)
    given = asked.parse_args()
    if given.mirror:
        os.environ["FWSVM_MIRROR"] = given.mirror
    rows = []
    print(
        f"{'set':<12}{'C':>6}{'SVC s':>9}{'fwsvm s':>9}{'ratio':>7}{'SVC acc':>9}{'fwsvm acc':>10}{'gap':>9}"
    )
    for name, _, C in (text.partition(":") for text in given.sets):
        peer = [sys.executable, "-c", PEER, name, C]
        ours = [sys.executable, "-m", "fwsvm", "train", "--json", "--method", given.method, "-C", C,
                "--threads", str(given.threads), name]  # fmt: skip
        turns = [(run(peer), run(ours)) for _ in range(given.repeat + 1)][1:]
        theirs, seconds = (statistics.median(turn[k]["train_seconds"] for turn in turns) for k in (0, 1))
        a, b = turns[-1]
        rows.append({
            "set": name, "C": C, "method": given.method, "threads": given.threads, "repeat": given.repeat,
            "svc_seconds": theirs, "fwsvm_seconds": seconds, "ratio": theirs / seconds,
            "svc_seconds_all": " ".join(f"{t[0]['train_seconds']:.3f}" for t in turns),
            "fwsvm_seconds_all": " ".join(f"{t[1]['train_seconds']:.3f}" for t in turns),
            "svc_accuracy": a["test_accuracy"], "fwsvm_accuracy": b["test_accuracy"],
            "svc_support_vectors": a["support_vectors"], "fwsvm_support_vectors": b["support_vectors"],
            "relative_gap": b["relative_gap"], "certified": b["certified"], "cpu": b["cpu"], "commit": b["commit"],
        })  # fmt: skip
        print(
            f"{name:<12}{C:>6}{theirs:9.2f}{seconds:9.2f}{theirs / seconds:7.2f}{a['test_accuracy']:9.2%}"
            f"{b['test_accuracy']:10.2%}{b['relative_gap']:9.1e}",
            flush=True,
        )
    if given.csv:
        with given.csv.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
