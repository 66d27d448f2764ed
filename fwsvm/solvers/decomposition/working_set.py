"""Which rows are the next working set."""

import numpy as np


def next_working_set(gain: np.ndarray, last: np.ndarray, size: int) -> np.ndarray:
    """Return the rows of the next working set: the later half of the last one, then those of most gain.

    Parameters
    ----------
    gain : ndarray, shape (m,), 0 where a row cannot move; the entries of rows that are kept are changed
    last : ndarray of int, the last working set, those that came in last at its end
    size : int, rows of a working set; all rows where there are no more
    """
    if size >= len(gain):
        return np.arange(len(gain))
    kept = last[len(last) - min(len(last), size // 2) :]
    gain[kept] = -1.0
    wanted = size - len(kept)
    new = np.argpartition(-gain, wanted - 1)[:wanted]
    return np.concatenate([kept, np.sort(new)])
