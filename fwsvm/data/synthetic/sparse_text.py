"""Short documents over a large vocabulary: the shape of rcv1 (20,242 x 47,236, near 74 words a row).

Every document has one of 100 topics, and a topic its class. Three words in five come from the common
vocabulary, whose frequencies fall as 1/rank (Zipf), the rest from the topic's own preferences, a Zipf law
over shuffled words. Values are (1 + log count) log(1 + rank), as tf-idf gives for such frequencies; rows
have norm 1. The topics make the classes linearly separable but for ``noise`` and documents too short to tell.
"""

import numpy as np
from scipy.sparse import csr_array

TOPICS = 100
COMMON = 0.6
WORDS = 88  # a document's mean length, giving near 74 different words
SPREAD = 0.65  # of the logarithm of the length
EXPONENT = 1.0


class Population:
    """Vocabulary and topics; ``noise`` of the labels are flipped."""

    ROWS = 20_242
    FEATURES = 47_236
    NOISE = 0.02
    LEAST = 10
    STORED = WORDS

    def __init__(self, features: int, noise: float, rng: np.random.Generator) -> None:
        self.features = features
        self.noise = noise
        weights = 1.0 / np.arange(1, features + 1) ** EXPONENT
        self.cumulative = np.cumsum(weights) / weights.sum()
        self.shift = rng.integers(0, features, TOPICS)
        self.labels = np.where(rng.permutation(TOPICS) % 2 == 0, 1.0, -1.0)
        self.value = np.log1p(np.arange(1, features + 1))

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[csr_array, np.ndarray]:
        """Return rows in CSR, shape (rows, features), and labels -1 or +1."""
        topic = rng.integers(0, TOPICS, rows)
        lengths = np.maximum(1, rng.lognormal(np.log(WORDS) - SPREAD**2 / 2, SPREAD, rows).astype(np.int64))
        row = np.repeat(np.arange(rows), lengths)
        rank = np.searchsorted(self.cumulative, rng.random(len(row)), side="right")
        rank = np.minimum(rank, self.features - 1)
        own = rng.random(len(row)) >= COMMON
        word = np.where(own, (rank + self.shift[topic[row]]) % self.features, rank)
        cell, count = np.unique(row * self.features + word, return_counts=True)
        row, word = np.divmod(cell, self.features)
        data = (1.0 + np.log(count)) * self.value[word]
        data /= np.sqrt(np.bincount(row, data**2, rows))[row]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))]).astype(np.int32)
        labels = self.labels[topic]
        labels[rng.random(rows) < self.noise] *= -1
        return csr_array((data, word.astype(np.int32), indptr), shape=(rows, self.features)), labels
