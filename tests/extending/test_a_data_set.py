"""docs/adding/data-set.md: data sets of another package's lock, shipped beside it, through the command line."""

import json

import pytest

from tests.extending.packages import blocks, commands, fwsvm, install_page, printed, python

pytestmark = pytest.mark.slow

(CORNERS,) = blocks("data-set", "text")


@pytest.fixture
def folder(tmp_path):
    """Make a folder with the page's package in it."""
    install_page(tmp_path, "data-set")
    (tmp_path / "ours.lock").write_text(*blocks("data-set", "yaml"))
    (tmp_path / "corners.svm").write_bytes(CORNERS.encode())
    return tmp_path


def test_its_commands_find_it_verified_and_scaled(folder):
    more = (["data", "list"], ["train", "--json", "corners"])
    about, verified, trained, listed, row = printed(folder, *commands("data-set"), *more)
    assert "Two corners of a square" in about
    assert "we made it" in about
    assert "corners" in verified
    assert "converged" in trained
    assert "corners" in listed
    row = json.loads(row)
    assert (row["dataset"], row["rows"], row["features"]) == ("corners", 4, 2)
    (folder / "trial.yaml").write_text("name: trial\ndatasets: [corners, wdbc]\nmethods: [swap]\n")
    fwsvm(folder, "grid", "trial.yaml")
    assert "corners" in (folder / "results" / "trial" / "runs.csv").read_text()


def test_altered_bytes_are_not_used(folder):
    (folder / "corners.svm").write_bytes(CORNERS.replace("2:1", "2:3").encode())
    done = python(folder, "-m", "fwsvm", "train", "corners")
    assert done.returncode == 3
    assert "missing or altered" in done.stderr
