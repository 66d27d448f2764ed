"""Seeded synthetic data sets of any size: ``synthetic:KIND?rows=200000&features=28&seed=0``.

Each file of this folder but `raw_bits` is one kind. Rows are drawn in chunks of 4,096, each from its own random
stream, so that rows depend neither on how many are drawn (fewer are a prefix of more) nor on the size of the blocks in
which they are delivered, and memory is that of one block.
"""

import functools
import hashlib
import importlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qsl

import numpy as np
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix, stacked
from fwsvm._memory import require
from fwsvm.data.dataset import Dataset, LabelledRows
from fwsvm.errors import DataError, UsageError, nearest

#: Rows that share a random stream; part of what defines the data.
CELL = 4096
ENTRY, ROW = 8 + 4, 3 * 8  # bytes of a stored number with its index; of a row's label and places
KINDS = ("checkerboard", "gaussians", "clusters", "sparse-text", "overlapping-text", "adult-like")
TRAIN, TEST = 1, 2

GeneratedRows = tuple[RowMatrix, np.ndarray]


class Population(Protocol):
    """The population that rows of a kind are drawn from; each kind's module defines one of this name.

    Class attributes: ``ROWS``, ``FEATURES`` and ``NOISE``, the defaults; ``LEAST``, the minimum number of features;
    ``STORED``, about how many numbers a row stores, None for all.
    """

    ROWS: int
    FEATURES: int
    NOISE: float
    LEAST: int
    STORED: int | None

    def __init__(self, features: int, noise: float, rng: np.random.Generator) -> None: ...

    def draw(self, rows: int, rng: np.random.Generator) -> GeneratedRows:
        """Return rows, shape (rows, features), and labels -1 or +1, shape (rows,)."""
        ...


@dataclass(frozen=True)
class SyntheticSpec:
    """A kind and its parameters; ``noise`` is the fraction of labels that are flipped."""

    kind: str
    rows: int
    features: int
    test: int
    noise: float
    seed: int

    @property
    def name(self) -> str:
        """The full name, with all parameters, which `load` accepts."""
        return (
            f"synthetic:{self.kind}?rows={self.rows}&features={self.features}&test={self.test}"
            f"&noise={self.noise:g}&seed={self.seed}"
        )


def population_of(kind: str) -> type[Population]:
    """Return the `Population` class of a kind; `UsageError` lists the kinds."""
    if kind not in KINDS:
        hint = nearest(kind, KINDS, f"there are {', '.join(KINDS)}")
        raise UsageError(f"synthetic:{kind}: no such generator; {hint}")
    model: type[Population] = importlib.import_module(f"{__name__}.{kind.replace('-', '_')}").Population
    return model


