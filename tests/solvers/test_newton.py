"""newton: exact on the face whatever C is; its linear systems and its line search against plain numpy."""

import contextlib
import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import LinAlgError
from scipy.optimize import minimize_scalar

from fwsvm import phases
from fwsvm.errors import UsageError
from fwsvm.kernels.column_cache import column_cache
from fwsvm.kernels.kernel import family
from fwsvm.kernels.rows import as_rows, in_precision
from fwsvm.problems.binary import Binary
from fwsvm.solvers import Settings, Status, fit, resolve
from fwsvm.solvers.c_path import CPath
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.newton.active_set_system import ActiveSetSystem
from fwsvm.solvers.newton.cholesky_factor import CholeskyFactor
from fwsvm.solvers.newton.gram_rows import GramRows
from fwsvm.solvers.newton.line_search import least_along
from fwsvm.solvers.newton.run import NewtonRun
from tests import naive

CLASSES = ("1", "-1")


def clouds(seed, m=120):
    rng = np.random.default_rng(seed)
    codes = (rng.random(m) < 0.4).astype(np.int64)
    return rng.normal(size=(m, 4)) + 0.8 * (1 - 2 * codes[:, None]), codes


def train(X, codes, C, **given):
    return fit(X, codes, CLASSES, Settings("newton", C=C, kernel="rbf", gamma=0.3, threads=1, **given))


def step(path, C, **given):
    """Return the result of the next run along a path."""
    chosen = {"kernel": "rbf", "gamma": 0.3, "threads": 1, "tolerance": 1e-6, **given}
    ((_, result),) = path.certify([path.train(Settings("newton", C=C, **chosen))])
    return result


@given(st.integers(0, 2**32), st.sampled_from([1e-2, 1.0, 1e3, 1e6]))
@settings(deadline=None, max_examples=12)
def test_the_optimum_is_reached_to_rounding_whatever_the_penalty(seed, C):
    X, codes = clouds(seed)
    result = train(X, codes, C, tolerance=1e-7)
    assert result.status is Status.CONVERGED
    assert result.certified
    assert result.relative_gap <= 1e-7
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
    assert steps[1] / steps[0] < pairs[1] / pairs[0]  # with a thousand times the penalty
    assert steps[1] < pairs[1] / 2


def test_several_classes_weights_and_a_warm_start():
    X, codes = clouds(5)
    codes = codes + (X[:, 0] > 1.0)
    weights = np.where(codes == 0, 2.0, 0.5)
    chosen = Settings("newton", C=50.0, kernel="rbf", gamma=0.3, threads=1, tolerance=1e-9)
    cold = fit(X, codes, ("a", "b", "c"), chosen, weights=weights)
    assert cold.certified
    path = CPath(X, codes, ("a", "b", "c"), weights=weights)
    for C in (25.0, 50.0):
        warm = step(path, C, tolerance=1e-9)
    assert warm.certified
    assert warm.steps < cold.steps
    assert warm.objective == pytest.approx(cold.objective, rel=1e-8)


def columns_over(X, gamma, budget=10**9, dtype=np.float32):
    return column_cache(family("rbf").make(gamma), in_precision(as_rows(X), dtype), budget)


def hard_cases():
    X, codes = clouds(7, m=200)
    twice = np.repeat(X, 2, axis=0)
    yield "opposite labels on the same row", twice, np.arange(400) % 2, 0.3, None
    yield "rows alike but for the ridge", X, codes, 1e-5, None
    yield "rows far from each other", X, codes, 1e3, None
    yield "penalties apart", X, codes, 0.3, 10.0 ** np.random.default_rng(1).uniform(-4, 3, 200)
    yield "two rows", X[:2], np.array([0, 1]), 0.3, None
    yield "two rows alike", np.ones((2, 3)), np.array([0, 1]), 0.3, None


@pytest.mark.parametrize(("C", "tolerance"), [(1.0, 1e-3), (1e3, 1e-6), (1e6, 1e-3)])
@pytest.mark.parametrize("case", list(hard_cases()), ids=lambda case: case[0])
def test_hard_problems_end_certified_at_the_optimum(case, C, tolerance):
    _, X, codes, gamma, weights = case
    found = fit(
        X, codes, CLASSES, Settings("newton", C=C, kernel="rbf", gamma=gamma, threads=1, tolerance=tolerance),
        weights=weights,
    )  # fmt: skip
    assert found.certified, found.message
    penalties = C * (np.ones(len(X)) if weights is None else weights)
    K = naive.extended(naive.gram("rbf", X, X, gamma), 1.0 - 2.0 * codes, penalties)
    best = naive.simplex_optimum(K)
    assert found.objective == pytest.approx(best @ K @ best, rel=2 * tolerance)


def test_a_run_may_begin_where_one_with_another_penalty_ended():
    X, codes = clouds(3, m=400)
    path, steps = CPath(X, codes, CLASSES), []
    for C in (1e2, 1e4, 2e4, 1e-1, 1e4):
        cold, warm = train(X, codes, C, tolerance=1e-6), step(path, C)
        assert warm.certified
        assert warm.objective == pytest.approx(cold.objective, rel=2e-6)
        steps.append((cold.steps, warm.steps))
    assert steps[2][1] < 30 < steps[2][0], "Newton's steps alone from a neighbour's end"


