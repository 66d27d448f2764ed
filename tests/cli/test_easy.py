"""``fwsvm easy``: from files to a tested machine, with a sentence at each step, a report, and a way to repeat it."""

import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwsvm import data
from fwsvm.cli import _easy_text
from fwsvm.experiments import accuracy, width_and_penalty
from fwsvm.experiments import run as runs
from fwsvm.experiments.cross_validation import cross_validate
from fwsvm.problems import model_files
from fwsvm.solvers import Settings
from tests.cli.running import run

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
    assert run("subset", "wdbc", "300", "train.svm", "test.svm").exit_code == 0
    return tmp_path


def test_each_step_is_said_and_the_machine_is_as_good_as_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices(monkeypatch, *WHOLE)
    done = run("easy", "train.svm", "test.svm")
    assert done.exit_code == 0, done.output
    titles = re.findall(r"^(\d) (\w+)  ", done.stdout, re.MULTILINE)
    assert [name for _, name in titles] == ["check", "scale", "choose", "train", "test", "save"]
    said = float(re.search(r"Of the 269 test rows, .* ([\d.]+) % are", done.stdout)[1])
    assert said > 95
    predicted = run("predict", "train.svm.model", "test.svm", "labels")
    assert float(re.search(r"Accuracy = ([\d.]+)%", predicted.stderr)[1]) == pytest.approx(said, abs=0.01)


def test_the_report_has_the_steps_and_a_command_that_makes_the_same_machine(folder: Path) -> None:
    done = run("easy", "train.svm", "test.svm", "--model", "first")
    report = (folder / "first.report.md").read_text("utf-8")
    assert len(report.splitlines()) < 60
    for line in done.stdout.splitlines()[:6]:
        assert line[12:] in report
    (again,) = re.findall(r"^fwsvm train .*$", report, re.MULTILINE)
    again = [word if word != "first" else "second" for word in shlex.split(again)[1:]]
    assert run(*again).exit_code == 0
    first, second = model_files.read("first"), model_files.read("second")
    assert first.kernel == second.kernel
    np.testing.assert_array_equal(first.coefficients, second.coefficients)
    table = re.search(r"Test rows.*?\n\n(.*?)\n\n", report, re.DOTALL)[1]
    assert (
        sum(map(int, re.findall(r"(?<=\| )\d+(?= \|)", table.split("\n", 2)[2].replace("| 1 |", "|")))) == 269
    )


def test_without_test_rows_the_cross_validated_accuracy_is_given_as_what_it_is(folder: Path) -> None:
    done = run("easy", "train.svm", "--folds", "3")
    assert done.exit_code == 0, done.output
    assert "There are no test rows. In cross-validation" in done.stdout
    assert "chosen by it" in done.stdout


def test_a_time_limit_leaves_a_machine_and_says_what_it_cut(folder: Path) -> None:
    done = run("easy", "train.svm", "test.svm", "--time-limit", "1e-9")
    assert done.exit_code == 0, done.output
    assert "The time limit ended this before any C was tried on all parts, so C is 1" in done.stdout
    assert (folder / "train.svm.model").exists()


def test_files_are_not_written_over_and_wrong_ones_are_named(folder: Path) -> None:
    assert "would be overwritten" in run("easy", "train.svm", "--model", "train.svm").stderr
    (folder / "bad.svm").write_text("1 1:2\n-1 2:x\n")
    done = run("easy", "bad.svm")
    assert (done.exit_code, "bad.svm:2" in done.stderr) == (3, True), done.stderr
    (folder / "few.svm").write_text("1 1:2\n" + "-1 1:3\n" * 5)
    done = run("easy", "few.svm")
    assert done.exit_code == 3
    assert "class 1 has too few rows" in done.stderr
    assert "Class 1 has a single row: results for it are uncertain." in done.stdout
    (folder / "twenty.svm").write_text("1 1:2\n-1 1:3\n" * 10)
    done = run("easy", "twenty.svm", "--folds", "21")
    assert (done.exit_code, "20 rows cannot make 21 folds" in done.stderr) == (3, True), done.stderr


