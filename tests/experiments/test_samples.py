"""Samples and folds: the same for everyone, each class in its proportion."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwsvm.data.dataset import LabelledRows
from fwsvm.data.splits import subsample
from fwsvm.errors import DataError
from fwsvm.experiments import samples
from fwsvm.experiments.experiment import DataSpec, ValidationRule
from fwsvm.experiments.samples import validation_mask

codes_of = st.lists(st.integers(0, 4), min_size=10, max_size=200).map(np.array)


@given(codes_of, st.integers(2, 10), st.integers(0, 5))
def test_folds_hold_out_every_row_once_and_are_even_in_every_class(
    codes: np.ndarray, folds: int, seed: int
) -> None:
    rule = ValidationRule(folds=folds)
    parts = [validation_mask(codes, rule, seed, part) for part in range(folds)]
    assert np.array_equal(np.sum(parts, axis=0), np.ones(len(codes)))
    assert [part.sum() for part in parts] == [len(range(part, len(codes), folds)) for part in range(folds)]
    for c in set(codes):
        counts = [int((codes[part] == c).sum()) for part in parts]
        assert max(counts) - min(counts) <= 1


@given(codes_of, st.floats(0.05, 0.95), st.integers(0, 5))
def test_holdout_takes_its_share_of_every_class(codes: np.ndarray, part: float, seed: int) -> None:
    rule = ValidationRule(holdout=part)
    chosen = validation_mask(codes, rule, seed, 0)
    assert abs(chosen.sum() - part * len(codes)) <= 0.5 + 1e-9
    counts = np.bincount(codes)
    rare = int(((counts > 0) & (counts * (1.0 - part) < 1.0 + 1e-9)).sum())  # may have to be given a row back
    for c in set(codes):
        assert abs(chosen[codes == c].sum() - part * (codes == c).sum()) <= 1.0 + rare + 1e-9
    if (~chosen).sum() >= len(set(codes)):
        assert set(codes[~chosen]) == set(codes), "every class has a row to train on"


@given(codes_of, st.integers(2, 250), st.integers(0, 5), st.integers(1, 6))
def test_a_sample_has_its_size_keeps_the_order_and_can_keep_some_rows_of_every_class(
    codes: np.ndarray, rows: int, seed: int, least: int
) -> None:
    table = LabelledRows(np.arange(len(codes), dtype=float)[:, None], codes.astype(float))
    plain = subsample(table, rows, seed)
    kept = subsample(table, rows, seed, least=least)
    assert plain.rows == min(rows, len(codes))
    assert (np.diff(plain.X[:, 0]) > 0).all()
    assert np.array_equal(plain.labels, codes[plain.X[:, 0].astype(int)])
    for k, count in enumerate(np.bincount(codes)):
        drawn = (plain.labels == k).sum()
        left = (kept.labels == k).sum()
        assert left >= min(least, count)
        assert left == drawn or drawn < least


def test_data_that_cannot_be_read_has_the_name_it_will_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text("1 x\n")
    with pytest.raises(DataError):
        samples.load(DataSpec("./rows.svm"))
    assert samples.name_in_rows("./rows.svm") == "rows.svm"


def test_a_sample_without_a_class_is_refused_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "rare.svm"
    file.write_text("".join(f"{'rare' if i == 7 else i % 2} 1:{i}\n" for i in range(1, 400)))
    with pytest.raises(DataError, match=r"20 of its rows hold none of class rare; take more rows"):
        samples.load(DataSpec(str(file), rows=20))


def test_folds_are_the_same_bits_for_ever() -> None:
    codes = np.array([0, 1, 1, 0, 1, 0, 0, 0, 1, 1])
    chosen = validation_mask(codes, ValidationRule(folds=3), 7, 1)
    assert chosen.nonzero()[0].tolist() == [2, 3, 5]


def test_a_sample_is_other_data() -> None:
    whole = samples.load(DataSpec("wdbc"))
    sample = samples.load(DataSpec("wdbc", rows=100))
    other = samples.load(DataSpec("wdbc", rows=100, seed=1))
    assert len({whole.fingerprint, sample.fingerprint, other.fingerprint}) == 3
    assert sample.train.rows == 100
    assert whole.classes == sample.classes
    assert samples.load(DataSpec("wdbc", rows=1000)).fingerprint == whole.fingerprint


def test_test_rows_are_drawn_where_there_are_none_and_scaled_by_the_training_rows() -> None:
    found = samples.load(DataSpec("wdbc", test_fraction=0.25))
    assert found.test is not None
    assert (found.train.rows, found.test.rows) == (427, 142)
    assert found.train.X.min(axis=0) == pytest.approx(0.0)
    assert found.train.X.max(axis=0) == pytest.approx(1.0)
    assert found.test.X.max() > 1.0


def test_the_part_held_out_is_told_in_full_where_six_digits_do_not_tell_it() -> None:
    parts = (0.3, 0.333333, 0.3333333)
    told = [ValidationRule(holdout=part).description for part in parts]
    assert told == ["0.3 held out", "0.333333 held out", "0.3333333 held out"]
