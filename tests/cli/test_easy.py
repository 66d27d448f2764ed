"""``fwsvm easy``: from files to a tested machine, with a sentence at each step, a report, and a way to repeat it."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from fwsvm import data
from fwsvm.experiments import run as runs
from fwsvm.experiments import width_and_penalty
from fwsvm.experiments.cross_validation import cross_validate
from fwsvm.problems import model_files
from fwsvm.solvers import Settings
from tests.cli.running import done

WHOLE = width_and_penalty.PENALTIES, width_and_penalty.WIDTHS


@pytest.fixture(autouse=True)
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the search try two C with one width: one test has the whole."""
    choices(monkeypatch, (1.0, 16.0), (1.0,))


def choices(monkeypatch: pytest.MonkeyPatch, penalties: tuple[float, ...], widths: tuple[float, ...]) -> None:
    monkeypatch.setattr(width_and_penalty, "PENALTIES", penalties)
    monkeypatch.setattr(width_and_penalty, "WIDTHS", widths)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with rows to train and to test on."""
    monkeypatch.chdir(tmp_path)
    done("subset", "wdbc", "300", "train.svm", "test.svm")
    return tmp_path


def test_each_step_is_said_and_the_model_is_as_good_as_is_said(folder, monkeypatch):
    choices(monkeypatch, *WHOLE)
    told = done("easy", "train.svm", "test.svm").stdout
    titles = re.findall(r"^(\d) (\w+)  ", told, re.MULTILINE)
    assert [name for _, name in titles] == ["check", "scale", "choose", "train", "test", "save"]
    said = float(re.search(r"([\d.]+)% of the 269 test rows are", told)[1])
    assert said > 95
    predicted = done("predict", "train.svm.model", "test.svm", "labels")
    assert float(re.search(r"Accuracy = ([\d.]+)%", predicted.stderr)[1]) == pytest.approx(said, abs=0.01)


def test_the_report_has_the_steps_and_a_command_that_makes_the_same_model(folder):
    told = done("easy", "train.svm", "test.svm", "--model", "first").stdout
    report = (folder / "first.report.md").read_text("utf-8")
    for line in told.splitlines()[:6]:
        assert line[12:] in report
    (again,) = re.findall(r"^fwsvm train .*$", report, re.MULTILINE)
    done(*[word if word != "first" else "second" for word in shlex.split(again)[1:]])
    first, second = model_files.read("first"), model_files.read("second")
    assert first.kernel == second.kernel
    np.testing.assert_array_equal(first.coefficients, second.coefficients)


def test_other_kernels_columns_of_labels_and_zero_based_files(folder):
    rows = np.random.default_rng(0).normal(size=(60, 3))
    labels = np.where(rows[:, 0] > 0, "up", "down")
    lines = [f"{label},{x},{y},{z}" for label, (x, y, z) in zip(labels, rows, strict=True)]
    (folder / "a.csv").write_text("\n".join(["way,x,y,z", *lines]) + "\n")
    told = done("easy", "--label", "way", "--kernel", "laplacian", "a.csv").stdout
    assert "The classes are" in told
    assert model_files.read("a.csv.model").classes in {("up", "down"), ("down", "up")}
    assert model_files.read("a.csv.model").kernel.gamma > 0
    (folder / "zero.svm").write_text("".join(f"{1 + (x > 0)} {0}:{x} 2:{y}\n" for x, y, _ in rows))
    told = done("easy", "--zero-based", "--kernel", "linear", "zero.svm").stdout
    assert "60 rows of 3 features" in told
    assert "gamma" not in told.partition("3 choose")[2].partition("4 train")[0]
    assert model_files.read("zero.svm.model").zero_based
    assert done("easy", "--quiet", "zero.svm").output == ""
    assert "use cv and train" in done("easy", "--kernel", "precomputed", "zero.svm", code=2).stderr


def test_without_test_rows_the_cross_validated_accuracy_is_given_as_what_it_is(folder):
    told = done("easy", "train.svm", "--folds", "3").stdout
    assert "There are no test rows. In cross-validation" in told
    assert "chosen by it" in told


def test_a_time_limit_leaves_a_model_by_nested_and_says_what_it_cut(folder):
    told = done("easy", "train.svm", "test.svm", "--time-limit", "1e-9").stdout
    assert "The time limit came before any C was tried on all folds, so C is 1" in told
    assert (folder / "train.svm.model").exists()
    rows = "synthetic:checkerboard?rows=20000&test=0"
    told = done("easy", rows, "--time-limit", "2", "--model", "many").stdout
    assert "By nested in" in told
    assert "fwsvm train --method nested" in (folder / "many.report.md").read_text("utf-8")


def test_files_are_not_written_over_and_wrong_ones_are_named(folder):
    assert "would be overwritten" in done("easy", "train.svm", "--model", "train.svm", code=2).stderr
    (folder / "bad.svm").write_text("1 1:2\n-1 2:x\n")
    assert "bad.svm:2" in done("easy", "bad.svm", code=3).stderr
    (folder / "few.svm").write_text("1 1:2\n" + "-1 1:3\n" * 5)
    told = done("easy", "few.svm", code=3)
    assert "class 1 has too few rows" in told.stderr
    assert "Class 1 has 1 rows only: results for it are uncertain." in told.stdout
    (folder / "twenty.svm").write_text("1 1:2\n-1 1:3\n" * 10)
    assert "20 rows cannot make 21 folds" in done("easy", "twenty.svm", "--folds", "21", code=3).stderr


def test_sparse_rows_keep_their_zeros_and_full_ones_are_scaled(folder):
    rng = np.random.default_rng(0)
    rows = "".join(f"{1 - 2 * (i % 2)} {1 + i % 2}:1 {3 + rng.integers(500)}:1\n" for i in range(60))
    (folder / "words").write_text(rows)
    assert "none is beyond 1, so they stay as they are" in done("easy", "words").stdout
    (folder / "signed").write_text(rows.replace("1:1", "1:-9"))
    assert "some are negative, so they stay as they are" in done("easy", "signed").stdout
    assert not (folder / "signed.model.range").exists()
    full = (" ".join(f"{j + 1}:{x:.3f}" for j, x in enumerate(row)) for row in rng.normal(size=(60, 20)))
    (folder / "full").write_text("".join(f"{1 - 2 * (i % 2)} {row}\n" for i, row in enumerate(full)))
    assert "Each feature is mapped" in " ".join(done("easy", "full").stdout.split())
    assert (folder / "full.model.range").exists()


def test_the_choice_is_what_cross_validation_of_each_pair_finds(monkeypatch):
    choices(monkeypatch, (0.1, 1.0, 10.0), (1.0, 16.0))
    loaded = data.load("wdbc", raw=True, scale="[0,1]")
    found = width_and_penalty.choose_width_and_penalty(loaded, Settings(seed=3), 4)
    assert (found.runs, found.cut, len(found.tried)) == (24, False, 6)
    for one in found.tried:
        settings = Settings(seed=3, C=one.C, gamma=one.gamma, tolerance=1e-2)
        right = sum(fold.right for fold in cross_validate(loaded, settings, 4))
        assert one.right == pytest.approx(right, abs=2)  # ends elsewhere within the tolerance
    assert found.best.accuracy == max(one.accuracy for one in found.tried)


def pressing_ctrl_c(monkeypatch: pytest.MonkeyPatch, where: object, name: str, after: int) -> None:
    """Have a function raise KeyboardInterrupt where Ctrl-C would, when it was called so often."""
    real, calls = getattr(where, name), []

    def pressed(*given: object, **named: object) -> object:
        calls.append(1)
        if len(calls) > after:
            raise KeyboardInterrupt
        return real(*given, **named)

    monkeypatch.setattr(where, name, pressed)


def test_an_interrupt_says_what_was_done_and_how_to_go_on(folder, monkeypatch):
    with monkeypatch.context() as pressed:
        choices(pressed, (1.0, 10.0), (1.0, 4.0))
        pressing_ctrl_c(pressed, runs, "decisions", 4)  # chains: the second part of the second width
        said = " ".join(done("easy", "train.svm", "--folds", "3", code=130).stderr.split())
    assert "interrupted while C and gamma were chosen, nothing was written; the best pair so far" in said
    assert not (folder / "train.svm.model").exists()
    done(*shlex.split(re.search(r"`fwsvm (.*?)`", said).group(1)))
    assert (folder / "train.svm.model").exists()


def test_an_interrupt_of_the_training_keeps_the_model_and_says_so(folder, monkeypatch):
    with monkeypatch.context() as pressed:
        pressing_ctrl_c(pressed, runs, "accuracy", 0)
        said = done("easy", "train.svm", code=130).stderr
    assert "train.svm.model is the model as it was then" in " ".join(said.split())
    report = (folder / "train.svm.model.report.md").read_text("utf-8")
    again = re.search(r"^fwsvm (.*)$", report.partition("```sh")[2], re.MULTILINE).group(1)
    (folder / "train.svm.model").unlink()
    done(*shlex.split(again))
    assert (folder / "train.svm.model").exists()