def test_a_machine_that_its_folder_cannot_take_is_refused_at_once_or_kept_elsewhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("easy", "train.svm", "--model", "nodir/m.model")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "nodir/m.model cannot be written: there is no folder" in done.stderr
    done = run("easy", "train.svm", "--model", str(folder))
    assert (done.exit_code, done.stdout) == (2, "")
    (folder / "there").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    choices(monkeypatch, (1.0,), (1.0,))
    real = runs.run_one

    def folder_goes(*given: object) -> object:
        (folder / "there").rmdir()
        return real(*given)

    monkeypatch.setattr(runs, "run_one", folder_goes)
    done = run("easy", "train.svm", "--model", "there/m.model")
    assert done.exit_code == 3
    said = " ".join(done.stderr.split())
    kept = re.search(r"the model is in (\S+) instead; C = 1 and gamma = (\S+) were chosen for it", said)
    assert model_files.read(kept[1]).kernel.gamma == float(kept[2])


def test_sparse_rows_keep_their_zeros(folder: Path) -> None:
    rng = np.random.default_rng(0)
    rows = "".join(f"{1 - 2 * (i % 2)} {1 + i % 2}:1 {3 + rng.integers(500)}:1\n" for i in range(60))
    (folder / "words").write_text(rows)
    assert "zeros stay zeros" in run("easy", "words").stdout
    (folder / "signed").write_text(rows.replace("1:1", "1:-9"))
    assert "some are negative, so they stay as they are" in run("easy", "signed").stdout
    assert not (folder / "signed.model.range").exists()


def test_rows_without_zeros_are_scaled_whatever_form_they_are_kept_in(folder: Path) -> None:
    values = np.random.default_rng(0).normal(size=(60, 20))
    rows = (" ".join(f"{j + 1}:{x:.3f}" for j, x in enumerate(row)) for row in values)
    (folder / "full").write_text("".join(f"{1 - 2 * (i % 2)} {row}\n" for i, row in enumerate(rows)))
    assert "Each feature is mapped" in " ".join(run("easy", "full").stdout.split())
    assert (folder / "full.model.range").exists()


