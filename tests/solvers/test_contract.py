"""What every registered method owes its user, whatever its family: checked against oracles that share no code.

family      objective                                             oracle
simplex     R = a' K~ a                                           NNLS on the Cholesky factor of K~
linear      P(w) = |w|^2/2 + C sum of hinges                      L-BFGS-B on the dual in the box [0, C]
stochastic  f = lambda/2 |w|^2 + mean hinge = lambda P            the same, times lambda
"""

import sys
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

from fwsvm.errors import UsageError
from fwsvm.solvers import FAMILIES, METHODS, Result, Settings, Status, fit
from tests import naive

GAMMA = 0.5
CLASSES = ("1", "-1")
each_method = pytest.mark.parametrize("name", sorted(METHODS))
#: What a method can be asked for in a moment: fw's gap falls as 1/steps; pegasos has no rule of its own.
TOLERANCE = {"fw": 1e-2}
LIMIT = 20_000
TIGHT = 1e-5  # not to be reached in a few steps, and not so tight as to need other compiled code


class Problem(NamedTuple):
    """Rows, class numbers (0 is +1), and the penalty."""

    X: Any
    codes: np.ndarray
    C: float = 1.0


def clouds(seed: int = 0, m: int = 40, C: float = 1.0) -> Problem:
    rng = np.random.default_rng(seed)
    codes = (rng.random(m) < 0.4).astype(np.int64)
    X = rng.normal(size=(m, 3)) + 1.2 * (1 - 2 * codes[:, None]) * np.array([1.0, 0.5, 0.0])
    X[:, 1:] *= rng.random((m, 2)) < 0.8
    return Problem(X, codes, C)


def edge_cases() -> Problem:
    """Return rows of zeros in both classes, rows twice, and one row in both classes."""
    X, codes, _ = clouds(1)
    X[:4], X[6], X[8] = 0.0, X[5], X[7]
    codes[:9] = 0, 0, 1, 1, 1, 1, 1, 0, 1
    return Problem(X, codes)


def settings(name: str, C: float = 1.0, **given: Any) -> Settings:
    """Return the settings of a run that ends by itself in a moment, or at a limit."""
    kernel = {} if FAMILIES[METHODS[name].family].kernels else {"kernel": "rbf", "gamma": GAMMA}
    given = {"tolerance": TOLERANCE.get(name, 1e-3), "max_iterations": LIMIT, **given}
    return Settings(method=name, C=C, threads=1, cache_mib=1, **kernel, **given)


def train(name: str, problem: Problem, **given: Any) -> Result:
    return fit(problem.X, problem.codes, CLASSES, settings(name, problem.C, **given))


