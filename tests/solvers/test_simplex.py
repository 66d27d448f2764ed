"""The methods on the simplex: each step is the paper's, each run stops by its rule, whatever the protocol."""

import functools
import os
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fwsvm import data
from fwsvm.data import labels
from fwsvm.errors import UsageError
from fwsvm.solvers import METHODS, Settings, Status, resolve
from tests import naive
from tests.solvers.problems import CLASSES, clouds, hold_to_the_simplex, simplex_weights, train

SIMPLEX = sorted(name for name, method in METHODS.items() if method.family == "simplex")
each_method = pytest.mark.parametrize("method", SIMPLEX)
RBF = {"kernel": "rbf", "gamma": 0.5}
QUADRATIC = {"kernel": "quadratic", "gamma": 0.5}
#: With the quadratic kernel each method is compiled again, so that only CI does it.
two_kernels = pytest.mark.parametrize(
    "kernel", [RBF, pytest.param(QUADRATIC, marks=pytest.mark.slow)], ids=["rbf", "quadratic"]
)

# ------------------------------------------------------------------ steps

CLIPPED = {"compare": "clipped"}
RULES = {
    **{name: (name, {}, step) for name, step in naive.STEPS.items()},
    "swap clipped": ("swap", CLIPPED, partial(naive.swap, clipped=True)),
    "swap-2o clipped": ("swap-2o", CLIPPED, partial(naive.swap_2o, clipped=True)),
}


def is_step(step, K, before, after):
    """Return whether ``after`` is one step from ``before``: with q as it is, or as rounding may break its ties."""
    rng = np.random.default_rng(0)
    q = K @ before
    noise = 3e-7 * abs(K).max() * rng.uniform(-1.0, 1.0, size=(20, len(q)))
    noise[0] = 0.0
    return any(np.allclose(step(K, before, q + each), after, rtol=1e-4, atol=2e-5) for each in noise)


@two_kernels
@pytest.mark.parametrize("rule", RULES)
def test_each_step_is_the_papers(rule, kernel):
    method, parameters, step = RULES[rule]
    taken = 0
    for seed, C, m in ((0, 0.05, 40), (1, 1.0, 300), (7, 500.0, 40)):  # of 300 rows few are active
        X, y = clouds(seed, m)
        K = naive.extended(naive.gram(X=X, Z=X, **kernel), y, C)
        points = []
        for steps in range(1, 16):
            given = {"C": C, "tolerance": 1e-6, "max_iterations": steps, "parameters": parameters}
            result = train(method, X, y, **given, **kernel)
            assert result.iterations <= steps
            if result.status is not Status.MAX_ITERATIONS:
                break
            points.append(simplex_weights(result, X))
            assert result.gap == pytest.approx(naive.gap(K, points[-1]), rel=1e-6)
        for before, after in pairwise(points):
            assert is_step(step, K, before, after)
            assert after @ K @ after < before @ K @ before
        taken += len(points)
    assert taken > 20


@each_method
@pytest.mark.parametrize("search", ["full", "sampled"])
@two_kernels
def test_the_gap_bounds_the_distance_to_the_optimum_all_along(method, search, kernel):
    for seed, C in enumerate((0.05, 20.0)):
        X, y = clouds(seed, m=60)
        above = [
            hold_to_the_simplex(
                train(method, X, y, C=C, max_iterations=most, tolerance=1e-6, search=search, **kernel),
                X, y, C, **kernel,
            )
            for most in (1, 10, 100)
        ]  # fmt: skip
        assert above == sorted(above, reverse=True)


@pytest.mark.parametrize("method", ["mfw", "swap", "swap-2o", "cvm"])
def test_a_tolerance_below_single_precision_is_reached_by_double(method):
    X, y = clouds(7, m=60)
    found = train(method, X, y, C=100.0, tolerance=1e-8, **RBF)
    assert found.certified
    hold_to_the_simplex(found, X, y, 100.0, **RBF)


@pytest.mark.parametrize("search", ["full", "sampled"])
def test_a_tolerance_below_double_precision_ends_the_run(search):
    X, y = clouds(8)
    found = train("swap-2o", X, y, tolerance=1e-17, search=search, **RBF)
    assert found.status in {Status.STALLED, Status.CONVERGED}
    assert hold_to_the_simplex(found, X, y, 1.0, **RBF) <= 1e-12 * found.objective


@each_method
def test_a_small_cache_and_threads_change_no_bit(method):
    X, y = clouds(5, m=700)
    found = [
        train(method, X, y, C=10.0, max_iterations=3000, cache_mib=mib, threads=threads, **RBF)
        for mib, threads in ((64, 1), (1, 1), (64, 2))
    ]
    assert len({(each.objective, each.gap, each.steps) for each in found}) == 1
    assert 0.0 <= found[1].cache_hit_rate <= found[0].cache_hit_rate < 1.0


