"""``fwsvm kernels``: what it says of each kernel is what training does with it."""

import json
from pathlib import Path

import pytest
from scipy.spatial.distance import pdist

from fwsvm.kernels.kernel import KERNELS
from tests.cli.running import done
from tests.cli.test_train_options import overlapping, row_of, written

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
    return {each["name"]: each for each in json.loads(done("kernels", "--json").stdout)["kernels"]}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("kernels") / "60.svm", 60)


def test_all_kernels_are_listed_in_order_and_people_are_told_the_same(listed):
    assert list(listed) == sorted(KERNELS)
    lines = done("kernels").stdout.splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert heads == [f"{name}: {facts['formula']}" for name, facts in listed.items()]
    options = [line.split()[1:] for line in lines if line.startswith("  options")]
    named = [facts["parameters"] for facts in listed.values() if facts["parameters"]]
    assert options == [[f"--{name}," for name in names[:-1]] + [f"--{names[-1]}"] for names in named]


@each_kernel
@pytest.mark.parametrize("parameter", GIVEN)
def test_a_kernel_takes_the_parameters_that_are_listed_and_no_others(listed, file, kernel, parameter):
    words = f"--kernel {kernel} --tol 0.1 --{parameter} {GIVEN[parameter]}"
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
