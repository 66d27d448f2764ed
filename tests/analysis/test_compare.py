"""``fwsvm compare``: verdicts, tests and exit codes, on folders whose differences are known."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.folders import row, write
from tests.cli.running import run


def verdicts(old: Path, new: Path, *words: str) -> tuple[int, dict[tuple[str, str], dict[str, str]]]:
    """Return the exit code, and the lines of a comparison by data set and measure."""
    done = run("compare", old, new, "--format", "csv", *words)
    lines = csv.DictReader(io.StringIO(done.stdout))
    return done.exit_code, {
        (line["data set"], "time" if "time" in line["table"] else "accuracy"): line for line in lines
    }


def folder(path: Path, runs: int = 1, sets: tuple[str, ...] = ("a1a", "w1a"), **changed: Any) -> Path:
    """Write a folder of one method; ``changed`` has values, or functions of data set and run."""
    rows = []
    for name in sets:
        for k in range(runs):
            fields = {key: value(name, k) if callable(value) else value for key, value in changed.items()}
            rows.append(row(**{"dataset": name, "method": "swap", "repetition": k, "seed": k} | fields))
    return write(path, rows)


@pytest.mark.parametrize(
    ("accuracy", "code", "verdict"), [(0.906, 0, "better"), (0.904, 0, "same"), (0.89, 1, "worse")]
)
def test_one_run_each_is_judged_by_the_margin(
    tmp_path: Path, accuracy: float, code: int, verdict: str
) -> None:
    done, found = verdicts(folder(tmp_path / "old"), folder(tmp_path / "new", test_accuracy=accuracy))
    assert done == code
    line = found["a1a", "accuracy"]
    assert (line["verdict"], line["p"], line["pairs"]) == (verdict, "", "1")


def test_many_pairs_are_tested_and_chance_is_no_change(tmp_path: Path) -> None:
    """Nine of ten runs rise on w1a; on a1a one run rises by much and the others fall a little."""
    old = folder(tmp_path / "old", 10)
    new = folder(
        tmp_path / "new",
        10,
        test_accuracy=lambda name, k: (0.91 if name == "w1a" else 0.8999) if k else (0.90 if name == "w1a" else 0.99),
    )  # fmt: skip
    _, found = verdicts(old, new, "--measure", "accuracy")
    assert (found["w1a", "accuracy"]["verdict"], found["a1a", "accuracy"]["verdict"]) == ("better", "same")
    assert float(found["w1a", "accuracy"]["p"]) == pytest.approx(2 * 2 / 2**9, abs=1e-12)
    _, same = verdicts(old, old)
    assert {(line["verdict"], line["p"]) for line in same.values()} == {("same", "1.0")}


def test_endings_missing_partners_other_data_and_machines_are_named(tmp_path: Path) -> None:
    old = folder(tmp_path / "old")
    cases = {
        "worse: a1a swap: 1 run max_iterations, previously converged": {"status": "max_iterations"},
        "different data under the name a1a: times there are not compared": {
            "data_sha256": "f" * 64,
            "train_seconds": 5.0,
        },
        "times are not compared: the times on a1a come from different machines": {"machine": "other"},
    }
    for place, (said, changed) in enumerate(cases.items()):
        done = run("compare", old, folder(tmp_path / str(place), **changed))
        assert said in " ".join(done.stderr.split())
        assert done.exit_code == (said.startswith("worse"))
    fewer = run("compare", old, folder(tmp_path / "fewer", sets=("a1a", "usps")))
    assert "only in " in fewer.stderr
    assert "w1a swap" in fewer.stderr
    assert "usps swap" in fewer.stderr
    nothing = run("compare", old, folder(tmp_path / "none", sets=("usps",)))
    assert (nothing.exit_code, "no run is in both results" in nothing.stderr) == (2, True)


def test_a_chosen_C_may_differ_and_runs_of_a_sweep_are_paired_by_theirs(tmp_path: Path) -> None:  # noqa: N802
    _, chosen = verdicts(folder(tmp_path / "old", C=1), folder(tmp_path / "new", C=4))
    assert chosen["a1a", "time"]["pairs"] == "1"

    def sweep(path: Path, *penalties: float) -> Path:
        return write(path, [row(dataset="a1a", method="swap", C=C, train_seconds=C) for C in penalties])

    done = run("compare", sweep(tmp_path / "a", 1, 2, 4), sweep(tmp_path / "b", 2, 4), "--measure", "time")
    assert "0 better, 2 same, 0 worse" in done.stdout
    assert "a1a swap C 1" in done.stderr
