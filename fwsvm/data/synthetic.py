"""Seeded synthetic data sets of any size: ``synthetic:KIND?rows=200000&features=28&seed=0``.

Rows are drawn in cells of 4,096, each from its own random stream, so that fewer rows are a prefix of more. What all
rows have in common, such as the centres of clusters, is drawn from a stream of its own.

`clusters` and `overlapping-text` use `RawStream`: ``Generator``'s normal and shuffled numbers may change between
releases of numpy, raw bits, whole numbers, single products and square roots do not. Stand-ins for data sets that are
not available are of these kinds; datasets.lock has the digests of their values.
"""

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import numpy as np
import scipy
from numpy.typing import NDArray

from fwsvm._mapped import RowMatrix, stacked
from fwsvm._memory import require
from fwsvm.data.dataset import Dataset, LabelledRows, row_ends
from fwsvm.errors import DataError, UsageError
from fwsvm.parameters import types_of, values
from fwsvm.plugins import entry_of

CELL = 4096  # rows that share a random stream; part of what defines the data
TRAIN = 1
TEST = 2
TOPICS = 100
WORDS, LENGTH_DEVIATION = 88, 0.65  # of sparse-text: mean words of a document, deviation of their logarithm
FEWEST_WORDS, MOST_WORDS = 24, 146  # of a document of overlapping-text: near 74 different ones
BLOCK = 256  # rows of normal numbers that are drawn together

Drawn = tuple[RowMatrix, NDArray[np.float64]]


class RawStream:
    """The numbers of `numpy.random.Generator` that are used here, from the raw bits of its bit generator."""

    def __init__(self, seed: list[int]) -> None:
        self._raw = np.random.PCG64(seed).random_raw

    def integers(self, low: int, high: int, size: int) -> Any:
        """Return whole numbers from low to high - 1, which are far below 2^63."""
        return low + (self._raw(size) >> np.uint64(1)).astype(np.int64) % (high - low)

    def random(self, size: int) -> Any:
        """Return multiples of 2^-32 below 1."""
        return (self._raw(size) >> np.uint64(32)) / 2.0**32

    def normal(self, size: tuple[int, int]) -> Any:
        """Return numbers of mean 0 and deviation 1: centred sums of eight whole numbers of 16 bits, scaled."""
        rows, columns = size
        raw = self._raw(2 * rows * columns).view(np.uint16)
        sums = raw.reshape(-1, 2, min(BLOCK, rows), columns, 4).sum(axis=(1, 4), dtype=np.int64)
        return (2 * sums.reshape(size) - 8 * 0xFFFF) / np.sqrt(8 * (2.0**32 - 1.0) / 3.0)


def noisy_labels(rng: Any, is_first: NDArray[np.bool_], noise: float) -> NDArray[np.float64]:
    """Return 1 for the rows of the first class and -1 for the others; a fraction ``noise`` of them is flipped."""
    return np.where(is_first != (rng.random(len(is_first)) < noise), 1.0, -1.0)


def checkerboard(rng: Any, _common: Any, rows: int, features: int, noise: float) -> Drawn:
    """Return a 4 x 4 checkerboard in the first two features: hard for a linear method, a smooth task for a kernel.

    Points are uniform in [-1, 1]^n. Further features are noise a tenth as wide.
    """
    X = rng.uniform(-1.0, 1.0, (rows, features))
    squares = np.floor((X[:, :2] + 1.0) * 2.0).astype(int)
    X[:, 2:] *= 0.1
    return X, noisy_labels(rng, squares.sum(axis=1) % 2 == 0, noise)


def clusters(rng: Any, common: Any, rows: int, features: int, noise: float) -> Drawn:
    """Return two classes, each a mixture of four overlapping Gaussians: dense, never separable.

    The expected distance between two centres is 4 standard deviations in any dimension. From 28 features on the best
    possible accuracy is 90 to 95%, less in few dimensions; it needs a curved boundary.
    """
    centres = common.normal(size=(8, features)) * (4.0 / np.sqrt(2.0 * features))
    centre = rng.integers(0, 8, rows)
    X = rng.normal(size=(rows, features))
    X += centres[centre]
    return X, noisy_labels(rng, centre < 4, noise)


