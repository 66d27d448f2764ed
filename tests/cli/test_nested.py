"""`fwsvm train --method nested`: a machine of a sample, which nobody can take for more."""

import json

import pytest

from fwsvm.problems import model_files
from tests.cli.running import done

DATA = "synthetic:checkerboard?rows=2000&test=500"
SHORT = (
    "--method",
    "nested",
    "--param",
    "first=500",
    "--tol",
    "0.1",
    "--time-limit",
    "1e-6",
    "--threads",
    "1",
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    model = tmp_path_factory.mktemp("sample") / "m"
    ended = done("train", *SHORT, "--json", "--model", model, DATA)
    return json.loads(ended.stdout), ended.stderr, model


def test_the_row_is_of_the_samples_problem(trained):
    row, _, _ = trained
    long = ["1e6" if word == "1e-6" else word for word in SHORT]
    whole = json.loads(done("train", *long, "--json", DATA).stdout)
    assert whole["status"] == "converged"
    assert row["status"] == "time_limit"
    assert row["rows"] == 500
    assert whole["rows"] == 2000
    assert "sample of 500 rows" in row["chosen"]
    assert "trained_on_sample" in row["flags"].split()
    assert (row["method"], row["parameters"]) == ("nested", '{"first": 500}')
    assert row["data_sha256"] != whole["data_sha256"]
    assert row["run_id"] != whole["run_id"]
    assert row["lambda"] == pytest.approx(1.0 / row["rows"])
    assert row["train_accuracy"] is None
    assert 0.0 < row["test_accuracy"] < 1.0


def test_the_message_and_the_model_say_it(trained):
    row, said, model = trained
    assert "sample of 500 of the 2,000 rows" in row["message"]
    assert row["message"] in said
    assert "of the sample's problem" in said
    facts = model_files.read(model).facts
    assert facts["method"] == row["method"]
    assert facts["data_sha256"] == row["data_sha256"]
