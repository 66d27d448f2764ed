"""Runs under the protocol fw-svms against those of the program of 003's authors, built and run on the same files.

`benchmarks/referee.py` has more sets, and what takes longer.
"""

import os
import statistics

import pytest

from fwsvm import data, train
from fwsvm.errors import DataError
from fwsvm.experiments.accuracy import accuracy

pytestmark = [
    pytest.mark.mirror,
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("FWSVM_MIRROR"), reason="needs real files: FWSVM_MIRROR"),
]

#: Iterations and test accuracy of their program, C, and the width that it was run with.
ADULT, DIGITS = {"C": 1.0, "width_rule": "paper"}, {"C": 8.0}
COUNTS = [
    ("a1a", "fw", ADULT, 332_660, 0.844),
    ("a1a", "mfw", ADULT, 7520, 0.844),
    ("a1a", "swap", ADULT, 4702, 0.844),
    ("a2a", "mfw", ADULT, 10_472, None),
    ("a2a", "swap", ADULT, 6224, None),
    ("pendigits", "fw", DIGITS, 14_684, 0.9828),
    ("pendigits", "mfw", DIGITS, 22_829, 0.9848),
]
SEEDS = 5


@pytest.fixture(scope="module")
def loaded():
    """Return a data set's rows, read once; skip the test where the file is not at hand."""
    known = {}

    def load(name):
        if name not in known:
            try:
                known[name] = data.load(name, offline=True)
            except DataError:
                pytest.skip(f"needs the file {name}: FWSVM_MIRROR")
        return known[name]

    return load


def run(rows, method, given, seed):
    return train(rows, method=method, protocol="fw-svms", seed=seed, threads=1, **given)


@pytest.mark.parametrize(("name", "method", "given", "iterations", "right"), COUNTS)
def test_iterations_and_accuracy_are_those_of_the_authors_program(
    name, method, given, iterations, right, loaded
):
    rows = loaded(name)
    seeds = 1 if method == "fw" else SEEDS  # fw takes a second or more
    results = [run(rows, method, given, seed) for seed in range(seeds)]
    found = statistics.median(result.iterations for result in results)
    assert found == pytest.approx(iterations, rel=0.25)
    if right is not None:
        parts = [accuracy(result, rows.test, rows.classes) for result in results]
        assert statistics.median(parts) == pytest.approx(right, abs=0.003)


def test_cvm_ends_with_the_core_set_of_the_authors_program(loaded):
    """Their program counts each step inside the core set twice."""
    rows = loaded("a1a")
    result = run(rows, "cvm", ADULT, 0)
    assert result.iterations == pytest.approx(1053, rel=0.25)
    assert result.steps == pytest.approx(1.63e6 / 2, rel=0.25)
    assert result.objective == pytest.approx(1.49664e-3, rel=1e-3)
    assert accuracy(result, rows.test, rows.classes) == pytest.approx(0.844, abs=0.003)
