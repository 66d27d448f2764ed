"""As `gaussians`, two classes of four overlapping clusters each, from whole numbers: the same bits everywhere.

Stand-ins for data sets that are not available are of this kind; their values are pinned by a digest in datasets.lock.
"""

import numpy as np

from fwsvm.data.synthetic.raw_bits import bell_shaped, chance, whole_below

CENTRES = 4  # a class
DISTANCE = 4.0  # expected, between two centres, in standard deviations


class Population:
    """The clusters; ``noise`` of the labels are flipped."""

    ROWS = 20_000
    FEATURES = 28
    NOISE = 0.05
    LEAST = 1
    STORED = None

    def __init__(self, features: int, noise: float, rng: np.random.Generator) -> None:
        self.noise = noise
        self.centres = bell_shaped(rng, 2 * CENTRES, features) * (DISTANCE / np.sqrt(2.0 * features))

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return rows, shape (rows, features), and labels -1 or +1."""
        centre = whole_below(rng, rows, 2 * CENTRES)
        X = bell_shaped(rng, rows, self.centres.shape[1])
        X += self.centres[centre]
        labels = np.where(centre < CENTRES, 1.0, -1.0)
        labels[chance(rng, rows, self.noise)] *= -1
        return X, labels
