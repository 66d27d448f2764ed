"""The factor that newton takes from LAPACK, against numpy's."""

import sys
import threading
import time

import numpy as np
import pytest

from fwsvm.solvers.newton import cholesky
from fwsvm.solvers.newton.cholesky import factor_in_place


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("n", "panel"), [(1, 1024), (2, 1024), (50, 1024), (50, 7), (50, 10), (50, 24)])
def test_the_upper_triangle_becomes_the_factor_and_the_lower_one_stays(n, panel, dtype, monkeypatch):
    monkeypatch.setattr(cholesky, "FACTOR_PANEL", panel)
    A = np.random.default_rng(n).normal(size=(n, n))
    matrix = np.asarray(A @ A.T + np.eye(n), dtype, order="F")
    made = matrix.copy(order="F")
    made[np.tril_indices(n, -1)] = 7.0
    assert factor_in_place(made)
    np.testing.assert_allclose(np.triu(made), np.linalg.cholesky(matrix.astype("f8")).T, rtol=1e-3, atol=1e-3)
    assert (made[np.tril_indices(n, -1)] == 7.0).all()


def test_a_matrix_that_is_not_positive_definite_has_no_factor():
    assert not factor_in_place(np.asfortranarray([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize("at", [0, 20, 49])
def test_so_has_one_whose_last_panels_are_not(at, monkeypatch):
    monkeypatch.setattr(cholesky, "FACTOR_PANEL", 8)
    matrix = np.eye(50, order="F")
    matrix[at, at] = -1.0
    assert not factor_in_place(matrix)


def test_a_matrix_that_cannot_be_replaced_in_place_is_refused():
    with pytest.raises(ValueError, match="Fortran"):
        factor_in_place(np.ones((2, 3, 4))[:, :2, 0])
    with pytest.raises(ValueError, match="Fortran"):
        factor_in_place(np.eye(2, dtype=int))


def test_other_threads_go_on_while_a_large_factor_is_made(monkeypatch):
    """They go on in the one call of LAPACK, for the interpreter takes no turns by itself and there is no other call."""
    monkeypatch.setattr(cholesky, "FACTOR_PANEL", 4096)
    assert factor_in_place(np.eye(2, order="F"))  # what a first call imports is imported here
    matrix = np.asfortranarray(np.eye(3000) + 1e-4)
    done, seen = threading.Event(), []

    def look() -> None:
        while not done.is_set():
            seen.append(time.perf_counter())
            time.sleep(0.001)

    turns, watcher = sys.getswitchinterval(), threading.Thread(target=look)
    sys.setswitchinterval(1000.0)
    try:
        watcher.start()
        began = time.perf_counter()
        assert factor_in_place(matrix)
        ended = time.perf_counter()
    finally:
        sys.setswitchinterval(turns)
        done.set()
        watcher.join()
    assert [at for at in seen if began < at < ended]  # not one, where the lock is held
