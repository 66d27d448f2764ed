"""Rows of any number for `out_of_core.py`, made by seed in blocks and written to disk as they are made.

Two classes of equal size, each a normal distribution of unit variance around its own centre; the centres are 2 `APART`
apart, so that the best machine is right on 97.7 % of rows. Dense rows are float32 in ``NAME.npy``, their labels in
``NAME.labels.npy``; text is in LIBSVM's format, each row with `STORED` of the features, four decimals each.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numba import njit

BLOCK = 1 << 16  # rows that share a random stream
APART = 2.0
STORED = 50  # of a row of text


def blocks(rows: int, features: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows (b, features), float32, and labels (b,), +1 or -1."""
    centre = np.random.default_rng([seed, 0]).normal(size=features)
    centre *= APART / np.sqrt(centre @ centre)
    for number, first in enumerate(range(0, rows, BLOCK)):
        rng = np.random.default_rng([seed, 1, number])
        size = min(BLOCK, rows - first)
        y = np.where(rng.random(size) < 0.5, 1.0, -1.0)
        X = rng.standard_normal((size, features), dtype=np.float32)
        X += (y[:, None] * centre).astype(np.float32)
        yield X, y


def write_dense(path: Path, rows: int, features: int, seed: int) -> None:
    """Write dense rows and their labels as ``.npy`` files."""
    X = np.lib.format.open_memmap(path, "w+", np.float32, (rows, features))
    labels, at = np.empty(rows), 0
    for some, y in blocks(rows, features, seed):
        X[at : at + len(y)], labels[at : at + len(y)] = some, y
        at += len(y)
    X.flush()
    np.save(path.with_suffix(".labels.npy"), labels)


def write_text(path: Path, rows: int, features: int, seed: int) -> None:
    """Write text: of each row every `features` / `STORED`-th number, from a place drawn for the row."""
    step = features // STORED
    room = np.empty(BLOCK * (4 + STORED * 24), np.uint8)
    with path.open("wb") as stream:
        for number, (X, y) in enumerate(blocks(rows, features, seed)):
            shifts = np.random.default_rng([seed, 2, number]).integers(0, step, len(y))
            stream.write(room[: _text(X, y, shifts, step, room)].data)


@njit
def _whole(value, out, at):
    """Write a whole number >= 0 at a place; return the place after it."""
    digits = 1
    while value >= 10**digits:
        digits += 1
    for k in range(digits - 1, -1, -1):
        out[at + k] = 48 + value % 10
        value //= 10
    return at + digits


@njit
def _text(X, y, shifts, step, out):
    """Write rows as text; return the bytes."""
    at = 0
    for t in range(len(y)):
        out[at] = 43 if y[t] > 0 else 45
        out[at + 1] = 49
        at += 2
        for f in range(shifts[t], X.shape[1], step):
            out[at] = 32
            at = _whole(f + 1, out, at + 1)
            out[at] = 58
            at += 1
            if X[t, f] < 0:
                out[at] = 45
                at += 1
            scaled = int(np.round(abs(X[t, f]) * 10000.0))
            at = _whole(scaled // 10000, out, at)
            out[at] = 46
            for k in range(4, 0, -1):
                out[at + k] = 48 + scaled % 10
                scaled //= 10
            at += 5
        out[at] = 10
        at += 1
    return at