@given(st.integers(0, 2**32), st.integers(1, 40))
@settings(deadline=None, max_examples=20)
def test_a_square_multiplies_and_solves_as_its_matrix_does(seed, n):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    lines, ridge = GramRows(columns_over(X, 0.3, dtype=np.float64), y, 1), rng.uniform(0.1, 1.0, 60)
    rows, x = np.sort(rng.choice(60, n, replace=False)), rng.normal(size=n)
    lines.provide(rows)
    square = CholeskyFactor(lines, rows, ridge, np.dtype(np.float64), np.full(2000, np.nan))
    Q = naive.extended(naive.gram("rbf", X, X, 0.3), y, np.full(60, np.inf))[np.ix_(rows, rows)]
    np.testing.assert_allclose(square.product(x), Q @ x, atol=1e-12)
    solved = square.other_half(square.half(x.copy()))
    np.testing.assert_allclose(Q @ solved + ridge[rows] * solved, x, atol=1e-10)


def test_a_run_that_goes_on_begins_at_the_gradient_of_the_one_before(monkeypatch):
    X, codes = clouds(3, m=300)
    path, ridge = CPath(X, codes, CLASSES), np.full(300, 0.5)
    step(path, 1.0, tolerance=1e-12)  # too tight to be left to kernel values in single precision
    start = path.warm_starts[0]
    K = naive.extended(naive.gram("rbf", X, X, 0.3), 1.0 - 2.0 * codes, 1.0 / ridge)
    np.testing.assert_allclose(start.gradient_at(ridge), K @ start.weights, rtol=1e-12)
    monkeypatch.setattr(
        "fwsvm.solvers.frank_wolfe.gradient.storage.gradient_by_columns",
        lambda *_: pytest.fail("it was known"),
    )
    assert step(path, 2.0).certified


def test_what_a_run_on_another_kernel_left_is_not_taken_for_this_ones():
    X, codes = clouds(3, m=200)
    path = CPath(X, codes, CLASSES)
    for gamma in (0.3, 2.0):
        warm = step(path, 1e3, gamma=gamma)
    cold = fit(
        X, codes, CLASSES, Settings("newton", C=1e3, kernel="rbf", gamma=2.0, threads=1, tolerance=1e-6)
    )
    assert warm.certified
    assert warm.objective == pytest.approx(cold.objective, rel=2e-6)


def test_a_store_that_holds_a_third_of_the_columns_is_enough():
    X, codes = clouds(3, m=900)
    found = train(X, codes, 1e4, cache_mib=1, tolerance=1e-6)
    whole = train(X, codes, 1e4, tolerance=1e-6)
    assert found.certified
    assert found.objective == pytest.approx(whole.objective, rel=2e-6)


def test_the_same_run_gives_the_same_bits():
    X, codes = clouds(3, m=400)
    one, other = (train(X, codes, 1e4, tolerance=1e-6) for _ in range(2))
    assert one.objective == other.objective
    assert one.relative_gap == other.relative_gap


@given(st.integers(0, 2**32), st.sampled_from([48, 60]), st.sampled_from([1e-1, 1e-6]))
@settings(deadline=None, max_examples=20)
def test_a_face_that_changes_little_is_solved_as_one_from_scratch(seed, slots, ridge):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    lines = GramRows(columns_over(X, 0.3, budget=slots * 60 * 8, dtype=np.float64), y, 1)
    Q = naive.extended(naive.gram("rbf", X, X, 0.3), y, np.full(60, np.inf))
    face, rows = ActiveSetSystem(lines, np.full(60, ridge)), np.sort(rng.choice(60, 20, replace=False))
    x, f = np.zeros(60), np.zeros(60)
    for _ in range(6):
        x, f = face.solve(rows, x, f, 1e-9)
        K = Q[np.ix_(rows, rows)] + ridge * np.eye(len(rows))
        np.testing.assert_allclose(K @ x[rows], 1.0, atol=1e-8)
        assert not np.delete(x, rows).any()
        np.testing.assert_allclose(f, Q @ x, atol=1e-8)
        rows = np.setxor1d(rows, rng.choice(60, rng.integers(0, 8), replace=False))[:30]


@pytest.mark.parametrize("changed", [[3], [1, 2, 70, 71]])
def test_a_factor_in_single_precision_is_made_up_for(changed):
    X, codes = clouds(1)
    lines = GramRows(columns_over(X, 0.3), np.where(codes == 0, 1.0, -1.0), 1)
    face, zero, rows = ActiveSetSystem(lines, np.full(120, 1e-3)), np.zeros(120), np.arange(60)
    face.solve(rows, zero, zero, 1e-3)
    rows = np.setxor1d(rows, changed)
    x, f = face.solve(rows, zero, zero, 1e-9)
    assert face.dtype == np.float32, "no need of double precision here"
    residual = 1.0 - f[rows] - 1e-3 * x[rows]
    assert np.abs(residual).max() <= 1e-9
    np.testing.assert_allclose(f, lines.product(x), atol=1e-8)


