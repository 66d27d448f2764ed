"""``fwsvm cv``: every row judged once, by folds that only the seed decides."""

import json

import numpy as np
import pytest
from click.testing import Result

from fwsvm.experiments import run
from tests.cli.running import done


def cv(*words: object, code: int = 0) -> Result:
    return done("cv", *words, "--offline", code=code)


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
    measured, made = run.accuracy, []

    def pressed(*given: object) -> object:
        made.append(1)
        if len(made) > 2:  # of training rows and others, in the first fold
            raise KeyboardInterrupt
        return measured(*given)

    monkeypatch.setattr(run, "accuracy", pressed)

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    words = ("wdbc", "--folds", "3", "--tol", "0.1", "--score", "f1", "--json")
    found = cv(*words, code=130)
    said = json.loads(found.stdout, parse_constant=refuse)
    assert (said["folds"], said["folds_ended"], len(said["rows"])) == (3, 1, 1)
    assert said["accuracy"] == said["rows"][0]["test_accuracy"]
    assert said["deviation"] is said["scores"]["f1"]["deviation"] is None
    monkeypatch.undo()
    assert json.loads(cv(*words).stdout)["folds_ended"] == 3


def test_a_class_too_small_for_the_folds_is_named(tmp_path):
    file = tmp_path / "few.svm"
    file.write_text("".join(f"{label} 1:{i}\n" for i, label in enumerate([1, 1, 1, 1, 2])))
    assert "class 2 has too few rows" in cv(file, "--folds", "2", code=3).stderr
    assert "5 rows cannot make 6 folds" in cv(file, "--folds", "6", code=3).stderr


def test_scores_are_those_of_scikit_learn_on_the_same_folds():
    """Machines of scikit-learn for the same folds and problem, scored by scikit-learn."""
    linear = pytest.importorskip("sklearn.svm").LinearSVC
    from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    from fwsvm.data.labels import encode
    from fwsvm.experiments import samples
    from fwsvm.experiments.experiment import DataSpec, ValidationRule
    from fwsvm.experiments.validation import validation_mask

    data, by_fold = samples.load(DataSpec("wdbc")), []
    codes = encode(data.train.labels, data.classes)
    for part in range(3):
        test = validation_mask(codes, ValidationRule(folds=3), 0, part)
        peer = make_pipeline(MinMaxScaler(), linear(C=0.005, dual=False, tol=1e-9, max_iter=100_000))
        peer.fit(data.train.X[~test], codes[~test] == 0)
        found, true = peer.predict(data.train.X[test]), codes[test] == 0
        area = roc_auc_score(true, peer.decision_function(data.train.X[test]))
        macro = f1_score(true, found, average="macro")
        by_fold.append((area, f1_score(true, found), macro, balanced_accuracy_score(true, found)))
    names = ("auc", "f1", "f1-macro", "balanced-accuracy")
    asked = [word for name in names for word in ("--score", name)]
    options = ("--folds", "3", "--kernel", "linear", "-C", "0.01", "--tol", "1e-7")
    said = json.loads(cv("wdbc", *options, *asked, "--json").stdout)
    for name, peers in zip(names, zip(*by_fold, strict=True), strict=True):
        score = said["scores"][name]
        assert score["folds"] == pytest.approx(peers, abs=1e-3), name
        assert score["mean"] == pytest.approx(np.mean(score["folds"]))
        assert score["deviation"] == pytest.approx(np.std(score["folds"], ddof=1))
    assert "scores" not in said["rows"][0]
    lines = cv("wdbc", *options, *asked[:4], "--score", "accuracy").stdout.splitlines()[-3:]
    assert [line.split()[0] for line in lines] == ["AUC", "F1", "accuracy"]
    assert f"{said['scores']['auc']['mean']:.4f} (mean over folds)" in lines[0]


def test_scores_that_a_data_set_cannot_have_are_refused_before_training(tmp_path):
    found = cv("digits", "--score", "auc", "--folds", "2", code=2)
    assert "auc is for two classes, and these rows have 10" in found.stderr
    file = tmp_path / "few.svm"
    file.write_text("".join(f"{label} 1:{i}\n" for i, label in enumerate([1, 1, 1, 1, 1, 2, 2])))
    found = cv(file, "--folds", "3", "--score", "auc", code=3)
    assert "class 2 has fewer rows than there are folds" in " ".join(found.stderr.split())
    assert "fold 0" not in found.stdout
    cv("wdbc", "--score", "roc", code=2)
