"""Runs of linear methods on small problems, and the numbers they should agree with."""

from typing import Any

import numpy as np
from scipy import sparse

from fwsvm.problems.binary import Binary
from fwsvm.solvers import Settings, resolve
from fwsvm.solvers.dual_coordinate.run import LinearRun
from fwsvm.solvers.warm_start import WarmStart
from fwsvm.status import Status

METHODS = ("liblinear", "avsf")


def text_like(
    seed: int, m: int = 60, n: int = 40, density: float = 0.15
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return sparse rows of unequal length, some empty and some twice, and noisy labels of both kinds."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(m, n)) * (rng.random((m, n)) < density * rng.uniform(0.2, 2.0, (m, 1)))
    y = np.where(X @ rng.normal(size=n) + 0.3 * rng.normal(size=m) > 0, 1.0, -1.0)
    X[m // 2] = X[m // 3]
    X[m // 4] = 0.0
    y[:2] = 1.0, -1.0
    return sparse.csr_array(X), y


def start(
    method: str,
    X: Any,
    y: np.ndarray,
    C: float | np.ndarray = 1.0,
    *,
    alpha: np.ndarray | None = None,
    **given: Any,
) -> LinearRun:
    """Return a run at its beginning; keywords are settings, or else parameters of the method."""
    known = {key: given.pop(key) for key in list(given) if key in Settings.__dataclass_fields__}
    resolved = resolve(Settings(method=method, parameters=given, **known), X)
    problem = Binary(X, y, np.broadcast_to(np.asarray(C, float), y.shape).copy(), (resolved.seed, 0))
    run = LinearRun(problem, resolved.rule, resolved, None if alpha is None else WarmStart(alpha))
    run.problem = problem  # type: ignore[attr-defined]
    return run


def run_until_miss(run: LinearRun, *, chunk: int = 1000, limit: int = 20_000_000) -> Status:
    """Advance a run to its end as the loop does."""
    while run.counters.iterations < limit:
        if run.advance(chunk) < chunk:
            ended = run.check_stop()
            if ended is not None:
                return ended
    return Status.MAX_ITERATIONS


def solve(method: str, X: Any, y: np.ndarray, C: float | np.ndarray = 1.0, **given: Any) -> LinearRun:
    """Return a run that has converged."""
    run = start(method, X, y, C, **given)
    status = run_until_miss(run)
    assert status is Status.CONVERGED, status
    return run
