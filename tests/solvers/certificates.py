"""Hostile two-class problems for any method, and what its saved machine is worth by plain numpy.

No code is shared with the package but for writing and reading the machine: kernel matrices, objectives and gaps are
those of `tests.naive` and of the definitions.
"""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import fwsvm
from fwsvm.solvers import FAMILIES, METHODS, Result
from tests import naive

KERNELS = ("rbf", "laplacian", "linear", "quadratic", "poly")
SIMPLEX = FAMILIES["simplex"].problem
EPS = float(np.finfo(np.float64).eps)


class Case(NamedTuple):
    """Rows, labels, their weights or None, and the settings of a run."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    settings: dict[str, Any]
    is_sparse: bool


class Worth(NamedTuple):
    """What a machine is worth: objective, primal, and how far rounding may take them and a gap.

    ``gap`` is exact where the machine tells its dual point (the simplex), else None; ``least`` is then a value that
    the optimum does not exceed.
    """

    objective: float
    primal: float
    gap: float | None
    rounding: float
    least: float


def drawn(method: str, seed: int) -> Case:
    """Return a problem that overflows, underflows, coincides or contradicts itself, with settings at random."""
    rng = np.random.default_rng([seed, *method.encode()])
    family = FAMILIES[METHODS[method].family]
    m = int(rng.integers(4, 15))
    n = int(rng.integers(1, 4))
    y = np.where(rng.random(m) < rng.choice([0.2, 0.5]), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = np.round(rng.normal(size=(m, n)) + rng.choice([0.0, 1.0, 3.0]) * y[:, None], int(rng.integers(0, 5)))
    for spoil in rng.permutation(6)[: rng.integers(0, 4)]:
        if spoil == 0:
            X[rng.integers(m, size=m // 2)] = X[rng.integers(m, size=m // 2)]  # rows twice, in both classes
        elif spoil == 1:
            X[rng.integers(m, size=m // 3)] = 0.0
        elif spoil == 2:
            X *= 10.0 ** rng.integers(-14, 14)
        elif spoil == 3:
            X[:, 0] *= 10.0 ** rng.integers(-9, 9)
        elif spoil == 4:
            X[0] *= 10.0 ** rng.integers(-9, 9)  # one row far out, or all but nothing
        else:
            X[:] = X[0]
    C = float(10.0 ** rng.choice([-12, -4, -1, 0, 0, 1, 3, 6, 12]))
    stop = str(rng.choice(METHODS[method].stops))
    given: dict[str, Any] = {
        "method": method, "C": C, "stop": stop, "tolerance": float(10.0 ** rng.integers(-5, 0)),
        "max_iterations": int(rng.choice([50, 500, 5000])), "time_limit": 2.0, "threads": 1, "seed": seed,
    }  # fmt: skip
    if family.keeps_values and family.name != "stochastic":
        given["cache_mib"] = 1
    if family.kernels is None:
        given["kernel"] = kernel = str(rng.choice(KERNELS))
        if kernel != "linear":
            given["gamma"] = float(10.0 ** rng.choice([-6, -1, 0, 0, 1, 6]))
        if kernel == "poly":
            given |= {
                "degree": int(rng.choice([1, 2, 3, 9])),
                "coef0": float(rng.choice([0, 1, 100])),
            }
    weights = None
    if METHODS[method].family != "stochastic" and rng.random() < 0.3:
        by_row = {(*x, c): 10.0 ** rng.integers(-5, 5) for x, c in zip(X.tolist(), y, strict=True)}
        weights = np.array([by_row[(*x, c)] for x, c in zip(X.tolist(), y, strict=True)])
    return Case(X, y, weights, given, bool(rng.random() < 0.5))


def train(case: Case) -> Result:
    X = sparse.csr_array(case.X) if case.is_sparse else case.X
    return fwsvm.train(X, case.y, weights=case.weights, **case.settings)


def priority(case: Case, result: Result, path: Path) -> Worth:
    """Return what the machine of a result is worth after it was written and read back."""
    fwsvm.save(path, result)
    model = fwsvm.load(path)
    m = len(case.y)
    C = case.settings["C"] * (np.ones(m) if case.weights is None else case.weights)
    if METHODS[case.settings["method"]].family == "linear":
        w = np.zeros(case.X.shape[1])
        w[: model.features] = model.weights[0]
        K = case.X @ case.X.T
        scale = 1.0
        square = float(w @ w)
        margins = case.y * (case.X @ w)
        size = square + float((C * (1.0 + np.abs(case.X) @ np.abs(w))).sum())
    else:
        model = getattr(model, "union", model)  # of the only cell
        rows = _places(case, model)
        K = _gram(case, result)
        v = np.zeros(m)
        v[rows] = model.coefficients[:, 0]
        if FAMILIES[METHODS[case.settings["method"]].family].problem.startswith(SIMPLEX):
            return _on_simplex(case, result, K, C, v)
        scale = 1.0 / (case.settings["C"] * m)
        square = float(v @ K @ v)
        margins = case.y * (K @ v)
        off = abs(K) + _of_values(case, result) / (1e4 * EPS)
        size = float(abs(v) @ off @ abs(v)) + float((C * (1.0 + off @ abs(v))).sum())
    primal = scale * (0.5 * square + float((C * np.maximum(0.0, 1.0 - margins)).sum()))
    with np.errstate(all="ignore"):
        best = naive.box_optimum(np.outer(case.y, case.y) * K, C)[1]  # P at some point: not below the optimum
    above = [scale * float(C.sum()), primal, *([scale * best] if np.isfinite(best) else [])]
    return Worth(primal, primal, None, 1e4 * EPS * scale * size, min(above))


def pairs_of(case: Case, result: Result, path: Path) -> Iterator[tuple[Case, Worth]]:
    """Yield each pair of classes as a case of its own, and what the machine, written and read back, is worth on it."""
    fwsvm.save(path, result)
    model = fwsvm.load(path)
    rows = np.array(_places(case, model))
    for i, j in combinations(range(len(model.classes)), 2):
        first = float(model.classes[i])
        second = float(model.classes[j])
        v = np.zeros(len(case.y))
        for one, column in ((first, j - 1), (second, i)):
            of_one = case.y[rows] == one
            v[rows[of_one]] = model.coefficients[of_one, column]
        which = np.flatnonzero((case.y == first) | (case.y == second))
        pair = case._replace(X=case.X[which], y=np.where(case.y[which] == first, 1.0, -1.0))
        C = np.full(len(which), case.settings["C"])
        yield pair, _on_simplex(pair, result, _gram(pair, result), C, v[which])


def _gram(case: Case, result: Result) -> np.ndarray:
    given = {k: v for k, v in result.settings.items() if k in {"gamma", "coef0", "degree"} and v is not None}
    with np.errstate(all="ignore"):
        return naive.gram(result.settings["kernel"], case.X, case.X, **given)


def _of_values(case: Case, result: Result) -> float:
    """Return how far the kernel values of a certificate may be off, besides by rounding of the values themselves."""
    return 2e-13 if result.settings["kernel"] in {"rbf", "laplacian"} else 0.0


def _places(case: Case, model: Any) -> list[int]:
    """Return for each support vector a training row of its class with its values; each row is taken once."""
    S = np.zeros((model.support.shape[0], case.X.shape[1]))
    S[:, : model.support.shape[1]] = (
        model.support.toarray() if sparse.issparse(model.support) else model.support
    )
    signs = np.repeat([float(label) for label in model.classes], model.counts)
    free: dict[tuple[float, ...], list[int]] = {}
    for row, (x, c) in enumerate(zip(case.X.tolist(), case.y, strict=True)):
        free.setdefault((*x, c), []).append(row)
    return [free[(*x, c)].pop(0) for x, c in zip(S.tolist(), signs, strict=True)]


def _on_simplex(case: Case, result: Result, K: np.ndarray, C: np.ndarray, v: np.ndarray) -> Worth:
    """Return the worth of alpha, which the coefficients y alpha / R are in proportion to."""
    weights = np.maximum(case.y * v, 0.0)
    total = weights.sum()
    alpha = weights / total if np.isfinite(total) and total > 0.0 else np.full(len(v), np.nan)
    extended = naive.extended(K, case.y, C)
    with np.errstate(all="ignore"):
        R = float(alpha @ extended @ alpha)
        gap = naive.gap(extended, alpha)
        rounding = float((1e4 * EPS * abs(extended) @ alpha).max()) + _of_values(case, result)
        primal = naive.standard_form(K, case.y, C, alpha)[0]
    return Worth(R, primal, gap, rounding, R)


def goal(case: Case, result: Result, found: Worth) -> float:
    """Return the gap that the stopping rule allows, from the definitions."""
    tolerance = case.settings["tolerance"]
    stop = case.settings["stop"]
    if stop == "gap":
        return tolerance
    if stop == "relative":
        return tolerance * found.objective
    C = case.settings["C"] * (np.ones(len(case.y)) if case.weights is None else case.weights)
    widest = float(np.diag(naive.extended(_gram(case, result), case.y, C)).max())
    return (2.0 * tolerance + tolerance**2) * (widest - found.objective)
