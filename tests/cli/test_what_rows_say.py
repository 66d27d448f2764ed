"""Rows and tables say what was run on what: sources, statuses, what was shared, and whose seconds mean little."""

import csv
import json
from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result

import fwsvm
from fwsvm.cli import main

GRID = "name: trial\ndatasets: [{}]\nmethods: [swap]\ntolerance: 1e-2\n"


def run(*words: str | Path) -> Result:
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    return done


def grid(folder: Path, text: str, *options: str | Path) -> tuple[Result, list[dict[str, str]]]:
    (folder / "trial.yaml").write_text(text)
    done = run("grid", folder / "trial.yaml", "--out", folder / "out", "--offline", *options)
    runs = folder / "out" / "runs.csv"
    return done, list(csv.DictReader(runs.read_text().splitlines())) if runs.exists() else []


def test_a_row_names_the_source_of_its_data(tmp_path):
    row_of = json.loads(run("train", "--json", "--offline", "-m", "swap", "wdbc").stdout)
    assert row_of["source"] == fwsvm.data.load("wdbc").source != ""
    _, rows = grid(tmp_path, GRID.format("wdbc"))
    assert [each["source"] for each in rows] == [row_of["source"]]


def test_rows_whose_values_no_kernel_takes_are_an_error_and_not_missing(tmp_path):
    (tmp_path / "far.svm").write_text("".join(f"{1 - 2 * (i % 2)} 1:{i + 1}e30\n" for i in range(6)))
    done, rows = grid(tmp_path, GRID.format(tmp_path / "far.svm"))
    assert done.exit_code == 4
    assert [each["status"] for each in rows] == ["error"]
    assert "scale the data first" in rows[0]["message"]


def test_a_run_that_an_error_ends_has_its_object(tmp_path):
    done = run("train", "--json", "-m", "wolfe", "--cache-mb", "1", "synthetic:gaussians?rows=3000")
    assert done.exit_code == 2
    found = json.loads(done.stdout)
    assert (found["status"], found["method"], found["rows"]) == ("error", "wolfe", 3000)
    assert found["message"] in " ".join(done.stderr.split())


def test_the_meb_rule_says_what_its_tolerance_is_a_part_of(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.where(np.arange(20) % 2, 1, -1)
    lines = [
        f"{label} " + " ".join(f"{k + 1}:{v!r}" for k, v in enumerate(x))
        for label, x in zip(y, X.tolist(), strict=True)
    ]
    (tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
    settings = (
        "-m",
        "fw",
        "--kernel",
        "quadratic",
        "--gamma",
        "0.5",
        "-C",
        "4",
        "--stop",
        "meb",
        "--tol",
        "1e-3",
    )
    plain = run("train", *settings, tmp_path / "rows.svm").stdout
    own = (0.5 * (X * X).sum(axis=1)) ** 2
    assert f"Delta^2 = max K~_ii = {own.max() + 1 + 1 / 4:.6g}" in plain
    weighted = run(
        "train", *settings, "--class-weight", "1=0.1", "--class-weight", "-1=0.1", tmp_path / "rows.svm"
    )
    assert f"Delta^2 = max K~_ii = {own.max() + 1 + 1 / 0.4:.6g}" in weighted.stdout


def test_the_order_of_ten_classes_is_told():
    said = " ".join(run("train", "-m", "swap", "--tol", "0.5", "digits").stdout.split())
    assert f"10 ({', '.join(fwsvm.data.load('digits').classes)})" in said


def test_all_runs_that_are_trained_together_are_shared(tmp_path):
    lines = [f"{i % 3} 1:{i % 7} 2:{(i * 5) % 11}\n" for i in range(60)]
    (tmp_path / "three.svm").write_text("".join(lines))
    text = GRID.format(tmp_path / "three.svm").replace("swap", "auto")
    _, rows = grid(tmp_path, text + "select: {folds: 2, C: [1, 2, 4]}\n")
    chosen = [each for each in rows if each["role"] == "select"]
    assert len(chosen) == 6
    assert {each["shared"] for each in chosen} == {"true"}
