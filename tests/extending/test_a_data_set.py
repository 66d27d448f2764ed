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
    assert "evidence A: we made it" in about
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


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  corners:\n", "  wdbc:\n", "ValueError: a data set named 'wdbc' is there already"),
        ("task: binary", "task: maybe", "ours.lock:7: datasets: corners: task: one of"),
        (
            "{format: svmlight}",
            "{format: parquet}",
            "format must be one of svmlight, csv, npy, kdd99, miniboone",
        ),
        ("version: 1", "version: [", "not a readable lock"),
    ],
)
def test_a_lock_that_is_wrong_or_takes_a_name_is_left_out_in_one_line(folder, old, new, said):
    lock = folder / "ours.lock"
    lock.write_text(lock.read_text().replace(old, new))
    done = python(folder, "-m", "fwsvm", "data", "info", "wdbc", warn="default")
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "fwsvm: the data set plug-in 'corners' of the package corners (corners) is left out"
    )
    assert said in line
