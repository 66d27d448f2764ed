"""docs/adding/figure.md: a kind of figure, through ``fwsvm plot`` and a report."""

import pytest

from tests.extending.packages import blocks, commands, fwsvm, install_page, python

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a folder with the page's package in it."""
    place = tmp_path_factory.mktemp("figure")
    install_page(place, "figure")
    return place


def test_its_command_draws_it_and_its_tests_hold(folder):
    (words,) = commands("figure")
    assert "scatter.svg  Test accuracy against training time." in fwsvm(folder, *words)
    assert "test accuracy" in (folder / "pictures" / "scatter.svg").read_text()
    _, tests = blocks("figure", "python")
    done = python(folder, "-c", tests)
    assert done.returncode == 0, done.stderr


def test_it_is_drawn_after_the_others_and_named_among_them(folder):
    drawn = fwsvm(folder, "plot", "--published", "003", "--format", "svg", "--out", "all").splitlines()
    assert "scatter.svg" in drawn[-1]
    assert any("series-time.svg" in line for line in drawn[:-1])
    for name, hint in (("skatter", "did you mean 'scatter'?"), ("zzz", "the figures are summary, series, ")):
        done = python(folder, "-m", "fwsvm", "plot", "--published", "003", "--figure", name)
        assert done.returncode == 2
        (said,) = done.stderr.splitlines()
        assert said.startswith(f"fwsvm: there is no figure {name!r}; {hint}")
    assert said.endswith(", scatter")
