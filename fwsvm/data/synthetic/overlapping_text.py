"""Documents that no machine separates: topics overlap, labels are noisy, and equal documents have other labels.

The shape and density of rcv1 (20,242 x 47,236, near 74 words a row). A document has one of 100 topics, which is its
class's, and a second one of any class. Half of its words come from the common vocabulary, whose frequencies fall as
1 / rank, three in ten from its own topic and two in ten from the second. Every other document is, with probability a
half, a copy of the one before it, as agencies send reports again; each copy's label is flipped by itself. With a tenth
of the labels flipped, 4.5 % of the rows are therefore on the wrong side of any machine, of whatever kernel.

These numbers were written down before any method was run on the data. All of it is made of whole numbers but for the
last step, a quotient by a square root, so that it has the same bits everywhere.
"""

import numpy as np
from scipy.sparse import csr_array

from fwsvm.data.synthetic.raw_bits import chance, whole_below

TOPICS = 100
OF_TEN = (5, 3, 2)  # words: common, of the own topic, of the second one
LENGTHS = 24, 146  # words of a document, all lengths alike likely: near 74 different ones
COPIED = 0.5  # of every other document
_SCALE = 10**12


class Population:
    """Vocabulary and topics; ``noise`` of the labels are flipped, each copy's by itself."""

    ROWS = 20_242
    FEATURES = 47_236
    NOISE = 0.1
    LEAST = 10
    STORED = LENGTHS[1]

    def __init__(self, features: int, noise: float, rng: np.random.Generator) -> None:
        self.features = features
        self.noise = noise
        self.cumulative = np.cumsum(_SCALE // np.arange(1, features + 1))
        self.shift = whole_below(rng, TOPICS, features)
        # a word's weight grows as the logarithm of its rank, in whole numbers: 1 for the first, 16 for the last
        self.weight = np.frexp(np.arange(1, features + 1))[1].astype(np.int64)

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[csr_array, np.ndarray]:
        """Return rows in CSR, shape (rows, features), and labels -1 or +1."""
        topic, second = whole_below(rng, rows, TOPICS), whole_below(rng, rows, TOPICS)
        lengths = LENGTHS[0] + whole_below(rng, rows, LENGTHS[1] - LENGTHS[0] + 1)
        copied = chance(rng, rows, COPIED) & (np.arange(rows) % 2 == 1)
        labels = np.where(topic % 2 == 0, 1.0, -1.0)
        labels[copied] = labels[np.flatnonzero(copied) - 1]
        labels[chance(rng, rows, self.noise)] *= -1
        row = np.repeat(np.arange(rows), lengths)
        rank = np.searchsorted(
            self.cumulative, whole_below(rng, len(row), int(self.cumulative[-1])), side="right"
        )
        tenth = whole_below(rng, len(row), 10)
        of = np.where(tenth < OF_TEN[0] + OF_TEN[1], topic[row], second[row])
        word = np.where(tenth < OF_TEN[0], rank, (rank + self.shift[of]) % self.features)
        cell, count = np.unique(row * self.features + word, return_counts=True)
        row, word = np.divmod(cell, self.features)
        value = count * self.weight[word]
        data = value / np.sqrt(np.bincount(row, value**2, rows))[row]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
        X = csr_array((data, word, indptr), shape=(rows, self.features))
        origin = np.arange(rows) - copied
        return _narrow(csr_array(X[origin])), labels


def _narrow(X: csr_array) -> csr_array:
    """Return rows with indices of 32 bits."""
    arrays = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    made = csr_array(arrays, shape=X.shape)
    made.has_sorted_indices = True
    made.has_canonical_format = True
    return made
