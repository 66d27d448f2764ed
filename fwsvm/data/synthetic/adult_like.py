"""Census rows as in a9a: 14 questions with one answer each, 123 indicator features, a quarter of the rows +1.

Answers to a question are unequally common and lean on one hidden quantity, as age, schooling and income do.
The label is a noisy sum of the answers' effects: near 87% is the best possible accuracy, most rows near the
boundary are support vectors, and equal rows with different labels occur, all as in the real set.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr

#: Answers to each of UCI Adult's questions as LIBSVM's a1a-a9a code them; they sum to 123.
ANSWERS = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)
POSITIVE = 0.24
LEANING = 0.6  # correlation of an answer with the hidden quantity
DOUBT = 0.6  # standard deviation of the label's noise; the effects' sum has 1


class Population:
    """Questions and effects; ``noise`` of the labels are flipped, beyond the doubt there always is."""

    ROWS = 32_561
    FEATURES = 123
    NOISE = 0.0
    LEAST = 28
    STORED = len(ANSWERS)

    def __init__(self, features: int, noise: float, rng: np.random.Generator) -> None:
        self.features = features
        self.noise = noise
        sizes = answers(features)
        self.first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.cumulative = [np.cumsum(rng.permutation(1.0 / np.arange(1, size + 1))) for size in sizes]
        self.cumulative = [steps / steps[-1] for steps in self.cumulative]
        self.leaning = LEANING * rng.uniform(-1.0, 1.0, len(sizes))
        self.effect = rng.normal(size=features)
        calibration = np.random.default_rng(rng.integers(2**32))
        score = self.effect[self._answers(65536, calibration)].sum(axis=1)
        self.centre, self.scale = score.mean(), score.std()
        doubtful = (score - self.centre) / self.scale + DOUBT * calibration.normal(size=len(score))
        self.threshold = np.quantile(doubtful, 1 - POSITIVE)

    def _answers(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        hidden = rng.normal(size=rows)
        columns = []
        for first, cumulative, leaning in zip(self.first, self.cumulative, self.leaning, strict=True):
            place = ndtr(leaning * hidden + np.sqrt(1 - leaning**2) * rng.normal(size=rows))
            answer = np.searchsorted(cumulative, place, side="right")
            columns.append(first + np.minimum(answer, len(cumulative) - 1))
        return np.stack(columns, axis=1)

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[csr_array, np.ndarray]:
        """Return rows in CSR with 14 ones each, shape (rows, features), and labels -1 or +1."""
        given = self._answers(rows, rng)
        score = (self.effect[given].sum(axis=1) - self.centre) / self.scale
        labels = np.where(score + DOUBT * rng.normal(size=rows) > self.threshold, 1.0, -1.0)
        labels[rng.random(rows) < self.noise] *= -1
        indptr = np.arange(0, given.size + 1, given.shape[1], dtype=np.int32)
        columns = given.ravel().astype(np.int32)
        return csr_array((np.ones(given.size), columns, indptr), shape=(rows, self.features)), labels


def answers(features: int) -> np.ndarray:
    """Share ``features`` out among the 14 questions, in proportion to Adult's, at least 2 each."""
    shares = 2 + (np.array(ANSWERS) - 2) * (features - 28) / (sum(ANSWERS) - 28)
    sizes = np.floor(shares).astype(int)
    largest_remainders = np.argsort(sizes - shares, kind="stable")[: features - sizes.sum()]
    sizes[largest_remainders] += 1
    return sizes
