"""Scaling in model files: facts that return as they went or are refused, and a range file beside the model."""

from dataclasses import replace

import numpy as np
import pytest

from fwsvm import scaling
from fwsvm.data import libsvm_tools
from fwsvm.problems import model_files
from fwsvm.problems.machines import prepared
from tests.problems import trained

RANGES = scaling.fit(np.array([[6.981, 0, 3, 0, 1 / 3], [28.11, 0, 3, -2e-5, 1e22]]), "[0,1]")
MODELS = {"kernel": trained.kernel_model(), "linear": trained.linear_model(("a", "b", "c"))}


@pytest.fixture(params=MODELS)
def model(request):
    return replace(MODELS[request.param], ranges=RANGES)


def test_the_range_file_beside_the_model_says_the_same(tmp_path, model):
    model_files.write(tmp_path / "m", model)
    assert RANGES.text() == libsvm_tools.read_ranges(tmp_path / "m.range").text()
    lines = (tmp_path / "m.range").read_text().splitlines()
    assert lines[:3] == ["x", "0 1", "1 6.9809999999999999 28.109999999999999"]


def test_a_model_that_scales_nothing_has_no_range_file(tmp_path, model):
    model_files.write(tmp_path / "m", replace(model, ranges=None))
    assert [file.name for file in tmp_path.iterdir()] == ["m"]
    assert model_files.read(tmp_path / "m").ranges is None


def test_rows_are_scaled_and_unknown_features_is_left_out(model):
    X = np.array([[6.981, 7, 3, -2e-5, 0, 5], [28.11, 0, 0, 0, 1e22, 0]])
    ready = prepared(model, X)
    assert ready.X.tolist() == [[0, 0, 0, 0, 0 - 1 / 3 / (1e22 - 1 / 3)], [1, 0, 0, 1, 1]]
    assert (ready.ignored, ready.far) == (1, 0)
    assert prepared(replace(model, ranges=None), X).X.tolist() == X[:, :5].tolist()
