"""docs/adding/column.md: a results column, from ``--json`` to tables of a results folder."""

import csv
import json
import shutil

import pytest

from tests.extending.packages import blocks, commands, fwsvm, install_page, python

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
