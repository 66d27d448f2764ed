"""Weights of classes through the command line: the machines, rows and identities that they lead to."""

import json
from pathlib import Path

import numpy as np
import pytest

import fwsvm
from fwsvm.data.labels import encode
from fwsvm.experiments.experiment import ValidationRule
from fwsvm.experiments.samples import validation_mask
from tests import naive, svmlight_files
from tests.cli.running import done, run


def row_of(*arguments: str) -> dict:
    return json.loads(done("train", "--json", *arguments).stdout)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three classes of 60, 25 and 15 rows that overlap."""
    rng, path = np.random.default_rng(5), tmp_path_factory.mktemp("classes") / "three.svm"
    labels = np.repeat([1, 2, 3], [60, 25, 15])
    X = rng.normal(size=(100, 2)) + np.array([[0, 0], [1.5, 0], [0, 1.5]])[labels - 1]
    svmlight_files.write(path, np.round(X, 6), labels)
    return path


def test_a_class_with_a_weight_is_its_rows_with_that_weight(file):
    settings = ("--method", "swap-2o", "--gamma", "0.5", "--tol", "1e-6")
    ended = run("train", "--json", str(file), *settings, "--class-weight", "+3=5", "--class-weight", "1=0.5")
    assert "class weights   1: 0.5, 2: 1, 3: 5\n" in ended.stderr
    found = json.loads(ended.stdout)
    y = fwsvm.data.load(str(file)).train.labels
    weights = np.where(y == 3, 5.0, np.where(y == 1, 0.5, 1.0))
    same = fwsvm.train(str(file), weights=weights, method="swap-2o", gamma=0.5, tolerance=1e-6)
    assert found["objective"] == pytest.approx(same.objective, rel=1e-12)
    assert found["objective"] != pytest.approx(row_of(str(file), *settings)["objective"], rel=1e-2)


def test_a_label_that_no_row_has_is_refused_and_json_says_so(file):
    ended = run("train", "--json", str(file), "--class-weight", "9=2")
    assert ended.exit_code != 0
    found = json.loads(ended.stdout)
    assert (found["status"], found["method"], found["dataset"]) == ("error", "auto", str(file))
    assert "9" in found["message"]


def test_folds_are_balanced_by_the_rows_that_each_trains_on(tmp_path):
    """Four rows of one class fall unevenly into three folds; the weights of all rows have another optimum."""
    rng, path = np.random.default_rng(2), tmp_path / "uneven.svm"
    y = np.repeat([1.0, -1.0], [40, 4])
    X = np.round(rng.normal(size=(44, 2)) + y[:, None], 6)
    svmlight_files.write(path, X, y)
    loaded = fwsvm.data.load(str(path))
    codes = encode(loaded.train.labels, loaded.classes)

    def least(trained: np.ndarray, counted: np.ndarray) -> float:
        """Return the optimum of these rows with penalties by which the classes of those rows count alike."""
        each = {label: len(counted) / (2 * np.count_nonzero(counted == label)) for label in (1.0, -1.0)}
        C = np.array([each[label] for label in y[trained].tolist()])
        return naive.least_objective("rbf", X[trained], y[trained], C, 0.5)

    options = (
        "-C",
        "1",
        "--folds",
        "3",
        "--gamma",
        "0.5",
        "--tol",
        "1e-6",
        "--class-weight",
        "balanced",
        "--json",
    )
    folds = json.loads(run("cv", str(path), "--method", "newton", *options).stdout)["rows"]
    for part, row in enumerate(folds):
        trained = ~validation_mask(codes, ValidationRule(folds=3), 0, part)
        assert row["objective"] == pytest.approx(least(trained, y[trained]), rel=2e-6)
        assert row["objective"] != pytest.approx(least(trained, y), rel=1e-3)
    assert len(folds) == 3


def test_a_row_and_its_identity_name_the_weights(file):
    given = [[], ["balanced"], ["2=3"], ["2=3", "1=2"], ["1=2.0", "2.0=3"]]
    options = [[word for one in words for word in ("--class-weight", one)] for words in given]
    found = [row_of(str(file), "--method", "fw", "--tol", "0.1", *more) for more in options]
    assert [json.loads(row["parameters"] or "{}").get("class_weight") for row in found] == [
        None, "balanced", {"2": 3.0}, *[{"1": 2.0, "2": 3.0}] * 2
    ]  # fmt: skip
    assert len({row["run_id"] for row in found}) == 4
    assert found[3]["run_id"] == found[4]["run_id"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["1"], "--class-weight takes LABEL=W, or balanced alone, not '1'"),
        (["balanced", "1=2"], "takes LABEL=W, or balanced alone, not 'balanced'"),
        (["1=2", "1=3"], "class '1' has two weights"),
        (["1=2", "1.0=3"], "class '1' has two weights"),
        (["1=heavy"], "the weight of class '1' must be a finite number, not 'heavy'"),
        (["1=-1"], "the weight of class '1' must not be negative"),
        (["1=inf"], "the weight of class '1' must be a finite number"),
        (["1=0", "2=0"], "one class only; a classifier needs rows of two, with positive weights"),
        (["7=2"], "names '7', which is no class; the classes are '1', '2', '3'"),
    ],
)
def test_weights_that_make_no_sense_are_refused(file, words, why):
    options = [word for one in words for word in ("--class-weight", one)]
    for command in (["train"], ["cv", "--folds", "2"]):
        ended = done(*command, str(file), *options, code=2)
        assert why in " ".join(ended.stderr.split())