def documents(lengths: Any, words: Any, weights: Any, of_count: Callable[[Any], Any]) -> Any:
    """Return documents, csr_array of rows of norm 1, from the numbers and the places of their words.

    A value is the weight of the word times ``of_count`` of its occurrences.
    """
    arrays = np.ones(len(words)), words.astype(np.int32), row_ends([lengths])
    X = scipy.sparse.csr_array(arrays, shape=(len(lengths), len(weights)))
    X.sum_duplicates()
    X.data = of_count(X.data) * weights[X.indices]
    row = np.repeat(np.arange(len(lengths)), np.diff(X.indptr))
    X.data /= np.sqrt(np.bincount(row, X.data**2))[row]
    return X


def sparse_text(rng: Any, common: Any, rows: int, features: int, noise: float) -> Drawn:
    """Return short documents over a large vocabulary: the shape of rcv1.

    Every document has one of 100 topics, and a topic its class. Three words in five come from the common vocabulary,
    whose frequencies fall as 1/rank, the rest from the topic's own preferences. Values are
    (1 + log count) log(1 + rank), as tf-idf gives; rows have norm 1. The classes are linearly separable but for noise
    and documents too short to tell.
    """
    ranks = np.arange(1, features + 1)
    cumulative = np.cumsum(1.0 / ranks) / (1.0 / ranks).sum()
    shift = common.integers(0, features, TOPICS)
    is_first = common.permutation(TOPICS) % 2 == 0
    topic = rng.integers(0, TOPICS, rows)
    mean = np.log(WORDS) - LENGTH_DEVIATION**2 / 2
    lengths = np.maximum(1, rng.lognormal(mean, LENGTH_DEVIATION, rows).astype(np.int64))
    rank = np.searchsorted(cumulative, rng.random(lengths.sum()), side="right")
    rank = np.minimum(rank, features - 1)
    of_topic = (rank + np.repeat(shift[topic], lengths)) % features
    words = np.where(rng.random(len(rank)) >= 0.6, of_topic, rank)
    X = documents(lengths, words, np.log1p(ranks), lambda count: 1.0 + np.log(count))
    return X, noisy_labels(rng, is_first[topic], noise)


