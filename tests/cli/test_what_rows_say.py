"""Rows and tables say what was run on what: sources, statuses, what was shared, and whose seconds mean little."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from fwsvm import data
from fwsvm.data import lockfile
from fwsvm.settings import with_options
from tests import svmlight_files
from tests.cli.running import done, rows, run
from tests.cli.test_data_command import TEST, TRAIN, write_lock
from tests.data.conftest import cache, site
from tests.data.site import Site

GRID = "name: trial\ndatasets: [{}]\nmethods: [swap]\ntolerance: 1e-2\n"


def grid(folder: Path, text: str, *options: str | Path) -> tuple[Result, list[dict[str, str]]]:
    (folder / "trial.yaml").write_text(text)
    done = run("grid", folder / "trial.yaml", "--out", folder / "out", "--offline", *options)
    return done, rows(folder / "out")


def test_rows_whose_values_no_kernel_takes_are_an_error_and_not_missing(tmp_path):
    (tmp_path / "far.svm").write_text("".join(f"{1 - 2 * (i % 2)} 1:{i + 1}e30\n" for i in range(6)))
    done, (row,) = grid(tmp_path, GRID.format(tmp_path / "far.svm"))
    assert (done.exit_code, row["status"]) == (4, "error")
    assert "row 1 has the squared norm 1e+60" in row["message"]
    assert "scale the data first" in row["message"]


def test_a_run_that_an_error_ends_has_its_object(tmp_path):
    done = run("train", "--json", "-m", "wolfe", "--cache-mb", "1", "synthetic:gaussians?rows=3000")
    assert done.exit_code == 2
    found = json.loads(done.stdout)
    assert (found["status"], found["method"], found["rows"]) == ("error", "wolfe", 3000)
    assert with_options(found["message"]) in " ".join(done.stderr.split())


def test_the_meb_rule_says_what_its_tolerance_is_a_part_of(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.where(np.arange(20) % 2, 1, -1)
    svmlight_files.write(tmp_path / "rows.svm", X, y)
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


def test_all_runs_that_are_trained_together_are_shared(tmp_path):
    lines = [f"{i % 3} 1:{i % 7} 2:{(i * 5) % 11}\n" for i in range(60)]
    (tmp_path / "three.svm").write_text("".join(lines))
    text = GRID.format(tmp_path / "three.svm").replace("swap", "auto")
    _, made = grid(tmp_path, text + "select: {folds: 2, C: [1, 2, 4]}\n")
    chosen = [each for each in made if each["role"] == "select"]
    assert len(chosen) == 6
    assert {each["shared"] for each in chosen} == {"true"}


@pytest.fixture
def overflowing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{2 * (i % 2) - 1} 1:{i // 2} 2:{0.3 * (i // 2):.1f}\n" for i in range(12)]
    (tmp_path / "rows").write_text("".join(lines))
    return tmp_path


@pytest.mark.parametrize(
    "method", ["swap-2o", "newton", "chunking", "decomposition", "wolfe", "pegasos", "scs"]
)
def test_kernel_values_that_overflow_are_an_error_row_and_no_certificate(method, overflowing):
    options = ("--kernel", "poly", "--param", "degree=1000", "--json")
    found = done("train", "--method", method, *options, "rows", code=4)
    told = json.loads(found.stdout)
    assert (told["status"], told["certified"], told["objective"]) == ("error", None, None)
    assert "row 3 has the poly kernel's value 2.44e+63" in told["message"]
    assert "scale the data" in told["message"]
    assert found.stderr.endswith(f"fwsvm: {told['message']}\n")


@pytest.fixture
def noise(tmp_path, monkeypatch):
    """Rows of whose labels a rough solution learns little."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(400) < 0.35, 1, -1)
    svmlight_files.write(tmp_path / "noisy", np.round(rng.normal(size=(2, 400)).T, 4), labels)
    return tmp_path


FAR = ("-C", "10000", "--gamma", "20", "--stop", "meb", "--tol", "0.01")  # from the optimum, where it ends


def test_train_says_what_the_rule_does_not_promise(noise):
    found = done("train", *FAR, "--json", "noisy")
    told, said = json.loads(found.stdout), " ".join(found.stderr.split())
    assert told["status"] == "converged"
    assert told["relative_gap"] > 0.1
    far = f"topped by rule meb, possibly far from the optimum (relative gap {told['relative_gap']:.3g})"
    assert told["message"].startswith(f"S{far}.")
    assert told["message"] in said
    assert "status s" + far in said
    assert "converged" not in said


def test_cv_and_grid_and_table_say_it_too(noise):
    (noise / "grid.yaml").write_text(
        "name: void\ndatasets: [noisy]\nmethods: [swap-2o]\nC: 10000\ngamma: 20\nstop: meb\ntolerance: 0.01\n"
    )
    folds = done("cv", "--folds", "2", *FAR, "noisy")
    assert "stopped by rule meb, possibly far from the optimum" in " ".join(folds.stdout.split())
    assert "converged" not in folds.stdout
    grid = done("grid", "grid.yaml", "--out", "out")
    assert "weak guarantee for noisy, swap-2o: relative gap" in " ".join(grid.stdout.split())
    assert "converged" not in grid.stdout + grid.stderr.partition("[1/1]")[2].partition("\n")[0]
    table = done("table", "out")
    assert "§ weak guarantee for noisy/swap-2o (relative gap" in " ".join(table.stdout.split())


__all__ = ["cache", "site"]  # fixtures

SAID = "The test rows of tiny are not available, so there is no test accuracy."


@pytest.fixture
def half(cache: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Use a lock whose one set has its training file on a web site and its test file nowhere."""
    path = write_lock(tmp_path / "datasets.lock", site.put("/t", TRAIN), site.address + "/none")
    monkeypatch.setattr(lockfile, "lock_path", lambda: path)
    return site


def test_training_is_reported_and_the_test_accuracy_is_empty(half):
    found = done("train", "tiny", "--json")
    row = json.loads(found.stdout)
    assert row["status"] == "converged"
    assert row["test_accuracy"] is None
    assert row["train_accuracy"] is not None
    assert row["message"].endswith(SAID)
    notice = " ".join(found.stderr.split())
    assert f"{half.address}/none: HTTP status 404" in notice
    assert "fwsvm data add tiny FILE" in notice


def test_test_rows_that_come_later_are_another_data_set(half, tmp_path):
    lacking = data.load("tiny")
    (tmp_path / "t.t").write_bytes(TEST)
    done("data", "add", "tiny", tmp_path / "t.t")
    whole = data.load("tiny")
    assert (lacking.test, lacking.lacking) == (None, SAID)
    assert whole.test is not None
    assert whole.lacking == ""
    assert whole.fingerprint != lacking.fingerprint