def test_a_name_that_is_no_utf_8_is_written_with_its_bytes(folder: Path) -> None:
    name = os.fsdecode(b"n\xff.svm")
    rows = (folder / "train.svm").read_bytes().splitlines(keepends=True)
    (folder / name).write_bytes(b"".join(rows[:60]))  # few: the process tries every C and width
    done = subprocess.run([sys.executable, "-m", "fwsvm", "easy", name], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "n\\udcff.svm" in (folder / f"{name}.model.report.md").read_text("utf-8")


def test_labels_of_a_file_stay_text_in_the_report(folder: Path) -> None:
    rows = "".join(f"{'<b>|x`' if i % 2 else 'y'} 1:{i % 2 + 0.01 * i} 2:{i / 40}\n" for i in range(40))
    (folder / "hostile").write_text(rows)
    assert run("easy", "hostile", "hostile").exit_code == 0
    report = (folder / "hostile.model.report.md").read_text("utf-8")
    assert "?b??x?" in report
    assert "<b>" not in report.replace("fwsvm train", "")


def test_the_choice_is_what_cross_validation_of_each_pair_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    choices(monkeypatch, (0.1, 1.0, 10.0), (1.0, 16.0))
    loaded = data.load("wdbc", raw=True, scale="[0,1]")
    found = width_and_penalty.choose_width_and_penalty(loaded, Settings(seed=3), 4)
    assert (found.runs, found.cut, len(found.tried)) == (24, False, 6)
    for one in found.tried:
        settings = Settings(seed=3, C=one.C, gamma=one.gamma, tolerance=1e-2)
        right = sum(fold.right for fold in cross_validate(loaded, settings, 4))
        assert one.right == pytest.approx(right, abs=2)  # ends elsewhere within the tolerance
    assert found.best.accuracy == max(one.accuracy for one in found.tried)


def test_of_equal_pairs_the_smallest_C_wins_and_then_the_widest_kernel() -> None:  # noqa: N802
    pairs = [(2.0, 1.0), (1.0, 2.0), (0.5, 2.0)]
    tried = tuple(width_and_penalty.Tried(gamma, C, 9, 10) for gamma, C in pairs)
    assert width_and_penalty.SearchResult(tried, 10, 3, cut=False).best == tried[0]
    assert width_and_penalty.SearchResult(tried[1:], 10, 2, cut=False).best == tried[2]


def test_an_interval_holds_what_was_seen_and_narrows_with_the_rows() -> None:
    for right, judged in ((0, 5), (5, 5), (50, 100), (5000, 10000)):
        low, high = _easy_text.interval(right, judged)
        assert 0 <= low <= right / judged <= high + 1e-12 <= 1 + 1e-9
        assert high - low < 4 / math.sqrt(judged)


def test_test_rows_of_another_kind_are_warned_of(folder: Path) -> None:
    rows = (folder / "test.svm").read_text().splitlines()
    labels = "\n".join(f"7 {row.partition(' ')[2]}" if row.startswith("-1") else row for row in rows)
    (folder / "labels.svm").write_text(labels + "\n")
    said = "no training row has the label 7; test rows with it count as wrong"
    assert said in " ".join(run("easy", "train.svm", "labels.svm").stdout.split())
    assert said in " ".join(run("train", "--test", "labels.svm", "train.svm").stdout.split())
    few = "\n".join(" ".join(row.split()[:6]) for row in rows)
    (folder / "few.svm").write_text(few + "\n")
    assert "269 of 269 test rows lie far outside the training ranges" in " ".join(
        run("easy", "train.svm", "few.svm").stdout.split()
    )


def test_a_rare_class_of_many_rows_is_in_every_part_of_the_search(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(width_and_penalty, "MOST_ROWS", 60)
    lines = (folder / "train.svm").read_text().splitlines()
    rare = [f"rare {line.partition(' ')[2]}" for line in lines[:3]]
    (folder / "rare.svm").write_text("\n".join([*lines, *rare]) + "\n")
    parts, along = [], width_and_penalty.run_chain

    def seen(part: Any, *given: object, **named: object) -> object:
        parts.append((part.train.labels.tolist(), part.test.labels.tolist()))
        return along(part, *given, **named)

    monkeypatch.setattr(width_and_penalty, "run_chain", seen)
    done = run("easy", "rare.svm", "--folds", "2")
    assert done.exit_code == 0, done.output
    assert len(parts) == 2
    assert all(len(trained) + len(held_out) < len(lines) for trained, held_out in parts), "of a sample"
    assert all("rare" in labels for part in parts for labels in part)


def pressing_ctrl_c(monkeypatch: pytest.MonkeyPatch, where: object, name: str, after: int) -> None:
    """Have a function raise KeyboardInterrupt where Ctrl-C would, when it was called so often."""
    real, calls = getattr(where, name), []

    def pressed(*given: object, **named: object) -> object:
        calls.append(1)
        if len(calls) > after:
            raise KeyboardInterrupt
        return real(*given, **named)

    monkeypatch.setattr(where, name, pressed)


def test_an_interrupt_says_what_was_done_and_how_to_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as pressed:
        choices(pressed, (1.0, 10.0), (1.0, 4.0))
        pressing_ctrl_c(pressed, accuracy, "of_path", 4)  # chains: the second part of the second width
        done = run("easy", "train.svm", "--folds", "3")
    said = " ".join(done.stderr.split())
    assert done.exit_code == 130
    assert (
        "interrupted at step 3, choose, after 8 runs of the search. Nothing was written. Of the 2 pairs"
        in said
    )
    assert not (folder / "train.svm.model").exists()
    again = shlex.split(re.search(r"`fwsvm (.*?)`", said).group(1))
    assert run(*again).exit_code == 0
    assert (folder / "train.svm.model").exists()


def test_an_interrupt_before_anything_was_tried_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pressing_ctrl_c(monkeypatch, width_and_penalty, "scaled", 0)
    done = run("easy", "train.svm")
    assert done.exit_code == 130
    said = "interrupted at step 3, choose. Nothing was written. The same command begins anew"
    assert said in " ".join(done.stderr.split())


def test_an_interrupt_of_the_training_keeps_the_machine_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as pressed:
        pressing_ctrl_c(pressed, accuracy, "accuracy", 0)
        done = run("easy", "train.svm")
    assert done.exit_code == 130
    assert "train.svm.model is what it was by then" in " ".join(done.stderr.split())
    report = (folder / "train.svm.model.report.md").read_text("utf-8")
    again = re.search(r"^fwsvm (.*)$", report.partition("```sh")[2], re.MULTILINE).group(1)
    (folder / "train.svm.model").unlink()
    assert run(*shlex.split(again)).exit_code == 0
    assert (folder / "train.svm.model").exists()
