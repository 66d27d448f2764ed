"""Files in LIBSVM's format for tests."""

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from fwsvm.data.formats.svmlight import text_blocks


def write(path: str | Path, X: np.ndarray | csr_array, labels: np.ndarray) -> None:
    """Write rows so that the reader returns the same doubles."""
    Path(path).write_text("".join(text_blocks(X, labels)), "utf-8")
