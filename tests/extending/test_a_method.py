"""docs/adding/method.md does what it says: its blocks are saved, installed and run as they stand."""

import pytest

from tests.extending.packages import blocks, commands, fwsvm, install_page, python

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a folder with the page's package in it."""
    place = tmp_path_factory.mktemp("method")
    install_page(place, "method")
    return place


def test_the_file_trains_and_its_laws_hold(folder):
    _, *steps = blocks("method", "python")
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
