"""Rows that come in portions: each is visited once, by a step of pegasos from where the machine stands.

    w  <-  (1 - 1/t) w  +  1/(lambda t) y phi(x)  where y <w, phi(x)> < 1,    else  (1 - 1/t) w

is the step of `fwsvm.solvers.stochastic.pegasos` for one row. It needs w and t alone, so a portion can follow any
machine of the hinge problem, whichever method it came from. Nothing is proven: rows that are gone cannot be checked.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from fwsvm._mapped import RowMatrix, stacked
from fwsvm.kernels.limits import refuse_overflow
from fwsvm.kernels.rows import Rows, as_rows, some_rows
from fwsvm.kernels.sparse_tiles import WIDE, kernel_matrix
from fwsvm.kernels.sums import weighted_sums
from fwsvm.problems.hinge import regularisation
from fwsvm.problems.machines import KernelModel
from fwsvm.settings import Settings
from fwsvm.solvers.resolve import resolve
from fwsvm.solvers.result import Result
from fwsvm.status import Status

UNPROVEN = "Each row was visited once, as it came; that proves no gap."


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
    scale, gained = 1.0, np.zeros(rows.height)
    before = np.zeros(rows.height)
    if support.height:
        which = np.arange(support.height)
        before = weighted_sums(kernel, support, which, beta[:, None], rows, threads)[:, 0]
    for first in range(0, rows.height, WIDE):
        some = np.arange(first, min(first + WIDE, rows.height))
        part, every = some_rows(rows, some), np.arange(len(some))
        products, values = np.empty((len(some), len(some))), scale * before[some]
        kernel_matrix(kernel, part, every, every, products)
        if len(joined := np.flatnonzero(gained)):
            sources, which = some_rows(rows, joined), np.arange(len(joined))
            values += weighted_sums(kernel, sources, which, gained[joined, None], part, threads)[:, 0]
        for i, row in enumerate(some):
            t += 1
            violated, decay = y[row] * values[i] < 1.0, 1.0 - 1.0 / t
            scale, values, gained = scale * decay, values * decay, gained * decay
            if violated:
                step = y[row] / (lam * t)
                gained[row] = step
                values += step * products[i]
    return scale * beta, gained


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
    support, rows = as_rows(model.support), as_rows(X)
    coefficients = np.zeros((len(of_support) + len(codes), K - 1))
    for pair, (i, j) in enumerate(combinations(range(K), 2)):
        old = np.flatnonzero((of_support == i) | (of_support == j))
        new = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[new] == i, 1.0, -1.0)
        mine = some_rows(support, old), weights[old, pair], some_rows(rows, new), y
        found = np.concatenate(one_pass(model.kernel, *mine, lam, int(seen[i] + seen[j]), threads))
        places = np.concatenate([old, len(of_support) + new])
        first = np.concatenate([of_support[old], codes[new]]) == i
        coefficients[places[first], j - 1] = found[first]
        coefficients[places[~first], i] = found[~first]
    classes = np.concatenate([of_support, codes])
    kept = np.flatnonzero(coefficients.any(axis=1))
    kept = kept[np.argsort(classes[kept], kind="stable")]
    return replace(
        model,
        support=stacked([model.support, X])[kept],
        counts=np.bincount(classes[kept], minlength=K),
        coefficients=coefficients[kept],
    )


def before_portions(X: RowMatrix, classes: Sequence[str], settings: Settings) -> Result:
    """Return the result of no rows yet: its width, and lambda where that is not given, are of the first portion X.

    Raises
    ------
    UsageError
        Settings that make no sense.
    """
    resolved = resolve(replace(settings, method="pegasos", parameters={}), X)
    regularisation(np.full(X.shape[0], resolved.C), "pegasos")
    K, nan = len(classes), float("nan")
    pairs = K * (K - 1) // 2
    nothing = np.zeros((0, K - 1))
    model = KernelModel(
        tuple(classes), resolved.kernel, X[:0], np.zeros(K, np.int64), nothing, np.zeros(pairs)
    )
    return Result(
        model=model,
        status=Status.MAX_ITERATIONS,
        message=UNPROVEN,
        settings=resolved.as_columns(),
        subproblems=pairs,
        objective=nan,
        gap=nan,
        relative_gap=nan,
        gap_kind="none",
        certified=False,
        primal=nan,
        dual=nan,
        support_vectors=0,
        iterations=0,
        steps=0,
        kernel_evaluations=0,
        cache_hit_rate=nan,
        compile_seconds=0.0,
        train_seconds=0.0,
        check_seconds=0.0,
        solved=pairs,
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
    lam, threads = begun.settings["lambda"] * K / 2.0, settings.threads or 1
    model = after_one_pass(model, X[order], codes[order], seen, lam, threads)
    visited = begun.iterations + (K - 1) * len(codes)
    nan = float("nan")
    return replace(
        begun,
        model=model,
        status=Status.MAX_ITERATIONS,
        message=UNPROVEN,
        objective=nan,
        gap=nan,
        relative_gap=nan,
        gap_kind="none",
        certified=False,
        primal=nan,
        dual=nan,
        gap_error=nan,
        trace=(),
        support_vectors=int(model.counts.sum()),
        iterations=visited,
        steps=visited,
        train_seconds=begun.train_seconds + time.perf_counter() - started,
    )