def test_where_single_precision_fails_the_factor_becomes_double():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(30, 3)), 2, axis=0)  # each row twice: the ridge alone tells them apart
    y = np.tile([1.0, 1.0], 30)
    face = ActiveSetSystem(GramRows(columns_over(X, 0.01), y, 1), np.full(60, 1e-9))
    rows, zero = np.arange(60), np.zeros(60)
    with contextlib.suppress(LinAlgError):  # rounded values may be no kernel's at all
        face.solve(rows, zero, zero, 1e-6)
    assert face.dtype == np.float64
    exact = ActiveSetSystem(GramRows(columns_over(X, 0.01, dtype=np.float64), y, 1), np.full(60, 1e-9))
    x, f = exact.solve(rows, zero, zero, 1e-6)
    np.testing.assert_allclose(f + 1e-9 * x, 1.0, atol=1e-5)


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
        train(many, np.arange(1200) % 2, 1e3, cache_mib=1)


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


def test_what_a_run_leaves_to_the_next_holds_no_kernel_columns():
    """They are counted where they are kept, and of a pair that has no room there they are gone with its run."""
    X, y = clouds(3, m=300)
    problem = Binary(X, np.where(y == 0, 1.0, -1.0), np.full(300, 1e4), (0, 0))
    resolved, store = resolve(Settings("newton", C=1e4, cache_mib=64), X), ColumnStore()
    run = NewtonRun(problem, resolved.rule, resolved, columns=store.of(0))
    while run.advance(50) or run.check_stop() is None:
        pass
    columns = weakref.ref(run.simplex.qp.columns.cached)
    start = run.iterate().warm_start
    assert start.newton
    del run
    store.caches.take(0)  # as where there is no room to keep it
    gc.collect()
    assert columns() is None


LATE = """
import gc
import numpy as np
from numba.core.dispatcher import Dispatcher
from fwsvm.solvers import Settings, fit
from fwsvm.solvers.newton import run

def compiled():
    known = (each for each in gc.get_objects() if isinstance(each, Dispatcher))
    ours = (each for each in known if each.py_func.__module__.startswith("fwsvm.solvers.newton"))
    return sum(len(each.signatures) for each in ours)

counted = {}

def off_the_clock(name):
    compile = getattr(run, name)
    def counting(columns):
        before = compiled()
        seconds = compile(columns)
        counted[name] = counted.get(name, 0) + compiled() - before
        return seconds
    setattr(run, name, counting)

off_the_clock("compile_systems")
off_the_clock("compile_double_factor")
rng = np.random.default_rng(0)
X, codes = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
settings = {"method": "newton", "kernel": "rbf", "gamma": 0.3, "C": 1e4, "threads": 1}
one = fit(X, codes, ("1", "-1"), Settings(**settings, max_iterations=1))
assert one.iterations == 1
print(compiled())
all = fit(X, codes, ("1", "-1"), Settings(**settings, tolerance=1e-9))
assert all.certified and all.steps < 10_000, "Newton's steps were not taken"
print(compiled() - sum(counted.values()), counted["compile_systems"] > 0, "compile_double_factor" in counted)
twice = np.repeat(X[:60], 2, axis=0), np.repeat(codes[:60], 2)  # C alone tells the rows apart
fit(*twice, ("1", "-1"), Settings(**settings | {"gamma": 1e-2, "C": 1e9}, max_iterations=300))
print(compiled() - sum(counted.values()), counted["compile_double_factor"] > 0)
"""


def test_what_newton_steps_need_is_compiled_when_a_run_comes_to_them_and_off_its_clock():
    """The seconds of `compile_systems` are in no time reported: all that is compiled is compiled there.

    What factors in double precision need is compiled where single precision has failed.
    """
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0", "0 True False", "0 True"]


def test_each_part_of_a_linear_system_is_announced_as_it_goes_on(monkeypatch):
    monkeypatch.setattr("fwsvm.solvers.newton.gram_rows.GATHERED", 16)
    monkeypatch.setattr("fwsvm.solvers.newton.bordered_factor.TOGETHER", 2)
    X, codes = clouds(5)
    lines = GramRows(columns_over(X, 0.3), np.where(codes == 0, 1.0, -1.0), 1)
    face, zero, heard = ActiveSetSystem(lines, np.full(120, 1e-3)), np.zeros(120), []
    with phases.listening_inside(lambda what, part: heard.append((what, part))):
        x, f = face.solve(np.arange(60), zero, zero, 1e-9)
        first, heard = heard, []
        face.solve(np.arange(3, 63), x, f, 1e-9)
    assert [part for what, part in first if what == "matrix"] == [0.0, 16 / 60, 32 / 60, 48 / 60]
    steps = [what for what, part in first if part is None]
    assert steps == [f"CG step {i}" for i in range(1, 1 + len(steps))] != []
    names = [what for what, _ in first]
    assert [name for name in dict.fromkeys(names) if name not in steps] == [
        "kernel values",
        "matrix",
        "factoring",
    ]
    assert [part for what, part in heard if what == "border"] == [0.0, 2 / 6, 4 / 6]
