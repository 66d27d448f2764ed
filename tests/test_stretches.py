"""Passes a stretch at a time give what one pass gives, and take no memory as long as the array."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fwsvm import _stretches
from fwsvm._stretches import all_finite, stretches
from fwsvm.data import parsed_copies
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.experiments import training
from fwsvm.kernels import widths
from fwsvm.kernels.kernel import family
from fwsvm.problems.unscaled import scaling_warning
from fwsvm.scaling.ranges import extremes
from fwsvm.solvers import Settings


def rows(form, m=5000, n=12, seed=0):
    X = np.random.default_rng(seed).normal(size=(m, n))
    X[np.abs(X) < 1.0] = 0.0
    return form(X)


@given(st.integers(0, 10_000), st.integers(0, 10**8))
def test_stretches_are_all_rows_once(m, numbers):
    found = list(stretches(m, numbers))
    assert [r for some in found for r in range(some.start, some.stop)] == list(range(m))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_results_are_those_of_one_pass(monkeypatch, form):
    X = rows(form)
    dense = X.toarray() if sparse.issparse(X) else X
    whole = widths.mean_squared_distance(X)
    monkeypatch.setattr(_stretches, "NUMBERS", 1000)
    monkeypatch.setattr(widths, "LARGE", 1000)
    assert widths.mean_squared_distance(X) == pytest.approx(whole, rel=1e-12)
    _, low, high = extremes(X)
    np.testing.assert_array_equal((low, high), (dense.min(axis=0), dense.max(axis=0)))
    assert all_finite(X)
    (X.data if sparse.issparse(X) else X)[-1] = np.inf
    assert not all_finite(X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_sample_of_a_mapped_copy_is_trained_on_in_less_memory_than_the_rows_take(
    monkeypatch, tmp_path, form
):
    monkeypatch.setenv("FWSVM_CACHE", str(tmp_path))
    monkeypatch.setattr(_stretches, "NUMBERS", 1 << 14)
    monkeypatch.setattr(widths, "LARGE", 1 << 14)
    monkeypatch.setattr(parsed_copies, "MAPPED_FROM", 1 << 14)
    labels = np.where(np.random.default_rng(1).random(40_000) < 0.5, 1.0, -1.0)
    parsed_copies.table("d", {}, lambda: (LabelledRows(rows(form, 40_000, 100), labels), ()))
    settings = Settings("nested", {"first": 256}, time_limit=1e-6, threads=1, cache_mib=1)
    small = rows(form, 100, 100)
    training.train(  # compiles
        Dataset("s", LabelledRows(small, labels[:100]), None, ("1", "-1"), "s"), Settings("auto", cache_mib=1)
    )
    tracemalloc.start()
    table, _ = parsed_copies.table("d", {}, lambda: pytest.fail("there is a copy"))
    scaling_warning(table.X, family("rbf"))
    result, _ = training.train(Dataset("d", table, None, ("1", "-1"), "d"), settings)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.sample.of == 40_000
    assert table.X.shape == (40_000, 100)
    assert peak < table.X.data.nbytes / 2
