"""Runs of simplex methods on small problems, and the matrices they are about in plain numpy."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from fwsvm.kernels.column_cache import ColumnCache, column_cache
from fwsvm.kernels.rows import Rows, in_precision
from fwsvm.problems.binary import Binary
from fwsvm.solvers import METHODS, Settings, resolve
from fwsvm.solvers.frank_wolfe.run import SimplexRun
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.status import Status
from tests import naive

SIMPLEX = sorted(name for name, method in METHODS.items() if method.family == "simplex")
KERNELS = naive.PARAMETERS
#: One whose K~_ii are equal and one whose are not, for laws of every method: a loop sees no more of a kernel, and part
#: of it is compiled for each. Every method meets every kernel in `tests.solvers.test_certificates`.
TWO_KERNELS = ("rbf", "quadratic")


class Store:
    """Columns of a given precision and budget in bytes, as `SharedColumns` gives them."""

    held = 0

    def __init__(self, dtype: type = np.float64, budget_bytes: int = 1 << 20) -> None:
        self.dtype, self.budget_bytes = dtype, budget_bytes

    def cache(self, kernel: Any, rows: Rows, budget_bytes: int, threads: int) -> ColumnCache:  # noqa: ARG002
        return column_cache(kernel, in_precision(rows, self.dtype), self.budget_bytes, threads)


def clouds(seed: int, m: int = 40, n: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return two overlapping clouds of distinct rows, with gaps, and their labels, +1 first.

    Their numbers have single precision, so that columns of either precision are of the same rows.
    """
    rng = np.random.default_rng(seed)
    plus = int(rng.integers(1, m))
    y = np.where(np.arange(m) < plus, 1.0, -1.0)
    X = rng.normal(size=(m, n)) + 0.7 * y[:, None] * (np.arange(n) == 0)
    X[:, 1:] *= rng.random((m, n - 1)) < 0.8
    return X.astype(np.float32).astype(np.float64), y


def start(
    method: str, X: Any, y: np.ndarray, C: float | np.ndarray = 1.0, *, kernel: str = "rbf",
    store: Store | None = None, weights: np.ndarray | None = None, parameters: Any = (), **given: Any,
) -> SimplexRun:  # fmt: skip
    """Return a run at its beginning; ``given`` are settings, search "by-active" is "sampled" that never tracks."""
    if given.get("search") == "by-active":
        given |= {"search": "sampled", "gradient": "computed"}
    chosen = Settings(
        method=method,
        parameters=dict(parameters),
        kernel=kernel,
        threads=1,
        cache_mib=1,
        **KERNELS[kernel],
        **given,
    )
    resolved = resolve(chosen, X)
    penalties = np.broadcast_to(np.asarray(C, float), y.shape).copy()
    problem, before = (
        Binary(X, y, penalties, (resolved.seed, 0)),
        None if weights is None else WarmStart(weights),
    )
    run = SimplexRun(problem, resolved.rule, resolved, before, store)  # type: ignore[arg-type]
    run.problem = problem  # type: ignore[attr-defined]
    return run


def matrix(X: Any, y: np.ndarray, C: float | np.ndarray = 1.0, *, kernel: str = "rbf") -> np.ndarray:
    """Return K~ of the problem."""
    X = X.toarray() if sparse.issparse(X) else X
    return naive.extended(naive.gram(kernel, X, X, **KERNELS[kernel]), y, C)


def optimum(K: np.ndarray) -> float:
    """Return R* by NNLS."""
    best = naive.simplex_optimum(K)
    return float(best @ K @ best)


def pieces(run: SimplexRun, chunk: int = 1, limit: int = 100_000) -> Iterator[Status | None]:
    """Advance a run to its end or to a limit of steps, and yield after every chunk what became of it."""
    while run.counters.steps < limit:
        ended = run.check_stop() if run.advance(chunk) < chunk else None
        yield ended
        if ended is not None:
            return


def run_until_miss(run: SimplexRun, chunk: int = 1000, limit: int = 1_000_000) -> Status:
    """Advance a run to its end."""
    *_, last = pieces(run, chunk, limit)
    return Status.MAX_ITERATIONS if last is None else last


def solve(method: str, X: Any, y: np.ndarray, C: float | np.ndarray = 1.0, **given: Any) -> SimplexRun:
    """Return a run that has converged."""
    run = start(method, X, y, C, **given)
    status = run_until_miss(run)
    assert status is Status.CONVERGED, status
    return run
