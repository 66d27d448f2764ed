"""Seeded synthetic data sets of any size: ``synthetic:KIND?rows=200000&features=28&seed=0``.

The kinds are in `populations`. Rows are drawn in chunks of 4,096, each from its own random stream, so that fewer rows
are a prefix of more.
"""

import hashlib
from typing import Annotated
from urllib.parse import parse_qsl

import msgspec
import numpy as np
from msgspec import Meta
from scipy.sparse import csr_array, vstack

from fwsvm._memory import require
from fwsvm.data.dataset import Dataset, LabelledRows, canonical_csr
from fwsvm.data.populations import KINDS
from fwsvm.errors import DataError, UsageError, nearest

#: Rows that share a random stream; part of what defines the data.
CELL = 4096
ENTRY, ROW = 8 + 4, 3 * 8  # bytes of a stored number with its index; of a row's label and places
TRAIN, TEST = 1, 2


class SyntheticSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind and its parameters; ``noise`` is the fraction of labels that are flipped."""

    kind: str
    rows: Annotated[int, Meta(ge=2)]
    features: Annotated[int, Meta(ge=1)]
    test: Annotated[int, Meta(ge=0)]
    noise: Annotated[float, Meta(ge=0, lt=0.5)]
    seed: Annotated[int, Meta(ge=0)]

    @property
    def name(self) -> str:
        """The full name, with all parameters, which `load` accepts."""
        return (
            f"synthetic:{self.kind}?rows={self.rows}&features={self.features}&test={self.test}"
            f"&noise={self.noise:g}&seed={self.seed}"
        )


def parse_spec(name: str, *, seed: int = 0) -> SyntheticSpec:
    """Return the parameters of ``synthetic:KIND?key=value&...``, with defaults.

    Keys are rows, features, test (rows of a test set; a quarter of rows by default), noise, and seed.
    """
    kind, _, query = name.removeprefix("synthetic:").partition("?")
    if kind not in KINDS:
        hint = nearest(kind, KINDS, f"there are {', '.join(KINDS)}")
        raise UsageError(f"synthetic:{kind}: no such generator; {hint}")
    model = KINDS[kind]
    rows, features = model.SHAPE
    keys = {"rows": rows, "features": features, "test": 0, "noise": model.NOISE, "seed": seed, "kind": kind}
    given = dict(parse_qsl(query, keep_blank_values=True))
    try:
        made = msgspec.convert({**keys, **given, "kind": kind}, SyntheticSpec, strict=False)
    except msgspec.ValidationError as error:
        said = str(error).replace(" - at `$.", ", `")
        raise UsageError(f"{name}: {said}; known: rows, features, test, noise, seed") from None
    if made.features < model.LEAST:
        raise UsageError(f"{name}: {kind} has at least {model.LEAST} features")
    return made if "test" in given else msgspec.structs.replace(made, test=made.rows // 4)


def table(made: SyntheticSpec, *, part: int = TRAIN) -> LabelledRows:
    """Return all rows of a part; `DataError` if they do not fit in the available memory."""
    rows = made.rows if part == TRAIN else made.test
    model = KINDS[made.kind]
    row = ROW + (
        8 * made.features if model.STORED is None else 2 * ENTRY * model.STORED
    )  # parts and the whole
    require(rows * row + 64 * made.features, made.name, "ask for fewer rows or features", DataError)
    population = model(made.features, np.random.default_rng([made.seed, 0]))
    labels, dense, parts = np.empty(rows), np.empty((rows if model.STORED is None else 0, made.features)), []
    for cell, first in enumerate(range(0, rows, CELL)):
        X, drawn = population.draw(CELL, made.noise, np.random.default_rng([made.seed, part, cell]))
        some = slice(first, min(first + CELL, rows))
        labels[some] = drawn[: some.stop - first]
        if isinstance(X, np.ndarray):
            dense[some] = X[: some.stop - first]
        else:
            parts.append(X[: some.stop - first])
    if not parts:
        return LabelledRows(dense, labels)
    whole = csr_array(vstack(parts, format="csr"))
    return LabelledRows(canonical_csr(whole.data, whole.indices, whole.indptr, made.features), labels)


def load(name: str, *, seed: int = 0, scale: str | None = None) -> Dataset:
    """Return a synthetic data set, not scaled; its fingerprint is a digest of the values and of ``scale``."""
    made = parse_spec(name, seed=seed)
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
    )


def _fingerprint(tables: list[LabelledRows], treatment: str) -> str:
    digest = hashlib.sha256(treatment.encode())
    for part in tables:
        X = part.X
        for array in (*((X,) if isinstance(X, np.ndarray) else (X.indptr, X.indices, X.data)), part.labels):
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()
