"""chunking: the optimum over all rows, whatever the chunks; and which rows a chunk holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fwsvm.errors import UsageError
from fwsvm.solvers import Settings, Status, fit
from fwsvm.solvers.c_path import CPath
from fwsvm.solvers.chunking import in_memory, run
from fwsvm.solvers.chunking.working_set import first_chunk, select_rows
from fwsvm.solvers.frank_wolfe import thread_team
from fwsvm.solvers.tuning import CHUNK_SPARE, FIRST_CHUNK, SMALL_CLASS
from fwsvm.solvers.warm_up import ROWS
from tests import naive

CLASSES, GAMMA = ("1", "-1"), 0.3


def clouds(seed, m=700, apart=1.3):
    """Return two classes of which few rows lie at the border, unless they are not ``apart``."""
    rng = np.random.default_rng(seed)
    codes = (rng.random(m) < 0.4).astype(np.int64)
    return rng.normal(size=(m, 4)) + apart * (1 - 2 * codes[:, None]), codes


def chosen(C=10.0, **given):
    parameters = {"fewest": 0, **given.pop("parameters", {})}
    asked = {"kernel": "rbf", "gamma": GAMMA, "threads": 1, **given}
    return Settings("chunking", C=C, parameters=parameters, **asked)


def train(X, codes, C=10.0, **given):
    return fit(X, codes, CLASSES, chosen(C, **given))


@pytest.fixture
def chunks(monkeypatch):
    """Return a list to which the size of every chunk is added."""
    sizes, start = [], run.ChunkRun._start

    def noted(self, chunk, **given):
        if self.m > ROWS:  # that many has the problem that a method is warmed up on
            sizes.append(len(chunk))
        start(self, chunk, **given)

    monkeypatch.setattr(run.ChunkRun, "_start", noted)
    return sizes


@given(st.integers(0, 2**32), st.sampled_from([1e-1, 1e1, 1e4]), st.sampled_from([0.0, 0.5, 1.3]))
@settings(deadline=None, max_examples=12)
def test_the_certificate_is_that_of_all_rows(seed, C, apart):
    X, codes = clouds(seed, 300, apart)
    found = train(X, codes, C, tolerance=1e-6)
    assert found.certified
    least = naive.least_objective("rbf", X, 1.0 - 2.0 * codes, C, GAMMA)
    assert least * (1 - 1e-8) <= found.objective <= least + found.gap * (1 + 1e-8)
    assert found.relative_gap <= 1e-6


def test_rows_far_outside_the_margin_are_in_no_chunk_but_a_first_one(chunks):
    X, codes = clouds(0, 4000)
    found = train(X, codes)
    whole = fit(X, codes, CLASSES, Settings("swap-2o", C=10.0, kernel="rbf", gamma=GAMMA, threads=1))
    assert found.certified
    assert abs(found.objective - whole.objective) <= max(found.gap, whole.gap)
    assert chunks[0] == pytest.approx(FIRST_CHUNK * 4000, abs=2)
    assert max(chunks) < 0.5 * 4000
    assert len(chunks) >= 2


def test_where_most_rows_are_support_vectors_the_last_chunk_is_all_rows(chunks):
    X, codes = clouds(0, 800, apart=0.0)
    assert train(X, codes).certified
    assert chunks[-1] == 800


@pytest.mark.parametrize("inner", ["fw", "mfw", "swap", "swap-2o", "cvm", "newton"])
def test_any_method_of_the_simplex_serves(inner):
    X, codes = clouds(1)
    found = train(X, codes, tolerance=1e-2, parameters={"inner": inner})
    assert found.certified
    assert found.relative_gap <= 1e-2


@pytest.mark.parametrize("stop", ["gap", "meb"])
def test_the_other_rules_of_stopping_hold_over_all_rows(stop):
    X, codes = clouds(2)
    found = train(X, codes, stop=stop, tolerance=1e-5)
    exact = train(X, codes, tolerance=1e-9)
    assert found.certified
    assert found.objective - exact.objective <= found.gap
    if stop == "gap":
        assert found.gap <= 1e-5


def test_several_classes_weights_and_a_warm_start():
    X, codes = clouds(3)
    codes = codes + (X[:, 0] > 1.0)
    weights = np.where(codes == 0, 2.0, 0.5)
    cold = fit(X, codes, ("a", "b", "c"), chosen(tolerance=1e-7), weights=weights)
    path = CPath(X, codes, ("a", "b", "c"), weights=weights)
    for C in (5.0, 10.0):
        ((_, warm),) = path.certify([path.train(chosen(C, tolerance=1e-7))])
    assert cold.certified
    assert warm.certified
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    assert warm.steps < cold.steps


def test_an_interrupt_between_two_chunks_keeps_the_point_reached(monkeypatch):
    def interrupt(*_given):
        raise KeyboardInterrupt

    monkeypatch.setattr(in_memory.RowsInMemory, "gradient", interrupt)
    X, codes = clouds(4)
    found = train(X, codes)
    assert found.status is Status.INTERRUPTED
    assert not found.certified
    assert np.isfinite(found.objective)
    assert found.support_vectors > 0
    assert (found.model.predict(X) == codes).mean() > 0.9


@pytest.mark.parametrize("before", [5, 100])
def test_a_limit_on_the_way_ends_with_the_gap_over_all_rows(before, chunks):
    X, codes = clouds(5, 1500)
    best = train(X, codes, tolerance=1e-6)
    chunks.clear()
    whole = train(X, codes)
    steps, count = whole.iterations, len(chunks)
    chunks.clear()
    found = train(X, codes, max_iterations=steps - before)
    assert len(chunks) == count >= 2
    assert found.status is Status.MAX_ITERATIONS
    assert found.gap_kind == "exact"
    K = naive.extended(naive.gram("rbf", X, X, GAMMA), 1.0 - 2.0 * codes, np.full(len(X), 10.0))
    alpha = np.zeros(len(X))
    coefficients = found.model.coefficients[:, 0]
    for row, weight in zip(found.model.support, coefficients, strict=True):
        alpha[np.flatnonzero((row == X).all(axis=1))] = abs(weight)
    alpha /= alpha.sum()
    assert found.objective == pytest.approx(alpha @ K @ alpha, rel=1e-9)
    assert 0.0 < found.objective - best.objective <= found.gap
    assert found.gap == pytest.approx(naive.gap(K, alpha), rel=1e-6)


def test_sparse_rows_and_no_final_gap(chunks):
    X, codes = clouds(7, 1500)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = 0.0
    wide = sparse.csr_array(np.pad(X, ((0, 0), (0, 16))))
    dense, thin = train(X, codes, tolerance=1e-8), train(wide, codes, tolerance=1e-8)
    assert dense.objective == pytest.approx(thin.objective, rel=1e-8)
    chunks.clear()
    blind = train(X, codes, final_gap=False)
    assert len(chunks) >= 2
    assert blind.status is Status.SAMPLED_STOP
    assert blind.gap_kind == "none"
    assert blind.relative_gap <= 1e-3


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(thread_team, "ROWS_A_THREAD", 64)  # so that they share the passes over few rows
    X, codes = clouds(8, 3000, apart=0.7)
    one, two = (train(X, codes, threads=threads) for threads in (1, 2))
    assert one.objective == two.objective
    assert one.steps == two.steps


def test_the_trace_ends_at_the_certificate():
    X, codes = clouds(9, 3000)
    found = train(X, codes)
    assert found.trace[-1].gap == pytest.approx(found.gap, rel=1e-2)
    assert found.trace[-1].objective == pytest.approx(found.objective, rel=1e-6)


def test_a_rule_that_speaks_of_all_rows_does_so_on_a_chunk(monkeypatch):
    """Rows far outside the margin have by far the largest kernel values: no chunk but the first knows them."""
    goals, start = [], run.ChunkRun._start

    def noted(self, chunk, **given):
        start(self, chunk, **given)
        if self.m > ROWS and self.found is not None:
            goals.append((self.inner.resolved.stop, self.inner.resolved.tolerance, self.widest))

    monkeypatch.setattr(run.ChunkRun, "_start", noted)
    X, codes = clouds(10, 1500)
    X[(np.abs(X[:, 0]) > 2.5) & (X[:, 0] * (1 - 2 * codes) > 0)] *= 30.0
    found = train(X, codes, kernel="linear", gamma=None, stop="meb", tolerance=1e-9)
    assert found.certified
    assert goals
    for stop, goal, largest in goals:
        assert stop == "gap"
        assert goal == pytest.approx((2e-9 + 1e-18) * largest, rel=1e-3)


def test_a_gap_that_no_arithmetic_reaches_ends_the_run():
    X, codes = clouds(6)
    found = train(X, codes, tolerance=1e-16)
    assert found.status is Status.STALLED
    assert not found.certified


def test_what_cannot_solve_on_a_chunk_is_refused():
    X, codes = clouds(0, 60)
    for inner in ("chunking", "avsf", "scs", "nobody"):
        with pytest.raises(
            UsageError,
            match=r"inner of chunking must be one of cvm, decomposition, fw, mfw, newton, swap, swap-2o",
        ):
            train(X, codes, parameters={"inner": inner})
    with pytest.raises(UsageError, match="fewest of chunking must be 0 or more"):
        train(X, codes, parameters={"fewest": -1})


# ------------------------------------------------------------------ chunks


@given(st.integers(1, 400), st.integers(1, 4000), st.integers(0, 2**32))
def test_a_first_chunk_has_its_part_of_each_class(plus, others, seed):
    chunk = first_chunk(plus, plus + others, np.random.default_rng(seed))
    assert (np.diff(chunk) > 0).all()
    for count, total in (((chunk < plus).sum(), plus), ((chunk >= plus).sum(), others)):
        assert count == max(min(total, SMALL_CLASS), int(FIRST_CHUNK * total))


@given(st.integers(2, 500), st.data())
def test_a_chunk_has_the_rows_that_matter_and_the_next_ones_to_the_margin(m, draw):
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32)))
    plus, bound = draw.draw(st.integers(1, m - 1)), draw.draw(st.floats(0.0, 1.0))
    f, alpha = rng.normal(loc=2.0, size=m), np.where(rng.random(m) < bound, rng.random(m), 0.0)
    chunk = select_rows(f, alpha, plus)
    assert (np.diff(chunk) > 0).all()
    assert chunk[0] < plus <= chunk[-1]
    inside = np.zeros(m, dtype=bool)
    inside[chunk] = True
    matters = (alpha > 0.0) | (f < 1.0)
    assert inside[matters].all()
    if len(chunk) < m:
        assert len(chunk) == int(CHUNK_SPARE * matters.sum()) + 2
        spare = inside & ~matters
        assert np.sort(f[spare])[: max(0, spare.sum() - 2)].max(initial=-np.inf) <= f[~inside].min()
