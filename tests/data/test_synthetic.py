"""Synthetic data: the same rows however many of them, and like the real sets."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from fwsvm import data
from fwsvm.data import synthetic
from fwsvm.data.synthetic import KINDS
from fwsvm.errors import UsageError

SMALL = {
    "checkerboard": 3,
    "gaussians": 5,
    "clusters": 5,
    "sparse-text": 300,
    "overlapping-text": 300,
}
kinds = pytest.mark.parametrize("kind", KINDS)


def dense(X: np.ndarray | csr_array) -> np.ndarray:
    return X.toarray() if issparse(X) else X


def made(kind: str, rows: int, seed: int = 0) -> synthetic.SyntheticSpec:
    return synthetic.parse_spec(f"synthetic:{kind}?rows={rows}&features={SMALL[kind]}&seed={seed}&test=100")


@kinds
def test_fewer_rows_are_a_prefix_of_more(kind: str) -> None:
    few, many = synthetic.table(made(kind, 700)), synthetic.table(made(kind, 9000))
    assert np.array_equal(dense(few.X), dense(many.X[:700]))
    assert np.array_equal(few.labels, many.labels[:700])


@kinds
def test_the_seed_is_all_that_varies(kind: str) -> None:
    one, same, other = (
        data.load(f"synthetic:{kind}?rows=300&features={SMALL[kind]}", seed=s) for s in (1, 1, 2)
    )
    assert one.fingerprint == same.fingerprint
    assert one.fingerprint != other.fingerprint
    assert data.load(one.name).fingerprint == one.fingerprint


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("clusters?rows=50&features=3", "e047059d62054430b8996ffdbe33e0a80a48447e418a94b3aa3b4722f552a2e9"),
        (
            "overlapping-text?rows=50&features=30",
            "39d201de7e41ac566dca506bd2cd460cdf2894f15a349adc54e114e5d36b346f",
        ),
    ],
)
def test_rows_of_raw_bits_are_the_same_for_ever(name: str, digest: str) -> None:
    assert data.load(f"synthetic:{name}&test=0&seed=1").fingerprint == digest


@kinds
def test_test_rows_are_drawn_apart(kind: str) -> None:
    loaded = data.load(f"synthetic:{kind}?rows=400&test=50")
    assert loaded.test is not None
    assert loaded.test.X.shape == (50, loaded.train.features)
    assert not np.array_equal(dense(loaded.test.X), dense(loaded.train.X[:50]))


@kinds
def test_every_kind_has_two_classes_and_its_default_shape(kind: str) -> None:
    loaded = data.load(f"synthetic:{kind}")
    assert loaded.train.X.shape == (KINDS[kind].rows, KINDS[kind].features)
    assert loaded.classes == ("1", "-1")
    assert set(np.unique(loaded.train.labels)) == {-1.0, 1.0}
    if issparse(loaded.train.X):
        assert loaded.train.X.has_canonical_format


def test_the_checkerboard_is_one_and_noise_is_what_was_asked_for() -> None:
    loaded = data.load("synthetic:checkerboard?rows=20000&noise=0.1")
    square = np.floor((loaded.train.X + 1) * 2).astype(int).sum(axis=1)
    flipped = np.where(square % 2 == 0, 1.0, -1.0) != loaded.train.labels
    assert 0.09 < flipped.mean() < 0.11
    assert not (
        np.where(square % 2 == 0, 1.0, -1.0)
        != data.load(f"{loaded.name.split('&noise')[0]}&noise=0").train.labels
    ).any()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("synthetic:gausians", "did you mean 'gaussians'"),
        ("synthetic:gaussians?row=5", "has no parameter 'row'; did you mean 'rows'"),
        ("synthetic:gaussians?rows=many", "parameter rows of .* must be a whole number .*, not 'many'"),
        ("synthetic:gaussians?rows=1", "rows must be at least 2"),
        ("synthetic:gaussians?noise=0.7", "noise from 0 to below 0.5"),
        ("synthetic:sparse-text?seed=-1", "test and seed at least 0"),
    ],
)
def test_a_wrong_spelling_is_explained(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        data.load(name)
