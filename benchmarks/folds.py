"""A grid of 10 values of C times 10 widths by five folds, selection included, against liquidSVM.

    python benchmarks/folds.py [--mirror FOLDER] [--python PYTHON] [--method newton] [--race GAP] [--repeat 1]
        [--csv FILE] [SET ...]

ours    `fwsvm grid --workers 2` on a file with this search, from the command to its table, relative gap 1e-3;
        with ``--race``, to that relative gap on the first fold, and those that may win to 1e-3, fold by fold.
        ``runs`` are both, of 500 cells without a race, and ``decided_by`` those to 1e-3.
peer    liquidSVM's mcSVM with its default grid of 10 widths and 10 lambdas, five folds, two threads: reading, search
        and selection, without its test. Its tolerance is its own, and looser.

Ours has the peer's values: C = 1 / (2 lambda n) for n rows of a fold's training part, lambda from 1e-2 to 2e-7, and
widths that fall by the peer's factor from 1 / (2 D), D the mean squared distance. Whole processes by turns, seconds of
the wall; accuracy is that on test rows.

liquidSVM comes as source (`pip install liquidSVM scikit-learn`, with a C++ compiler) and may be in an environment of
its own: ``--python`` names that one's interpreter. Its loader asks for a configuration variable that Python no longer
has, which the script gives it.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import side_by_side as bench
import yaml

SETS = ("a5a", "usps", "letter")
LAMBDAS = np.geomspace(1e-2, 2e-7, 10)
NARROWER = 0.47  # a width's square beside that before it
FOLDS = 5

SECONDS = """
import time
begun = time.perf_counter()
def seconds():
    return {"seconds": time.perf_counter() - begun}
"""

PEER = (
    SECONDS
    + bench.LIQUIDSVM
    + """
import json, sys
import numpy as np
given = np.load(sys.argv[1])
machine = liquidSVM.mcSVM(given["X"], given["y"], threads=2)
found = seconds()
predicted = machine.test(given["X_test"], given["y_test"])[0][:, 0]
print(json.dumps(found | {"accuracy": 100 * float(np.mean(predicted == given["y_test"]))}))
"""
)

OURS = (
    SECONDS
    + """
import csv, json, shutil, subprocess, sys
file, out = sys.argv[1:3]
shutil.rmtree(out, ignore_errors=True)
command = [sys.executable, "-m", "fwsvm", "grid", file, "--out", out, "--workers", "2"]
subprocess.run(command, check=True, capture_output=True)
found = seconds()
with open(out + "/runs.csv", newline="") as stream:
    rows = list(csv.DictReader(stream))
(final,) = (row for row in rows if row["role"] == "final")
looks = {float(row["tolerance"]) for row in rows if row["role"] == "select"}
cells = {each: sum(row["role"] == "select" and float(row["tolerance"]) == each for row in rows) for each in looks}
more = {"runs": sum(cells.values()), "decided_by": cells[min(looks)], "C": final["C"], "sigma2": final["sigma2"]}
print(json.dumps(found | {"accuracy": 100 * float(final["test_accuracy"])} | more))
"""
)


def prepared(name: str, method: str, race: float | None, folder: Path) -> tuple[Path, Path]:
    """Write the file of our grid and the peer's rows, and return their paths."""
    from fwsvm import data
    from fwsvm.kernels.kernel import family

    found = data.load(name)
    assert found.test is not None  # noqa: S101
    D = 1.0 / (2.0 * family("rbf").width("paper")[1].gamma(found.train.X))
    rows = len(found.train.labels) * (FOLDS - 1) / FOLDS
    search = {
        "folds": FOLDS,
        "C": [float(f"{1.0 / (2.0 * each * rows):.4g}") for each in LAMBDAS],
        "sigma2": [float(f"{D * NARROWER**k:.5g}") for k in range(10)],
    } | ({} if race is None else {"race": race})
    content = {
        "name": "folds", "datasets": [name], "methods": [method], "kernel": "rbf", "tolerance": 1e-3, "select": search,
    }  # fmt: skip
    config, arrays = folder / f"{name}.yaml", folder / f"{name}.npz"
    config.write_text(yaml.safe_dump(content))
    parts = {"X": found.train.X, "X_test": found.test.X}
    dense = {key: X if isinstance(X, np.ndarray) else X.toarray() for key, X in parts.items()}
    np.savez(arrays, y=found.train.labels, y_test=found.test.labels, **dense)
    return config, arrays


def main() -> None:
    """Measure, print a line a set, and write them as CSV if asked to."""
    asked = bench.parser(__doc__, 1)
    asked.add_argument("sets", nargs="*", default=SETS)
    asked.add_argument("--method", default="newton")
    asked.add_argument("--race", type=float, help="relative gap of first runs on one fold")
    asked.add_argument("--python", help="the interpreter that has liquidSVM, for it alone")
    given = bench.parse(asked)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in given.sets:
            config, arrays = prepared(name, given.method, given.race, Path(scratch))
            peer = bench.python(PEER, arrays)
            peer[0] = given.python or peer[0]
            commands = {"fwsvm": bench.python(OURS, config, Path(scratch) / "out"), "liquidSVM": peer}
            found = bench.by_turns(commands, given.repeat)
            row: dict[str, Any] = {"set": name, "method": given.method, "race": given.race}
            row |= {key: found["fwsvm"][0][key] for key in ("runs", "decided_by", "C", "sigma2")}
            for who, runs in found.items():
                row |= {f"{who}_seconds": bench.median(runs), f"{who}_accuracy": runs[0]["accuracy"]}
            row["ratio"] = row["liquidSVM_seconds"] / row["fwsvm_seconds"]
            bench.show(row)
            rows.append(row)
            bench.write(given.csv, rows)


if __name__ == "__main__":
    main()
