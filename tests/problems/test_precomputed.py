"""Kernel matrices that are given: rows, values, machines, and certificates that must not be of another problem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import fwsvm
from fwsvm.errors import DataError, UsageError
from fwsvm.problems import model_files
from fwsvm.problems.machines import KernelModel

SEEDS = st.integers(0, 2**32 - 1)


def gram(rng, m, n=4):
    A = rng.normal(size=(m, n))
    return A @ A.T


@settings(max_examples=60)
@given(SEEDS, st.integers(2, 25), st.floats(-6, 3), st.floats(-3, 3))
def test_what_is_certified_is_convex_by_its_eigenvalues(seed, m, lift, C):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, m))
    K = 0.5 * (A + A.T) + np.exp(lift) * np.eye(m)
    y = np.where(np.arange(m) % 2, 1, -1)
    least = np.linalg.eigvalsh(K)[0] + 10.0**-C
    if least < -1e-9:
        with pytest.raises(DataError, match="not positive semidefinite"):
            fwsvm.train(K, y, kernel="precomputed", C=10.0**C, method="swap-2o", threads=1)
    elif least > 1e-9:
        assert fwsvm.train(K, y, kernel="precomputed", C=10.0**C, method="swap-2o", threads=1).certified


@pytest.mark.parametrize("method", ["auto", "newton", "swap-2o", "scs"])
def test_the_machine_is_the_one_of_the_rows(method):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 3))
    y = rng.integers(0, 3, 150)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    train = np.arange(100)
    test = np.arange(100, 150)
    common = {"method": method, "C": 3.0, "tolerance": 1e-3 if method == "scs" else 1e-7}
    ours = fwsvm.train(K[:100, :100], y[train], kernel="precomputed", **common)
    theirs = fwsvm.train(X[train], y[train], kernel="rbf", gamma=0.5, **common)
    assert ours.status == theirs.status
    if method != "scs":
        assert ours.certified
        assert ours.objective == pytest.approx(theirs.objective, rel=1e-7)
    found = fwsvm.predict(ours, K[100:, :100])
    assert (found == fwsvm.predict(theirs, X[test])).mean() > 0.96
    assert (found == fwsvm.predict(ours, sparse.csr_array(K[100:, :100]))).all()
    assert ours.model.kernel.values.size == 1  # a machine does not carry the matrix


def test_rounding_in_a_matrix_is_no_asymmetry_and_more_is():
    rng = np.random.default_rng(1)
    K = gram(rng, 40) + 0.1 * np.eye(40)
    y = np.arange(40) % 2
    exact = fwsvm.train(K, y, kernel="precomputed", tolerance=1e-8)
    rounded = K * (1.0 + 1e-13 * rng.normal(size=K.shape))
    assert fwsvm.train(rounded, y, kernel="precomputed", tolerance=1e-8).objective == pytest.approx(
        exact.objective
    )
    K[30, 7] += 1e-3
    with pytest.raises(DataError, match=r"not symmetric: row 8 has the value 31:.*, but row 31 has 8:"):
        fwsvm.train(K, y, kernel="precomputed")


def test_a_problem_without_a_ridge_needs_a_semidefinite_matrix_at_any_penalty():
    K, y = np.eye(20) - 0.06, np.arange(20) % 2  # its least eigenvalue is -0.2
    assert fwsvm.train(K, y, kernel="precomputed", C=4.0).certified
    with pytest.raises(
        DataError, match=r"eigenvalue is -0.2.*add 0.2 to its diagonal, or take a C of at most 4.95"
    ):
        fwsvm.train(K, y, kernel="precomputed", C=6.0)
    with pytest.raises(DataError, match=r"eigenvalue is -0.2.*add 0.2 to its diagonal$"):
        fwsvm.train(K, y, kernel="precomputed", C=4.0, method="scs")


def test_what_is_no_kernel_matrix_is_said():
    K = np.eye(6)
    y = [1, 1, 1, 2, 2, 2]
    with pytest.raises(UsageError, match=r"a square matrix, not on one of shape \(6, 5\)"):
        fwsvm.train(K[:, :5], y, kernel="precomputed")
    with pytest.raises(UsageError, match=r"scale .* is for features"):
        fwsvm.train(K, y, kernel="precomputed", scale="[0,1]")
    result = fwsvm.train(K, y, kernel="precomputed")
    with pytest.raises(
        DataError, match="values with 5 training rows, and the model's support vectors go up to row 6"
    ):
        fwsvm.predict(result, K[:, :5])
    with pytest.raises(UsageError, match="works with the linear kernel"):
        fwsvm.train(K, y, kernel="precomputed", method="avsf")


def test_weights_and_rows_left_out_keep_their_numbers():
    rng = np.random.default_rng(3)
    K = gram(rng, 30) + np.eye(30)
    y = np.arange(30) % 2
    kept = np.arange(30) % 3 > 0
    some = fwsvm.train(K, y, weights=kept, kernel="precomputed", tolerance=1e-9)
    part = fwsvm.train(K[np.ix_(kept, kept)], y[kept], kernel="precomputed", tolerance=1e-9)
    assert some.objective == pytest.approx(part.objective, rel=1e-8)
    numbers = some.model.support.sum(axis=1).astype(int) - 1
    assert kept[numbers].all()
    decided = fwsvm.predict(some, K), fwsvm.predict(part, K[:, kept])
    assert (decided[0] == decided[1]).mean() > 0.95


def test_machines_read_back_the_same(tmp_path):
    rng = np.random.default_rng(4)
    result = fwsvm.train(gram(rng, 20) + np.eye(20), np.arange(20) % 3, kernel="precomputed")
    fwsvm.save(tmp_path / "m", result)
    back = fwsvm.load(tmp_path / "m")
    assert isinstance(back, KernelModel)
    assert (back.support != sparse.csr_array(result.model.support)).nnz == 0
    assert (back.features, back.classes) == (21, result.model.classes)
    model_files.write(tmp_path / "again", back)
    assert (tmp_path / "again").read_text() == (tmp_path / "m").read_text()
