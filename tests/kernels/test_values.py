"""Kernel values, block by block, against the definitions; and the laws that a kernel's parts must keep."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fwsvm.errors import UsageError
from fwsvm.kernels import values
from fwsvm.kernels.column_cache import column_cache, compute, pieces
from fwsvm.kernels.kernel import KERNELS, alone, family, own_terms, own_terms_and_values, pair, value
from fwsvm.kernels.rows import as_rows, in_precision, narrowed, some_rows
from fwsvm.kernels.values import sums_of_tables, table, weighted_sums
from tests import naive

PARAMETERS = naive.PARAMETERS | {"poly": {"gamma": 0.5, "coef0": 1.5, "degree": 3}}
EPSILON = {np.float32: 1e-5, np.float64: 1e-13}

NAMES = sorted(name for name, each in KERNELS.items() if not each.given)
QUICK = {
    "rbf",
    "poly",
}  # each kernel is compiled again: CI takes the others, and all of them in the other precision
slow = pytest.mark.slow
every_kernel = pytest.mark.parametrize("name", NAMES)
each_kernel = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else slow) for name in NAMES]
)
in_both_precisions = pytest.mark.parametrize(
    ("name", "dtype"),
    [pytest.param(name, np.float32, marks=[] if name in QUICK else slow) for name in NAMES]
    + [pytest.param(name, np.float64, marks=[] if name == "rbf" else slow) for name in NAMES],
)
both_precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def made(name: str):
    return KERNELS[name].make(**PARAMETERS[name])


def data(m: int, n: int = 9, seed: int = 0, filled: float = 0.6) -> np.ndarray:
    """Return rows with gaps, one of them empty and two of them equal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) * (rng.random((m, n)) < filled)
    X[m // 2] = 0.0
    X[m // 3] = X[0]
    return X


def all_columns(name: str, X, dtype: type, threads: int = 1) -> np.ndarray:
    """Return the kernel matrix as the store of columns computes it: a wide block, a narrow one, and the rest."""
    rows = as_rows(X, dtype)
    store = column_cache(made(name), rows, 1 << 30, threads)
    m = rows.height
    for first, last in ((0, min(m, 64)), (64, min(m, 71)), (71, min(m, 72)), (72, min(m, 136)), (136, m)):
        if first < last:
            compute(store, np.arange(first, last, dtype=np.int32), np.ones(m))
    return store.cached[store.slot_of]


@both_precisions
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_kernel_matrix_is_symmetric_and_that_of_the_definition(form, dtype):
    X = data(150, 40, filled=0.9 if form is np.asarray else 0.1)
    K = values.kernel_matrix(made("rbf"), as_rows(form(X), dtype), threads=2)
    np.testing.assert_allclose(K, naive.gram("rbf", X, X, **PARAMETERS["rbf"]), rtol=1e-5)
    np.testing.assert_array_equal(K, K.T)


@in_both_precisions
@pytest.mark.parametrize("m", [1, 16, 83, 150])
def test_columns_are_those_of_the_definition_however_they_are_computed(name, dtype, m, monkeypatch):
    """Dense or sparse, in tiles or by stored numbers, on one thread or three: with the same bits."""
    monkeypatch.setattr(values, "PRODUCTS_PER_THREAD", 0)
    X = data(m)
    found = []
    for density, form, threads in ((0.0, np.asarray, 1), (0.0, sparse.csr_array, 3), (2.0, np.asarray, 3)):
        monkeypatch.setattr(values, "DENSE", density)
        found.append(all_columns(name, form(X), dtype, threads))
    truth = naive.gram(name, X, X, **PARAMETERS[name])
    np.testing.assert_allclose(
        found[0], truth, rtol=EPSILON[dtype], atol=EPSILON[dtype] * np.abs(truth).max()
    )
    for some in (*found[1:], found[0].T):
        np.testing.assert_array_equal(found[0], some)


@pytest.mark.parametrize("room", [0, 20, 150])
def test_columns_at_hand_are_the_same_in_any_room(room):
    X = data(150)
    store = column_cache(made("rbf"), as_rows(X, np.float32), room * 150 * 4)
    wanted = np.random.default_rng(0).permutation(150)[:60]
    for _ in range(2):
        found = np.concatenate([store.cached[store.slot_of[some]] for some in pieces(store, wanted)])
        np.testing.assert_array_equal(found, all_columns("rbf", X, np.float32)[wanted])


@every_kernel
def test_own_values_are_the_diagonal(name):
    X = data(20)
    found = own_terms_and_values(made(name), as_rows(X, np.float32))[1]
    rounded = X.astype(np.float32).astype(float)
    truth = np.diag(naive.gram(name, rounded, rounded, **PARAMETERS[name]))
    np.testing.assert_allclose(found, truth, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
@both_precisions
def test_a_row_is_worth_exactly_one_with_itself_and_nothing_far_away(name, dtype):
    X = np.concatenate([1e3 * data(50), np.full((1, 9), 1e10), np.full((1, 9), -1e10)])
    np.testing.assert_array_equal(own_terms_and_values(made(name), as_rows(X))[1], 1.0)
    for form in (np.asarray, sparse.csr_array):
        found = all_columns(name, form(X), dtype)
        assert (np.diag(found) == 1.0).all()
        assert found.min() >= 0.0
        np.testing.assert_allclose(found[-2:, :-2], 0.0, atol=1e-37)


@every_kernel
@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(-10, 10))
@settings(max_examples=30)
def test_only_stored_numbers_matter(name, x, z, total):
    """A feature that either row lacks adds nothing, and x and z may change places."""
    kernel = made(name)
    assert pair(kernel, total, 0.0, z) == pair(kernel, total, x, 0.0) == total
    assert alone(kernel, 0.0) == 0.0
    assert pair(kernel, total, x, z) == pair(kernel, total, z, x)
    k = value(kernel, pair(kernel, 0.0, x, z), alone(kernel, x), alone(kernel, z))
    truth = naive.gram(name, np.array([[x]]), np.array([[z]]), **PARAMETERS[name])[0, 0]
    scale = abs(x) + abs(z) + 1.0
    assert k == pytest.approx(truth, rel=1e-9, abs=1e-14 * scale**2 + 1e-30)


@in_both_precisions
@pytest.mark.parametrize(("filled", "m"), [(0.1, 600), (0.6, 600), (0.6, 30_011)])  # the last in two parts
def test_weighted_sums_are_matrix_products(name, dtype, filled, m, monkeypatch):
    X = data(150, filled=filled)
    rng = np.random.default_rng(1)
    Z = data(m, seed=2, filled=filled)
    which = rng.integers(0, 150, 130)
    weights = rng.normal(size=(130, 2))
    sources = as_rows(X, dtype)
    rows = as_rows(Z, dtype)
    found = [weighted_sums(made(name), sources, which, weights, rows, threads) for threads in (1, 2)]
    K = naive.gram(name, X[which], Z, **PARAMETERS[name])
    np.testing.assert_allclose(
        found[0], K.T @ weights, atol=EPSILON[dtype] * (np.abs(K).T @ abs(weights)).max()
    )
    np.testing.assert_array_equal(found[0], found[1])
    monkeypatch.setattr(values, "ROUND", 1)
    np.testing.assert_array_equal(found[0], weighted_sums(made(name), sources, which, weights, rows, 2))


@in_both_precisions
def test_many_sums_at_once_are_matrix_products(name, dtype):
    X, Z, rng = data(150, filled=0.6), data(1030, seed=2, filled=0.6), np.random.default_rng(1)
    which = rng.integers(0, 150, 1100)
    weights = rng.normal(size=(1100, values.MANY_OUTPUTS))
    found = weighted_sums(made(name), as_rows(X, dtype), which, weights, as_rows(Z, dtype), 2)
    K = naive.gram(name, X[which], Z, **PARAMETERS[name])
    np.testing.assert_allclose(
        found, K.T @ weights, rtol=0, atol=EPSILON[dtype] * (np.abs(K).T @ abs(weights)).max()
    )


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(("first", "last"), [(0, 600), (0, 13), (37, 599)])
def test_sums_at_some_rows_of_a_table_are_those_at_all(dense, first, last):
    X, Z, rng = data(150), data(600, seed=2), np.random.default_rng(1)
    kernel, weights, which = made("rbf"), rng.normal(size=(130, 2)), rng.integers(0, 150, 130)
    sources = as_rows(X)
    targets = as_rows(Z)
    both = [table(rows, own_terms(kernel, rows), dense=dense) for rows in (sources, targets)]
    found = sums_of_tables(kernel, both[0], which, weights, both[1], first, last, 1)
    every = weighted_sums(kernel, sources, which, weights, targets)
    np.testing.assert_allclose(found, every[first:last], rtol=0, atol=1e-12)


def test_an_unknown_kernel_is_answered_with_the_names():
    names = ", ".join(sorted(KERNELS))
    with pytest.raises(UsageError, match=f"^there is no kernel 'gauss'; the kernels are {names}"):
        family("gauss")


# ------------------------------------------------------------------ rows


def test_rows_keep_what_the_table_holds():
    X = data(12)
    for form in (X, sparse.csr_array(X)):
        rows = as_rows(form)
        assert (rows.height, rows.features) == X.shape
        back = sparse.csr_array((rows.values, rows.columns, rows.starts), shape=X.shape)
        np.testing.assert_array_equal(back.toarray(), X)


def test_rows_in_disorder_are_read_and_left_as_they_are():
    numbers = np.array([1.0, 2.0, 3.0, 4.0])
    places = np.array([2, 0, 1, 1], np.int32)
    X = sparse.csr_array((numbers, places, np.array([0, 2, 4], np.int32)), shape=(2, 3))
    rows = as_rows(X)
    np.testing.assert_array_equal(rows.values, [2.0, 1.0, 7.0])
    np.testing.assert_array_equal(rows.columns, [0, 2, 1])
    np.testing.assert_array_equal(X.indices, [2, 0, 1, 1])
    np.testing.assert_array_equal(X.data, [1.0, 2.0, 3.0, 4.0])


def test_some_rows_are_copied_in_the_order_asked_for_in_any_precision():
    X = data(12)
    which = np.array([7, 0, 6, 7])
    rows = in_precision(some_rows(as_rows(X), which), np.float32)
    back = sparse.csr_array((rows.values, rows.columns, rows.starts), shape=(4, X.shape[1]))
    np.testing.assert_array_equal(back.toarray(), X[which].astype(np.float32))


def test_features_that_no_row_stores_take_no_room():
    X = sparse.csr_array(([1.0, 2.0], ([0, 1], [999_999, 5])), shape=(5, 10**6))
    Z = sparse.csr_array(([3.0], ([2], [999_999])), shape=(3, 10**6))
    one, other = narrowed(as_rows(X), as_rows(Z))
    assert one.features == other.features == 2
    found = weighted_sums(made("linear"), one, np.arange(5), np.ones((5, 1)), other)
    np.testing.assert_array_equal(found[:, 0], [0.0, 0.0, 3.0])


def exponentials(name: str, X: np.ndarray, Z: np.ndarray, gamma: float) -> np.ndarray:
    """Return rbf or laplacian values from differences in extended precision."""
    apart = np.abs(X[:, None].astype(np.longdouble) - Z[None])
    return np.exp(-np.longdouble(gamma) * (apart**2 if name == "rbf" else apart).sum(axis=2))


@pytest.mark.parametrize("name", ["rbf", pytest.param("laplacian", marks=slow)])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("gamma", [1e-6, 1.0, 1e6])
def test_sums_of_near_rows_do_not_suffer_from_their_distance_to_the_origin(name, form, offset, gamma):
    X = data(40) + offset * np.arange(9)
    X[7:9] = X[3]
    X[9] = np.nextafter(X[3], np.inf)
    weights = np.random.default_rng(1).normal(size=(21, 2))
    which = np.arange(21)
    kernel = KERNELS[name].make(gamma)
    found = weighted_sums(kernel, as_rows(form(X)), which, weights, as_rows(form(X)), threads=2)
    truth = exponentials(name, X, X[which], gamma) @ weights
    np.testing.assert_allclose(found, truth.astype(float), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["rbf", pytest.param("laplacian", marks=slow)])
@pytest.mark.parametrize("filled", [0.1, 0.2, 0.3, 1.0])
def test_sums_by_differences_are_right_whatever_the_share_of_zeros(name, filled):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((70, 40)) < filled, rng.normal(size=(70, 40)), 0.0)
    X[7:9] = X[3]
    gamma, shift = (1e7, 2e-4) if name == "rbf" else (1e6, 4e-7)
    X[9] = X[3]
    X[9, np.abs(X[3]).argmax()] += shift
    X[10] = 0.0
    weights = rng.normal(size=(69, 2))
    which = np.arange(69)
    found = weighted_sums(KERNELS[name].make(gamma), as_rows(X), which, weights, as_rows(X))
    truth = exponentials(name, X, X[which], gamma) @ weights
    assert 0.1 < exponentials(name, X, X, gamma)[9, 3] < 0.9
    np.testing.assert_allclose(found, truth.astype(float), rtol=0, atol=1e-12)
