"""Direction, line search and bound, each against its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwsvm.problems.hinge import box_dual
from fwsvm.solvers.stochastic.descent import Descent
from fwsvm.solvers.stochastic.direction import TwoVectors, empty_bundle, shortest, weight_of_last
from fwsvm.solvers.stochastic.line_search import Constants, line_search
from fwsvm.solvers.stochastic.objective import along_line, evaluate_incumbent, raise_lower_bound
from fwsvm.solvers.stochastic.state import coefficients, empty_state, inner_product, pad
from fwsvm.solvers.stochastic.sums import StoredMatrixSums
from tests.solvers.stochastic.problems import gram, objective, optimum

SOME = settings(max_examples=60, deadline=None)
M1, M2 = 0.1, 0.4
vectors = arrays(np.float64, 3, elements=st.floats(-10, 10, allow_subnormal=False))


class Given(StoredMatrixSums):
    """Sums over a kernel matrix that is given."""

    def __init__(self, Q):
        self.Q = Q


def descent_of(Q, w, lam, *, euclid=False, alpha=None, directions=None, eps=0.0):
    """Return the iteration over a given kernel matrix, at alpha."""
    s = empty_state(len(w), lam, euclid=euclid)
    pad(s, w, np.zeros((4, len(w))))
    if alpha is not None:
        s.alpha[:], s.Q_alpha[:] = alpha, Q @ alpha
    evaluate_incumbent(s)
    return Descent(directions or TwoVectors(), Constants(M1, M2, 1000.0), s, Given(Q), eps)


@st.composite
def points(draw):
    """Draw an iteration over up to 12 random rows, somewhere on the way: after a few steps of any length."""
    n, seed = draw(st.integers(2, 12)), draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    Q = gram(rng.normal(size=(n, 2)), 0.5)
    w = rng.choice([-1.0, 1.0], n)
    lam, euclid = draw(st.sampled_from([1.0, 0.1, 1e-3])), draw(st.booleans())
    p = descent_of(Q, w, lam, euclid=euclid, alpha=rng.normal(size=n))
    p.state.now["ball"] = draw(st.sampled_from([np.inf, 1.0, 1e-2]))
    for _ in range(draw(st.integers(0, 5))):
        p.propose()
        p.move()
    return p


def length2(s, Q, v):
    """Return |v|^2 in the state's metric."""
    return v @ v if s.euclid else v @ Q @ v


@SOME
@given(vectors, vectors)
def test_the_weight_is_the_best_of_a_grid(d, g):
    best = weight_of_last(d @ d, d @ g, g @ g)
    grid = np.linspace(0, 1, 201)[:, None]
    lengths = ((grid * -d + (1 - grid) * g) ** 2).sum(axis=1)
    found = ((best * -d + (1 - best) * g) ** 2).sum()
    assert found <= lengths.min() + 1e-9 * (1 + g @ g + d @ d)


@SOME
@given(points())
def test_the_direction_is_short_and_goes_down(p):
    s, Q = p.state, p.sums.Q
    first, before = s.now["fresh"][0] == 1, s.d.copy()
    p.aim()
    d2, g2 = length2(s, Q, s.d), length2(s, Q, s.g)
    slack = 1e-9 * (g2 + length2(s, Q, before)) + 1e-12
    assert d2 <= g2 + slack
    if not first:
        assert d2 <= length2(s, Q, before) + slack
    assert inner_product(s, s.g, s.d, s.Q_d) <= -d2 + slack
    np.testing.assert_allclose(s.Q_d, Q @ s.d, atol=1e-9 * (1 + abs(s.d).max()))


@SOME
@given(points())
def test_the_subgradient_supports_the_objective(p):
    s, Q = p.state, p.sums.Q
    here = s.alpha + s.now["ahead"][0] * s.d
    p.aim()
    rng = np.random.default_rng(0)
    f = objective(Q, s.w, s.lam, here)
    c = s.lam * here - s.w * s.inside / len(s.w)
    for _ in range(5):
        there = here + rng.normal(size=len(here))
        assert objective(Q, s.w, s.lam, there) >= f + c @ Q @ (there - here) - 1e-9 * (1 + f)


