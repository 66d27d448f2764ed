"""Seeded synthetic data sets of any size: ``synthetic:KIND?rows=200000&features=28&seed=0``.

Rows are drawn in chunks of 4,096, each from its own random stream, so that fewer rows are a prefix of more.

`clusters` and `overlapping-text` draw whole numbers from a bit generator's raw stream: ``Generator``'s normal and
shuffled numbers may change between releases of numpy, raw bits, whole numbers, single products and square roots do not.
Stand-ins for data sets that are not available are of these kinds; datasets.lock has the digests of their values.
"""

import hashlib
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec
import numpy as np
from msgspec import Meta
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix, stacked
from fwsvm._memory import require
from fwsvm.data.dataset import Dataset, LabelledRows, canonical_csr
from fwsvm.errors import DataError, UsageError, nearest

#: Rows that share a random stream; part of what defines the data.
CELL = 4096
ENTRY, ROW = 8 + 4, 3 * 8  # bytes of a stored number with its index; of a row's label and places
TRAIN, TEST = 1, 2
TOPICS = 100
WORDS, LENGTH_DEVIATION = 88, 0.65  # of sparse-text: mean words of a document, deviation of their logarithm
LENGTHS = 24, 146  # words of a document of overlapping-text: near 74 different ones
PIECES, BLOCK = 8, 256  # sixteen-bit pieces of a bell-shaped number, rows drawn at a time

Drawn = tuple[RowMatrix, NDArray[np.float64]]
#: Draws rows (m, n) and their labels -1 or +1, (m,): ``draw(rows, noise, rng)``; ``noise`` of the labels are flipped.
Draw = Callable[[int, float, Generator], Drawn]


class Kind(NamedTuple):
    """A kind of data: default rows, features and noise, least features, about how many numbers a row stores (0: all).

    ``population(features, rng)`` returns the function that draws rows.
    """

    rows: int
    features: int
    noise: float
    least: int
    stored: int
    population: Callable[[int, Generator], Draw]


def whole_below(rng: Generator, count: int, limit: int) -> Any:
    """Return ``count`` whole numbers from 0 to limit - 1, for a limit far below 2^63."""
    return ((rng.bit_generator.random_raw(count) >> np.uint64(1)) % np.uint64(limit)).astype(np.int64)


def chance(rng: Generator, count: int, probability: float) -> Any:
    """Return ``count`` booleans that are true with a probability, a multiple of 2^-32."""
    return rng.bit_generator.random_raw(count) >> np.uint64(32) < np.uint64(round(probability * 2**32))


