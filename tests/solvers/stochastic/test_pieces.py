"""Direction, line search and bound, each against its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwsvm.problems.hinge import box_dual
from fwsvm.solvers.stochastic.descent import aim, propose
from fwsvm.solvers.stochastic.direction import TwoVectors, room_for_bundle, shortest, weight_of_last
from fwsvm.solvers.stochastic.line_search import Constants, search
from fwsvm.solvers.stochastic.objective import along, measure, raise_bound, subgradient
from fwsvm.solvers.stochastic.state import inner, move, pad, room_for
from tests.solvers.stochastic.problems import gram, objective, optimum

SOME = settings(max_examples=60, deadline=None)
M1, M2 = 0.1, 0.4
vectors = arrays(np.float64, 3, elements=st.floats(-10, 10, allow_subnormal=False))


def state_of(Q, w, lam, *, euclid=False, alpha=None):
    """Return the state over a given kernel matrix, at alpha."""
    n = len(w)
    s = room_for(n, lam, np.float64, euclid=euclid)
    s.Q[:], s.w[:] = Q, w
    pad(s, n)
    if alpha is not None:
        s.alpha[:], s.Q_alpha[:] = alpha, Q @ alpha
    measure(s)
    return s


@st.composite
def points(draw):
    """Draw a state over up to 12 random rows, somewhere on the way: after a few iterations of any length."""
    n, seed = draw(st.integers(2, 12)), draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    Q = gram(rng.normal(size=(n, 2)), 0.5)
    w = rng.choice([-1.0, 1.0], n)
    s = state_of(
        Q, w, draw(st.sampled_from([1.0, 0.1, 1e-3])), euclid=draw(st.booleans()), alpha=rng.normal(size=n)
    )
    s.now["ball"] = draw(st.sampled_from([np.inf, 1.0, 1e-2]))
    for _ in range(draw(st.integers(0, 5))):
        propose(TwoVectors(), Constants(M1, M2, 1000.0), s, 0.0)
        move(s)
    return s


def length2(s, v):
    """Return |v|^2 in the state's metric."""
    return v @ v if s.euclid else v @ s.Q @ v


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
def test_the_direction_is_short_and_goes_down(s):
    first, before = s.now["fresh"][0] == 1, s.d.copy()
    aim(TwoVectors(), s)
    d2, g2 = length2(s, s.d), length2(s, s.g)
    slack = 1e-9 * (g2 + length2(s, before)) + 1e-12
    assert d2 <= g2 + slack
    if not first:
        assert d2 <= length2(s, before) + slack
    assert inner(s, s.g, s.d, s.Q_d) <= -d2 + slack
    np.testing.assert_allclose(s.Q_d, s.Q @ s.d, atol=1e-9 * (1 + abs(s.d).max()))


@SOME
@given(points())
def test_the_subgradient_supports_the_objective(s):
    subgradient(s)
    rng = np.random.default_rng(0)
    here = s.alpha + s.now["ahead"][0] * s.d
    f = objective(s.Q, s.w, s.lam, here)
    c = s.lam * here - s.w * s.inside / len(s.w)
    for _ in range(5):
        there = here + rng.normal(size=len(here))
        assert objective(s.Q, s.w, s.lam, there) >= f + c @ s.Q @ (there - here) - 1e-9 * (1 + f)


@SOME
@given(points(), st.integers(1, 6))
def test_the_bundle_is_as_short_as_its_shortest_pair(s, iterations):
    bundle = room_for_bundle(8, len(s.w))
    s.now["fresh"] = 1
    kept = []
    for _ in range(iterations):
        aim(bundle, s)
        kept.append(s.g.copy())
        search(Constants(M1, M2, 1000.0), s) if s.now["length2"] > 1e-20 else None
        for a in kept:  # <shortest, z> >= |shortest|^2 for every z of the set: what makes it the shortest
            inward = -(s.d @ a if s.euclid else s.Q_d @ a)
            assert inward >= s.now["length2"] - 1e-5 * (s.now["length2"] + 1e-12) - 1e-12
        move(s)


def test_the_shortest_of_opposite_vectors_is_zero():
    z = np.array([[1.0, 0.0], [-3.0, 0.0], [1.0, 5.0]])
    weights = np.zeros(3)
    shortest(z @ z.T, 3, weights)
    assert weights.sum() == pytest.approx(1.0)
    assert np.linalg.norm(weights @ z) < 1e-3


