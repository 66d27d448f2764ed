"""docs/adding/method.md does what it says: its blocks are saved, installed and run as they stand."""

import json

import pytest

from tests.extending.packages import blocks, commands, fwsvm, install, install_page, python

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a folder with the page's package in it."""
    place = tmp_path_factory.mktemp("method")
    install_page(place, "method")
    return place


def test_the_file_trains_and_its_laws_hold(folder):
    _, *steps, _ = blocks("method", "python")
    assert len(steps) == 3
    done = python(folder, "-c", "\n".join([*steps, "print(result.certified)"]))
    assert done.returncode == 0, done.stderr
    assert "within the tolerance" in done.stdout
    assert done.stdout.split()[-1] == "True"


def test_the_entry_point_brings_the_method_to_the_command_line(folder):
    (words,) = commands("method")
    said = fwsvm(folder, *words)
    assert "Mitchell" in said
    assert "converged" in said


@pytest.fixture(scope="module")
def second(tmp_path_factory):
    """Make a folder with a package of the page's second method in it."""
    place = tmp_path_factory.mktemp("second")
    install(place, "fwsvm.solvers", "second_example", "second_example", blocks("method", "python")[-1])
    return place


@pytest.mark.parametrize("search", ["full", "sampled", "sampled --gradient computed", "sampled --cache-mb 1"])
def test_a_method_that_takes_the_second_best_vertex_ends_at_the_same_optimum(second, search):
    words = (
        "train",
        "--json",
        "--kernel",
        "linear",
        "--tol",
        "1e-4",
        "wdbc",
        "--search",
        *search.split(),
        "--method",
    )
    ours, swap = (json.loads(fwsvm(second, *words, name)) for name in ("second-example", "swap"))
    assert ours["certified"]
    assert abs(ours["objective"] - swap["objective"]) <= max(ours["gap"], swap["gap"])
    assert ours["steps"] != swap["steps"]
    assert ours["iterations"] < 1.1 * ours["steps"] or search != "full"  # no iteration counts twice
