"""Options of ``train`` and ``cv`` that say how a method searches and stops: in their columns, and in what is done."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import fwsvm
from fwsvm.data import load
from fwsvm.data.labels import encode
from fwsvm.experiments.experiment import ValidationRule
from fwsvm.experiments.validation import validation_mask
from tests import naive
from tests.cli.running import done

MEASURED = ("objective", "gap", "support_vectors", "iterations", "steps", "kernel_evaluations")
PUBLISHED = {"search": "sampled", "stop": "meb", "tolerance": 1e-6}
SAMPLED = {"search": "sampled"}
#: Words of the command line, the columns that hold them, and the same settings in Python.
OPTIONS = [
    ("--lambda 0.004", {"lambda": 0.004}, {"lambda_": 0.004}),
    ("--sigma2 2.5", {"sigma2": 2.5, "gamma": 0.2, "width_rule": None}, {"sigma2": 2.5}),
    ("--no-final-gap", {"gap_kind": "none", "certified": False, "primal": None}, {"final_gap": False}),
    ("--final-gap", {"gap_kind": "exact", "certified": True}, {}),
    ("--search sampled", {**SAMPLED, "stop": "relative", "tolerance": 1e-3, "gap_kind": "exact"}, SAMPLED),
    (
        "--search sampled --no-final-gap",
        {**SAMPLED, "gap_kind": "sampled", "certified": False},
        {**SAMPLED, "final_gap": False},
    ),
    ("--protocol default", {"search": "full", "stop": "relative", "tolerance": 1e-3}, {}),
    ("--protocol paper", {**PUBLISHED, "width_rule": "paper"}, {"protocol": "paper"}),
    ("--protocol libcvm", {**PUBLISHED, "width_rule": "libcvm"}, {"protocol": "libcvm"}),
    ("--protocol fw-svms", {**PUBLISHED, "width_rule": "libcvm"}, {"protocol": "fw-svms"}),
    *(
        (
            f"--protocol paper --{name.replace('_', '-')} {value}",
            {**PUBLISHED, "method": "cvm", "parameters": json.dumps({name: value})},
            {"protocol": "paper", name: value},
        )
        for name, value in (("retries", 2), ("first_level", 0.5), ("candidates", "outside"),
                            ("candidates", "balanced"), ("gradient", "computed"), ("gradient", "kept"))
    ),
]  # fmt: skip
each_option = pytest.mark.parametrize(("words", "columns", "settings"), OPTIONS, ids=[w for w, *_ in OPTIONS])


def overlapping(m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return m rows of two classes that overlap, and their labels; each class has every other row."""
    y = np.where(np.arange(m) % 2, -1, 1)
    return np.round(np.random.default_rng(3).normal(size=(m, 3)) + 0.6 * y[:, None], 4), y


def written(path: Path, m: int) -> Path:
    """Write the rows to a file."""
    rows = zip(*(each.tolist() for each in overlapping(m)), strict=True)
    path.write_text("".join(f"{label} 1:{a} 2:{b} 3:{c}\n" for (a, b, c), label in rows))
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("options") / "60.svm", 60)


def row_of(file: Path, words: str) -> dict:
    return json.loads(done("train", "--json", "--offline", "--threads", 1, *words.split(), file).stdout)


def assert_trained_by(row: dict, X: object, y: np.ndarray, **settings: object) -> None:
    same = fwsvm.train(X, y, method="cvm", threads=1, **settings)
    assert {name: row[name] for name in MEASURED} == {name: getattr(same, name) for name in MEASURED}
    assert row["C"] == pytest.approx(1.0 / (row["lambda"] * row["rows"]))


@each_option
def test_an_option_is_in_its_columns_and_is_the_setting_of_python(file, words, columns, settings):
    row, table = row_of(file, f"--method cvm {words}"), load(str(file)).train
    assert {name: row[name] for name in columns} == columns
    assert_trained_by(row, table.X, table.labels, **settings)


@pytest.mark.parametrize(("words", "columns", "settings"), OPTIONS[::4])
def test_every_fold_is_trained_by_the_option(file, words, columns, settings):
    words = f"--json --offline --folds 2 --threads 1 -m cvm {words}"
    rows = json.loads(done("cv", *words.split(), file).stdout)["rows"]
    data = load(str(file))
    codes = encode(data.train.labels, data.classes)
    for part, row in enumerate(rows):
        assert {name: row[name] for name in columns} == columns
        left = ~validation_mask(codes, ValidationRule(folds=2), 0, part)
        assert_trained_by(row, data.train.X[left], data.train.labels[left], **settings)


@pytest.mark.parametrize(
    ("words", "C", "gamma"),
    [("--lambda 0.004 --gamma 0.3", 1.0 / (60 * 0.004), 0.3), ("-C 3 --sigma2 2.5", 3.0, 0.2)],
)
def test_penalty_and_width_are_those_of_the_formulas(file, words, C, gamma):
    optimum = naive.least_objective("rbf", *overlapping(60), C, gamma)
    assert row_of(file, f"--tol 1e-6 {words}")["objective"] == pytest.approx(optimum, rel=2e-6)


@pytest.mark.parametrize(("protocol", "factor"), [("paper", 0.5), ("libcvm", 2.0), ("fw-svms", 2.0)])
def test_a_protocol_has_its_width(file, protocol, factor):
    mean = pdist(overlapping(60)[0], "sqeuclidean").mean()
    assert row_of(file, f"-m fw --protocol {protocol}")["gamma"] == pytest.approx(factor / mean)
