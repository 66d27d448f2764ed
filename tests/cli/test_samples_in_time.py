"""`fwsvm train --time-limit` on data too large for the time: a machine of a sample, which nobody can take for more."""

import json

import pytest
from click.testing import CliRunner

from fwsvm.cli import main
from fwsvm.problems import model_files

DATA = "synthetic:checkerboard?rows=4000&test=500"
SHORT = ("--param", "samples_from=1000", "--time-limit", "1e-6", "--threads", "1")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    model = tmp_path_factory.mktemp("sample") / "m"
    done = CliRunner().invoke(main, ["train", *SHORT, "--json", "--model", str(model), DATA])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout), done.stderr, model


def test_the_row_is_of_the_samples_problem(trained):
    row, _, _ = trained
    whole = json.loads(CliRunner().invoke(main, ["train", "--json", DATA]).stdout)
    assert row["status"] == "time_limit"
    assert row["rows"] < 4000 == whole["rows"]
    assert f"sample of {row['rows']:,} rows)" in row["method"]
    assert row["method"].startswith("auto(samples_from=1000) (")
    assert row["data_sha256"] != whole["data_sha256"]
    assert row["lambda"] == pytest.approx(1.0 / row["rows"])
    assert row["train_accuracy"] is None
    assert 0.0 < row["test_accuracy"] < 1.0
    assert row["run_id"] != whole["run_id"]


def test_the_message_and_the_model_say_it(trained):
    row, said, model = trained
    assert "too short for all 4,000 rows" in row["message"]
    assert row["message"] in said
    assert "of the sample's problem" in said
    facts = model_files.read(model).facts
    assert facts["method"] == row["method"]
    assert facts["data_sha256"] == row["data_sha256"]


def test_cross_validation_trains_on_samples_too():
    done = CliRunner().invoke(
        main, ["cv", *SHORT, "--folds", "2", "--json", "synthetic:checkerboard?rows=3000&test=0"]
    )
    assert done.exit_code == 0, done.output
    assert "sample of" in done.stdout
