"""Column memory that runs share: what is in it is never another run's, and it is no reason to refuse the next one."""

import numpy as np
import pytest

import fwsvm
from fwsvm import _memory
from fwsvm.kernels.column_cache import compute, memory_of
from fwsvm.kernels.rbf import Rbf
from fwsvm.kernels.rows import as_rows
from fwsvm.solvers import Settings, fit
from fwsvm.solvers.column_store import ColumnStore

MIB, KERNEL = 1 << 20, Rbf(0.5)


def rows(seed, m):
    return as_rows(np.random.default_rng(seed).normal(size=(m, 3)), np.float32)


def classes_of(sizes, seed=0, apart=0.6):
    """Return rows of classes of these sizes, which overlap."""
    random = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return random.normal(size=(len(codes), 3)) + apart * codes[:, None], codes


def filled(columns):
    compute(columns, np.arange(8, dtype=np.int32), np.zeros(columns.rows.height))
    return columns.cached[columns.slot_of[:8]]


def test_a_run_on_other_rows_gets_the_memory_but_no_value():
    place = ColumnStore(keeps_values=False).of(0)
    first = place.cache(KERNEL, rows(0, 300), MIB, 1)
    filled(first)
    second = place.cache(KERNEL, rows(1, 300), MIB, 1)
    assert memory_of(second) is memory_of(first)
    assert (second.slot_of < 0).all()
    alone = ColumnStore(keeps_values=False).of(0).cache(KERNEL, rows(1, 300), MIB, 1)
    np.testing.assert_array_equal(filled(second), filled(alone))


@pytest.mark.parametrize(("before", "after", "same"), [(300, 200, True), (200, 300, False)])
def test_memory_is_used_again_where_the_columns_fit_into_it(before, after, same):
    place = ColumnStore(keeps_values=False).of(0)
    first = place.cache(KERNEL, rows(0, before), MIB, 1)
    second = place.cache(KERNEL, rows(1, after), MIB, 1)
    assert (memory_of(second) is memory_of(first)) == same
    assert second.cached.shape == (after, after)


def test_values_are_kept_for_the_next_run_on_the_same_rows():
    place, X = ColumnStore().of(0), rows(0, 300)
    first = place.cache(KERNEL, X, MIB, 1)
    filled(first)
    assert place.cache(KERNEL, X, MIB, 1) is first


def test_a_run_that_goes_on_in_double_precision_lets_go_of_its_memory():
    store = ColumnStore(keeps_values=False)
    store.of(0).cache(KERNEL, rows(0, 300), MIB, 1)
    store.of(0).let_go()
    assert store.nbytes == 0


@pytest.mark.parametrize("method", ["swap-2o", "newton", "chunking"])
def test_a_pair_is_solved_as_it_would_be_alone(method):
    X, codes = classes_of((500, 300, 400))
    given = {"parameters": {"fewest": 0}} if method == "chunking" else {}
    asked = Settings(method, C=5.0, kernel="rbf", gamma=0.5, threads=1, tolerance=1e-4, **given)
    together = fit(X, codes, ("a", "b", "c"), asked)
    alone = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        some = (codes == i) | (codes == j)
        alone.append(fit(X[some], np.where(codes[some] == i, 0, 1), ("i", "j"), asked).objective)
    assert together.certified
    np.testing.assert_allclose(together.objective, sum(alone), rtol=1e-3)


@pytest.mark.parametrize("method", ["swap-2o", "chunking"])
def test_memory_that_a_worker_holds_already_is_no_reason_to_refuse_its_next_pair(method, monkeypatch):
    X, codes = classes_of((700, 700, 700), apart=0.2)
    given = {"parameters": {"fewest": 0}} if method == "chunking" else {}
    asked = Settings(method, C=10.0, kernel="rbf", gamma=0.5, threads=1, cache_mib=8, **given)
    fit(X, codes, ("a", "b", "c"), asked)  # compiled
    stores, of = [], ColumnStore.of
    free = 12 * MIB  # a pair's columns take 7.5 MiB, and two pairs' would be too many

    def noted(store, place):
        stores.append(store)
        return of(store, place)

    def available():
        return free - max((store.nbytes for store in stores), default=0)

    monkeypatch.setattr(ColumnStore, "of", noted)
    monkeypatch.setattr(_memory, "available_bytes", available)
    monkeypatch.setattr(_memory, "UNASKED", 0)
    assert fit(X, codes, ("a", "b", "c"), asked).certified
    assert max(store.nbytes for store in stores) > free / 2


def test_threads_do_not_change_what_pairs_come_to():
    X, codes = classes_of((900, 700, 500, 300))
    found = [
        fwsvm.train(X, codes, method="swap-2o", C=5.0, gamma=0.5, threads=threads).objective
        for threads in (1, 2)
    ]
    assert found[0] == found[1]


def test_memory_of_runs_on_other_rows_serves_without_their_values():
    store = ColumnStore()
    first = store.of(0).cache(KERNEL, rows(0, 300), MIB, 1)
    filled(first)
    store.of(0).keep_room(np.empty(100, np.float32), MIB)
    store.forget_values()
    assert store.nbytes == 0
    second = store.of(0).cache(KERNEL, rows(1, 300), MIB, 1)  # the same kernel, and as many rows
    assert memory_of(second) is memory_of(first)
    assert (second.slot_of < 0).all()
    assert store.of(0).room.size == 100
    assert store.old_nbytes == 400


def test_memory_of_runs_on_other_rows_goes_where_it_would_exceed_the_budget():
    store = ColumnStore()
    for place in range(3):
        store.of(place).cache(KERNEL, rows(place, 300), 2 * MIB, 1)
    kept = store.nbytes
    store.forget_values()
    store.of(3).cache(KERNEL, rows(3, 300), MIB, 1)
    assert kept == 3 * 300 * 300 * 4
    assert len(store.caches) == 1
    assert store.nbytes + store.old_nbytes <= MIB
    store.release()
    assert store.nbytes + store.old_nbytes == 0
