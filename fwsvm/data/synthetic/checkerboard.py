"""A 4 x 4 checkerboard in the first two features: hard for a linear method, a smooth task for a kernel.

Points are uniform in [-1, 1]^n; the colour of the square in the first two coordinates is the label. Further
features are noise a tenth as wide, as a user's irrelevant columns after scaling by variance would be.
"""

import numpy as np

SQUARES = 4


class Population:
    """The board; ``noise`` of the labels are flipped."""

    ROWS = 10_000
    FEATURES = 2
    NOISE = 0.02
    LEAST = 2
    STORED = None

    def __init__(self, features: int, noise: float, rng: np.random.Generator) -> None:  # noqa: ARG002
        self.features = features
        self.noise = noise

    def draw(self, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return rows, shape (rows, features), and labels -1 or +1."""
        X = rng.uniform(-1.0, 1.0, (rows, self.features))
        squares = np.floor((X[:, :2] + 1.0) * (SQUARES / 2)).astype(int)
        X[:, 2:] *= 0.1
        labels = np.where(squares.sum(axis=1) % 2 == 0, 1.0, -1.0)
        labels[rng.random(rows) < self.noise] *= -1
        return X, labels