@SOME
@given(points())
def test_an_accepted_step_decreases_enough_within_the_ball(s):
    aim(TwoVectors(), s)
    d2 = s.now["length2"][0]
    if d2 < 1e-18:
        return
    f = objective(s.Q, s.w, s.lam, s.alpha)
    measure(s)
    search(Constants(M1, M2, 1000.0), s)
    t = s.now["step"][0]
    assert t * np.sqrt(d2) <= s.now["ball"][0] * (1 + 1e-12)
    if t > 0:
        after = objective(s.Q, s.w, s.lam, s.alpha + t * s.d)
        assert after - f <= -M1 * t * d2 + 1e-9 * (1 + f)
        assert s.now["value_after"][0] == pytest.approx(after, abs=1e-9 * (1 + f))
        before = s.alpha.copy()
        move(s)
        np.testing.assert_array_equal(s.alpha, before + t * s.d)
        assert s.now["square"][0] == pytest.approx(s.alpha @ s.Q @ s.alpha, rel=1e-7, abs=1e-9)
    else:
        assert s.now["ahead"][0] > 0


@SOME
@given(points(), st.floats(0.0, 5.0))
def test_value_and_slope_along_a_line(s, t):
    aim(TwoVectors(), s)
    linear = s.lam * (s.alpha @ s.Q_d)
    s.now["curvature"] = s.lam * (s.d @ s.Q_d)
    value, slope = along(s, t, linear)
    constant = 0.5 * s.lam * s.alpha @ s.Q_alpha
    f = objective(s.Q, s.w, s.lam, s.alpha + t * s.d)
    assert value + constant == pytest.approx(f, rel=1e-8, abs=1e-9)
    h = 1e-6
    ahead, behind = (along(s, t + e, linear)[0] for e in (h, -h))
    scale = 1e-6 * (1 + abs(s.Q_d).max())
    assert (
        value - behind
    ) / h - scale <= slope  # convex: the slope lies between the two chords, kinks or not
    assert slope <= (ahead - value) / h + scale + abs(s.now["curvature"][0]) * h


@SOME
@given(points())
def test_the_bound_is_below_the_minimum(s):
    aim(TwoVectors(), s)
    raise_bound(s)
    assert s.now["lower"][0] <= optimum(s.Q, s.w, s.lam, tolerance=1e-6) * (1 + 2e-6) + 1e-12
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
    s = room_for(6, 0.1, np.float64, euclid=False)
    s.Q[:], s.w[:] = Q, w
    pad(s, 4)
    for _ in range(3):
        propose(TwoVectors(), Constants(M1, M2, 1000.0), s, 0.0)
        move(s)
    pad(s, 6)
    assert (s.alpha[4:] == 0).all()
    assert (s.d[4:] == 0).all()
    for vector, product in ((s.alpha, s.Q_alpha), (s.d, s.Q_d), (w * s.inside, s.Q_inside), (w * s.u, s.Q_u)):
        np.testing.assert_allclose(product, Q @ vector, atol=1e-13)


def test_at_a_kink_without_acceptable_slope_the_best_decrease_is_taken():
    # One row, Q = 1, tiny lambda: f is max(0, 1 - alpha) and almost nothing else. The slope along d jumps from -1 to
    # about lambda at the kink, over R = [-m2, 0), so no step length has both properties.
    s = state_of(np.ones((1, 1)), np.ones(1), 1e-6)
    aim(TwoVectors(), s)
    s.now["curvature"] = s.lam
    slopes = [along(s, t, 0.0)[1] for t in np.linspace(0.01, 3.0, 300)]
    assert not any(0 > slope >= -M2 for slope in slopes)
    search(Constants(M1, M2, 1e6), s)
    assert s.now["step"][0] > 0
    move(s)
    assert s.now["value"][0] < 1e-5


def test_a_direction_that_vanishes_away_from_the_optimum_is_thrown_away():
    # A bundle of opposite subgradients from elsewhere: their shortest combination is 0 although f is not minimal.
    Q, w, lam = np.eye(2), np.array([1.0, 1.0]), 0.1
    s = state_of(Q, w, lam, alpha=np.zeros(2))
    subgradient(s)
    s.d[:], s.Q_d[:] = s.g, s.Q_g  # -d = -g: together with g the shortest vector is 0
    s.now["fresh"] = 0
    done = propose(TwoVectors(), Constants(M1, M2, 1000.0), s, 1e-6)
    assert not done
    assert s.now["resets"][0] == 1
    np.testing.assert_array_equal(s.d, -s.g)
    assert s.now["step"][0] > 0
    move(s)
    assert s.now["value"][0] < 1.0


def test_at_the_optimum_even_the_subgradient_vanishes():
    Q, w = np.eye(2), np.array([1.0, -1.0])  # lambda = 1: alpha* = w/m, where every hinge is active
    s = state_of(Q, w, 1.0, alpha=w / 2)
    assert propose(TwoVectors(), Constants(M1, M2, 1000.0), s, 1e-12)
    assert s.now["value"][0] == pytest.approx(s.now["lower"][0])
