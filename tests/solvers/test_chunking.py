"""chunking: the optimum over all rows, whatever the chunks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fwsvm.errors import UsageError
from fwsvm.kernels.source import RowSource
from fwsvm.problems.binary import Binary
from fwsvm.solvers import Settings, Status, fit, resolve
from fwsvm.solvers.chunking import select_rows
from tests import naive
from tests.solvers.problems import CLASSES, hold_to_the_simplex, two_classes

GAMMA = 0.3


def chosen(C=10.0, **given):
    parameters = {"fewest": 0, **given.pop("parameters", {})}
    asked = {"kernel": "rbf", "gamma": GAMMA, "threads": 1, **given}
    return Settings("chunking", C=C, parameters=parameters, **asked)


def train(X, codes, C=10.0, **given):
    return fit(X, codes, CLASSES, chosen(C, **given))


@given(st.integers(0, 2**32), st.sampled_from([1e-1, 1e1, 1e4]), st.sampled_from([0.0, 0.5, 1.3]))
def test_the_certificate_is_that_of_all_rows(seed, C, apart):
    X, codes = two_classes(seed, 200, apart)
    found = train(X, codes, C, tolerance=1e-6)
    assert found.certified
    least = naive.least_objective("rbf", X, 1.0 - 2.0 * codes, C, GAMMA)
    assert least * (1 - 1e-8) <= found.objective <= least + found.gap * (1 + 1e-8)
    assert found.relative_gap <= 1e-6


def test_where_all_rows_are_support_vectors_they_are_in_the_last_chunk():
    X, codes = two_classes(0, 800, 0.0)
    found = train(X, codes, C=0.01)
    assert found.certified
    assert found.support_vectors > 700


def test_a_chunk_has_the_rows_with_weight_and_a_row_of_each_class():
    f = np.repeat(
        [0.5, 1.5, 3.0], [50, 450, 500]
    )  # all rows that matter, and those beside them, are of the class +1
    chunk = select_rows(f, np.zeros(1000), np.repeat([1.0, -1.0], 500))
    assert set(range(50)) < set(chunk)
    assert len(chunk) < 200
    assert (chunk >= 500).sum() == 1
    few = select_rows(np.full(20, 3.0), np.eye(20)[:2].sum(axis=0), np.repeat([1.0, -1.0], 10))
    assert set(range(2)) < set(few) < set(range(20))
    assert max(few) >= 10


def test_few_rows_are_taken_where_few_matter():
    sizes = []
    looked_at = []

    class Counted(RowSource):
        def take(self, which):
            sizes.append(len(which))
            return super().take(which)

        def sums(self, kernel, rows, *given):
            found = super().sums(kernel, rows, *given)
            looked_at.append(len(found) * len(rows))
            return found

    X, codes = two_classes(9, 3000, 2.0)
    resolved = resolve(chosen(), X)
    problem = Binary(Counted(X), 1.0 - 2.0 * codes, np.full(3000, 10.0), (0,))
    run = resolved.family.start(problem, resolved.rule, resolved, None, None)
    ended = None
    while ended is None:
        steps = run.advance(100)
        ended = run.check_stop() if steps < 100 else None
    assert ended is Status.CONVERGED
    assert len(sizes) > 1
    assert max(sizes) < 1500
    assert run.counters.kernel_evaluations > sum(looked_at) > 0


def test_only_fewer_rows_than_fewest_are_solved_in_one_piece():
    X, codes = two_classes(1, 700, 1.3)
    swap = fit(X, codes, CLASSES, Settings("swap-2o", C=10.0, kernel="rbf", gamma=GAMMA, threads=1))
    steps = [train(X, codes, parameters={"fewest": fewest}).steps for fewest in (701, 700)]
    assert steps[0] == swap.steps != steps[1]


@pytest.mark.parametrize("inner", ["fw", "mfw", "swap", "swap-2o", "cvm", "newton"])
def test_any_method_of_the_simplex_serves(inner):
    X, codes = two_classes(1, 700, 1.3)
    found = train(X, codes, tolerance=1e-2, parameters={"inner": inner})
    assert found.certified
    assert found.relative_gap <= 1e-2


@pytest.mark.parametrize("stop", ["gap", "meb"])
def test_the_other_rules_of_stopping_hold_over_all_rows(stop):
    X, codes = two_classes(2, 700, 1.3)
    found = train(X, codes, stop=stop, tolerance=1e-5)
    exact = train(X, codes, tolerance=1e-9)
    assert found.certified
    assert found.objective - exact.objective <= found.gap
    if stop == "gap":
        assert found.gap <= 1e-5


@pytest.mark.parametrize("before", [5, 100])
def test_a_limit_on_the_way_ends_with_the_gap_over_all_rows(before):
    X, codes = two_classes(5, 900, 1.3)
    steps = train(X, codes).iterations
    found = train(X, codes, max_iterations=steps - before)
    assert (found.status, found.iterations) == (Status.MAX_ITERATIONS, steps - before)
    assert found.gap_kind == "exact"
    hold_to_the_simplex(found, X, 1.0 - 2.0 * codes, 10.0, kernel="rbf", gamma=GAMMA)


@pytest.mark.parametrize("below", [1.0, 0.03])  # before and after a look: the first chunk ends at 0.0347
def test_an_interrupt_says_how_far_the_optimum_may_be(below, monkeypatch):
    monkeypatch.setattr("fwsvm.solvers.loop.WATCH_EVERY", 0.0)
    monkeypatch.setattr("fwsvm.solvers.loop.LOOKS_SHARE", 0.0)
    told = []

    def interrupt(progress):
        told.append(progress)
        if progress.objective < below:
            raise KeyboardInterrupt

    X, codes = two_classes(5, 1500, 1.3)
    found = fit(X, codes, CLASSES, chosen(), watch=interrupt)
    best = train(X, codes, tolerance=1e-6)
    assert found.status is Status.INTERRUPTED
    assert (found.objective, found.gap) == (told[-1].objective, told[-1].gap)
    assert 0.0 < found.objective - best.objective <= found.gap


def test_sparse_rows_and_no_final_gap():
    X, codes = two_classes(7, 1500, 1.3)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = 0.0
    wide = sparse.csr_array(np.pad(X, ((0, 0), (0, 16))))
    dense = train(X, codes, tolerance=1e-8)
    thin = train(wide, codes, tolerance=1e-8)
    assert dense.objective == pytest.approx(thin.objective, rel=1e-8)
    blind = train(X, codes, final_gap=False)
    assert (blind.status, blind.gap_kind) == (Status.SAMPLED_STOP, "none")
    assert blind.objective == pytest.approx(dense.objective, rel=1e-3)


def test_the_trace_counts_all_chunks_and_ends_at_the_certificate(monkeypatch):
    monkeypatch.setattr("fwsvm.solvers.loop.LOOKS_SHARE", 0.0)  # a busy machine's looks take long
    X, codes = two_classes(9, 3000, 1.3)
    found = train(X, codes)
    assert [point.iteration for point in found.trace][:3] == [1, 2, 3]
    assert found.trace[-2].iteration > found.iterations / 2
    assert found.trace[-1].gap == pytest.approx(found.gap, rel=1e-2)
    assert found.trace[-1].objective == pytest.approx(found.objective, rel=1e-6)


def test_a_gap_that_no_arithmetic_reaches_ends_the_run():
    X, codes = two_classes(6, 700, 1.3)
    found = train(X, codes, tolerance=1e-16)
    assert found.status is Status.STALLED
    assert not found.certified


def test_what_cannot_solve_on_a_chunk_is_refused():
    X, codes = two_classes(0, 60, 1.3)
    for inner in ("chunking", "avsf", "scs", "nobody"):
        with pytest.raises(
            UsageError,
            match="inner of chunking must be one of cvm, ",
        ):
            train(X, codes, parameters={"inner": inner})
    with pytest.raises(UsageError, match="fewest of chunking must be 0 or more"):
        train(X, codes, parameters={"fewest": -1})
