"""Runs leave no cycle of references: their memory, of gigabytes, is free at once, not when Python collects garbage."""

import gc
from types import FunctionType

import numpy as np
import pytest

from fwsvm.solvers import FAMILIES, METHODS, Settings, fit
from fwsvm.solvers.c_path import CPath

CLASSES = ("a", "b", "c")


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = np.arange(60) % len(CLASSES)
    return rng.normal(size=(60, 3)) + codes[:, None], codes


def settings(method: str, C: float, tolerance: float) -> Settings:
    kernel = {} if FAMILIES[METHODS[method].family].kernels else {"kernel": "rbf", "gamma": 0.5}
    return Settings(
        method=method, C=C, tolerance=tolerance, max_iterations=200, threads=1, cache_mib=1, **kernel
    )


def run_alone(method: str) -> None:
    for tolerance in (1e-2, 1e-9):  # the second takes columns and factors in double precision, too
        fit(*rows(), CLASSES, settings(method, 1.0, tolerance))


def run_along_a_path(method: str) -> None:
    path = CPath(*rows(), CLASSES)
    runs = [path.train(settings(method, C, 1e-3)) for C in (1.0, 2.0, 4.0)]
    list(path.decisions(path.certify(runs), rows()[0]))


def run_and_interrupt(method: str) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    X, codes = rows()
    fit(X[codes < 2], codes[codes < 2], CLASSES[:2], settings(method, 1.0, 1e-9), watch=interrupt)


def left_to_the_collector() -> list[str]:
    """Return what of the package was unreachable, and yet not free."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        found = [
            f"{each.__module__}.{each.__qualname__}" if isinstance(each, FunctionType) else str(type(each))
            for each in gc.garbage
            if (each.__module__ if isinstance(each, FunctionType) else type(each).__module__).startswith(
                "fwsvm"
            )
        ]
        gc.garbage.clear()
        return found
    finally:
        gc.set_debug(0)


@pytest.mark.parametrize("run", [run_alone, run_along_a_path, run_and_interrupt])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_what_a_run_held_is_free_once_it_is_over(method, run):
    run(method)  # what is compiled leaves cycles of the compiler's
    gc.collect()
    gc.disable()
    try:
        run(method)
        assert not left_to_the_collector()
    finally:
        gc.enable()
