"""docs/adding/method.md does what it says: its blocks are saved, installed and run as they stand."""

import json
import re

import pytest

from tests.extending.packages import PAGES, ROOT, blocks, commands, fwsvm, install, install_page, python

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


def test_a_method_that_takes_the_second_best_vertex_ends_at_the_same_optimum(tmp_path):
    install(tmp_path, "fwsvm.solvers", "second", "second", blocks("method", "python")[-1])
    words = ("train", "--json", "--kernel", "linear", "--tol", "1e-5", "wdbc", "--method")
    ours, swap = (json.loads(fwsvm(tmp_path, *words, name)) for name in ("swap-second", "swap"))
    assert ours["certified"]
    assert abs(ours["objective"] - swap["objective"]) <= max(ours["gap"], swap["gap"])
    assert ours["iterations"] != swap["iterations"]


@pytest.mark.parametrize("page", sorted(page.stem for page in PAGES.glob("*.md")))
def test_every_file_that_a_page_names_is_there(page):
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:fwsvm|tests|docs)/[\w/]+(?:\.\w+)?)/?`", text))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