@pytest.mark.parametrize("method", ["swap-2o", "swap", "mfw", "cvm"])
def test_rows_far_from_the_origin_have_the_optimum_of_rows_near_it(method):
    X, y = clouds(3)
    given = {"C": 1e4, "kernel": "rbf", "gamma": 1.0, "max_iterations": 200_000}
    here, far = (train(method, X + away, y, **given) for away in (0.0, 3e4))
    assert far.certified
    assert abs(far.objective - here.objective) <= 1.1 * max(here.gap, far.gap)


# ------------------------------------------------------------------ rules and protocols


@each_method
@pytest.mark.parametrize("kernel", [RBF, {"kernel": "linear"}], ids=["rbf", "linear"])
@pytest.mark.parametrize(("stop", "tolerance"), [("relative", 1e-4), ("gap", 1e-5), ("meb", 1e-5)])
def test_each_rule_is_kept_by_the_true_gap(method, stop, tolerance, kernel):
    X, y = clouds(3)
    tolerance *= 100 if method == "fw" else 1
    found = train(method, X, y, stop=stop, tolerance=tolerance, **kernel)
    K = naive.extended(naive.gram(X=X, Z=X, **kernel), y, 1.0)
    alpha = simplex_weights(found, X)
    q = K @ alpha
    R = alpha @ K @ alpha
    widest = np.diag(K).max()
    goal = {
        "relative": tolerance * R,
        "gap": tolerance,
        "meb": (2 * tolerance + tolerance**2) * (widest - R),
    }
    assert found.certified
    assert found.gap <= goal[stop] * (1 + 1e-9)
    if (
        stop == "meb" and kernel == RBF
    ):  # no row is farther from the centre than (1 + eps) radii (003 section 4.3)
        assert (widest - 2.0 * q + R).max() <= (1.0 + tolerance) ** 2 * (widest - R) + 1e-12


def test_the_protocols_are_what_the_papers_say():
    X, _ = clouds(0)
    found = {
        name: resolve(Settings(protocol=name), X).as_columns()
        for name in ("default", "paper", "libcvm", "fw-svms")
    }
    says = {
        name: tuple(found[name][key] for key in ("search", "stop", "tolerance", "width_rule"))
        for name in found
    }
    assert says == {
        "default": ("full", "relative", 1e-3, "paper"),
        "paper": ("sampled", "meb", 1e-6, "paper"),
        "libcvm": ("sampled", "meb", 1e-6, "libcvm"),
        "fw-svms": ("sampled", "meb", 1e-6, "libcvm"),
    }


@each_method
@pytest.mark.parametrize("protocol", ["paper", "libcvm", "fw-svms"])
def test_a_sampled_stop_is_no_certificate(method, protocol):
    """It converged only where the true gap, computed afterwards, is within the tolerance."""
    X, y = clouds(4, m=300)
    for tolerance in (1e-1, 1e-3):
        found = train(method, X, y, protocol=protocol, tolerance=tolerance, **RBF)
        goal = (2 * tolerance + tolerance**2) * (2.0 + 1.0 - found.objective)  # K~_ii = 2 + 1 / C
        assert found.gap_kind == "exact"
        assert np.isnan(found.cache_hit_rate), "no column is asked for"
        assert found.certified == (found.gap <= goal)
        assert found.status is (Status.CONVERGED if found.certified else Status.SAMPLED_STOP)
        hold_to_the_simplex(found, X, y, 1.0, **RBF)
        blind = train(method, X, y, protocol=protocol, tolerance=tolerance, final_gap=False, **RBF)
        assert (blind.status, blind.gap_kind, blind.certified) == (Status.SAMPLED_STOP, "sampled", False)
        assert blind.iterations == found.iterations, "what is computed afterwards takes no step"


@each_method
def test_the_schedule_reaches_the_tolerance_whatever_its_first_level(method):
    X, y = clouds(3)
    tolerance = 1e-2 if method == "fw" else 1e-4
    for level in (0.3, 2 * tolerance):
        found = train(method, X, y, first_level=level, tolerance=tolerance, **RBF)
        assert found.certified
        hold_to_the_simplex(found, X, y, 1.0, **RBF)
    cut = train(method, X, y, protocol="libcvm", stop="relative", tolerance=1e-6, max_iterations=2, **RBF)
    assert cut.certified == (cut.relative_gap <= 1e-6)