@SOME
@given(points(), st.integers(1, 6))
def test_the_bundle_is_as_short_as_its_shortest_pair(p, iterations):
    s = p.state
    p.directions = empty_bundle(8, len(s.w), np.inf)
    s.now["fresh"] = 1
    cached, longest2 = [], 0.0
    for _ in range(iterations):
        p.aim()
        cached.append(s.g.copy())
        longest2 = max(longest2, float(s.now["gradient2"][0]))
        line_search(Constants(M1, M2, 1000.0), s) if s.now["length2"] > 1e-20 else None
        for a in cached:  # <shortest, z> >= |shortest|^2 for every z of the set: what makes it the shortest
            inward = -(s.d @ a if s.euclid else s.Q_d @ a)
            assert inward >= s.now["length2"] * (1 - 1e-5) - 1e-9 * longest2 - 1e-12
        p.move()


def test_the_shortest_of_opposite_vectors_is_zero():
    z = np.array([[1.0, 0.0], [-3.0, 0.0], [1.0, 5.0]])
    weights = np.zeros(3)
    shortest(z @ z.T, 3, weights)
    assert weights.sum() == pytest.approx(1.0)
    assert np.linalg.norm(weights @ z) < 1e-3


@SOME
@given(points())
def test_an_accepted_step_decreases_enough_within_the_ball(p):
    s, Q = p.state, p.sums.Q
    p.aim()
    d2 = s.now["length2"][0]
    if d2 < 1e-18:
        return
    f = objective(Q, s.w, s.lam, s.alpha)
    evaluate_incumbent(s)
    line_search(Constants(M1, M2, 1000.0), s)
    t = s.now["step"][0]
    assert t * np.sqrt(d2) <= s.now["ball"][0] * (1 + 1e-12)
    if t > 0:
        after = objective(Q, s.w, s.lam, s.alpha + t * s.d)
        assert after - f <= -M1 * t * d2 + 1e-9 * (1 + f)
        assert s.now["value_after"][0] == pytest.approx(after, abs=1e-9 * (1 + f))
        before = s.alpha.copy()
        p.move()
        np.testing.assert_array_equal(s.alpha, before + t * s.d)
        assert s.now["square"][0] == pytest.approx(s.alpha @ Q @ s.alpha, rel=1e-7, abs=1e-9)
    else:
        assert s.now["ahead"][0] > 0


@SOME
@given(points(), st.floats(0.0, 5.0))
def test_value_and_slope_along_a_line(p, t):
    s, Q = p.state, p.sums.Q
    p.aim()
    linear = s.lam * (s.alpha @ s.Q_d)
    s.now["curvature"] = s.lam * (s.d @ s.Q_d)
    value, slope = along_line(s, t, linear)
    constant = 0.5 * s.lam * s.alpha @ s.Q_alpha
    f = objective(Q, s.w, s.lam, s.alpha + t * s.d)
    assert value + constant == pytest.approx(f, rel=1e-8, abs=1e-9)
    h = 1e-6
    ahead, behind = (along_line(s, t + e, linear)[0] for e in (h, -h))
    scale = 1e-6 * (1 + abs(s.Q_d).max())
    assert (
        value - behind
    ) / h - scale <= slope  # convex: the slope lies between the two chords, kinks or not
    assert slope <= (ahead - value) / h + scale + abs(s.now["curvature"][0]) * h


@SOME
@given(points())
def test_the_bound_is_below_the_minimum(p):
    s, Q = p.state, p.sums.Q
    p.aim()
    raise_lower_bound(s)
    assert s.now["lower"][0] <= optimum(Q, s.w, s.lam, 1e-6, sweeps=30_000) * (1 + 2e-6) + 1e-12
    assert ((s.best_u >= 0) & (s.best_u <= 1 + 1e-12)).all()


@given(st.floats(0, 10), st.floats(0, 10), st.floats(0.01, 1))
@settings(deadline=None)
def test_the_best_feasible_multiple(total, square, most):
    grid = np.linspace(0, 1 / most, 301)
    best = (grid * total - 0.5 * grid**2 * square).max()
    assert box_dual(total, square, most) >= best - 1e-9 * (1 + best)


