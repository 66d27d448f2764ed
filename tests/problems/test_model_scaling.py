"""Scaling in model files: facts that return as they went or are refused, and a range file beside the model."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from fwsvm import _memory, scaling
from fwsvm.data import ranges as range_files
from fwsvm.errors import DataError, ModelError
from fwsvm.problems import model_files
from fwsvm.problems.features import prepared
from tests.problems import trained

RANGES = scaling.fit(np.array([[6.981, 0, 3, 0, 1 / 3], [28.11, 0, 3, -2e-5, 1e22]]), "[0,1]")
MODELS = {"kernel": trained.kernel_model(), "linear": trained.linear_model(("a", "b", "c"))}


@pytest.fixture(params=MODELS)
def model(request):
    return replace(MODELS[request.param], ranges=RANGES)


def test_ranges_return_as_they_went(tmp_path, model):
    assert model_files.write(tmp_path / "m", model) == ()
    back = model_files.read(tmp_path / "m")
    assert RANGES.same_as(back.ranges)
    assert back.ranges.features.tolist() == [0, 3, 4]
    model_files.write(tmp_path / "again", back)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_the_range_file_beside_the_model_says_the_same(tmp_path, model):
    model_files.write(tmp_path / "m", model)
    assert RANGES.same_as(range_files.read(tmp_path / "m.range").features)
    lines = (tmp_path / "m.range").read_text().splitlines()
    assert lines[:3] == ["x", "0 1", "1 6.9809999999999999 28.109999999999999"]


def test_a_machine_that_scales_nothing_has_no_range_file_and_names_another_s(tmp_path, model):
    plain = replace(model, ranges=None)
    assert model_files.write(tmp_path / "m", plain) == ()
    assert [file.name for file in tmp_path.iterdir()] == ["m"]
    model_files.write(tmp_path / "m", model)
    (notice,) = model_files.write(tmp_path / "m", plain)
    assert "m.range is not of this model" in notice
    assert model_files.read(tmp_path / "m").ranges is None


FACT = {"interval": [0, 1], "features": [1, 4], "minimum": [0, -1.5], "maximum": [1, 2]}
HOSTILE = {
    "no object": [1, 2],
    "a text": "[0,1]",
    "a key too few": {key: FACT[key] for key in ("interval", "features", "minimum")},
    "a key too many": {**FACT, "rows": 3},
    "no list": {**FACT, "minimum": 1},
    "not a number": {**FACT, "minimum": [0, None]},
    "true": {**FACT, "minimum": [0, True]},
    "text": {**FACT, "minimum": [0, "1"]},
    "too short": {**FACT, "maximum": [1]},
    "too long": {**FACT, "maximum": [1, 2, 3]},
    "inverted": {**FACT, "maximum": [1, -2]},
    "empty": {**FACT, "maximum": [1, -1.5]},
    "too wide": {**FACT, "minimum": [0, -1e308], "maximum": [1, 1e308]},
    "huge": {**FACT, "maximum": [1, 10**400]},
    "an interval of one": {**FACT, "interval": [0]},
    "an interval inverted": {**FACT, "interval": [1, 0]},
    "an interval too wide": {**FACT, "interval": [-1e308, 1e308]},
    "a feature that is not there": {**FACT, "features": [1, 6]},
    "a feature 0": {**FACT, "features": [0, 1]},
    "a feature twice": {**FACT, "features": [1, 1]},
    "features in disorder": {**FACT, "features": [4, 1]},
    "half a feature": {**FACT, "features": [1, 1.5]},
    "a huge feature": {**FACT, "features": [1, 10**400]},
}


def with_fact(folder: Path, model, fact: str) -> Path:
    """Write a model whose fact ``scaling`` is that text."""
    model_files.write(folder / "m", replace(model, ranges=None))
    lines = (folder / "m").read_text().splitlines()
    (folder / "m").write_text("\n".join([*lines, f'#fwsvm {{"scaling": {fact}}}', ""]))
    return folder / "m"


def test_the_fact_the_hostile_ones_are_made_of_is_read(tmp_path, model):
    ranges = model_files.read(with_fact(tmp_path, model, json.dumps(FACT))).ranges
    assert (ranges.features.tolist(), ranges.minimum.tolist()) == ([0, 3], [0, -1.5])


@pytest.mark.parametrize("fact", HOSTILE)
def test_a_hostile_fact_is_refused_in_a_sentence_with_its_line(tmp_path, model, fact):
    path = with_fact(tmp_path, model, json.dumps(HOSTILE[fact]))
    with pytest.raises(ModelError, match="the fact 'scaling'") as caught:
        model_files.read(path)
    assert str(caught.value).startswith(f"{path}:{len(path.read_text().splitlines())}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5000])
def test_numbers_that_are_none_are_refused(tmp_path, model, number):
    with pytest.raises(ModelError):
        model_files.read(with_fact(tmp_path, model, json.dumps(FACT).replace("-1.5", number)))


def test_what_a_machine_is_given_is_scaled_and_what_it_does_not_know_is_left_out(model):
    X = np.array([[6.981, 7, 3, -2e-5, 0, 5], [28.11, 0, 0, 0, 1e22, 0]])
    ready = prepared(model, X)
    assert ready.X.tolist() == [[0, 0, 0, 0, 0 - 1 / 3 / (1e22 - 1 / 3)], [1, 0, 0, 1, 1]]
    assert (ready.ignored, ready.far) == (1, 0)
    assert prepared(replace(model, ranges=None), X).X.tolist() == X[:, :5].tolist()
    far = prepared(model, X - [[30, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
    assert far.far == 1
    assert (
        "1 of 2 rows lie far outside the training ranges: feature 1 is -23.019 in one, and was 6.981"
        in (far.notices[0])
    )


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(_memory, "UNASKED", 0)
    monkeypatch.setattr(_memory, "available_bytes", lambda: 1000)


@pytest.mark.parametrize("features", [4, 6])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_to_predict_get_the_machines_features_only_where_they_fit(model, form, features, little_memory):
    with pytest.raises(DataError, match="bringing 50 rows to the 5 features of the model would take"):
        prepared(replace(model, ranges=None), form(np.ones((50, features))))


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_to_predict_are_scaled_only_where_they_fit(form, little_memory):
    X = form(np.ones((50, 5)))
    for train in (np.vstack([np.zeros(5), np.ones(5)]), np.diag([1.0, 1, 0, 1, 1])):
        ranges = scaling.fit(train, "[0,1]")
        assert len(ranges.features) == np.count_nonzero(train.any(axis=0))
        with pytest.raises(DataError, match=r"scaling 50 rows to \[0,1\] would take"):
            scaling.apply(X, ranges)
