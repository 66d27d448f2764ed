"""newton: exact on the face whatever C is; its linear systems and its line search against plain numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from fwsvm.errors import UsageError
from fwsvm.solvers import Settings, Status, fit
from fwsvm.solvers.active_face.face import Face
from fwsvm.solvers.active_face.line import least_along
from fwsvm.solvers.handover import Handover
from tests import naive

CLASSES = ("1", "-1")


def clouds(seed, m=120):
    rng = np.random.default_rng(seed)
    codes = (rng.random(m) < 0.4).astype(np.int64)
    return rng.normal(size=(m, 4)) + 0.8 * (1 - 2 * codes[:, None]), codes


def train(X, codes, C, **given):
    return fit(X, codes, CLASSES, Settings("newton", C=C, kernel="rbf", gamma=0.3, threads=1, **given))


@given(st.integers(0, 2**32), st.sampled_from([1e-2, 1.0, 1e3, 1e6]))
@settings(deadline=None, max_examples=12)
def test_the_optimum_is_reached_to_rounding_whatever_the_penalty(seed, C):
    X, codes = clouds(seed)
    result = train(X, codes, C)
    assert result.status is Status.CONVERGED
    assert result.certified
    assert result.relative_gap < 1e-6, "Newton's last step is exact"
    K = naive.extended(naive.gram("rbf", X, X, 0.3), 1.0 - 2.0 * codes, np.full(len(X), C))
    best = naive.simplex_optimum(K)
    assert result.objective == pytest.approx(best @ K @ best, rel=1e-6)


def test_the_penalty_has_little_say_in_the_number_of_steps():
    X, codes = clouds(3, m=300)
    steps = [train(X, codes, C, max_iterations=100_000).steps for C in (1e2, 1e5)]
    pairs = [
        fit(X, codes, CLASSES, Settings("swap-2o", C=C, kernel="rbf", gamma=0.3, threads=1)).steps
        for C in (1e2, 1e5)
    ]
    assert steps[1] < pairs[1] / 2


def test_several_classes_weights_and_a_warm_start():
    X, codes = clouds(5)
    codes = codes + (X[:, 0] > 1.0)
    weights = np.where(codes == 0, 2.0, 0.5)
    chosen = Settings("newton", C=50.0, kernel="rbf", gamma=0.3, threads=1, tolerance=1e-9)
    cold = fit(X, codes, ("a", "b", "c"), chosen, weights=weights)
    assert cold.certified
    handover = Handover()
    for C in (25.0, 50.0):
        warm = fit(
            X, codes, ("a", "b", "c"), Settings("newton", C=C, kernel="rbf", gamma=0.3, threads=1, tolerance=1e-9),
            weights=weights, handover=handover,
        )  # fmt: skip
    assert warm.objective == pytest.approx(cold.objective, rel=1e-8)


@given(st.integers(0, 2**32), st.sampled_from([60, 48, 10**6]))
@settings(deadline=None, max_examples=20)
def test_a_face_that_changes_little_is_solved_as_one_from_scratch(seed, most):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(60, 60))
    K = B @ B.T + np.eye(60)

    def lines(rows, out):
        out[:] = K[rows]

    face, rows = Face(lines, 60, most), np.sort(rng.choice(60, 40, replace=False))
    for _ in range(6):
        x = face.solve(rows)
        np.testing.assert_allclose(K[np.ix_(rows, rows)] @ x[rows], 1.0, atol=1e-8)
        assert not np.delete(x, rows).any()
        np.testing.assert_allclose(face.product(x), K @ x, atol=1e-8)
        rows = np.setxor1d(rows, rng.choice(60, rng.integers(0, 8), replace=False))[:most]


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_the_step_is_the_least_along_the_line(seed):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(30, 30))
    Q, C = B @ B.T, rng.random(30) * 10.0 ** rng.integers(-2, 3)
    b, to = rng.normal(size=30), rng.normal(size=30)
    f, df = Q @ b, Q @ (to - b)

    def primal(t):
        x, loss = b + t * (to - b), np.maximum(0.0, 1.0 - f - t * df)
        return 0.5 * x @ Q @ x + 0.5 * C @ loss**2

    step = least_along(b, f, to - b, df, C)
    best = minimize_scalar(primal, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10})
    assert 0.0 <= step <= 1.0
    assert primal(step) <= best.fun + 1e-9 * abs(best.fun)


def test_what_newton_cannot_do_is_said():
    X, codes = clouds(0)
    with pytest.raises(UsageError, match="search of newton must be full, not 'sampled'"):
        train(X, codes, 1.0, search="sampled")
    with pytest.raises(UsageError, match="positive number for switch"):
        train(X, codes, 1.0, parameters={"switch": 0})
    many = np.random.default_rng(0).normal(size=(1200, 4))
    with pytest.raises(UsageError, match=r"newton has .* active rows and needs .* --cache-mb allows 1;"):
        train(many, np.arange(1200) % 2, 1.0, cache_mib=1)


def test_a_limit_of_iterations_ends_newtons_part_too():
    X, codes = clouds(3, m=300)
    begun = train(X, codes, 1e4, tolerance=1.0).iterations
    result = train(X, codes, 1e4, max_iterations=begun + 1)
    assert result.status in {Status.MAX_ITERATIONS, Status.CONVERGED}
    assert result.iterations <= begun + 1
    assert result.gap_kind == "exact"


@pytest.mark.parametrize("switch", [0.3, 0.9])
def test_the_schedule_of_libcvm_loosens_no_certificate(switch):
    X, codes = clouds(0, m=300)
    found = train(
        X, codes, 1.0, protocol="libcvm", stop="relative", tolerance=1e-6, parameters={"switch": switch}
    )
    assert found.certified
    assert found.relative_gap <= 1e-6
