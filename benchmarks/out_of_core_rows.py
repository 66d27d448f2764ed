"""Rows of any number for `out_of_core.py`, made by seed in blocks and written to disk as they are made.

    python benchmarks/out_of_core_rows.py {dense,text,clear-dense,clear-text} FILE ROWS FEATURES [SEED [FIRST]]

Two classes of equal size, each a normal distribution of unit variance around its own centre; the best machine is right
on 97.7 % of rows. Of clear rows, whose centres are farther apart, it is right on all but 3 in a million of dense ones,
and on some fewer of text, where not all rows store features that tell the classes apart as well. Dense rows are float32
in ``NAME.npy``, their labels in ``NAME.labels.npy``; text is in LIBSVM's format, each row with `STORED` of the
features, evenly spaced from a place drawn for the row, four decimals each.
FIRST is the number of the first block of rows that share a random stream: other rows of the same classes.
"""

import sys
from pathlib import Path

import numpy as np

from fwsvm.numerics.compile import njit

BLOCK = 1 << 16  # rows that share a random stream
APART = {"dense": 2.0, "text": 2.0, "clear-dense": 4.5, "clear-text": 4.5}
"""How far a centre is from 0, as seen by the features that a row has."""
STORED = 50  # of a row of text


def centre(features: int, stored: int, seed: int, apart: float) -> np.ndarray:
    """Return the centre (features,) of the class +1; that of the class -1 is opposite."""
    found = np.random.default_rng([seed, 0]).normal(size=features)
    return found * apart * np.sqrt(features / stored / (found @ found))


def write_dense(path: Path, apart: float, rows: int, features: int, seed: int, start: int = 0) -> None:
    """Write dense rows and their labels as ``.npy`` files."""
    middle = centre(features, features, seed, apart).astype(np.float32)
    labels = np.empty(rows)
    head = {"descr": "<f4", "fortran_order": False, "shape": (rows, features)}
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, head)
        for number, first in enumerate(range(0, rows, BLOCK), start):
            rng, size = np.random.default_rng([seed, 1, number]), min(BLOCK, rows - first)
            y = np.where(rng.random(size) < 0.5, np.float32(1), np.float32(-1))
            X = rng.standard_normal((size, features), dtype=np.float32)
            _move(X, y, middle)
            stream.write(X.data)
            labels[first : first + size] = y
    np.save(path.with_suffix(".labels.npy"), labels)


def write_text(path: Path, apart: float, rows: int, features: int, seed: int, start: int = 0) -> None:
    """Write text."""
    step, middle = features // STORED, centre(features, STORED, seed, apart)
    room = np.empty(BLOCK * (4 + STORED * 24), np.uint8)
    with path.open("wb") as stream:
        for number, first in enumerate(range(0, rows, BLOCK), start):
            rng, size = np.random.default_rng([seed, 1, number]), min(BLOCK, rows - first)
            y = np.where(rng.random(size) < 0.5, np.float32(1), np.float32(-1))
            X = rng.standard_normal((size, STORED), dtype=np.float32)
            stream.write(room[: _text(X, y, middle, rng.integers(0, step, size), step, room)].data)


@njit
def _move(X, y, middle):
    for t in range(X.shape[0]):
        for f in range(X.shape[1]):
            X[t, f] += y[t] * middle[f]


@njit
def _whole(value, out, at):
    """Write a whole number >= 0 at a place; return the place after it."""
    digits, most = 1, 10
    while value >= most:
        digits += 1
        most *= 10
    for k in range(digits - 1, -1, -1):
        out[at + k] = 48 + value % 10
        value //= 10
    return at + digits


@njit
def _text(X, y, middle, shifts, step, out):
    """Write rows as text; return the bytes."""
    at = 0
    for t in range(len(y)):
        out[at], out[at + 1] = (43 if y[t] > 0 else 45), 49
        at += 2
        for k in range(X.shape[1]):
            f = shifts[t] + k * step
            value = X[t, k] + y[t] * middle[f]
            out[at] = 32
            at = _whole(f + 1, out, at + 1)
            out[at] = 58
            at += 1
            if value < 0:
                out[at] = 45
                at += 1
            scaled = int(abs(value) * 10000.0 + 0.5)
            at = _whole(scaled // 10000, out, at)
            out[at] = 46
            for d in range(4, 0, -1):
                out[at + d] = 48 + scaled % 10
                scaled //= 10
            at += 5
        out[at] = 10
        at += 1
    return at


if __name__ == "__main__":
    kind, file, *numbers = sys.argv[1:]
    write = write_dense if kind.endswith("dense") else write_text
    write(Path(file), APART[kind], *map(int, [*numbers, *["0", "0"][len(numbers) - 2 :]]))
