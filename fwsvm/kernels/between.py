"""Kernel values between two sets of rows, all of them kept."""

from typing import Any

import numpy as np

from fwsvm.kernels.blocks import WIDE, clear, fill, lay_out, room_for_anchors
from fwsvm.kernels.kernel import own_terms
from fwsvm.kernels.rows import Rows


def values_between(
    kernel: Any, rows: Rows, first: np.ndarray, second: np.ndarray, out: np.ndarray, threads: int = 1
) -> None:
    """Write k(rows[first[i]], rows[second[j]]) to ``out[i, j]``, in the precision of ``rows``."""
    first, second = (np.ascontiguousarray(which, dtype=np.int32) for which in (first, second))
    anchors, own = room_for_anchors(rows), own_terms(kernel, rows)
    for start in range(0, len(first), WIDE):
        some = first[start : start + WIDE]
        used = lay_out(anchors, rows, own, some, WIDE)
        fill(
            kernel, anchors, WIDE, len(some), rows, own, second, len(second), out,
            np.arange(start, start + len(some)), threads,
        )  # fmt: skip
        clear(anchors, used)
