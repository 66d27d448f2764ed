"""The simplex problem and its certificate against their definitions in plain numpy."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fwsvm.kernels.kernel import KERNELS
from fwsvm.kernels.rows import as_rows
from fwsvm.kernels.source import RowSource
from fwsvm.kernels.values import VALUE_ROUNDING
from fwsvm.problems.simplex_qp import gradients, write_certificate
from tests import naive

seeds = st.integers(0, 2**32)
kernels = st.sampled_from(sorted(name for name, each in KERNELS.items() if not each.given))


def problem(seed: int, name: str, m: int = 24, n: int = 3):
    """Return rows, labels (+1 first), penalties, the kernel, and K and K~ in plain numpy."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.7)
    plus = int(rng.integers(1, m))
    y = np.where(np.arange(m) < plus, 1.0, -1.0)
    C = np.exp(rng.uniform(-2, 4, m))
    kernel = KERNELS[name].make(**naive.PARAMETERS[name])
    K = naive.gram(name, X, X, **naive.PARAMETERS[name])
    return X, y, C, kernel, K, naive.extended(K, y, C)


def weights(seed: int, m: int = 24) -> np.ndarray:
    """Return a point of the simplex, most of it zero."""
    a = np.random.default_rng(seed).exponential(size=m)
    a[np.argsort(a)[: m // 2]] = 0.0
    return a / a.sum()


class Certificate(NamedTuple):
    """What `write_certificate` writes."""

    objective: float
    gap: float
    primal: float
    dual: float
    rounding: float


def certificate(ridge, diagonal, a, q, value_rounding=VALUE_ROUNDING):
    found = np.empty(5)
    assert write_certificate(a, q, ridge, diagonal, value_rounding, found) == found[0]
    return Certificate(*found.tolist())


def certified(X, y, C, kernel, a):
    """Return q = K~ a, the diagonal of K~, and what a is worth."""
    rows, ridge = RowSource(as_rows(X)), 1.0 / C
    q = gradients(kernel, rows, y, a[:, None], ridge[:, None], 1)[:, 0]
    diagonal = rows.diagonal(kernel).values + 1.0 + ridge
    return q, diagonal, certificate(ridge, diagonal, a, q)


@given(seeds, kernels)
@settings(deadline=None, max_examples=40)
def test_gradient_and_certificate_are_those_of_the_definition(seed, name):
    X, y, C, kernel, K, extended = problem(seed, name)
    a = weights(seed + 1)
    q, diagonal, found = certified(sparse.csr_array(X), y, C, kernel, a)
    np.testing.assert_allclose(diagonal, np.diag(extended), rtol=1e-12)
    np.testing.assert_allclose(q, extended @ a, rtol=1e-10, atol=1e-12 * extended.max())
    assert found.objective == pytest.approx(a @ extended @ a, rel=1e-10)
    assert found.gap == pytest.approx(naive.gap(extended, a), rel=1e-8)
    assert (found.primal, found.dual) == pytest.approx(naive.standard_form(K, y, C, a), rel=1e-8)


@given(seeds, kernels)
@settings(deadline=None, max_examples=40)
def test_gaps_bound_the_distance_to_the_optimum_where_all_values_meet(seed, name):
    """R* = 1/(2 P*) (spec 1.3); (P - D) / D <= R^2 / rho^2 - 1 with rho = min q > 0, to first order gap / R (1.4)."""
    X, y, C, kernel, _, extended = problem(seed, name)
    best = naive.simplex_optimum(extended)
    least = best @ extended @ best
    for a in (weights(seed), 0.999 * best + 0.001 * weights(seed), best):
        _, _, found = certified(X, y, C, kernel, a)
        rounding = 1e-9 * found.objective
        assert -rounding <= found.objective - least <= found.gap + rounding
        assert found.primal >= found.dual * (1 - 1e-12)
        if (lowest := found.objective - found.gap / 2.0) > 0:
            bound = (found.objective / lowest) ** 2 - 1.0
            assert (found.primal - found.dual) / found.dual <= bound * (1 + 1e-9) + 1e-12
    assert found.gap <= 1e-6 * found.objective
    assert found.dual == pytest.approx(1.0 / (2.0 * found.objective), rel=1e-14)
    assert found.primal == pytest.approx(1.0 / (2.0 * found.objective), rel=1e-6)


def exact_gap(X, y, C, a, degree):
    """Return the gap of a with K~_ij = y_i y_j (<x_i, x_j>^degree + 1) + delta_ij / C_i in whole fractions."""
    X, a = [[Fraction(v) for v in x] for x in X.tolist()], [Fraction(v) for v in a.tolist()]
    support = [j for j in range(len(a)) if a[j]]
    q = []
    for i, x in enumerate(X):
        sums = (y[i] * y[j] * (sum(map(Fraction.__mul__, x, X[j])) ** degree + 1) * a[j] for j in support)
        q.append(sum(sums) + a[i] * Fraction(1.0 / C[i]))
    R = sum(a[j] * q[j] for j in support)
    return 2 * (R - min(q))


@given(
    seeds, st.sampled_from([("linear", 1), ("quadratic", 2), ("poly", 3)]), st.floats(-6, 6), st.booleans()
)
@settings(deadline=None, max_examples=60)
def test_a_gap_and_its_rounding_are_no_smaller_than_the_exact_gap(seed, kernel, size, opposed):
    name, degree = kernel
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3)) * 10.0**size + 100.0 * rng.normal(size=3)
    if opposed:  # rows of one class lie on rows of the other: what is left of R is all rounding
        X[6:] = X[:6]
    y, C, a = np.repeat([1.0, -1.0], 6), np.full(12, 6e9), np.abs(rng.normal(size=12))
    a[6:] = a[:6] if opposed else a[6:]
    a /= a.sum()
    values = {"gamma": 1.0, "coef0": 0.0, "degree": 3} if name == "poly" else {"gamma": 1.0}
    kernel = KERNELS[name].make(**values) if name != "linear" else KERNELS[name].make()
    _, _, found = certified(X, y, C, kernel, a)
    assert exact_gap(X, y, C, a, degree) <= Fraction(found.gap) + Fraction(found.rounding)


def test_rounding_takes_twice_what_an_entry_of_q_is_off_by_from_both_sides_of_the_gap():
    found = certificate(np.ones(4), np.full(4, 3.0), np.eye(4)[0], np.ones(4), 1e-3)
    assert found.rounding == pytest.approx(2 * (3e-3 + 3e-3))


def test_nothing_is_bounded_where_the_objective_is_lost_in_rounding():
    found = certificate(np.ones(2), np.full(2, 3.0), np.full(2, 0.5), np.array([1.0, -1.0]), 1e-3)
    assert (found.objective, found.primal, found.dual) == (0.0, np.inf, 0.0)
