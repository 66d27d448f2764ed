"""What a result claims is recomputed from its saved machine, on problems made to break it.

Every method and every kernel it takes; rows of very different sizes, that coincide and contradict each other.
"""

import math

import numpy as np
import pytest

import fwsvm
from fwsvm.errors import FwsvmError
from fwsvm.solvers import METHODS, Status
from tests.solvers import certificates

SEEDS = range(25)
pytestmark = pytest.mark.slow
#: Cases are made to have features of very different ranges, which `fwsvm.train` warns of.
UNSCALED = pytest.mark.filterwarnings("ignore:the rows are far from scaled:UserWarning")


def hold(case, folder):
    """Assert that what the run on a case says of itself is so; return whether it was certified, None if refused."""
    try:
        result = certificates.train(case)
    except FwsvmError:
        return None  # values, kernel values or penalties that no precision holds
    by_rule = result.status in {Status.CONVERGED, Status.SAMPLED_STOP}
    weak = by_rule and result.relative_gap > 0.1
    assert weak is not result.message.startswith(result.status.sentence)
    assert result.certified == (result.status is Status.CONVERGED)
    if not math.isfinite(result.objective):
        assert "not a finite number" in result.message
    if not result.certified:
        return False
    claimed = (result.objective, result.gap, result.relative_gap, result.primal, result.dual)
    assert all(map(math.isfinite, claimed))
    assert result.relative_gap <= 0.1 or f"{result.relative_gap:.3g}" in result.message
    found = certificates.priority(case, result, folder / "machine")
    off = found.rounding
    assert result.objective == pytest.approx(found.objective, rel=1e-9, abs=off)
    if case.settings["stop"] == "eps":
        return True
    allowed = certificates.goal(case, result, found)
    if found.gap is None:
        assert result.primal == pytest.approx(found.primal, rel=1e-9, abs=off)
        assert result.dual <= found.least * (1.0 + 1e-9) + off, "no lower bound is above the optimum"
        assert result.gap == pytest.approx(result.primal - result.dual, rel=1e-6, abs=off)
        assert found.objective - result.dual <= allowed * (1.0 + 1e-9) + off
    else:
        assert result.gap == pytest.approx(found.gap, rel=1e-6, abs=off)
        assert np.isfinite(found.gap)
        assert found.gap <= allowed * (1.0 + 1e-6) + off
    return True


@UNSCALED
@pytest.mark.parametrize("method", sorted(METHODS))
def test_what_is_certified_is_so_by_the_saved_machine(method, tmp_path):
    seen = [hold(certificates.drawn(method, seed), tmp_path) for seed in SEEDS]
    assert seen.count(True) >= 3, "or nothing was put to the test"


@pytest.mark.parametrize("method", ["swap-2o", "cvm", "newton", "chunking"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_rows_far_from_the_origin_and_near_each_other_are_certified_by_their_differences(method, kernel):
    rng = np.random.default_rng(3)
    X = 1e6 + np.round(rng.normal(size=(12, 3)), 3)
    X[7], X[8] = X[0], np.nextafter(X[0], np.inf)
    y = np.where(np.arange(12) % 2, 1.0, -1.0)  # so that row 7 contradicts row 0
    gamma = 1e6
    settings = {"method": method, "kernel": kernel, "gamma": gamma, "time_limit": 2.0, "max_iterations": 500}
    result = fwsvm.train(X, y, **settings)
    apart = np.abs(X[:, None] - X[None])
    K = np.exp(-gamma * (apart**2 if kernel == "rbf" else apart).sum(axis=2))
    alpha = np.zeros(12)
    for support, coefficient in zip(result.model.support, result.model.coefficients[:, 0], strict=True):
        alpha[(support == X).all(axis=1) & (np.sign(coefficient) == y)] = abs(coefficient)
    alpha /= alpha.sum()
    q = (np.outer(y, y) * (K + 1.0) + np.eye(12)) @ alpha
    assert result.objective == pytest.approx(alpha @ q, rel=1e-9)
    assert result.gap == pytest.approx(2.0 * (alpha @ q - q.min()), abs=1e-9)
    np.testing.assert_array_equal(fwsvm.predict(result, X), np.where(K @ (alpha * y) + alpha @ y > 0, 1, -1))


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize(
    ("offset", "spread", "gamma"), [(1e6, 1.0, 1e-8), (100.0, 1e-4, 1.0), (1e3, 1.0, 1e-6)]
)
@pytest.mark.parametrize("method", ["auto", "swap-2o", "newton", "chunking", "decomposition"])
def test_what_the_rounding_of_distances_leaves_of_a_small_objective_is_counted(
    method, offset, spread, gamma, form, tmp_path
):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    classes = np.where(X[:, 0] > 0, 1.0, 2.0 + (X[:, 1] > 0))
    X[:, 0] += np.where(classes == 1.0, 0.3, -0.3)
    settings = {"method": method, "kernel": "rbf", "gamma": gamma, "max_iterations": 1_000_000, "threads": 1}
    large = ((1e4, 1e-4), (1e6, 1e-3), (1e8, 1e-3))
    # the working sets of decomposition need minutes where C is large: the kernel matrix is all but constant
    for C, tolerance in ((1.0, 1e-3), (1e2, 1e-3)) if method == "decomposition" else large:
        case = certificates.Case(
            spread * X + offset, classes, None, settings | {"C": C, "tolerance": tolerance}, form == "sparse"
        )
        result = certificates.train(case)
        assert result.certified, result.message
        for _, found in certificates.pairs_of(case, result, tmp_path / "machine"):
            assert found.gap <= 1.01 * tolerance * found.objective


@pytest.mark.parametrize("method", ["liblinear", "avsf"])
@pytest.mark.parametrize("stop", ["relative", "eps"])
def test_a_linear_machine_whose_products_cancel_is_certified_only_with_its_true_value(method, stop):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(5, 6))
    X[0] *= 1e13  # a margin of this row is a difference of numbers near 1e13, which the penalty multiplies
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    C = 1e9
    result = fwsvm.train(X, y, method=method, C=C, stop=stop, max_iterations=100_000)
    margins = y * (X.astype(np.longdouble) @ result.model.weights[0].astype(np.longdouble))
    primal = 0.5 * np.sum(result.model.weights**2) + C * np.maximum(0.0, 1.0 - margins).sum()
    assert not result.certified or result.objective == pytest.approx(float(primal), rel=1e-3)
