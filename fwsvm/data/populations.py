"""What rows of synthetic data sets are drawn from: one class a kind.

Some kinds take random numbers from a bit generator's raw stream by whole numbers: ``Generator``'s normal and shuffled
numbers may change between releases of numpy, and their last bits between libraries of mathematics. Raw bits, whole
numbers, single products and square roots do not. Stand-ins for data sets that are not available are of these kinds;
datasets.lock has the digests of their values.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix

CENTRES = 4  # of clusters, a class
DISTANCE = 4.0  # expected between two centres, in standard deviations
SQUARES = 4  # of a side of the checkerboard
TOPICS = 100

#: Answers to each of UCI Adult's questions as LIBSVM's a1a-a9a code them; they sum to 123.
ANSWERS = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)
POSITIVE = 0.24
LEANING = 0.6  # correlation of an answer with the hidden quantity
DOUBT = 0.6  # standard deviation of the label's noise; the effects' sum has 1

#: Of sparse-text: common words, mean length (near 74 different words), deviation of the logarithm of the length.
COMMON, WORDS, SPREAD = 0.6, 88, 0.65
OF_TEN = (5, 3, 2)  # words of overlapping-text: common, of the own topic, of the second one
LENGTHS = 24, 146  # words of a document of overlapping-text: near 74 different ones
COPIED = 0.5  # of every other document
_SCALE = 10**12
CENSUS_SAMPLE = 65536  # rows from which the threshold of adult-like is found

#: Sixteen-bit pieces that a bell-shaped number is the sum of: its kurtosis is 3 - 1.2 / PIECES.
PIECES = 8
_BLOCK = 256  # rows: memory is that of so many
_DEVIATION = np.sqrt(PIECES * (2.0**32 - 1.0) / 12.0)

Drawn = tuple[RowMatrix, NDArray[np.float64]]


def whole_below(rng: np.random.Generator, count: int, limit: int) -> NDArray[np.int64]:
    """Return ``count`` whole numbers from 0 to limit - 1, for a limit far below 2^63."""
    found: NDArray[np.int64] = (
        (rng.bit_generator.random_raw(count) >> np.uint64(1)) % np.uint64(limit)
    ).astype(np.int64)
    return found


def chance(rng: np.random.Generator, count: int, probability: float) -> NDArray[np.bool_]:
    """Return ``count`` truths that are true with a probability, a multiple of 2^-32."""
    found: NDArray[np.bool_] = rng.bit_generator.random_raw(count) >> np.uint64(32) < np.uint64(
        round(probability * 2**32)
    )
    return found


def bell_shaped(rng: np.random.Generator, rows: int, columns: int) -> NDArray[np.float64]:
    """Return numbers (rows, columns) of mean 0 and deviation 1: centred sums of `PIECES` whole numbers, scaled."""
    found = np.empty((rows, columns))
    for start in range(0, rows, _BLOCK):
        stop = min(start + _BLOCK, rows)
        total = np.zeros((stop - start, columns), np.int64)
        for _ in range(PIECES // 4):
            raw = rng.bit_generator.random_raw((stop - start) * columns).reshape(total.shape)
            for shift in (0, 16, 32, 48):
                total += ((raw >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.int64)
        found[start:stop] = (2 * total - PIECES * 0xFFFF) / (2.0 * _DEVIATION)
    return found


class Population:
    """A population that rows are drawn from.

    ``SHAPE`` are the default rows and features, ``NOISE`` the default noise, ``LEAST`` the minimum number of features,
    ``STORED`` about how many numbers a row stores, None for all.
    """

    SHAPE: ClassVar[tuple[int, int]] = (20_000, 28)
    NOISE: ClassVar[float] = 0.0
    LEAST: ClassVar[int] = 1
    STORED: ClassVar[int | None] = None

    def __init__(self, features: int, rng: np.random.Generator) -> None:  # noqa: ARG002
        self.features = features

    def draw(self, rows: int, noise: float, rng: np.random.Generator) -> Drawn:
        """Return rows, shape (rows, features), and labels -1 or +1, (rows,), of which ``noise`` are flipped."""
        X, labels = self.rows(rows, rng)
        labels[self.chance(rng, rows, noise)] *= -1
        return X, labels

    def rows(self, rows: int, rng: np.random.Generator) -> Drawn:
        """Return rows and their labels before any is flipped."""
        raise NotImplementedError

    def chance(self, rng: np.random.Generator, count: int, probability: float) -> NDArray[np.bool_]:
        """Return ``count`` booleans that are True with a probability."""
        return rng.random(count) < probability


class Checkerboard(Population):
    """A 4 x 4 checkerboard in the first two features: hard for a linear method, a smooth task for a kernel.

    Points are uniform in [-1, 1]^n; the colour of the square in the first two coordinates is the label. Further
    features are noise a tenth as wide, as a user's irrelevant columns after scaling by variance would be.
    """

    SHAPE = (10_000, 2)
    NOISE = 0.02
    LEAST = 2

    def rows(self, rows: int, rng: np.random.Generator) -> Drawn:
        """As of `Population`."""
        X = rng.uniform(-1.0, 1.0, (rows, self.features))
        squares = np.floor((X[:, :2] + 1.0) * (SQUARES / 2)).astype(int)
        X[:, 2:] *= 0.1
        return X, np.where(squares.sum(axis=1) % 2 == 0, 1.0, -1.0)


class Gaussians(Population):
    """Two classes, each a mixture of four overlapping Gaussians: like the physics sets, dense, never separable.

    Centres are drawn so that the expected distance between two of them is 4 standard deviations in any dimension.
    From 28 features on the best possible accuracy is 90 to 95% (Bayes' rule, seeds 0 to 3), less in few
    dimensions, where centres meet by chance; it needs a curved boundary.
    """

    def __init__(self, features: int, rng: np.random.Generator) -> None:
        super().__init__(features, rng)
        self.centres = self.normal(rng, 2 * CENTRES, features) * (DISTANCE / np.sqrt(2.0 * features))

    def rows(self, rows: int, rng: np.random.Generator) -> Drawn:
        """As of `Population`."""
        centre = self.below(rng, rows, 2 * CENTRES)
        X = self.normal(rng, rows, self.features)
        X += self.centres[centre]
        return X, np.where(centre < CENTRES, 1.0, -1.0)

    def normal(self, rng: np.random.Generator, rows: int, columns: int) -> NDArray[np.float64]:
        """Return numbers (rows, columns) of mean 0 and deviation 1."""
        return rng.normal(size=(rows, columns))

    def below(self, rng: np.random.Generator, count: int, limit: int) -> NDArray[np.int64]:
        """Return ``count`` whole numbers from 0 to limit - 1."""
        return rng.integers(0, limit, count)


class Clusters(Gaussians):
    """As `gaussians`, two classes of four overlapping clusters each, from whole numbers: the same bits everywhere."""

    NOISE = 0.05
    normal = staticmethod(bell_shaped)
    below = staticmethod(whole_below)
    chance = staticmethod(chance)


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


class SparseText(Population):
    """Short documents over a large vocabulary: the shape of rcv1 (20,242 x 47,236, near 74 words a row).

    Every document has one of 100 topics, and a topic its class. Three words in five come from the common
    vocabulary, whose frequencies fall as 1/rank (Zipf), the rest from the topic's own preferences, a Zipf law
    over shuffled words. Values are (1 + log count) log(1 + rank), as tf-idf gives for such frequencies; rows
    have norm 1. The topics make the classes linearly separable but for noise and documents too short to tell.
    """

    SHAPE = (20_242, 47_236)
    NOISE = 0.02
    LEAST = 10
    STORED = WORDS

    def __init__(self, features: int, rng: np.random.Generator) -> None:
        super().__init__(features, rng)
        weights = 1.0 / np.arange(1, features + 1)
        self.cumulative = np.cumsum(weights) / weights.sum()
        self.shift = rng.integers(0, features, TOPICS)
        self.labels = np.where(rng.permutation(TOPICS) % 2 == 0, 1.0, -1.0)
        self.value = np.log1p(np.arange(1, features + 1))

    def rows(self, rows: int, rng: np.random.Generator) -> Drawn:
        """As of `Population`."""
        topic = rng.integers(0, TOPICS, rows)
        lengths = np.maximum(1, rng.lognormal(np.log(WORDS) - SPREAD**2 / 2, SPREAD, rows).astype(np.int64))
        row = np.repeat(np.arange(rows), lengths)
        rank = np.searchsorted(self.cumulative, rng.random(len(row)), side="right")
        rank = np.minimum(rank, self.features - 1)
        own = rng.random(len(row)) >= COMMON
        word = np.where(own, (rank + self.shift[topic[row]]) % self.features, rank)
        X = documents(
            row, word, (rows, self.features), lambda word, count: (1.0 + np.log(count)) * self.value[word]
        )
        return X, self.labels[topic]


class OverlappingText(Population):
    """Documents that no machine separates: topics overlap, labels are noisy, and equal documents have other labels.

    The shape and density of rcv1 (20,242 x 47,236, near 74 words a row). A document has one of 100 topics,
    which is its class's, and a second one of any class. Half of its words come from the common vocabulary,
    whose frequencies fall as 1 / rank, three in ten from its own topic and two in ten from the second. Every
    other document is, with probability a half, a copy of the one before it, as agencies send reports again;
    each copy's label is flipped by itself. With a tenth of the labels flipped, 4.5 % of the rows are therefore
    on the wrong side of any machine, of whatever kernel.

    These numbers were written down before any method was run on the data. All of it is made of whole numbers
    but for the last step, a quotient by a square root, so that it has the same bits everywhere.
    """

    SHAPE = (20_242, 47_236)
    NOISE = 0.1
    LEAST = 10
    STORED = LENGTHS[1]

    def __init__(self, features: int, rng: np.random.Generator) -> None:
        super().__init__(features, rng)
        self.cumulative = np.cumsum(_SCALE // np.arange(1, features + 1))
        self.shift = whole_below(rng, TOPICS, features)
        # a word's weight grows as the logarithm of its rank, in whole numbers: 1 for the first, 16 for the last
        self.weight = np.frexp(np.arange(1, features + 1))[1].astype(np.int64)

    def draw(self, rows: int, noise: float, rng: np.random.Generator) -> Drawn:
        """As of `Population`."""
        topic, second = whole_below(rng, rows, TOPICS), whole_below(rng, rows, TOPICS)
        lengths = LENGTHS[0] + whole_below(rng, rows, LENGTHS[1] - LENGTHS[0] + 1)
        copied = chance(rng, rows, COPIED) & (np.arange(rows) % 2 == 1)
        origin = np.arange(rows) - copied
        labels = np.where(topic[origin] % 2 == 0, 1.0, -1.0)
        labels[chance(rng, rows, noise)] *= -1
        row = np.repeat(np.arange(rows), lengths)
        drawn = whole_below(rng, len(row), int(self.cumulative[-1]))
        rank = np.searchsorted(self.cumulative, drawn, side="right")
        tenth = whole_below(rng, len(row), 10)
        source = np.where(tenth < OF_TEN[0] + OF_TEN[1], topic[row], second[row])
        word = np.where(tenth < OF_TEN[0], rank, (rank + self.shift[source]) % self.features)
        X = documents(row, word, (rows, self.features), lambda word, count: count * self.weight[word])
        return csr_array(X[origin]), labels


class AdultLike(Population):
    """Census rows as in a9a: 14 questions with one answer each, 123 indicator features, a quarter of the rows +1.

    Answers to a question are unequally common and lean on one hidden quantity, as age, schooling and income do.
    The label is a noisy sum of the answers' effects: near 87% is the best possible accuracy, most rows near the
    boundary are support vectors, and equal rows with different labels occur, all as in the real set.
    """

    SHAPE = (32_561, 123)
    LEAST = 28
    STORED = len(ANSWERS)

    def __init__(self, features: int, rng: np.random.Generator) -> None:
        super().__init__(features, rng)
        sizes = answers(features)
        self.first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        cumulative = [np.cumsum(rng.permutation(1.0 / np.arange(1, size + 1))) for size in sizes]
        self.cumulative = [steps / steps[-1] for steps in cumulative]
        self.leaning = LEANING * rng.uniform(-1.0, 1.0, len(sizes))
        self.effect = rng.normal(size=features)
        calibration = np.random.default_rng(rng.integers(2**32))
        score = self.effect[self._answers(CENSUS_SAMPLE, calibration)].sum(axis=1)
        self.centre, self.scale = score.mean(), score.std()
        doubtful = (score - self.centre) / self.scale + DOUBT * calibration.normal(size=len(score))
        self.threshold = np.quantile(doubtful, 1 - POSITIVE)

    def _answers(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        from scipy.special import ndtr  # late: it takes as long to import as numpy

        hidden = rng.normal(size=rows)
        columns = []
        for first, cumulative, leaning in zip(self.first, self.cumulative, self.leaning, strict=True):
            place = ndtr(leaning * hidden + np.sqrt(1 - leaning**2) * rng.normal(size=rows))
            answer = np.searchsorted(cumulative, place, side="right")
            columns.append(first + np.minimum(answer, len(cumulative) - 1))
        return np.stack(columns, axis=1)

    def rows(self, rows: int, rng: np.random.Generator) -> Drawn:
        """As of `Population`."""
        found = self._answers(rows, rng)
        score = (self.effect[found].sum(axis=1) - self.centre) / self.scale
        labels = np.where(score + DOUBT * rng.normal(size=rows) > self.threshold, 1.0, -1.0)
        indptr = np.arange(0, found.size + 1, found.shape[1], dtype=np.int32)
        columns = found.ravel().astype(np.int32)
        return csr_array((np.ones(found.size), columns, indptr), shape=(rows, self.features)), labels


def answers(features: int) -> np.ndarray:
    """Share ``features`` out among the 14 questions, in proportion to Adult's, at least 2 each."""
    shares = 2 + (np.array(ANSWERS) - 2) * (features - 28) / (sum(ANSWERS) - 28)
    sizes = np.floor(shares).astype(int)
    largest_remainders = np.argsort(sizes - shares, kind="stable")[: features - sizes.sum()]
    sizes[largest_remainders] += 1
    return sizes


KINDS: dict[str, type[Population]] = {
    "checkerboard": Checkerboard,
    "gaussians": Gaussians,
    "clusters": Clusters,
    "sparse-text": SparseText,
    "overlapping-text": OverlappingText,
    "adult-like": AdultLike,
}
