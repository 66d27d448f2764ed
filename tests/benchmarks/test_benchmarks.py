"""The benchopt benchmark on a shipped data set, and each script at its smallest size."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import fwsvm
from fwsvm import data

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
TINY = [
    ("grids", "--workers", "1", "--method", "swap-2o", "wdbc"),
    ("reading", "--repeat", "1"),
    ("referee", "--repeat", "1", "--candidates", "wdbc"),
    ("scale", "threads", "--repeat", "1", "wdbc"),
    ("scale", "memory", "--rows", "50000", "--limit", "1000", "avsf"),
    ("starting", "--repeat", "1"),
]


def run(folder: Path, *words: object) -> str:
    """Run a program of this Python in a folder of its own; return what it printed."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_benchopt_compares_the_packages_that_are_installed(tmp_path):
    pytest.importorskip("benchopt")
    words = ("run", FOLDER, "-d", "named[data=wdbc,C=1.0]", "-r", "1", "--no-cache", "--no-plot")
    run(tmp_path, "-m", "benchopt", *words, "--output", tmp_path / "runs.parquet")
    runs = pd.read_parquet(tmp_path / "runs.parquet")
    runs["package"] = runs["solver_name"].str.partition("[")[0]
    kernel, linear = (
        runs[runs["p_obj_problem"] == problem].set_index("package") for problem in ("kernel", "linear")
    )
    ours, theirs = (kernel.loc[[name]].iloc[0] for name in ("fwsvm", "SVC"))
    assert ours["objective_certified"]
    # SVC minimises another loss, so its machine is worse by this one, and by more than our gap
    assert theirs["objective_value"] * (1 - ours["objective_relative_gap"]) > ours["objective_value"]
    exact = linear[linear["p_solver_tolerance"] == 1e-3]
    assert {"fwsvm-linear", "LinearSVC"} <= set(exact.index)
    assert exact["objective_value"].max() < 1.001 * exact["objective_value"].min()
    assert runs["objective_test_accuracy"].between(0.85, 1).all()


def test_the_objective_of_a_machine_is_its_primal(tmp_path, monkeypatch):
    pytest.importorskip("benchopt")
    monkeypatch.syspath_prepend(str(FOLDER))
    from benchmark_utils.machines import Machine, kernel_norms

    train = data.load("digits").train
    found = fwsvm.train(train.X, train.labels, C=4.0, method="swap-2o")
    model = found.model
    norms = kernel_norms(model.decision, model.support, model.counts, model.coefficients, model.biases)
    machine = Machine(lambda X: fwsvm.predict(found, X), list(model.labels), model.decision, norms)
    assert machine.primal(train.X, train.labels, 4.0, 2) == pytest.approx(found.primal, rel=1e-3)


@pytest.mark.parametrize("words", TINY, ids=lambda words: "-".join(words[:2]))
def test_a_script_measures_at_its_smallest_size(words, tmp_path):
    pytest.importorskip("sklearn")
    run(tmp_path, FOLDER / f"{words[0]}.py", *words[1:], "--csv", "lines.csv")
    with (tmp_path / "lines.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert lines
    assert all(
        float(line[column]) > 0 for line in lines for column in line if column.endswith(("seconds", "ratio"))
    )
