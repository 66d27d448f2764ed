"""Runs along C whose certificates are computed together: what each says is true, whatever became of its claim."""

from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from scipy import sparse

from fwsvm.errors import UsageError
from fwsvm.solvers import Settings, Status, fit
from fwsvm.solvers.c_path import CPath
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.frank_wolfe import run as simplex_run
from fwsvm.solvers.frank_wolfe.run import SimplexRun
from fwsvm.solvers.tuning import CERTIFIED_TOGETHER
from tests import naive

PENALTIES = (0.5, 1.0, 2.0, 4.0, 8.0)
METHODS = ("swap-2o", "newton", "mfw", "chunking", "decomposition", "avsf")


def clouds(classes=2, m=90, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(m) % classes)
    X = rng.normal(size=(m, 4)) + 1.2 * np.eye(classes, 4)[codes]
    return X, codes, tuple("abc"[:classes])


def settings(method, C, **given):
    kernel = {} if method == "avsf" else {"kernel": "rbf", "gamma": 0.5}
    return Settings(method, C=C, threads=1, **kernel, **given)


def results(path, method="swap-2o", **given):
    return [result for _, result in certified(path, method, **given)]


def certified(path, method="swap-2o", penalties=PENALTIES, **given):
    return path.certify([path.train(settings(method, C, **given)) for C in penalties])


@contextmanager
def rash(monkeypatch):
    """Let runs stop at a gap two hundred times too large and say that they have converged."""
    with monkeypatch.context() as patched:
        patched.setattr(simplex_run, "MARGIN", -200.0)
        patched.setattr(SimplexRun, "within", lambda _run: True)
        patched.setattr(SimplexRun, "_may_defer", lambda _run: True)
        yield


def hold_to_the_truth(result, X, codes, C):
    """Assert that objective and gap are those of the machine that came out, and the gap within the tolerance."""
    assert result.status is Status.CONVERGED
    assert result.certified
    assert result.gap_kind == "exact"
    assert result.relative_gap <= 1e-3
    numbers_are_the_machines(result, X, codes, C)


def numbers_are_the_machines(result, X, codes, C):
    """Assert that objective and gap over all rows are those of the machine that came out."""
    y, model = 1.0 - 2.0 * codes, result.model
    alpha = np.zeros(len(y))
    rows = [int(np.flatnonzero((x == X).all(axis=1))[0]) for x in model.support]
    alpha[rows] = abs(model.coefficients[:, 0])
    assert 1.0 / alpha.sum() == pytest.approx(result.objective, rel=1e-12), "the machine is (w, b) / R"
    alpha /= alpha.sum()
    K = naive.extended(naive.gram("rbf", X, X, 0.5), y, C)
    assert result.objective == pytest.approx(alpha @ K @ alpha, rel=1e-9)
    assert result.gap == pytest.approx(naive.gap(K, alpha), rel=1e-6)