def overlapping_text(rng: Any, common: Any, rows: int, features: int, noise: float) -> Drawn:
    """Return documents that no machine separates: topics overlap, labels are noisy, equal rows have other labels.

    A document has one of 100 topics, which is its class's, and a second one of any class. Half of its words come from
    the common vocabulary, whose frequencies fall as 1 / rank, three in ten from its own topic and two in ten from the
    second. Every other document is, with probability a half, a copy of the one before it; each copy's label is flipped
    by itself. With a tenth of the labels flipped, 4.5 % of the rows are on the wrong side of any machine.
    """
    ranks = np.arange(1, features + 1)
    cumulative = np.cumsum(10**12 // ranks)
    shift = common.integers(0, features, TOPICS)
    topic = rng.integers(0, TOPICS, rows)
    second = rng.integers(0, TOPICS, rows)
    lengths = rng.integers(FEWEST_WORDS, MOST_WORDS + 1, rows)
    origin = np.arange(rows) - ((rng.random(rows) < 0.5) & (np.arange(rows) % 2 == 1))
    labels = noisy_labels(rng, topic[origin] % 2 == 0, noise)
    drawn = rng.integers(0, int(cumulative[-1]), int(lengths.sum()))
    rank = np.searchsorted(cumulative, drawn, side="right")
    tenth = rng.integers(0, 10, len(drawn))
    source = np.where(tenth < 8, np.repeat(topic, lengths), np.repeat(second, lengths))
    words = np.where(tenth < 5, rank, (rank + shift[source]) % features)
    # a word's weight grows as the logarithm of its rank, in whole numbers: 1 for the first, 16 for the last
    X = documents(lengths, words, np.frexp(ranks)[1], np.asarray)
    return X[origin], labels


class Kind(NamedTuple):
    """A kind of data: default rows, features and noise, and about how many numbers a row stores (0: all).

    ``draw(rng, common, rows, features, noise)`` returns rows (m, n) and their labels -1 or +1, (m,); both generators
    are of ``stream``, and ``noise`` of the labels are flipped.
    """

    rows: int
    features: int
    noise: float
    stored: int
    stream: Callable[[list[int]], Any]
    draw: Callable[..., Drawn]


KINDS = {
    "checkerboard": Kind(10_000, 2, 0.02, 0, np.random.default_rng, checkerboard),
    "gaussians": Kind(20_000, 28, 0.0, 0, np.random.default_rng, clusters),
    "clusters": Kind(20_000, 28, 0.05, 0, RawStream, clusters),
    "sparse-text": Kind(20_242, 47_236, 0.02, WORDS, np.random.default_rng, sparse_text),
    "overlapping-text": Kind(20_242, 47_236, 0.1, MOST_WORDS, RawStream, overlapping_text),
}


class SyntheticSpec(NamedTuple):
    """A kind and its parameters; ``test`` counts test rows, ``noise`` is the fraction of labels that are flipped."""

    kind: str
    rows: int
    features: int
    test: int
    noise: float
    seed: int

    @property
    def name(self) -> str:
        """The full name, with all parameters, which `load` accepts."""
        return "synthetic:{}?rows={}&features={}&test={}&noise={:g}&seed={}".format(*self)


def parse_spec(name: str, *, seed: int = 0) -> SyntheticSpec:
    """Return the parameters of ``synthetic:KIND?key=value&...``, with defaults.

    Keys are rows, features, test (rows of a test set; a quarter of rows by default), noise, and seed.
    """
    kind, _, query = name.removeprefix("synthetic:").partition("?")
    usual = entry_of(KINDS, "generator", kind)
    usually = {"rows": usual.rows, "features": usual.features, "noise": usual.noise, "seed": seed}
    given = usually | values(name, dict(parse_qsl(query, keep_blank_values=True)), types_of(SyntheticSpec))
    made = SyntheticSpec(**{"test": given["rows"] // 4, **given, "kind": kind})
    if made.rows < 2 or made.features < 1 or min(made.test, made.seed) < 0 or not 0 <= made.noise < 0.5:
        raise UsageError(
            f"{name}: rows must be at least 2, features at least 1, test and seed at least 0, noise from 0 to below 0.5"
        )
    return made


def table(made: SyntheticSpec, *, part: int = TRAIN) -> LabelledRows:
    """Return all rows of a part; `DataError` if they do not fit in the available memory."""
    rows, n, kind = made.rows if part == TRAIN else made.test, made.features, KINDS[made.kind]
    row_bytes = 24 + 2 * (12 * kind.stored or 8 * n)  # label and places; numbers, in parts and as a whole
    require(rows * row_bytes + 64 * n, made.name, "ask for fewer rows or features", DataError)
    parts = []
    labels = []
    for first in range(0, rows, CELL):
        rng = kind.stream([made.seed, part, first // CELL])
        common = kind.stream([made.seed, 0])
        X, drawn = kind.draw(rng, common, CELL, n, made.noise)
        parts.append(X[: rows - first])
        labels.append(drawn[: rows - first])
    return LabelledRows(stacked(parts), np.concatenate(labels))


def load(name: str, *, seed: int = 0, scale: str | None = None) -> Dataset:
    """Return a synthetic data set, not scaled; its fingerprint is a digest of the values and of ``scale``."""
    made = parse_spec(name, seed=seed)
    how = scale or "none"
    train = table(made)
    test = table(made, part=TEST) if made.test else None
    if not np.ptp(train.labels):
        raise UsageError(f"{made.name}: so few rows hold one class only; ask for more")
    digest = hashlib.sha256(b"" if how == "none" else how.encode())
    for part in filter(None, (train, test)):
        X = part.X
        values = (X,) if isinstance(X, np.ndarray) else (X.indptr, X.indices, X.data)
        for array in (*values, part.labels):
            digest.update(str(array.shape).encode())
            digest.update(array.ravel())
    return Dataset(made.name, train, test, ("1", "-1"), digest.hexdigest(), "synthetic", how)
