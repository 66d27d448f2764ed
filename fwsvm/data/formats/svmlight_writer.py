"""Rows and labels as LIBSVM's text: a blank after every token, as in LIBSVM's own files."""

import functools
from collections.abc import Callable, Iterator

import numpy as np
import scipy

from fwsvm._mapped import RowMatrix, slices
from fwsvm.errors import DataError
from fwsvm.files.atomic import shortest

BLOCK_ENTRIES = 1 << 16  # entries formatted at a time
SEPARATORS = (":", ",", "#")


def text_blocks(X: RowMatrix, names: list[str], number: Callable[[float], str] = shortest) -> Iterator[str]:
    """Yield the text of consecutive rows, about `BLOCK_ENTRIES` entries at a time.

    ``names`` are the labels as they are to be written, ``number`` turns a value into text.
    """
    for name in set(names):
        if name.split() != [name] or name == "nan" or any(mark in name for mark in SEPARATORS):
            raise DataError(f"label '{name}' cannot be written: a label is one word without ':', ',' and '#'")
    text_of = functools.lru_cache(BLOCK_ENTRIES)(number)  # many files have few different numbers
    for some in slices(X.shape[0], X.size if isinstance(X, np.ndarray) else X.nnz, BLOCK_ENTRIES):
        part = scipy.sparse.csr_array(X[some])
        if not np.isfinite(part.data).all():
            raise DataError(
                f"a value in rows {some.start + 1} to {some.stop} is not finite and cannot be written"
            )
        part.eliminate_zeros()
        words = map(text_of, part.data.tolist())
        entries = [f"{j}:{word} " for j, word in zip((part.indices + 1).tolist(), words, strict=True)]
        rows = zip(names[some], part.indptr.tolist(), part.indptr[1:].tolist(), strict=False)
        yield "".join(f"{name} {''.join(entries[first:last])}\n" for name, first, last in rows)
