"""Blocks of rows give the machine that the same rows in one array give, and keep only what was drawn."""

import numpy as np
import pytest
from scipy import sparse

import fwsvm
from fwsvm.data import synthetic
from fwsvm.errors import UsageError
from fwsvm.kernels.widths import mean_squared_distance
from fwsvm.problems import hinge
from fwsvm.problems.binary import Binary
from fwsvm.problems.hinge import lambda_of
from fwsvm.solvers import blocks as module
from fwsvm.solvers.blocks import Picked, survey
from fwsvm.solvers.resolve import resolve
from fwsvm.solvers.settings import Settings
from fwsvm.solvers.stochastic import scs, sums
from fwsvm.solvers.stochastic.run import begin, rows_drawn
from tests.solvers.stochastic.problems import drawn

SMALL = {"first": 50, "more": 50, "largest": 200}


def cut(X, y, *ends):
    """Return the rows as a list of blocks with these ends."""
    starts = (0, *ends)
    return [(X[a:b], y[a:b]) for a, b in zip(starts, (*ends, len(y)), strict=True)]


@pytest.fixture
def many(monkeypatch):
    """Have 1000 rows count as too many to look at all of them."""
    for place in (hinge, module):
        monkeypatch.setattr(place, "EXACT_ROWS", 500)
    monkeypatch.setattr("fwsvm.solvers.stochastic.iterate.EXACT_ROWS", 500)
    monkeypatch.setattr(hinge, "FIXED_SAMPLE", 300)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("scs", {"parameters": SMALL}),
        ("pegasos", {"max_iterations": 700}),
        ("pegasos", {"max_iterations": 30, "parameters": {"batch": 7, "averaging": True}}),
    ],
)
def test_blocks_give_the_machine_of_the_array(many, kind, method, settings):
    X, y = drawn(1000)
    settings = {"method": method, "gamma": 0.1, "lambda_": 0.01, "seed": 3, "threads": 1, **settings}
    whole = fwsvm.train(kind(X), y, **settings)
    parts = fwsvm.train_blocks(cut(kind(X), y, 1, 400, 400, 999), **settings)
    for name in ("status", "message", "objective", "gap_kind", "iterations", "kernel_evaluations"):
        assert getattr(parts, name) == getattr(whole, name)
    np.testing.assert_equal(parts.gap_error, whole.gap_error)
    assert parts.gap_error > 0
    assert f"standard error {parts.gap_error:.3g}." in parts.message
    assert np.array_equal(parts.model.coefficients, whole.model.coefficients)
    assert np.array_equal(fwsvm.predict(parts, X), fwsvm.predict(whole, X))


def test_few_rows_are_looked_at_all():
    X, y = drawn(300)
    parts = fwsvm.train_blocks(cut(X, y, 100), parameters=SMALL)
    whole = fwsvm.train(X, y, method="scs", parameters=SMALL)
    assert parts.gap_kind == "exact"
    assert parts.objective == pytest.approx(whole.objective, rel=1e-6)  # gamma differs by rounding


def test_the_default_width_is_that_of_all_rows():
    X, y = drawn(500)
    X += 1e4  # far from the origin
    for rows in (X, sparse.csr_array(X - 1e4)):
        found = survey(cut(rows, y, 3, 200))
        assert found.spread == pytest.approx(mean_squared_distance(rows), rel=1e-9)
        assert (found.rows, found.features) == (500, 4)
    far = sparse.csr_array(X + 1e8)  # a difference of mean squares would be lost
    assert survey(cut(far, y, 3, 200)).spread == pytest.approx(mean_squared_distance(X), rel=1e-6)


def test_a_generator_of_data_is_drawn_block_by_block(many):
    name = "synthetic:gaussians?rows=9000&features=5&test=0"
    settings = {"lambda_": 0.01, "gamma": 0.05, "threads": 1, "parameters": SMALL}
    whole = fwsvm.train(name, method="scs", **settings)
    parts = fwsvm.train_blocks(name, **settings)
    assert np.array_equal(parts.model.coefficients, whole.model.coefficients)
    sizes = [len(y) for _, y in synthetic.Stream(synthetic.parse_spec(name), 4000)]
    assert sizes == [4000, 4000, 1000]


