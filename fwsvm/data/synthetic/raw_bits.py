"""Random numbers from a bit generator's raw stream by whole numbers: the same bits everywhere.

``Generator``'s normal and shuffled numbers may change between releases of numpy, and their last bits between libraries
of mathematics; raw bits, whole numbers, single products and square roots do not.
"""

import numpy as np
from numpy.typing import NDArray

#: Sixteen-bit pieces that a bell-shaped number is the sum of: its kurtosis is 3 - 1.2 / PIECES.
PIECES = 8
_BLOCK = 256  # rows: memory is that of so many
_DEVIATION = np.sqrt(PIECES * (2.0**32 - 1.0) / 12.0)


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
