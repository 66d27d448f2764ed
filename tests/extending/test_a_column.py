"""docs/adding/column.md: a results column, from ``--json`` to tables of a results folder."""

import csv
import json
import shutil

import pytest

from tests.extending.packages import blocks, commands, fwsvm, install, install_page, python

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path):
    """Make a folder with the page's package and an experiment in it."""
    install_page(tmp_path, "column")
    (tmp_path / "trial.yaml").write_text(blocks("column", "yaml")[0])
    return tmp_path


def test_it_is_in_the_row_in_the_file_and_does_not_keep_it_from_being_read(folder):
    train, grid, table = commands("column")
    row = json.loads(fwsvm(folder, *train))
    assert row["support_fraction"] == row["support_vectors"] / row["rows"]
    fwsvm(folder, *grid)
    (written,) = csv.DictReader((folder / "results" / "trial" / "runs.csv").read_text().splitlines())
    assert list(written)[-1] == "support_fraction"
    assert float(written["support_fraction"]) == row["support_fraction"]
    with_it = fwsvm(folder, *table)
    (folder / "density.py").unlink()
    shutil.rmtree(folder / "density-1.0.dist-info")
    assert fwsvm(folder, *table) == with_it
    refused = python(folder, "-m", "fwsvm", *grid)
    assert refused.returncode == 2
    assert "the columns are not this version's ('support_fraction')" in refused.stderr


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("7", "support_fraction is '7', which is not a number from 0 to 1"),
    ],
)
def test_one_that_fails_or_does_not_fit_leaves_its_field_empty_and_the_run_is_kept(folder, wrong, said):
    module = folder / "density.py"
    module.write_text(module.read_text().replace('result.support_vectors / row["rows"]', wrong))
    done = python(folder, "-m", "fwsvm", "train", "--json", "wdbc", warn="default")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row["certified"]
    assert row["support_fraction"] is None
    (warned,) = [line for line in done.stderr.splitlines() if "support_fraction" in line]
    assert warned.startswith("fwsvm: the column support_fraction is left empty: ")
    assert said in warned


def test_one_that_takes_a_name_is_left_out_in_one_line(tmp_path):
    taken = blocks("column", "python")[0].replace('    "support_fraction",', '    "gap",')
    install(tmp_path, "fwsvm.columns", "theirs", "theirs", taken)
    done = python(tmp_path, "-m", "fwsvm", "train", "wdbc", warn="default")
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.endswith("could not be loaded: ValueError: a column named 'gap' is registered already")