def test_only_the_rows_drawn_are_kept(many, monkeypatch):
    cached = []
    monkeypatch.setattr(
        module, "Picked", lambda m, numbers, values: cached.append(numbers) or Picked(m, numbers, values)
    )
    X, y = drawn(2000)
    fwsvm.train_blocks(cut(X, y, 1000), parameters=SMALL)
    assert max(map(len, cached)) <= 200 + 200 + 300


def test_blocks_of_wide_sparse_rows_are_not_laid_out_without_gaps(many, monkeypatch):
    """As in text: 2,000 features of which a row has twenty."""
    made = []
    monkeypatch.setattr(sums, "empty_dense_tiles", lambda *given: made.append(given))
    X = sparse.random_array((1000, 2000), density=0.01, rng=np.random.default_rng(0), format="csr")
    y = np.where(np.asarray(X.sum(axis=1)).ravel() > 10.0, 1, -1)
    result = fwsvm.train_blocks(cut(X, y, 300), method="scs", gamma=0.1, max_iterations=5, parameters=SMALL)
    assert result.iterations > 0
    assert not made


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "wolfe"}, "wolfe .* cannot be trained from blocks; use scs"),
        ({"method": "swap"}, "swap .* cannot be trained from blocks"),
        ({"parameters": {"test": "fresh"}}, "scs .* test=kept"),
        ({"kernel": "laplacian"}, "laplacian .* give gamma"),
        ({"width_rule": "libcvm"}, "libcvm.* give gamma"),
    ],
)
def test_what_needs_all_rows_is_refused(settings, words):
    X, y = drawn(60)
    with pytest.raises(UsageError, match=words):
        fwsvm.train_blocks(cut(X, y, 30), **settings)


def test_blocks_that_do_not_fit_together_are_refused():
    X, y = drawn(60)
    with pytest.raises(UsageError, match="block after 60 rows has shape"):
        fwsvm.train_blocks([(X, y), (X[:, :2], y)])
    with pytest.raises(UsageError, match="fewer than two rows"):
        fwsvm.train_blocks([])
    with pytest.raises(UsageError, match="two classes, and these hold 3"):
        fwsvm.train_blocks([(X, y), (X[:1], [7.0])])
    with pytest.raises(UsageError, match="generator can be gone through once"):
        fwsvm.train_blocks((X[i : i + 9], y[i : i + 9]) for i in range(0, 60, 9))
    X[3, 0] = np.nan
    with pytest.raises(UsageError, match="not finite"):
        fwsvm.train_blocks([(X, y)])


def test_the_rows_that_scs_may_draw_are_those_it_draws_whatever_the_last_bit_of_lambda_is(monkeypatch):
    """10 / lambda rows at most are whole numbers here, so a last bit of lambda decides on a row."""
    monkeypatch.setattr(scs, "ALWAYS_ENOUGH", 1)
    X, y = drawn(900)
    differ = 0
    for most in range(100, 700):
        lambda_ = 10.0 / most
        differ += int(10.0 / lambda_) != int(10.0 / lambda_of(1.0 / (lambda_ * 900), 900))
        resolved = resolve(Settings(method="scs", lambda_=lambda_, gamma=0.1, threads=1), X)
        problem = Binary(X, y, np.full(900, resolved.C), (0, 0))
        run = begin(resolved.rule, problem, resolved)
        assert np.array_equal(rows_drawn(resolved.rule, resolved, 900, (0, 0)), np.sort(run.order))
    assert differ > 10


@pytest.mark.parametrize("row", [0, 3, 9])
def test_a_row_that_was_not_picked_is_not_given_out_as_another(row):
    picked = Picked(10, np.array([2, 5]), np.array([[2.0], [5.0]]))
    assert picked[np.array([5, 2])].tolist() == [[5.0], [2.0]]
    with pytest.raises(LookupError, match=f"row {row} is asked for, but was not picked"):
        picked[np.array([5, row])]