def parse_spec(name: str, *, seed: int = 0) -> SyntheticSpec:
    """Return the parameters of ``synthetic:KIND?key=value&...``, with defaults.

    Keys are rows, features, test (rows of a test set; a quarter of rows by default), noise, and seed.
    """
    kind, _, query = name.removeprefix("synthetic:").partition("?")
    model = population_of(kind)
    given: dict[str, float] = {}
    for key, text in parse_qsl(query, keep_blank_values=True):
        if key not in ("rows", "features", "test", "noise", "seed"):
            raise UsageError(f"{name}: unknown key {key!r}; known: rows, features, test, noise, seed")
        try:
            given[key] = float(text) if key == "noise" else int(text)
        except ValueError:
            raise UsageError(f"{name}: {key}={text} is not a number") from None
    rows = int(given.get("rows", model.ROWS))
    made = SyntheticSpec(
        kind=kind,
        rows=rows,
        features=int(given.get("features", model.FEATURES)),
        test=int(given.get("test", rows // 4)),
        noise=given.get("noise", model.NOISE),
        seed=int(given.get("seed", seed)),
    )
    if made.rows < 2 or made.test < 0 or made.seed < 0 or not 0 <= made.noise < 0.5:
        raise UsageError(f"{name}: rows is at least 2, test and seed at least 0, noise in [0, 0.5)")
    if made.features < model.LEAST:
        raise UsageError(f"{name}: {kind} has at least {model.LEAST} features")
    return made


def blocks(made: SyntheticSpec, *, block_rows: int = 65536, part: int = TRAIN) -> Iterator[GeneratedRows]:
    """Yield the training (or test) rows in blocks of ``block_rows``, the last one shorter.

    `DataError` where a block does not fit in the memory available.
    """
    _check_room(made, min(made.rows, block_rows + CELL))
    model = population_of(made.kind)(made.features, made.noise, np.random.default_rng([made.seed, 0]))
    rows = made.rows if part == TRAIN else made.test

    @functools.lru_cache(maxsize=1)  # a cell may reach into the next block
    def drawn(cell: int) -> GeneratedRows:
        return model.draw(CELL, np.random.default_rng([made.seed, part, cell]))

    for start in range(0, rows, block_rows):
        stop = min(start + block_rows, rows)
        pieces = [_piece(drawn(cell), cell, start, stop) for cell in range(start // CELL, -(-stop // CELL))]
        yield stacked([X for X, _ in pieces]), np.concatenate([labels for _, labels in pieces])


def _check_room(made: SyntheticSpec, rows: int) -> None:
    stored = population_of(made.kind).STORED
    row = ROW + (8 * made.features if stored is None else ENTRY * stored)
    require(rows * row + 64 * made.features, made.name, "ask for fewer rows or features", DataError)


class Stream:
    """The training rows in blocks, drawn again on each iteration."""

    def __init__(self, made: SyntheticSpec, block_rows: int = 65536) -> None:
        self.made, self.block_rows = made, block_rows

    def __iter__(self) -> Iterator[GeneratedRows]:
        return blocks(self.made, block_rows=self.block_rows)


def _piece(drawn: GeneratedRows, cell: int, start: int, stop: int) -> GeneratedRows:
    X, labels = drawn
    rows = slice(max(start - cell * CELL, 0), min(stop - cell * CELL, CELL))
    return X[rows], labels[rows]


def table(made: SyntheticSpec, *, part: int = TRAIN, block_rows: int = CELL) -> LabelledRows:
    """Return all rows of a part, filled in block by block: memory is that of the result and one block.

    `DataError` if they do not fit in the available memory.
    """
    rows = made.rows if part == TRAIN else made.test
    _check_room(made, rows)
    labels = np.empty(rows)
    dense = np.empty((0, made.features))
    data, indices, indptr = np.empty(0), np.empty(0, np.int32), np.zeros(rows + 1, np.int64)
    at = entries = 0
    for X, y in blocks(made, block_rows=block_rows, part=part):
        end = at + len(y)
        labels[at:end] = y
        if isinstance(X, np.ndarray):
            if at == 0:
                dense = np.empty((rows, made.features))
            dense[at:end] = X
        else:
            if entries + X.nnz > len(data):  # realloc in place, to what the rows so far suggest
                room = max(entries + X.nnz, int((entries + X.nnz) / end * rows * 1.02) + X.nnz)
                data.resize(room, refcheck=False)
                indices.resize(room, refcheck=False)
            data[entries : entries + X.nnz] = X.data
            indices[entries : entries + X.nnz] = X.indices
            indptr[at + 1 : end + 1] = entries + X.indptr[1:]
            entries += X.nnz
        at = end
    if entries == 0:
        return LabelledRows(dense, labels)
    data.resize(entries, refcheck=False)
    indices.resize(entries, refcheck=False)
    narrow = indptr.astype(np.int32) if entries < 2**31 else indptr
    return LabelledRows(csr_array((data, indices, narrow), shape=(rows, made.features)), labels)


def load(name: str, *, seed: int = 0, scale: str | None = None) -> Dataset:
    """Return a synthetic data set, not scaled; its fingerprint is a digest of the values and of ``scale``."""
    made = parse_spec(name, seed=seed)
    started = time.perf_counter()
    train = table(made)
    test = table(made, part=TEST) if made.test else None
    if len(np.unique(train.labels)) < 2:
        raise UsageError(f"{made.name}: so few rows hold one class only; ask for more")
    how = scale or "none"
    return Dataset(
        name=made.name,
        train=train,
        test=test,
        classes=("1", "-1"),
        fingerprint=_fingerprint([train] if test is None else [train, test], "" if how == "none" else how),
        source="synthetic",
        scaling=how,
        load_seconds=time.perf_counter() - started,
    )


def _fingerprint(tables: list[LabelledRows], treatment: str) -> str:
    digest = hashlib.sha256(treatment.encode())
    for part in tables:
        X = part.X
        arrays = (X,) if isinstance(X, np.ndarray) else (X.indptr, X.indices, X.data)
        for array in (*arrays, part.labels):
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()