def parts(name: str, problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return K, y and the penalties."""
    X = problem.X.toarray() if sparse.issparse(problem.X) else problem.X
    K = X @ X.T if METHODS[name].family == "linear" else naive.gram("rbf", X, X, GAMMA)
    return K, 1.0 - 2.0 * problem.codes, np.full(len(X), problem.C)


def optimum(name: str, problem: Problem) -> tuple[float, float]:
    """Return bounds on the least objective."""
    K, y, C = parts(name, problem)
    if FAMILIES[METHODS[name].family].problem.startswith(FAMILIES["simplex"].problem):
        extended = naive.extended(K, y, C)
        best = naive.simplex_optimum(extended)
        least = float(best @ extended @ best)
        return least - min(naive.gap(extended, best), 1e-8 * least), least
    lower, upper = naive.box_optimum(np.outer(y, y) * K, C)
    scale = 1.0 / (problem.C * len(y)) if METHODS[name].family == "stochastic" else 1.0
    return scale * lower, scale * upper


def primal(name: str, problem: Problem, result: Result) -> float:
    """Return the primal value of the machine returned, from its decision values on the training rows."""
    _, y, C = parts(name, problem)
    model = result.model
    margins = 1.0 - y * result.model.decision(problem.X)[:, 0]
    loss = np.maximum(0.0, margins)
    if METHODS[name].family == "linear":
        return 0.5 * float(model.weights[0] @ model.weights[0]) + float((C * loss).sum())
    model = getattr(model, "union", model)  # of the only cell
    S = model.support
    v = model.coefficients[:, 0]
    S = S.toarray() if sparse.issparse(S) else S
    square = float(v @ naive.gram("rbf", S, S, GAMMA) @ v)
    if METHODS[name].family == "stochastic":
        return 0.5 * square / (problem.C * len(y)) + loss.mean()
    return 0.5 * (square + model.biases[0] ** 2) + 0.5 * float((C * loss**2).sum())


def hold_to_the_truth(name: str, problem: Problem, result: Result) -> None:
    """Assert that what the result says of itself is so."""
    lower, upper = optimum(name, problem)
    assert upper - lower <= 1e-3 * upper, "the oracle is not good enough"
    rounding = 1e-7 * upper
    assert result.gap_kind == "exact"
    assert lower - rounding <= result.objective <= upper + result.gap + rounding
    assert result.gap >= 0.0
    assert result.relative_gap == pytest.approx(result.gap / result.objective, rel=1e-9)
    within = result.relative_gap <= result.settings["tolerance"]
    assert result.certified == within
    assert result.status is Status.CONVERGED if within else result.status is not Status.CONVERGED
    assert result.message.startswith(result.status.sentence)
    assert result.primal >= result.dual * (1 - 1e-12)
    assert result.primal == pytest.approx(primal(name, problem, result), rel=1e-6)


@each_method
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_what_a_result_says_is_true(name, form):
    problem = clouds()
    problem = problem._replace(X=form(problem.X))
    result = train(name, problem)
    hold_to_the_truth(name, problem, result)
    if FAMILIES[METHODS[name].family].iteration_cap is None:
        assert result.certified
    predicted = result.model.predict(problem.X)
    np.testing.assert_array_equal(predicted == 0, result.model.decision(problem.X)[:, 0] > 0)
    assert (predicted == problem.codes).mean() > 0.7
    assert 0 < result.support_vectors <= len(problem.codes)
    assert result.trace[-1].iteration == result.iterations


@each_method
def test_dense_and_sparse_rows_give_one_machine(name):
    problem = clouds(2)
    dense, thin = (
        train(name, problem._replace(X=form(problem.X))) for form in (np.asarray, sparse.csr_array)
    )
    np.testing.assert_allclose(dense.model.decision(problem.X), thin.model.decision(problem.X), rtol=1e-9)
    assert dense.iterations == thin.iterations


@each_method
def test_a_seed_decides_every_bit_and_no_seed_the_optimum(name):
    problem = clouds(3)
    first, again, other = (train(name, problem, seed=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.model.decision(problem.X), again.model.decision(problem.X))
    for field in ("objective", "gap", "iterations", "steps", "kernel_evaluations", "support_vectors"):
        assert getattr(first, field) == getattr(again, field)
    assert abs(first.objective - other.objective) <= max(first.gap, other.gap)


@each_method
@pytest.mark.parametrize("form", ["dense", "sparse", "disorder"])
def test_what_is_given_stays_as_it_is(name, form):
    X, codes, _ = clouds(4)
    weights = np.ones(len(codes))
    if form != "dense":
        X = sparse.csr_array(X)
    if form == "disorder":
        for t in range(X.shape[0]):
            row = slice(X.indptr[t], X.indptr[t + 1])
            X.indices[row] = X.indices[row][::-1].copy()
            X.data[row] = X.data[row][::-1].copy()
        X = sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
    arrays = [codes, weights, *([X] if form == "dense" else [X.data, X.indices, X.indptr])]
    before = [array.copy() for array in arrays]
    result = fit(X, codes, CLASSES, settings(name), weights=weights)
    result.model.predict(X)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)
    if form == "disorder":
        hold_to_the_truth(name, Problem(X, codes), result)


@each_method
def test_rows_of_zeros_rows_twice_and_rows_in_both_classes(name):
    problem = edge_cases()
    hold_to_the_truth(name, problem, train(name, problem))


@each_method
@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_penalties_tiny_and_huge(name, C):
    problem = clouds(5, C=C)
    result = train(name, problem)
    lower, upper = optimum(name, problem)
    assert lower * (1 - 1e-6) <= result.objective <= upper * (1 + 1e-6) + result.gap
    assert np.isfinite(result.model.decision(problem.X)).all()
    if C < 1 and FAMILIES[METHODS[name].family].iteration_cap is None:
        assert result.certified


# ------------------------------------------------------------------ how runs end


@each_method
def test_a_limit_of_iterations(name):
    result = train(name, clouds(), tolerance=TIGHT, max_iterations=3)
    assert result.status is Status.MAX_ITERATIONS
    assert 3 <= result.iterations <= 3 + 40  # a method may finish the sweep it is in
    assert not result.certified
    assert np.isfinite(result.gap)


@each_method
def test_a_limit_of_time(name):
    result = train(name, clouds(), tolerance=TIGHT, max_iterations=None, time_limit=1e-9)
    assert result.status is Status.TIME_LIMIT
    assert not result.certified
    assert np.isfinite(result.objective)


@each_method
def test_an_interrupt_keeps_the_point_reached(name, monkeypatch):
    monkeypatch.setattr(sys.modules["fwsvm.solvers.loop"], "WATCH_EVERY", 0.0)
    told = []

    def interrupt(progress):
        told.append(progress)
        raise KeyboardInterrupt

    problem = clouds()
    result = fit(problem.X, problem.codes, CLASSES, settings(name, tolerance=TIGHT), watch=interrupt)
    assert result.status is Status.INTERRUPTED
    assert not result.certified
    assert len(told) == 1
    assert told[0].iterations == result.iterations > 0
    assert np.isfinite(result.objective)
    assert result.gap_kind in {"none", "sampled"}, "it is answered at once, not after recomputing the gap"
    assert np.isfinite(result.model.decision(problem.X)).all()


@each_method
def test_nothing_is_claimed_without_a_final_gap(name):
    result = train(name, clouds(), final_gap=False)
    assert not result.certified
    assert result.gap_kind in {"none", "sampled"}
    assert result.status is not Status.CONVERGED


# ------------------------------------------------------------------ rows, labels, weights


@each_method
def test_the_first_class_is_plus_one(name):
    problem = clouds(6)
    there = train(name, problem)
    back = fit(problem.X, 1 - problem.codes, CLASSES[::-1], settings(name))
    assert abs(there.objective - back.objective) <= max(there.gap, back.gap)
    one = there.model.decision(problem.X)[:, 0]
    other = back.model.decision(problem.X)[:, 0]
    clear = abs(one) > 0.3
    assert clear.sum() > 10
    assert (np.sign(one[clear]) == -np.sign(other[clear])).all()


@each_method
def test_a_row_of_weight_two_is_a_row_twice_and_one_of_weight_zero_none(name):
    X, codes, _ = clouds(7)
    weights = np.ones(len(codes))
    weights[:5] = 2.0
    weights[5:10] = 0.0
    if METHODS[name].family == "stochastic":
        with pytest.raises(UsageError, match="weight"):
            fit(X, codes, CLASSES, settings(name), weights=weights)
        return
    cached = np.concatenate([np.arange(5), np.arange(5), np.arange(10, len(codes))])
    weighted = fit(X, codes, CLASSES, settings(name), weights=weights)
    copied = fit(X[cached], codes[cached], CLASSES, settings(name))
    assert abs(weighted.objective - copied.objective) <= max(weighted.gap, copied.gap)


def two_class_problems(name: str, X: np.ndarray, codes: np.ndarray) -> list[Problem]:
    """Return each pair of classes as a problem, or each class against the rest, as the family has them."""
    if FAMILIES[METHODS[name].family].multiclass == "one-vs-rest":
        return [Problem(X, (codes != k).astype(np.int64)) for k in range(codes.max() + 1)]
    pairs = combinations(range(codes.max() + 1), 2)
    return [Problem(X[which], (codes[which] == j).astype(np.int64))
            for i, j in pairs for which in [(codes == i) | (codes == j)]]  # fmt: skip


@each_method
def test_three_classes_are_the_sums_of_their_two_class_problems(name):
    rng = np.random.default_rng(8)
    codes = rng.permutation(np.repeat(np.arange(3), (10, 14, 12)))
    # around the origin, which decision functions without a bias go through
    X = rng.normal(size=(36, 2)) + 3.0 * np.array([[1, 0], [-0.5, 0.9], [-0.5, -0.9]])[codes]
    result = fit(X, codes, ("x", "y", "z"), settings(name, max_iterations=5000))
    optima = [optimum(name, problem) for problem in two_class_problems(name, X, codes)]
    assert result.subproblems == len(optima) == 3
    lower, upper = map(sum, zip(*optima, strict=True))
    assert upper - lower <= 1e-3 * upper, "the oracle is not good enough"
    rounding = 1e-7 * upper
    assert lower - rounding <= result.objective <= upper + result.gap + rounding
    # the worst of the gaps, each in proportion to its own objective
    assert 0.0 <= result.gap <= result.relative_gap * result.objective * (1 + 1e-9)
    assert result.relative_gap <= result.gap / min(least for least, _ in optima) * (1 + 1e-9)
    assert result.certified == (result.relative_gap <= result.settings["tolerance"])
    assert (result.model.predict(X) == codes).mean() >= 0.9
