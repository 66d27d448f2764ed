"""What training on mapped rows of several classes is estimated to take: pairs of classes are copied into memory."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from fwsvm._mapped import is_mapped, taken_for_large
from fwsvm.solvers import Settings, fit, memory
from fwsvm.solvers.resolve import resolve

CLASSES = ("a", "b", "c")


@pytest.fixture(autouse=True)
def few_first_rows(monkeypatch):
    """Let a first chunk of mapped rows be small beside them, as it is of many rows."""
    monkeypatch.setattr(memory, "MOST_FIRST_ROWS", 200)


def mapped(X):
    """Return the same rows, mapped."""
    if isinstance(X, np.ndarray):
        return taken_for_large(X)
    return sparse.csr_array((taken_for_large(X.data), taken_for_large(X.indices), X.indptr), shape=X.shape)


def estimate(X, method, classes, **given):
    settings = Settings(method, gamma=None if method == "liblinear" else 1.0, threads=2, cache_mib=1, **given)
    return memory.training(X, np.arange(X.shape[0]) % classes, classes, resolve(settings, X))


@pytest.mark.parametrize("method", ["auto", "swap-2o", "newton", "chunking", "decomposition"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_pairs_of_mapped_rows_are_estimated_as_those_of_rows_in_memory(method, form):
    X = form(np.random.default_rng(0).normal(size=(3000, 8)))
    assert is_mapped(mapped(X))
    assert estimate(mapped(X), method, 3) == estimate(X, method, 3)


def test_classes_against_the_rest_and_two_classes_leave_mapped_rows_where_they_are():
    X = np.random.default_rng(0).normal(size=(3000, 80))
    assert estimate(mapped(X), "liblinear", 3) < X.nbytes
    assert estimate(mapped(X), "chunking", 2) < X.nbytes


def test_the_estimate_for_mapped_rows_in_single_precision_is_what_is_taken():
    X = mapped(np.random.default_rng(0).normal(size=(20_000, 60)).astype(np.float32))
    codes = np.arange(len(X)) % 3
    settings = Settings("swap-2o", gamma=1.0, threads=1, cache_mib=1, max_iterations=3)
    fit(mapped(X[:300].copy()), codes[:300], CLASSES, settings)  # compiles
    needed = memory.training(X, codes, 3, resolve(settings, X))
    tracemalloc.start()
    fit(X, codes, CLASSES, settings)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert needed >= 20 * X.size  # the copy in double precision beside values and columns
    assert needed / 2.5 < peak < 1.3 * needed
