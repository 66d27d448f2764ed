"""Arrays in numpy's own format as data files: what they claim is held against what is there."""

from pathlib import Path

import numpy as np
import pytest

from fwsvm import _mapped
from fwsvm.data import inputs
from fwsvm.data.formats import npy
from fwsvm.errors import DataError

X = np.random.default_rng(0).normal(size=(6, 3))


def written(folder: Path, rows: np.ndarray, labels: np.ndarray) -> Path:
    path = folder / "rows.npy"
    np.save(path, rows, allow_pickle=True)
    np.save(npy.labels_path(path), labels, allow_pickle=True)
    return path


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.array([1.0, -1, np.nan, 1, 1, -1]), "the label of row 3 is nan"),
        (np.array([1.0, -1, 1, np.inf, 1, -1]), "the label of row 4 is inf"),
        (np.array([None, 1, 1, 1, 1, 1]), "no complete .npy file"),
    ],
)
def test_labels_that_would_be_lost_are_refused(tmp_path: Path, labels: np.ndarray, said: str) -> None:
    with pytest.raises(DataError, match=f"rows.labels.npy.*{said}"):
        npy.read(written(tmp_path, X, labels))


@pytest.mark.parametrize("large", [0, 1 << 30])
def test_values_that_are_no_numbers_are_refused_in_mapped_rows_too(
    tmp_path: Path, monkeypatch, large: int
) -> None:
    monkeypatch.setattr(_mapped, "LARGE", large)
    rows = X.copy()
    rows[4, 1] = np.nan
    path = written(tmp_path, rows, np.ones(6))
    with pytest.raises(DataError, match=r"rows\.npy: a value is not a finite number"):
        npy.read(path)


def test_the_rows_of_an_object_array_and_of_a_text_file_are_refused_without_unpickling(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, X.astype(object), np.ones(6))
    with pytest.raises(DataError) as refused:
        npy.read(path)
    assert "allow_pickle" not in str(refused.value)
    path.write_text("1 1:2\n")
    with pytest.raises(DataError, match=r"no complete \.npy file"):
        npy.read(path)


def test_labels_that_are_all_nan_are_rows_without_labels(tmp_path: Path) -> None:
    table = npy.read(written(tmp_path, X, np.full(6, np.nan)), unlabelled=True)
    assert np.isnan(table.labels).all()
    assert (table.X == X).all()


def test_large_rows_to_predict_need_no_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "COPIED_FROM", 0)
    np.save(tmp_path / "rows.npy", X)
    assert (inputs.read_rows(tmp_path / "rows.npy", unseen=True).X == X).all()
