"""Rows that lie in a mapped file: found by what their numbers are views of, and let go of once they were read.

The system reads the pages of a mapped file as they are touched, and counts them as this process's memory until it is
told that they are no longer needed. They then stay in the system's cache of files as long as nobody wants the room.
Who passes over mapped rows goes through `blocks`; who picks some of them does so within `at_random`.

Pages of a private mapping that were written to would be forgotten with what was written. Such mappings are let go of
only where nobody writes to them (`never_written`); those for reading alone, or shared with their file, always are.
"""

import contextlib
import mmap
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from fwsvm._stretches import stretches

#: Rows (m, n): all that reads, scales, trains and predicts takes them dense or sparse.
RowMatrix: TypeAlias = np.ndarray | sparse.csr_array

#: Bytes of mapped numbers from which rows stay in their file. A number of its own, and not a share of what memory is
#: free: results of a machine do not depend on what else it does.
LARGE = 1 << 30
_TAKEN_FOR_LARGE: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
_NEVER_WRITTEN: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
#: Rows that are picked before the memory of their pages is given back: the system maps 64 KiB around each page.
PICKED = 1024
MANY = 10  # of so many rows more than one is picked: the file is read from front to end

_CAN_LET_GO = hasattr(mmap, "MADV_DONTNEED")  # Linux, macOS; elsewhere the system decides alone


def mapping_of(array: np.ndarray) -> mmap.mmap | None:
    """Return the mapping that an array's numbers lie in, or None."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):  # of `numpy.frombuffer`
        base = base.obj
    return base if isinstance(base, mmap.mmap) else None


def never_written(array: np.ndarray) -> np.ndarray:
    """Return an array of a copy-on-write mapping, read-only: an edit of it raises ValueError."""
    if (found := mapping_of(array)) is not None:
        _NEVER_WRITTEN.add(found)
        array = array.view()
        array.flags.writeable = False
    return array


def for_compiled(array: np.ndarray) -> np.ndarray:
    """Return a view of a read-only array with the flag of a writable one, where its mapping allows it.

    numba compiles a function anew for read-only arrays. Compiled code does not write to rows.
    """
    if not array.flags.writeable and mapping_of(array) in _NEVER_WRITTEN:
        array = array.view()
        array.flags.writeable = True
    return array


def is_constant(mapping: mmap.mmap) -> bool:
    """Whether nobody writes through a mapping."""
    with memoryview(mapping) as view:
        return view.readonly or mapping in _NEVER_WRITTEN


def _is_shared(array: np.ndarray) -> bool:
    """Whether what is written to an array's mapping is written to its file, whose pages then hold it."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and base.mode in {"r+", "w+"}:
            return True
        base = base.base
    return False


def is_mapped(X: Any) -> bool:
    """Whether rows, an ndarray or a csr_array, lie in a mapped file and are so many that they are to stay there.

    Smaller mapped rows are taken for rows in memory, where the system soon has all of them.
    """
    for array in _arrays(X)[:1]:
        if (found := mapping_of(array)) is not None:
            return array.nbytes >= LARGE or found in _TAKEN_FOR_LARGE
    return False


def taken_for_large(array: np.ndarray) -> np.ndarray:
    """Return a copy of an array, which is mapped however small it is: what is compiled for such rows is tried on it."""
    found = mmap.mmap(-1, max(1, array.nbytes))
    _TAKEN_FOR_LARGE.add(found)
    _NEVER_WRITTEN.add(found)  # written below alone: it is shared memory, which keeps what is written
    copy = np.frombuffer(found, array.dtype, array.size).reshape(array.shape)
    copy[...] = array
    return copy


def blocks(X: RowMatrix, numbers: int | None = None) -> Iterator[slice]:
    """Yield slices of some rows each, of about so many numbers, all in order; each is let go of before the next.

    Use no view of its rows after that.
    """
    for some in stretches(X.shape[0], X.nnz if isinstance(X, sparse.csr_array) else X.size, numbers):
        yield some
        let_go(X, some)
    let_go(X)  # the system maps more around a page that is touched


def in_memory(X: RowMatrix, some: slice) -> RowMatrix:
    """Return a copy of some rows in double precision."""
    rows: Any = X[some].astype(np.float64)
    if isinstance(X, sparse.csr_array):
        rows.has_sorted_indices, rows.has_canonical_format = X.has_sorted_indices, X.has_canonical_format
    return rows


def let_go(X: RowMatrix, some: slice | None = None) -> None:
    """Let the system take back the memory of mapped rows, all or a slice of them; others stay where they are.

    So do rows of a private mapping that somebody may have written to, which the system cannot read again.

    Of an array of one dimension the slice is one of its numbers.
    """
    for array in _arrays(X):
        if (found := mapping_of(array)) is None or not array.size:
            continue
        first, last = 0, len(array)
        if some is not None:
            first, last = some.start, some.stop
            if not isinstance(X, np.ndarray):
                first, last = X.indptr[[first, last]].tolist()
        _let_go_of(found, array[first:last])


@contextlib.contextmanager
def at_random(X: Any) -> Iterator[None]:
    """Have the system read single pages of mapped rows, not what stands beside them; afterwards let go of them."""
    found = [m for array in _arrays(X) if (m := mapping_of(array)) is not None] if _CAN_LET_GO else []
    for each in found:
        each.madvise(mmap.MADV_RANDOM)
    try:
        yield
    finally:
        for each in found:
            each.madvise(mmap.MADV_NORMAL)
        if found:
            let_go(X)


def picked(X: RowMatrix, which: np.ndarray) -> RowMatrix:
    """Return copies of the rows ``which`` (row numbers), in that order, of rows in memory or mapped."""
    if not is_mapped(X):
        return X[which]
    if which.dtype == bool and MANY * np.count_nonzero(which) > len(which):
        parts = [X[some][which[some]] for some in blocks(X)]
        return stacked(parts)
    if which.dtype == bool:
        which = np.flatnonzero(which)
    parts = []
    for first in range(0, max(1, len(which)), PICKED):
        with at_random(X):
            parts.append(X[which[first : first + PICKED]])
    return stacked(parts)


def stacked(parts: Sequence[RowMatrix]) -> RowMatrix:
    """Return the rows of all parts in order, sparse where any part is."""
    if len(parts) == 1:
        return parts[0]
    if any(map(sparse.issparse, parts)):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(part) for part in parts], format="csr"))
    return np.concatenate(parts)


def _arrays(X: Any) -> list[np.ndarray]:
    """Return the arrays of which rows consist, that are as long as their numbers."""
    if isinstance(X, np.ndarray):
        return [X]
    return [X.data, X.indices] if isinstance(X, sparse.csr_array) else []


def _let_go_of(found: mmap.mmap, array: np.ndarray) -> None:
    if not _CAN_LET_GO or not array.size or not (is_constant(found) or _is_shared(array)):
        return
    begins = np.frombuffer(found, np.uint8, 1).__array_interface__["data"][0]
    at = array.__array_interface__["data"][0] - begins
    page = mmap.PAGESIZE
    start, end = at // page * page, min(len(found), -(-(at + array.nbytes) // page) * page)
    found.madvise(mmap.MADV_DONTNEED, start, end - start)
