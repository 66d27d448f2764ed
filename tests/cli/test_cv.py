"""``fwsvm cv``: every row judged once, by folds that only the seed decides."""

import json

import numpy as np
import pytest
from click.testing import Result

from fwsvm.experiments import run
from tests.cli.running import done


def cv(*words: object, code: int = 0) -> Result:
    return done("cv", *words, code=code)


def test_every_row_is_judged_once():
    found = cv("wdbc", "--folds", "3", "--json", "--tol", "1e-2")
    said = json.loads(found.stdout)
    rows = said["rows"]
    assert [row["fold"] for row in rows] == [0, 1, 2]
    assert [row["rows"] for row in rows] == [379, 379, 380]
    held_out = [569 - row["rows"] for row in rows]
    right = [row["test_accuracy"] * count for row, count in zip(rows, held_out, strict=True)]
    assert said["accuracy"] == pytest.approx(sum(right) / 569)
    assert said["deviation"] == pytest.approx(float(np.std([row["test_accuracy"] for row in rows], ddof=1)))
    assert said["accuracy"] > 0.95
    assert len({row["run_id"] for row in rows}) == 3


def test_after_an_interrupt_json_counts_the_folds_that_ended(monkeypatch):
    measured, made = run.accuracies, []

    def pressed(*given: object) -> object:
        made.append(1)
        if len(made) > 2:  # of training rows and others, in the first fold
            raise KeyboardInterrupt
        return measured(*given)

    monkeypatch.setattr(run, "accuracies", pressed)

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    words = ("wdbc", "--folds", "3", "--tol", "0.1", "--json")
    found = cv(*words, code=130)
    said = json.loads(found.stdout, parse_constant=refuse)
    assert (said["folds"], said["folds_ended"], len(said["rows"])) == (3, 1, 1)
    assert said["accuracy"] == said["rows"][0]["test_accuracy"]
    assert said["deviation"] is None
    monkeypatch.undo()
    assert json.loads(cv(*words).stdout)["folds_ended"] == 3


def test_a_class_too_small_for_the_folds_is_named(tmp_path):
    file = tmp_path / "few.svm"
    file.write_text("".join(f"{label} 1:{i}\n" for i, label in enumerate([1, 1, 1, 1, 2])))
    assert "class 2 has too few rows" in cv(file, "--folds", "2", code=3).stderr
    assert "5 rows cannot make 6 folds" in cv(file, "--folds", "6", code=3).stderr
