"""Random numbers for compiled code: SplitMix64, the same bits on every system and from every version of numpy.

(Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. A numpy Generator would do, but
as an argument it costs numba twenty microseconds a call.)
"""

import numpy as np

from fwsvm.numerics.compile import njit, njit_inline


def stream(*seeds: int) -> np.ndarray:
    """Return the state of a stream of random numbers, uint64 of shape (1,), from any whole numbers >= 0."""
    return np.random.SeedSequence(seeds).generate_state(1, np.uint64)


STEP = np.uint64(0x9E3779B97F4A7C15)


@njit_inline
def next_bits(state):
    """Return 64 random bits and move the stream on."""
    state[0] += STEP
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit_inline
def below(state, n):
    """Return a random whole number of 0 ... n - 1, for n < 2^32."""
    return np.int64(((next_bits(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@njit
def uniform(state):
    """Return a random number in [0, 1) of 53 bits."""
    return (next_bits(state) >> np.uint64(11)) * (1.0 / (1 << 53))


@njit
def shuffle(order, size, state):
    """Put ``order[:size]`` in random order (Fisher and Yates), size < 2^32."""
    for k in range(size - 1, 0, -1):
        j = below(state, k + 1)
        order[k], order[j] = order[j], order[k]
