"""Options of ``train`` and ``cv`` that say how a method searches and stops: in their columns, and in what is done."""

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.spatial.distance import pdist

import fwsvm
from fwsvm.data import load
from fwsvm.kernels.kernel import KERNELS
from fwsvm.settings import Settings, options
from tests import naive, svmlight_files
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
    svmlight_files.write(path, *overlapping(m))
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("options") / "60.svm", 60)


def row_of(file: Path, words: str) -> dict:
    return json.loads(done("train", "--json", "--threads", 1, *words.split(), file).stdout)


def assert_trained_by(row: dict, X: object, y: np.ndarray, **settings: object) -> None:
    same = fwsvm.train(X, y, method="cvm", threads=1, **settings)
    assert {name: row[name] for name in MEASURED} == {name: getattr(same, name) for name in MEASURED}
    assert row["C"] == pytest.approx(1.0 / (row["lambda"] * row["rows"]))


def test_every_setting_has_an_option():
    assert [*options()] == [each.name for each in fields(Settings) if each.name != "kernel_parameters"]


@each_option
def test_an_option_is_in_its_columns_and_is_the_setting_of_python(file, words, columns, settings):
    row, table = row_of(file, f"--method cvm {words}"), load(str(file)).train
    assert {name: row[name] for name in columns} == columns
    assert_trained_by(row, table.X, table.labels, **settings)


@pytest.mark.parametrize(
    ("words", "C", "gamma"),
    [("--lambda 0.004 --gamma 0.3", 1.0 / (60 * 0.004), 0.3), ("-C 3 --sigma2 2.5", 3.0, 0.2)],
)
def test_penalty_and_width_are_those_of_the_formulas(file, words, C, gamma):
    optimum = naive.least_objective("rbf", *overlapping(60), C, gamma)
    assert row_of(file, f"--tol 1e-6 {words}")["objective"] == pytest.approx(optimum, rel=2e-6)


DRAWN = 59  # rows in a sample
RETRIES = 7  # samples without a violator, where nothing else is said


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of rows that are all in the starting point, so that no sample holds a violator."""
    return written(tmp_path_factory.mktemp("options") / "12.svm", 12)


@pytest.mark.parametrize(
    ("protocol", "samples", "levels"), [("paper", 7, 1), ("libcvm", 7, 7), ("fw-svms", 1, 2)]
)
def test_a_protocol_draws_its_samples_at_each_of_its_tolerances(few, protocol, samples, levels):
    """From 0.1, halved down to 0.0025, are 7 tolerances, from 0.005 two; each ends after the samples without a step."""
    words = f"-m mfw --protocol {protocol} --gradient computed --stop relative --tol 0.0025"
    usual, given, more = (row_of(few, f"{words} {also}") for also in (
        "", f"--retries {samples}", f"--retries {samples + 3}"))  # fmt: skip
    assert (usual["iterations"], usual["steps"]) == (levels, 0)
    assert given["kernel_evaluations"] == usual["kernel_evaluations"]
    drawn = more["kernel_evaluations"] - usual["kernel_evaluations"]
    assert drawn == 3 * levels * DRAWN * usual["support_vectors"]


def test_the_first_level_is_halved_down_to_the_tolerance(few):
    words = "-m mfw --search sampled --gradient computed --tol 0.1"
    at_once, from_eight = (row_of(few, f"{words} {also}") for also in ("", "--first-level 0.8"))
    assert (at_once["iterations"], from_eight["iterations"]) == (1, 4)
    drawn = from_eight["kernel_evaluations"] - at_once["kernel_evaluations"]
    assert drawn == 3 * RETRIES * DRAWN * at_once["support_vectors"]


@pytest.mark.parametrize(("gradient", "each"), [("computed", DRAWN), ("kept", 0), ("cheaper", 0)])
def test_candidates_cost_kernel_values_unless_the_gradient_is_kept(few, gradient, each):
    words = f"-m mfw --search sampled --tol 0.1 --gradient {gradient}"
    two, five = (row_of(few, f"{words} --retries {count}") for count in (2, 5))
    assert five["kernel_evaluations"] - two["kernel_evaluations"] == 3 * each * two["support_vectors"]


def test_candidates_from_outside_the_core_set_leave_no_row_out(tmp_path):
    """With so small a C every row outside is a violator; of a core set of nearly all rows 59 others may find none."""
    words = "-m cvm --protocol paper --retries 1 --stop relative --tol 1e-3 -C 0.001 --gamma 0.5"
    path, found = written(tmp_path / "300.svm", 300), {}
    for candidates in ("outside", "balanced", "uniform"):
        found[candidates] = row_of(path, f"{words} --candidates {candidates}")["support_vectors"]
    assert (found["outside"], found["balanced"]) == (300, 300)
    assert found["uniform"] < 300


#: What the options of a kernel's parameters change, each to a value that is not its default.
GIVEN = {"gamma": "0.3", "coef0": "0.5", "degree": "2"}
#: Default widths, computed from the rows.
SQUARES, ABSOLUTES = (lambda X: pdist(X, "sqeuclidean").mean()), (lambda X: pdist(X, "cityblock").mean())
WIDTHS = {
    "1 / (2 D)": lambda X: 0.5 / SQUARES(X),
    "1 / D": lambda X: 1.0 / SQUARES(X),
    "2 / D of 5,000 rows": lambda X: 2.0 / SQUARES(X),
    "1 / (mean of |x - z|_1)": lambda X: 1.0 / ABSOLUTES(X),
}
each_kernel = pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "precomputed"])


@pytest.fixture(scope="module")
def listed() -> dict[str, dict]:
    """Return what the command says of each kernel."""
    every = yaml.safe_load(done("kernels").stdout)
    found = {name: yaml.safe_load(done("kernels", name).stdout) for name in every}
    assert every == {name: facts["formula"] for name, facts in found.items()}
    return {name: {"widths": {}, "parameters": [], **facts} for name, facts in found.items()}


def test_all_kernels_are_listed_in_order(listed):
    assert list(listed) == sorted(KERNELS)
    assert [facts["formula"] for facts in listed.values()] == [KERNELS[name].formula for name in listed]


@each_kernel
@pytest.mark.parametrize("parameter", GIVEN)
def test_a_kernel_takes_the_parameters_that_are_listed_and_no_others(listed, file, kernel, parameter):
    option = "--gamma " if parameter == "gamma" else f"--param {parameter}="
    words = f"--kernel {kernel} --tol 0.1 {option}{GIVEN[parameter]}"
    if parameter in listed[kernel]["parameters"]:
        assert row_of(file, words)[parameter] == float(GIVEN[parameter])
        return
    refused = done("train", file, *words.split(), code=2)
    assert f"{parameter} means nothing to the {kernel} kernel" in refused.stderr


@each_kernel
def test_a_width_that_is_not_given_is_that_of_the_formula(listed, file, kernel):
    widths = listed[kernel]["widths"]
    for rule, formula in widths.items():
        row = row_of(file, f"--kernel {kernel} --tol 0.1" + f" --width-rule {rule}" * (len(widths) > 1))
        assert row["width_rule"] == rule
        assert row["gamma"] == pytest.approx(WIDTHS[formula](overlapping(60)[0]))
    assert bool(widths) == ("gamma" in listed[kernel]["parameters"])
