"""docs/adding/figure.md: a kind of figure, through ``fwsvm plot`` and a report."""

import pytest

from tests.extending.packages import blocks, commands, fwsvm, install, install_page, python

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


def test_one_that_takes_a_name_is_left_out_in_one_line(tmp_path):
    taken = blocks("figure", "python")[0].replace('@figure("scatter")', '@figure("ranks")')
    install(tmp_path, "fwsvm.figures", "theirs", "theirs", taken)
    done = python(
        tmp_path,
        "-m",
        "fwsvm",
        "plot",
        "--published",
        "003",
        "--figure",
        "ranks",
        "-f",
        "svg",
        warn="default",
    )
    assert done.returncode == 0, done.stderr
    assert "ranks-time.svg" in done.stdout
    (said,) = done.stderr.splitlines()
    assert said.startswith("fwsvm: the figure plug-in 'theirs' of the package theirs (theirs) is left out")
    assert said.endswith("ValueError: a figure named 'ranks' is registered already")
