"""Seeded splits, samples, folds and holdouts of rows, the same bits on every machine and numpy version.

``numpy.random.Generator``'s shuffles may change between numpy releases; the raw stream of a bit generator may
not. A permutation here is therefore the stable order of m raw 64-bit draws. Samples, folds and holdouts are stratified:
each class has its share in them, up to a row. They depend on the labels and the seed alone, so they are the same for
every method, setting and worker.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fwsvm._mapped import stacked
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.labels import classes, encode
from fwsvm.errors import DataError


def permutation(rows: int, seed: int) -> np.ndarray:
    """Return a random order of ``rows`` rows, shape (rows,), that depends on the two numbers alone."""
    draws = np.random.PCG64(seed).random_raw(rows)
    return np.argsort(draws, kind="stable")


def split(pool: LabelledRows, rule: Mapping[str, Any], seed: int) -> tuple[LabelledRows, LabelledRows]:
    """Split a table by ``{"test_fraction": f}`` or ``{"train_rows": m}``; both parts keep the file's order.

    A fraction of rows is rounded up, as 003's 98,805 of 494,021 are. `DataError` where a part would be empty.
    """
    rows = pool.rows
    train_rows = rule.get("train_rows") or rows - math.ceil(rule["test_fraction"] * rows)
    if not 0 < train_rows < rows:
        raise DataError(f"cannot draw {train_rows} training rows of {rows} and keep some for testing")
    order = permutation(rows, seed)
    return take(pool, np.sort(order[:train_rows])), take(pool, np.sort(order[train_rows:]))


def take(table: LabelledRows, rows: np.ndarray) -> LabelledRows:
    """Return the given rows of a table, in the given order, in memory."""
    return replace(table, X=table.X[rows], labels=table.labels[rows])


def join(tables: Sequence[LabelledRows]) -> LabelledRows:
    """Stack tables of equal width, in order."""
    return replace(
        tables[0],
        X=stacked([table.X for table in tables]),
        labels=np.concatenate([table.labels for table in tables]),
        notices=tuple(notice for table in tables for notice in table.notices),
    )


def subsample(table: LabelledRows, rows: float | None, seed: int, *, least: int = 0) -> LabelledRows:
    """Return a stratified sample of ``rows`` rows, or below 1 of that fraction, in the file's order; None keeps all.

    Of a class of which fewer than ``least`` rows were drawn, as many are taken besides, or all that there are.
    """
    rows = table.rows if rows is None else max(2, round(rows * table.rows)) if rows < 1 else round(rows)
    if rows >= table.rows:
        return table
    codes = encode(table.labels, classes(table.labels))
    order = _by_class(codes, seed)
    drawn = evenly_spaced(table.rows, rows / table.rows)
    for k in np.flatnonzero(np.bincount(codes[order[drawn]], minlength=codes.max() + 1) < least):
        drawn[np.flatnonzero(codes[order] == k)[:least]] = True
    return take(table, np.sort(order[drawn]))


def fold(codes: np.ndarray, folds: int, part: int, seed: int) -> np.ndarray:
    """Return a boolean mask (m,) of the rows of one of several folds, 0 <= part < folds."""
    chosen = np.zeros(len(codes), dtype=bool)
    chosen[_by_class(codes, seed)[part::folds]] = True
    return chosen


def holdout(codes: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    """Return a boolean mask (m,) of a fraction of the rows.

    Every class keeps a row outside: if a class would lose all, one of its rows is exchanged for a row of the class
    with most rows outside.
    """
    chosen = np.zeros(len(codes), dtype=bool)
    chosen[_by_class(codes, seed)[evenly_spaced(len(codes), fraction)]] = True
    for lost in np.setdiff1d(codes, codes[~chosen]):
        left = np.bincount(codes[~chosen], minlength=1)
        if left.max() > 1:
            chosen[np.flatnonzero((codes == left.argmax()) & ~chosen)[0]] = True
            chosen[np.flatnonzero(codes == lost)[0]] = False
    return chosen


def evenly_spaced(m: int, part: float) -> np.ndarray:
    """Return a boolean mask (m,) of which the fraction ``part`` is True, evenly spaced."""
    steps = np.floor(np.arange(m + 1) * part + 0.5)
    return np.asarray(np.diff(steps) > 0)


def _by_class(codes: np.ndarray, seed: int) -> np.ndarray:
    """Return row numbers (m,), grouped by class, in random order within each class.

    Evenly spaced elements of it are a stratified sample, up to one row for each class.
    """
    order = permutation(len(codes), seed)
    return order[np.argsort(codes[order], kind="stable")]
