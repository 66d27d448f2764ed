"""``fwsvm easy``: from files to a tested model, with a line at each step and a way to repeat it."""

import itertools
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from fwsvm import data
from fwsvm.data.catalogue import scaled
from fwsvm.experiments import cross_validation
from fwsvm.experiments import run as runs
from fwsvm.problems import model_files
from fwsvm.solvers import Settings
from fwsvm.solvers.resolve import resolve
from tests.cli.running import done


@pytest.fixture(autouse=True)
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the search try two C with one width."""
    choices(monkeypatch, (1.0, 16.0), (1.0,))


def choices(monkeypatch: pytest.MonkeyPatch, penalties: tuple[float, ...], widths: tuple[float, ...]) -> None:
    monkeypatch.setattr(cross_validation, "PENALTIES", penalties)
    monkeypatch.setattr(cross_validation, "WIDTHS", widths)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with rows to train and to test on."""
    monkeypatch.chdir(tmp_path)
    done("subset", "wdbc", "300", "train.svm", "test.svm")
    return tmp_path


def test_each_step_is_said_and_the_last_line_makes_the_same_model(folder):
    told = done("easy", "train.svm", "test.svm", "--model", "first").stdout
    titles = re.findall(r"^(\w+)  ", told, re.MULTILINE)
    assert (titles[:3], titles[-2:]) == (["scale", "choose", "data"], ["model", "repeat"])
    said = float(re.search(r", test ([\d.]+)%", told)[1])
    assert said > 95
    predicted = done("predict", "first", "test.svm", "labels")
    assert float(re.search(r"Accuracy = ([\d.]+)%", predicted.stderr)[1]) == pytest.approx(said, abs=0.01)
    again = shlex.split(told.splitlines()[-1])[2:]
    done(*[word if word != "first" else "second" for word in again])
    first, second = model_files.read("first"), model_files.read("second")
    assert first.kernel == second.kernel
    assert first.facts["run_id"] == second.facts["run_id"]
    np.testing.assert_array_equal(first.coefficients, second.coefficients)
    assert done("easy", "--quiet", "train.svm").output == ""
    if Path("/dev/full").exists():
        lost = done("easy", "train.svm", "--model", "/dev/full", code=4)
        assert "the model is in" in lost.stderr
        assert "predicts other rows" not in lost.stdout


def test_labels_of_a_table_have_a_column(folder):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    lines = [f"{'up' if x > 0 else 'down'},{x},{y}" for x, y in rows]
    (folder / "a.csv").write_text("\n".join(["way,x,y", *lines]) + "\n")
    assert "--label way" in done("easy", "--label", "way", "a.csv").stdout.splitlines()[-1]
    assert set(model_files.read("a.csv.model").classes) == {"up", "down"}


def test_a_time_limit_leaves_a_model_by_nested_and_says_what_it_cut(folder, monkeypatch):
    told = done("easy", "synthetic:checkerboard?rows=20000&test=0", "--time-limit", "2").stdout
    assert "fwsvm train -m nested" in told
    monkeypatch.setattr("fwsvm.cli.easy.SEARCH_SHARE", 1e-9)
    told = done("easy", "train.svm", "test.svm", "--time-limit", "9").stdout
    assert "no time to try any C on all folds: C is 1" in told
    assert (folder / "train.svm.model").exists()


def test_what_is_wrong_with_files_is_said(folder):
    assert "would be overwritten" in done("easy", "train.svm", "--model", "train.svm", code=2).stderr
    (folder / "bad.svm").write_text("1 1:2\n-1 2:x\n")
    assert "bad.svm:2" in done("easy", "bad.svm", code=3).stderr
    (folder / "few.svm").write_text("1 1:2\n" + "-1 1:3\n" * 5)
    assert "class 1 has too few rows" in done("easy", "few.svm", code=3).stderr


def test_sparse_rows_keep_their_zeros_and_full_ones_are_scaled(folder):
    rng = np.random.default_rng(0)
    rows = "".join(f"{1 - 2 * (i % 2)} {1 + i % 2}:1 {3 + rng.integers(500)}:1\n" for i in range(60))
    (folder / "words").write_text(rows)
    assert "none is beyond 1, so they stay as they are" in done("easy", "words").stdout
    (folder / "signed").write_text(rows.replace("1:1", "1:-9"))
    assert "some negative, stay as they are" in done("easy", "signed").stdout
    assert not (folder / "signed.model.range").exists()
    assert "each feature to [0,1]" in done("easy", "train.svm").stdout
    assert (folder / "train.svm.model.range").exists()


def test_the_choice_is_what_cross_validation_of_each_pair_finds(monkeypatch):
    choices(monkeypatch, (0.1, 1.0, 10.0), (1.0, 16.0))
    loaded = data.load("wdbc", raw=True, scale="[0,1]")
    best, rows = cross_validation.choose_width_and_penalty(
        loaded, Settings(seed=3), 4, seconds=None, watch=lambda _: None, count=lambda *_: None
    )
    middle = resolve(Settings(), scaled(loaded).train.X).as_columns()["gamma"]
    right: dict[tuple[float, float], int] = {}
    for C, factor in itertools.product((0.1, 1.0, 10.0), (1.0, 16.0)):
        settings = Settings(seed=3, C=C, gamma=factor * middle, tolerance=1e-2)
        folds = cross_validation.cross_validate(runs.LocalRows(loaded), settings, 4, lambda _: None)
        right[C, settings.gamma] = sum(round(row["test_accuracy"] * held_out) for row, held_out in folds)
    assert best.tried == len(right)
    found = right[best.values["C"], best.values["gamma"]]  # ends elsewhere within the tolerance
    assert rows * best.accuracy == pytest.approx(found, abs=2)
    assert found >= max(right.values()) - 3


@pytest.mark.parametrize(("which", "calls"), [("test", 1), ("training", 0)])
def test_an_interrupt_leaves_the_model_that_was_trained(folder, monkeypatch, which, calls):
    real, made = runs.LocalRows.accuracies, []

    def pressed(rows: runs.LocalRows, results: object, asked: str) -> object:
        made.append(asked)
        if made.count(which) > calls:
            raise KeyboardInterrupt
        return real(rows, results, asked)

    monkeypatch.setattr(runs.LocalRows, "accuracies", pressed)
    assert "nterrupted" in done("easy", "train.svm", code=130).stderr
    assert (folder / "train.svm.model").exists() == (which == "training")