def test_the_seed_chooses_start_and_samples():
    X, y = clouds(1, m=200)
    found = [
        train("swap", X, y, seed=seed, max_iterations=3, protocol="paper", **RBF).objective
        for seed in (1, 1, 2)
    ]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    ("method", "candidates"),
    [("cvm", "uniform"), ("cvm", "balanced"), ("cvm", "outside"), ("swap-2o", "uniform")],
)
def test_candidates_of_each_kind_lead_to_the_optimum(method, candidates):
    X, y = clouds(2, m=300)
    iterations = []
    for gradient in ("kept", "computed"):
        given = {"search": "sampled", "candidates": candidates, "gradient": gradient}
        found = train(method, X, y, tolerance=1e-4, **given, **RBF)
        assert found.certified
        hold_to_the_simplex(found, X, y, 1.0, **RBF)
        iterations.append(found.iterations)
        early = train(method, X, y, C=1e4, max_iterations=50, **given, **RBF)
        hold_to_the_simplex(
            early, X, y, 1e4, **RBF
        )  # the vertex drawn is not the best: no swap may go back from it
    assert iterations[0] == pytest.approx(iterations[1], rel=0.05), "the steps are the same but for rounding"


@pytest.mark.parametrize(
    ("method", "wrong", "words"),
    [
        ("cvm", {"parameters": {"inner": -1.0}}, "cvm needs a positive number for inner"),
        ("swap", {"retries": 0}, "retries"),
        ("swap", {"first_level": 0.0}, "first_level"),
        ("swap", {"candidates": "all"}, "candidates"),
        ("swap", {"gradient": "recomputed"}, "gradient"),
        ("swap", {"protocol": "003"}, "protocol"),
    ],
)
def test_settings_that_make_no_sense_are_refused(method, wrong, words):
    with pytest.raises(UsageError, match=words):
        train(method, *clouds(2), **wrong)


# ------------------------------------------------------------------ known optima

# LIBLINEAR's optimum P* by f* = 1/(2 P*), and NNLS on the Cholesky factor
HEART_SCALE = [
    ("linear", None, 100.0, 8.75192224815e-05),
    ("rbf", 1 / 13, 1.0, 0.00862867517432),
    ("rbf", 0.0842392664, 100.0, 0.000345821806322),
]


@pytest.mark.mirror
@each_method
@pytest.mark.parametrize(("kernel", "gamma", "C", "optimum"), HEART_SCALE)
def test_heart_scale_has_its_known_optima(method, kernel, gamma, C, optimum):
    path = Path(os.environ.get("FWSVM_MIRROR", "nowhere"), "heart_scale")
    if not path.is_file():
        pytest.skip("FWSVM_MIRROR has no heart_scale")
    rows = data.load(path).train
    y = 1.0 - 2.0 * labels.encode(rows.labels, CLASSES)
    limit = 20_000 if method == "fw" else None
    found = train(method, rows.X, y, kernel=kernel, gamma=gamma, C=C, tolerance=1e-6, max_iterations=limit)
    digits = 2e-9  # gamma is known to ten of them
    assert found.certified or method == "fw"
    assert -digits * optimum <= found.objective - optimum <= found.gap + digits * optimum
    assert found.dual <= 1.0 / (2.0 * optimum) * (1 + digits) <= found.primal * (1 + 3 * digits)


@functools.cache
def wdbc():
    loaded = data.load("wdbc", offline=True)
    X = loaded.train.X
    codes = labels.encode(loaded.train.labels, loaded.classes)
    return X.toarray() if hasattr(X, "toarray") else X, 1.0 - 2.0 * codes


def test_a_linear_kernel_is_liblinears_squared_hinge():
    """With C/2 and a constant feature it is the same machine, weight by weight (spec 1.3)."""
    svm = pytest.importorskip("sklearn.svm")
    (X, y) = wdbc()
    C = 4.0
    found = train("swap-2o", X, y, kernel="linear", C=C, tolerance=1e-10)
    ones = np.column_stack([X, np.ones(len(X))])
    other = svm.LinearSVC(
        loss="squared_hinge", C=C / 2, fit_intercept=False, dual=False, tol=1e-12, max_iter=10**5
    )
    expected = other.fit(ones, y).coef_[0]
    weights = np.append(found.model.support.T @ found.model.coefficients[:, 0], found.model.biases[0])
    np.testing.assert_allclose(weights, expected, atol=1e-4 * abs(expected).max())
    primal = 0.5 * expected @ expected + C / 2 * (np.maximum(0, 1 - y * (ones @ expected)) ** 2).sum()
    assert found.primal == pytest.approx(primal, rel=1e-8)
    assert found.objective == pytest.approx(1 / (2 * primal), rel=1e-8)