def test_no_candidate_proves_nothing():
    assert box_dual(0.0, 0.0, 0.0) == 0.0


def test_growing_pads():
    Q = gram(np.random.default_rng(0).normal(size=(6, 2)), 0.5)
    w = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    p = descent_of(Q[:4, :4], w[:4], 0.1)
    for _ in range(3):
        p.propose()
        p.move()
    small, s = p.state, empty_state(6, 0.1, euclid=False)
    for old, new in zip(small[2:], s[2:], strict=True):
        new[: len(old)] = old
    used, weights = coefficients(s)
    pad(s, w[4:], weights @ Q[np.ix_(used, [4, 5])])
    assert s.now["rows"][0] == 6
    assert (s.w == w).all()
    assert (s.alpha[4:] == 0).all()
    assert (s.d[4:] == 0).all()
    for vector, product in ((s.alpha, s.Q_alpha), (s.d, s.Q_d), (w * s.inside, s.Q_inside), (w * s.u, s.Q_u)):
        np.testing.assert_allclose(product, Q @ vector, atol=1e-13)


def test_at_a_kink_without_acceptable_slope_the_best_decrease_is_taken():
    # One row, Q = 1, tiny lambda: f is max(0, 1 - alpha) and almost nothing else. The slope along d jumps from -1 to
    # about lambda at the kink, over R = [-m2, 0), so no step length has both properties.
    p = descent_of(np.ones((1, 1)), np.ones(1), 1e-6)
    s = p.state
    p.aim()
    s.now["curvature"] = s.lam
    slopes = [along_line(s, t, 0.0)[1] for t in np.linspace(0.01, 3.0, 300)]
    assert not any(0 > slope >= -M2 for slope in slopes)
    line_search(Constants(M1, M2, 1e6), s)
    assert s.now["step"][0] > 0
    p.move()
    assert s.now["value"][0] < 1e-5


def test_a_direction_that_vanishes_away_from_the_optimum_is_thrown_away():
    # A bundle of opposite subgradients from elsewhere: their shortest combination is 0 although f is not minimal.
    Q, w, lam = np.eye(2), np.array([1.0, 1.0]), 0.1
    p = descent_of(Q, w, lam, alpha=np.zeros(2), eps=1e-6)
    s = p.state
    p.aim()
    s.d[:], s.Q_d[:] = s.g, s.Q_g  # -d = -g: together with g the shortest vector is 0
    s.now["fresh"] = 0
    assert not p.propose()
    assert s.now["resets"][0] == 1
    np.testing.assert_array_equal(s.d, -s.g)
    assert s.now["step"][0] > 0
    p.move()
    assert s.now["value"][0] < 1.0


def test_at_the_optimum_even_the_subgradient_vanishes():
    Q, w = np.eye(2), np.array([1.0, -1.0])  # lambda = 1: alpha* = w/m, where every hinge is active
    p = descent_of(Q, w, 1.0, alpha=w / 2, eps=1e-12)
    s = p.state
    assert p.propose()
    assert s.now["value"][0] == pytest.approx(s.now["lower"][0])


@SOME
@given(points(), st.floats(1e-3, 2.0), st.integers(1, 8))
def test_a_bundle_starts_again_where_its_path_is_too_long(p, budget, iterations):
    s, length, used, went = p.state, 0.0, 0, 0.0
    p.directions = empty_bundle(50, len(s.w), budget)
    s.now["fresh"] = 1
    for _ in range(iterations):
        length += went
        fresh = s.now["fresh"][0] == 1 or length > budget
        p.aim()
        used, length = (1, 0.0) if fresh else (used + 1, length)
        assert p.directions.used[0] == used
        assert p.directions.path[0] == pytest.approx(length)
        if used == 1:
            np.testing.assert_array_equal(s.d, -s.g)
        evaluate_incumbent(s)
        line_search(p.constants, s) if s.now["length2"] > 1e-20 else None
        went = (s.now["step"][0] or s.now["ahead"][0]) * np.sqrt(max(s.now["length2"][0], 0.0))
        p.move()