def bell_shaped(rng: Generator, rows: int, columns: int) -> Any:
    """Return numbers (rows, columns) of mean 0 and deviation 1: centred sums of `PIECES` whole numbers, scaled."""
    found, deviation = np.empty((rows, columns)), np.sqrt(PIECES * (2.0**32 - 1.0) / 12.0)
    for start in range(0, rows, BLOCK):
        total = np.zeros(found[start : start + BLOCK].shape, np.int64)
        for _ in range(PIECES // 4):
            raw = rng.bit_generator.random_raw(total.size).reshape(total.shape)
            for shift in (0, 16, 32, 48):
                total += ((raw >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.int64)
        found[start : start + BLOCK] = (2 * total - PIECES * 0xFFFF) / (2.0 * deviation)
    return found


def checkerboard(features: int, _: Generator) -> Draw:
    """Return a 4 x 4 checkerboard in the first two features: hard for a linear method, a smooth task for a kernel.

    Points are uniform in [-1, 1]^n. Further features are noise a tenth as wide.
    """

    def draw(rows: int, noise: float, rng: Generator) -> Drawn:
        X = rng.uniform(-1.0, 1.0, (rows, features))
        squares = np.floor((X[:, :2] + 1.0) * 2.0).astype(int)
        X[:, 2:] *= 0.1
        labels = np.where(squares.sum(axis=1) % 2 == 0, 1.0, -1.0)
        return X, np.where(rng.random(rows) < noise, -labels, labels)

    return draw


def mixture(
    normal: Callable[..., Any], below: Callable[..., Any], flips: Callable[..., Any]
) -> Callable[[int, Generator], Draw]:
    """Return two classes, each a mixture of four overlapping Gaussians: dense, never separable.

    The expected distance between two centres is 4 standard deviations in any dimension. From 28 features on the best
    possible accuracy is 90 to 95%, less in few dimensions; it needs a curved boundary.
    """

    def population(features: int, rng: Generator) -> Draw:
        centres = normal(rng, 8, features) * (4.0 / np.sqrt(2.0 * features))

        def draw(rows: int, noise: float, rng: Generator) -> Drawn:
            centre = below(rng, rows, 8)
            X = normal(rng, rows, features)
            X += centres[centre]
            labels = np.where(centre < 4, 1.0, -1.0)
            return X, np.where(flips(rng, rows, noise), -labels, labels)

        return draw

    return population


def documents(
    row: NDArray[np.int64], word: NDArray[np.int64], shape: tuple[int, int], values: Callable[..., Any]
) -> csr_array:
    """Return documents, rows of norm 1, from the row and the word of each occurrence; ``values(word, count)``."""
    rows, features = shape
    cell, count = np.unique(row * features + word, return_counts=True)
    row, word = np.divmod(cell, features)
    value = values(word, count)
    data = value / np.sqrt(np.bincount(row, value**2, rows))[row]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
    return csr_array((data, word.astype(np.int32), indptr.astype(np.int32)), shape=shape)


def sparse_text(features: int, rng: Generator) -> Draw:
    """Return short documents over a large vocabulary: the shape of rcv1.

    Every document has one of 100 topics, and a topic its class. Three words in five come from the common vocabulary,
    whose frequencies fall as 1/rank, the rest from the topic's own preferences. Values are
    (1 + log count) log(1 + rank), as tf-idf gives; rows have norm 1. The classes are linearly separable but for noise
    and documents too short to tell.
    """
    weights = 1.0 / np.arange(1, features + 1)
    cumulative = np.cumsum(weights) / weights.sum()
    shift = rng.integers(0, features, TOPICS)
    topic_labels = np.where(rng.permutation(TOPICS) % 2 == 0, 1.0, -1.0)
    rarity = np.log1p(np.arange(1, features + 1))

    def draw(rows: int, noise: float, rng: Generator) -> Drawn:
        topic = rng.integers(0, TOPICS, rows)
        mean = np.log(WORDS) - LENGTH_DEVIATION**2 / 2
        lengths = np.maximum(1, rng.lognormal(mean, LENGTH_DEVIATION, rows).astype(np.int64))
        row = np.repeat(np.arange(rows), lengths)
        rank = np.minimum(np.searchsorted(cumulative, rng.random(len(row)), side="right"), features - 1)
        word = np.where(rng.random(len(row)) >= 0.6, (rank + shift[topic[row]]) % features, rank)
        X = documents(row, word, (rows, features), lambda word, count: (1.0 + np.log(count)) * rarity[word])
        labels = topic_labels[topic]
        return X, np.where(rng.random(rows) < noise, -labels, labels)

    return draw


def overlapping_text(features: int, rng: Generator) -> Draw:
    """Return documents that no machine separates: topics overlap, labels are noisy, equal rows have other labels.

    A document has one of 100 topics, which is its class's, and a second one of any class. Half of its words come from
    the common vocabulary, whose frequencies fall as 1 / rank, three in ten from its own topic and two in ten from the
    second. Every other document is, with probability a half, a copy of the one before it; each copy's label is flipped
    by itself. With a tenth of the labels flipped, 4.5 % of the rows are on the wrong side of any machine.
    """
    cumulative = np.cumsum(10**12 // np.arange(1, features + 1))
    shift = whole_below(rng, TOPICS, features)
    # a word's weight grows as the logarithm of its rank, in whole numbers: 1 for the first, 16 for the last
    weight = np.frexp(np.arange(1, features + 1))[1].astype(np.int64)

    def draw(rows: int, noise: float, rng: Generator) -> Drawn:
        topic, second = whole_below(rng, rows, TOPICS), whole_below(rng, rows, TOPICS)
        lengths = LENGTHS[0] + whole_below(rng, rows, LENGTHS[1] - LENGTHS[0] + 1)
        origin = np.arange(rows) - (chance(rng, rows, 0.5) & (np.arange(rows) % 2 == 1))
        labels = np.where(topic[origin] % 2 == 0, 1.0, -1.0)
        labels[chance(rng, rows, noise)] *= -1
        row = np.repeat(np.arange(rows), lengths)
        rank = np.searchsorted(cumulative, whole_below(rng, len(row), int(cumulative[-1])), side="right")
        tenth = whole_below(rng, len(row), 10)
        source = np.where(tenth < 8, topic[row], second[row])
        word = np.where(tenth < 5, rank, (rank + shift[source]) % features)
        X = documents(row, word, (rows, features), lambda word, count: count * weight[word])
        return csr_array(X[origin]), labels

    return draw


KINDS = {
    "checkerboard": Kind(10_000, 2, 0.02, 2, 0, checkerboard),
    "gaussians": Kind(
        *(20_000, 28, 0.0, 1, 0),
        mixture(
            lambda rng, rows, columns: rng.normal(size=(rows, columns)),
            lambda rng, count, limit: rng.integers(0, limit, count),
            lambda rng, count, probability: rng.random(count) < probability,
        ),
    ),
    "clusters": Kind(20_000, 28, 0.05, 1, 0, mixture(bell_shaped, whole_below, chance)),
    "sparse-text": Kind(20_242, 47_236, 0.02, 10, WORDS, sparse_text),
    "overlapping-text": Kind(20_242, 47_236, 0.1, 10, LENGTHS[1], overlapping_text),
}


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
    usual, given = KINDS[kind], dict(parse_qsl(query, keep_blank_values=True))
    keys = {"rows": usual.rows, "features": usual.features, "noise": usual.noise, "test": 0, "seed": seed}
    try:
        made = msgspec.convert({**keys, **given, "kind": kind}, SyntheticSpec, strict=False)
    except msgspec.ValidationError as error:
        said = str(error).replace(" - at `$.", ", `")
        raise UsageError(f"{name}: {said}; known: rows, features, test, noise, seed") from None
    if made.features < usual.least:
        raise UsageError(f"{name}: {kind} has at least {usual.least} features")
    return made if "test" in given else msgspec.structs.replace(made, test=made.rows // 4)


def table(made: SyntheticSpec, *, part: int = TRAIN) -> LabelledRows:
    """Return all rows of a part; `DataError` if they do not fit in the available memory."""
    rows, kind = made.rows if part == TRAIN else made.test, KINDS[made.kind]
    row = ROW + 2 * (ENTRY * kind.stored or 8 * made.features)  # parts and the whole
    require(rows * row + 64 * made.features, made.name, "ask for fewer rows or features", DataError)
    draw = kind.population(made.features, np.random.default_rng([made.seed, 0]))
    parts, labels = [], []
    for cell, first in enumerate(range(0, rows, CELL)):
        X, drawn = draw(CELL, made.noise, np.random.default_rng([made.seed, part, cell]))
        parts.append(X[: rows - first])
        labels.append(drawn[: rows - first])
    X = stacked(parts)
    if isinstance(X, csr_array):
        X = canonical_csr(X.data, X.indices, X.indptr, made.features)
    return LabelledRows(X, np.concatenate(labels))


def load(name: str, *, seed: int = 0, scale: str | None = None) -> Dataset:
    """Return a synthetic data set, not scaled; its fingerprint is a digest of the values and of ``scale``."""
    made, how = parse_spec(name, seed=seed), scale or "none"
    train = table(made)
    test = table(made, part=TEST) if made.test else None
    if len(np.unique(train.labels)) < 2:
        raise UsageError(f"{made.name}: so few rows hold one class only; ask for more")
    digest = hashlib.sha256(b"" if how == "none" else how.encode())
    for part in (train, test) if test else (train,):
        X = part.X
        for array in (*((X,) if isinstance(X, np.ndarray) else (X.indptr, X.indices, X.data)), part.labels):
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return Dataset(made.name, train, test, ("1", "-1"), digest.hexdigest(), "synthetic", how)
