"""Rows and labels as LIBSVM's text: a blank after every token, as in LIBSVM's own files."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwsvm._mapped import slices
from fwsvm.data import labels as label_rules
from fwsvm.errors import DataError
from fwsvm.files.atomic import replacing, shortest

BLOCK_ENTRIES = 1 << 16  # entries formatted at a time
SEPARATORS = (":", ",", "#")


def write(path: str | Path, X: NDArray[np.float64] | csr_array, labels: NDArray[np.generic]) -> None:
    """Write rows so that `read` returns the same doubles, in the fewest digits that do.

    Parameters
    ----------
    path : str or Path
        Plain text, whatever its name; it appears complete or not at all.
    X : ndarray or csr_array, shape (m, n)
        Indices start at 1; zeros are not written, so the reader learns n only from the last column in use.
    labels : ndarray, shape (m,)
        Numbers or names.

    Raises
    ------
    DataError
        A value is not finite, or a label cannot be told from the row's entries or is not printable.
    WriteError
        The file cannot be written.
    """
    with replacing(path) as stream:
        for lines in text_blocks(X, [label_rules.label_text(label) for label in labels.tolist()]):
            stream.write(lines)


def text_blocks(
    X: NDArray[np.float64] | csr_array, names: list[str], number: Callable[[float], str] = shortest
) -> Iterator[str]:
    """Yield the text of consecutive rows, about ``BLOCK`` entries at a time.

    ``names`` are the labels as they are to be written, ``number`` turns a value into text.
    """
    for name in set(names):
        if name.split() != [name] or name == "nan" or any(mark in name for mark in SEPARATORS):
            raise DataError(f"label '{name}' cannot be written: a label is one word without ':', ',' and '#'")
    for some in slices(X.shape[0], X.nnz if isinstance(X, csr_array) else X.size, BLOCK_ENTRIES):
        part = csr_array(X[some])
        if not np.isfinite(part.data).all():
            raise DataError(
                f"a value in rows {some.start + 1} to {some.stop} is not finite and cannot be written"
            )
        yield _text(part, names[some], number)


def _text(part: csr_array, names: list[str], number: Callable[[float], str]) -> str:
    """Return the lines of a block of rows; each distinct number is formatted once."""
    part.eliminate_zeros()
    distinct, which = np.unique(part.data, return_inverse=True)
    words = [number(value) for value in distinct.tolist()]
    entries = [f"{j + 1}:{words[k]} " for j, k in zip(part.indices.tolist(), which.tolist(), strict=True)]
    bounds = part.indptr.tolist()
    return "".join(
        f"{name} {''.join(entries[a:b])}\n" for name, a, b in zip(names, bounds, bounds[1:], strict=False)
    )