@pytest.mark.parametrize("method", ["swap-2o", "newton", "mfw"])
def test_each_machine_has_its_certificate(method):
    X, codes, classes = clouds()
    for C, result in zip(PENALTIES, results(CPath(X, codes, classes), method), strict=True):
        hold_to_the_truth(result, X, codes, C)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_path_ends_where_single_runs_do(method, classes):
    X, codes, names = clouds(classes)
    for C, result in zip(PENALTIES, results(CPath(X, codes, names), method), strict=True):
        alone = fit(X, codes, names, settings(method, C))
        assert result.status is Status.CONVERGED
        assert result.certified
        assert abs(result.objective - alone.objective) <= max(result.gap, alone.gap)
        assert result.settings == alone.settings
        assert result.subproblems == alone.subproblems


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_decisions_together_are_those_of_each_machine(method, classes, form):
    X, codes, names = clouds(classes)
    path, rows = CPath(form(X), codes, names), form(clouds(classes, seed=1)[0])
    found = certified(path, method)
    for (_, result), decision in zip(found, path.decisions(found, rows), strict=True):
        np.testing.assert_allclose(decision, result.model.decision(rows), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("classes", [2, 3])
def test_memory_of_a_path_on_other_rows_changes_no_bit(method, classes):
    (X, codes, names), (others, theirs, _) = clouds(classes), clouds(classes, seed=1)
    columns = ColumnStore()
    results(CPath(others, theirs, names, columns=columns), method)
    second = results(CPath(X, codes, names, columns=columns), method)
    for alone, result in zip(results(CPath(X, codes, names), method), second, strict=True):
        assert result.kernel_evaluations == alone.kernel_evaluations
        assert (result.objective, result.gap) == (alone.objective, alone.gap)
        np.testing.assert_array_equal(result.model.decision(X), alone.model.decision(X))


def test_more_runs_than_sums_at_a_time():
    X, codes, names = clouds(m=30)
    path = CPath(X, codes, names)
    penalties = np.geomspace(0.1, 10.0, CERTIFIED_TOGETHER + 3)
    found = certified(path, penalties=penalties)
    for C, (_, result), decision in zip(penalties, found, path.decisions(found, X), strict=True):
        hold_to_the_truth(result, X, codes, C)
        np.testing.assert_allclose(decision, result.model.decision(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", ["swap-2o", "newton"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_refuted_claim_goes_on(method, classes, monkeypatch):
    """Runs that stop far too early and say that they have converged are found out, and end where they should."""
    X, codes, names = clouds(classes)
    path = CPath(X, codes, names)
    with rash(monkeypatch):
        runs = [path.train(settings(method, C)) for C in PENALTIES]
    steps = [sum(part.counters.steps for part in run.trained.solved.parts) for run in runs]
    found = [result for _, result in path.certify(runs)]
    assert any(result.steps > before for result, before in zip(found, steps, strict=True))
    for C, result in zip(PENALTIES, found, strict=True):
        assert result.certified
        assert result.relative_gap <= 1e-3
        if classes == 2:
            hold_to_the_truth(result, X, codes, C)
            iterations = [point.iteration for point in result.trace]
            assert iterations == sorted(iterations)
            assert iterations[-1] == result.iterations


def test_who_goes_on_can_be_interrupted(monkeypatch):
    X, codes, names = clouds(3)
    path = CPath(X, codes, names)

    def stop(_progress):
        raise KeyboardInterrupt

    with rash(monkeypatch):
        run = path.train(settings("swap-2o", 1.0), watch=stop)
    monkeypatch.setattr("fwsvm.solvers.subproblems.WATCH_EVERY", 0.0)
    monkeypatch.setattr("fwsvm.solvers.loop.FIRST_STEPS", 1)
    ((_, result),) = path.certify([run])
    assert result.status is Status.INTERRUPTED
    assert not result.certified


def test_after_an_interrupt_no_other_run_goes_on(monkeypatch):
    """Ctrl-C comes once: of two refuted runs the first is at work, and the other ends as interrupted, too."""
    X, codes, names = clouds(3)
    path = CPath(X, codes, names)
    presses = iter(())

    def stop(_progress):
        for _ in presses:
            raise KeyboardInterrupt

    runs = []
    for C, early in ((1.0, True), (2.0, False), (4.0, True)):
        with rash(monkeypatch) if early else nullcontext():
            runs.append(path.train(settings("swap-2o", C), watch=stop))
    presses = iter((1,))
    monkeypatch.setattr("fwsvm.solvers.subproblems.WATCH_EVERY", 0.0)
    monkeypatch.setattr("fwsvm.solvers.loop.FIRST_STEPS", 1)
    found = [result.status for _, result in path.certify(runs)]
    assert found == [Status.INTERRUPTED, Status.CONVERGED, Status.INTERRUPTED]


@pytest.mark.parametrize("method", METHODS)
def test_limits_end_a_run_as_they_do_alone(method):
    X, codes, names = clouds()
    path = CPath(X, codes, names)
    runs = [
        path.train(settings(method, 1.0, tolerance=1e-6, max_iterations=2)),
        path.train(settings(method, 2.0)),
    ]
    cut, whole = [result for _, result in path.certify(runs)]
    assert cut.status is Status.MAX_ITERATIONS
    assert cut.gap_kind == "exact"
    assert whole.certified


def test_without_a_final_gap_nothing_is_claimed():
    X, codes, names = clouds()
    for result in results(CPath(X, codes, names), final_gap=False):
        assert not result.certified
        assert result.gap_kind == "none"


def test_certificates_are_due_at_once_where_runs_are_cold_and_after_some_work_where_they_are_warm(
    monkeypatch,
):
    X, codes, names = clouds()
    warm, cold = CPath(X, codes, names), CPath(X, codes, names, warm=False)
    runs = [warm.train(settings("swap-2o", C)) for C in PENALTIES]
    assert not warm.due(runs)
    assert cold.due([cold.train(settings("swap-2o", 1.0))])
    monkeypatch.setattr("fwsvm.solvers.c_path.CERTIFY_AFTER", sum(run.work for run in runs))
    assert warm.due(runs)
    assert not warm.due(runs[:-1])


def test_a_path_may_weight_its_rows():
    X, codes, names = clouds(3)
    weights = np.where(codes == 0, 4.0, 0.5)
    for C, result in zip(PENALTIES, results(CPath(X, codes, names, weights=weights)), strict=True):
        alone = fit(X, codes, names, settings("swap-2o", C), weights=weights)
        assert result.certified
        assert abs(result.objective - alone.objective) <= max(result.gap, alone.gap)


def test_a_run_that_failed_leaves_no_half_used_start():
    X, codes, names = clouds()
    path = CPath(X, codes, names)
    path.train(settings("newton", 1.0))
    with pytest.raises(UsageError):
        path.train(settings("newton", 1e-307))
    assert path.is_cold
    path.begin_again()
    assert not path.is_cold


@pytest.mark.parametrize("classes", [2, 3])
def test_who_goes_on_has_the_iterations_that_are_left(classes, monkeypatch):
    X, codes, names = clouds(classes)

    def ends(most):
        path = CPath(X, codes, names)
        with rash(monkeypatch):
            run = path.train(settings("swap-2o", 4.0, max_iterations=most))
        first = max(part.counters.iterations for part in run.trained.solved.parts)
        ((run, result),) = path.certify([run])
        return first, result, max(part.counters.iterations for part in run.trained.solved.parts)

    early, whole, needed = ends(None)
    assert whole.certified
    assert early < needed
    for most in (early, (early + needed) // 2):
        _, cut, done = ends(most)
        assert done <= most
        assert cut.status is Status.MAX_ITERATIONS
