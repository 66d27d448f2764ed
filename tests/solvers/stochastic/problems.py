"""Small problems, runs without the loop, and an independent solver of the dual."""

from typing import Any

import numpy as np

from fwsvm.kernels.widths import mean_squared_distance
from fwsvm.problems.binary import Binary
from fwsvm.solvers.resolve import resolve
from fwsvm.solvers.settings import Settings
from fwsvm.solvers.stochastic.run import begin
from tests.solvers.certified import outcome


def drawn(m: int, seed: int = 0, n: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels that no machine separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=m) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def started(method: str, X: np.ndarray, y: np.ndarray, *, seed: int = 0, **settings: Any) -> Any:
    """Return the process of a method on the whole problem, one thread."""
    settings = {"threads": 1, "cache_mib": 512, **settings}
    resolved = resolve(Settings(method=method, seed=seed, **settings), X)
    return begin(resolved.rule, Binary(X, y, np.full(len(y), resolved.C), (seed, 0)), resolved)


def finished(process: Any, most: int = 10_000) -> tuple[Any, Any]:
    """Run a process to its own end as the loop does; return its status (None: not reached) and outcome."""
    taken, status = 0, None
    while taken < most and status is None:
        done = process.advance(100)
        taken += done
        if done < 100:
            status = process.check_stop()
    return status, outcome(process)


def gram(X: np.ndarray, gamma: float | None = None, kernel: str = "rbf") -> np.ndarray:
    """Return the kernel matrix by the formula: rbf (by default 1/(2 D)) or laplacian."""
    if kernel == "laplacian":
        return np.exp(-gamma * np.abs(X[:, None] - X[None]).sum(axis=2))
    gamma = 0.5 / mean_squared_distance(X) if gamma is None else gamma
    squares = (X**2).sum(axis=1)
    return np.exp(-gamma * np.maximum(0.0, squares[:, None] + squares - 2.0 * X @ X.T))


def objective(Q: np.ndarray, y: np.ndarray, lam: float, alpha: np.ndarray) -> float:
    """Return f(alpha) by the formula."""
    Q_alpha = Q @ alpha
    return 0.5 * lam * alpha @ Q_alpha + np.maximum(0.0, 1.0 - y * Q_alpha).mean()


def optimum(Q: np.ndarray, y: np.ndarray, lam: float, tolerance: float = 1e-3, sweeps: int = 3000) -> float:
    """Return a lower bound on min f within ``tolerance`` of it, by coordinate ascent on the box dual.

    It shares no line with the solvers: exact maximisation over one b_i at a time, until its own gap is closed.
    """
    m, C = len(y), 1.0 / (lam * len(y))
    b, margin, rng = np.zeros(m), np.zeros(m), np.random.default_rng(0)
    signed = Q * y[:, None] * y
    for _ in range(sweeps):
        for i in rng.permutation(m):
            new = min(max(b[i] + (1.0 - margin[i]) / signed[i, i], 0.0), C)
            if new != b[i]:
                margin += (new - b[i]) * signed[i]
                b[i] = new
        square = b @ margin
        dual = lam * (b.sum() - 0.5 * square)
        primal = 0.5 * lam * square + np.maximum(0.0, 1.0 - margin).mean()
        if primal - dual <= tolerance * primal:
            return float(dual)
    raise AssertionError(f"the independent solver did not finish in {sweeps} sweeps")
