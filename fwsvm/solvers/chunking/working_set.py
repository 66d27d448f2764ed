"""Which rows matter: a chunk for the next run."""

import numpy as np

from fwsvm.solvers.tuning import CHUNK_SPARE, FIRST_CHUNK, LARGEST_CHUNK, MOST_FIRST_ROWS, SMALL_CLASS


def first_chunk(plus: int, m: int, random: np.random.Generator, share: float = FIRST_CHUNK) -> np.ndarray:
    """Return the rows of a first chunk, ascending: a share of each class; rows 0 ... plus - 1 are the class +1."""
    chunk = [
        first + random.choice(count, max(min(count, SMALL_CLASS), int(share * count)), replace=False)
        for first, count in ((0, plus), (plus, m - plus))
    ]
    return np.sort(np.concatenate(chunk))


def share_far(m: int) -> float:
    """Return the share of m rows in a first chunk where all rows are not in memory, but in a file or on workers."""
    return min(FIRST_CHUNK, MOST_FIRST_ROWS / m)


def select_rows(f: np.ndarray, alpha: np.ndarray, plus: int) -> np.ndarray:
    """Return the rows of the next chunk, ascending, or all rows.

    Parameters
    ----------
    f : ndarray, shape (m,), y_t times the decision value: rows below 1 matter
    alpha : ndarray, shape (m,); so do those with weight
    plus : int, rows 0 ... plus - 1 are the class +1; of each class there is one row at least
    """
    m = len(f)
    wanted = int(CHUNK_SPARE * np.count_nonzero((alpha > 0.0) | (f < 1.0))) + 2
    if wanted > LARGEST_CHUNK * m:
        return np.arange(m)
    order = np.where(alpha > 0.0, -np.inf, f)
    for first, last in ((0, plus), (plus, m)):
        order[first + int(order[first:last].argmin())] = -np.inf
    return np.sort(np.argpartition(order, wanted - 1)[:wanted])
