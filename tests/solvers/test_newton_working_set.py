"""newton along C: an inner run on the rows that may matter first, whose point is then that of the whole run."""

from contextlib import contextmanager

import numpy as np
import pytest
from scipy import sparse

from fwsvm.solvers import Status, fit
from fwsvm.solvers.c_path import CPath
from fwsvm.solvers.newton import working_set
from tests.solvers.test_c_path import hold_to_the_truth, numbers_are_the_machines, settings

PENALTIES = (1.0, 2.0, 4.0, 32.0, 4096.0)
CLASSES = ("no", "yes")


def far_apart(m=600, seed=0):
    """Return two classes most of whose rows lie far beyond their margin."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(m) % 2)
    return 0.6 * rng.normal(size=(m, 2)) + 2.0 * np.eye(2)[codes], codes


@contextmanager
def inner_runs(monkeypatch):
    """Begin near on sets as small as these, and list the inner runs."""
    begun, made = [], working_set.WorkingSetRun.__init__
    with monkeypatch.context() as patched:
        patched.setattr(working_set, "WORKING_SET_FROM", 50)
        patched.setattr(working_set, "LARGEST_WORKING_SET", 1 / 2)
        patched.setattr(
            working_set.WorkingSetRun, "__init__", lambda run, *given: begun.append(run) or made(run, *given)
        )
        yield begun


def along(X, codes, **given):
    path = CPath(X, codes, CLASSES)
    runs = [path.train(settings("newton", C, **given)) for C in PENALTIES]
    return [result for _, result in path.certify(runs)]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_path_with_inner_runs_ends_where_single_runs_do(monkeypatch, form):
    X, codes = far_apart()
    with inner_runs(monkeypatch) as begun:
        found = along(form(X), codes)
    assert len(begun) == len(PENALTIES) - 1
    for C, result in zip(PENALTIES, found, strict=True):
        hold_to_the_truth(result, X, codes, C)
        alone = fit(X, codes, CLASSES, settings("newton", C))
        assert abs(result.objective - alone.objective) <= max(result.gap, alone.gap)


def test_inner_runs_ask_for_no_kernel_value_that_is_there(monkeypatch):
    X, codes = far_apart()
    whole = sum(result.kernel_evaluations for result in along(X, codes))
    with inner_runs(monkeypatch):
        assert sum(result.kernel_evaluations for result in along(X, codes)) <= whole


def test_rows_that_were_wrongly_set_aside_are_found(monkeypatch):
    X, codes = far_apart()

    def too_few(_f, alpha, _plus):
        return np.flatnonzero(alpha)

    with inner_runs(monkeypatch) as begun:
        monkeypatch.setattr(working_set, "select_rows", too_few)
        found = along(X, codes)
    assert begun
    for C, result in zip(PENALTIES, found, strict=True):
        hold_to_the_truth(result, X, codes, C)


def test_a_limit_within_an_inner_run_ends_with_the_point_and_the_gap_over_all_rows(monkeypatch):
    X, codes = far_apart()
    path = CPath(X, codes, CLASSES)
    with inner_runs(monkeypatch) as begun:
        runs = [
            path.train(settings("newton", C, max_iterations=most)) for C, most in ((1.0, None), (64.0, 5))
        ]
        _, (_, cut) = path.certify(runs)
    assert len(begun) == 1
    assert cut.status is Status.MAX_ITERATIONS
    assert cut.iterations == 5
    assert cut.relative_gap > 1e-3
    numbers_are_the_machines(cut, X, codes, 64.0)


def test_without_memory_to_spare_there_is_no_inner_run(monkeypatch):
    X, codes = far_apart()
    with inner_runs(monkeypatch) as begun:
        monkeypatch.setattr(working_set, "ROOM", 1e9)
        found = along(X, codes)
    assert not begun
    assert all(result.status is Status.CONVERGED for result in found)


def test_a_first_run_is_whole(monkeypatch):
    X, codes = far_apart()
    with inner_runs(monkeypatch) as begun:
        CPath(X, codes, CLASSES).train(settings("newton", 1.0))
    assert not begun


def test_the_memory_of_inner_runs_counts(monkeypatch):
    X, codes = far_apart()
    path, whole = CPath(X, codes, CLASSES), 4 * len(X) ** 2
    path.train(settings("newton", PENALTIES[0]))
    assert path.columns.nbytes == whole
    with inner_runs(monkeypatch):
        path.train(settings("newton", PENALTIES[1]))
    assert path.columns.nbytes == whole + 4 * len(path.warm_starts[0].working_set.which) ** 2
    path.columns.of(0).of_working_set.drop()
    assert path.columns.nbytes == whole
