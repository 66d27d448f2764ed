"""Rows that come in portions: each is visited once, by a step of pegasos from where the machine stands.

    w  <-  (1 - 1/t) w  +  1/(lambda t) y phi(x)  where y <w, phi(x)> < 1,    else  (1 - 1/t) w

is the step of `fwsvm.solvers.stochastic.pegasos` for one row. It needs w and t alone, so a portion can follow any
machine of the hinge problem, whichever method it came from. Nothing is proven: rows that are gone cannot be checked.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from fwsvm._mapped import RowMatrix, stacked
from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.kernels.sparse_tiles import WIDE, kernel_matrix
from fwsvm.kernels.sums import weighted_sums
from fwsvm.problems.hinge import regularisation
from fwsvm.problems.machines import KernelModel
from fwsvm.settings import Settings
from fwsvm.solvers.fit import refuse_overflow
from fwsvm.solvers.resolve import resolve
from fwsvm.solvers.result import Result
from fwsvm.solvers.stochastic.pegasos import CONTROL, visit
from fwsvm.status import Status


def one_pass(
    kernel: Any,
    support: Rows,
    beta: np.ndarray,
    rows: Rows,
    y: np.ndarray,
    lam: float,
    t: int,
    threads: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients (s,) and (b,) of the support vectors and of the rows after a step at each row, in order.

    Parameters
    ----------
    support, rows : Rows of float64
    beta : ndarray, shape (s,), w = sum_j beta[j] phi(support[j])
    y : ndarray, shape (b,), labels +1 or -1
    lam : float
    t : int, steps done before
    """
    b, now = rows.height, np.zeros(1, CONTROL)
    now["t"], now["scale"] = t, 1.0 / (lam * t) if t else 0.0
    joined, sums = np.zeros(b), np.zeros(b)
    if support.height:
        sources = np.arange(support.height)
        sums = weighted_sums(kernel, support, sources, lam * t * beta[:, None], rows, threads)[:, 0]
    for first in range(0, b, WIDE):
        some = slice(first, min(first + WIDE, b))
        part, every = some_rows(rows, np.arange(b)[some]), np.arange(b)[: some.stop - first]
        products = np.empty((len(every), len(every)))
        kernel_matrix(kernel, part, every, every, products)
        if len(before := np.flatnonzero(joined)):
            sums[some] += weighted_sums(kernel, rows, before, joined[before, None], part, threads)[:, 0]
        visit(lam, now, y[some], sums[some], products, 0, len(every), joined[some])
    return beta * t / (t + b), joined / (lam * (t + b))


def after_one_pass(
    model: KernelModel, X: RowMatrix, codes: np.ndarray, seen: np.ndarray, lam: float, threads: int = 1
) -> KernelModel:
    """Return the machine after `one_pass` over the rows of each pair of classes.

    Parameters
    ----------
    model : KernelModel
        Its support vectors may be none.
    X : ndarray or csr_array, shape (b, n)
    codes : ndarray of int, shape (b,), class numbers
    seen : ndarray of int, shape (K,), rows of each class visited before
    lam : float, of each pair's problem
    """
    K, weights = len(model.classes), model.pair_weights()
    of_support = np.repeat(np.arange(K), model.counts)
    classes, s = np.concatenate([of_support, codes]), len(of_support)
    support, rows = as_rows(model.support), as_rows(X)
    coefficients = np.zeros((len(classes), K - 1))
    for pair, (i, j) in enumerate(combinations(range(K), 2)):
        places = np.flatnonzero((classes == i) | (classes == j))
        old, new = places[places < s], places[places >= s] - s
        y = np.where(codes[new] == i, 1.0, -1.0)
        mine = some_rows(support, old), weights[old, pair], some_rows(rows, new), y
        found = np.concatenate(one_pass(model.kernel, *mine, lam, int(seen[i] + seen[j]), threads))
        coefficients[places, np.where(classes[places] == i, j - 1, i)] = found
    kept = np.flatnonzero(coefficients.any(axis=1))
    kept = kept[np.argsort(classes[kept], kind="stable")]
    return replace(
        model,
        support=stacked([model.support, X])[kept],
        counts=np.bincount(classes[kept], minlength=K),
        coefficients=coefficients[kept],
    )


#: What a result says of a point that nothing is proven about.
UNPROVEN: dict[str, Any] = {
    "status": Status.MAX_ITERATIONS,
    "message": "Each row was visited once, as it came; that proves no gap.",
    "gap_kind": "none",
    "certified": False,
} | dict.fromkeys(("objective", "gap", "relative_gap", "primal", "dual", "gap_error"), math.nan)


def before_portions(X: RowMatrix, classes: Sequence[str], settings: Settings) -> Result:
    """Return the result of no rows yet: its width, and lambda where that is not given, are of the first portion X.

    Raises
    ------
    UsageError
        Settings that make no sense.
    """
    resolved = resolve(replace(settings, method="pegasos", parameters={}), X)
    regularisation(np.full(X.shape[0], resolved.C), "pegasos")
    K = len(classes)
    pairs = K * (K - 1) // 2
    nothing = np.zeros((0, K - 1))
    model = KernelModel(
        tuple(classes), resolved.kernel, X[:0], np.zeros(K, np.int64), nothing, np.zeros(pairs)
    )
    return Result(
        model=model,
        settings=resolved.as_columns(),
        subproblems=pairs,
        solved=pairs,
        **UNPROVEN,
    )


def after_portion(
    begun: Result, X: RowMatrix, codes: np.ndarray, seen: np.ndarray, settings: Settings
) -> Result:
    """Return the result after one pass over a portion of rows, in an order drawn by the seed.

    Parameters
    ----------
    begun : Result
        Of `before_portions`, of earlier portions, or of `fwsvm.solvers.fit`.
    X : ndarray or csr_array, shape (b, n)
    codes : ndarray of int, shape (b,), class numbers
    seen : ndarray of int, shape (K,), rows of each class that ``begun`` was trained on
    settings : Settings
        Its seed and threads are used.

    Raises
    ------
    RangeError
        Kernel values beyond what single precision holds.
    """
    started, model = time.perf_counter(), begun.model
    assert isinstance(model, KernelModel)  # noqa: S101  (what one-versus-one families make)
    refuse_overflow(model.kernel, str(begun.settings["kernel"]), X)
    order = np.random.default_rng((settings.seed, int(seen.sum()))).permutation(len(codes))
    K = len(model.classes)
    lam = begun.settings["lambda"] * K / 2.0
    model = after_one_pass(model, X[order], codes[order], seen, lam, settings.threads or 1)
    visited = begun.iterations + (K - 1) * len(codes)
    return replace(
        begun,
        model=model,
        trace=(),
        support_vectors=int(model.counts.sum()),
        iterations=visited,
        steps=visited,
        train_seconds=begun.train_seconds + time.perf_counter() - started,
        **UNPROVEN,
    )
