"""What training takes beside the rows it is given, in bytes, estimated before any of it is taken.

One function a form of work; a family names its own (`Family.memory`), and `check` adds what all have in common. They
count arrays that grow with rows, numbers stored, features and classes. Kernel columns, which stay within a budget and
come as they are needed, are no part of it: `for_columns` is asked where a column cache is made.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fwsvm._mapped import is_mapped
from fwsvm._memory import require
from fwsvm._occurring import occurring
from fwsvm.kernels.dense_tiles import DENSE
from fwsvm.kernels.sparse_tiles import WIDE, left_block_bytes
from fwsvm.problems.box_qp import POINT
from fwsvm.problems.hinge import EXACT_ROWS
from fwsvm.solvers.tuning import MOST_FIRST_ROWS

if TYPE_CHECKING:
    from fwsvm.solvers.resolve import Resolved

FLOAT, FLOAT32, INDEX = 8, 4, 4
ENTRY = FLOAT + INDEX  # a stored number with its column
PART = 4096  # what is kept of a two-class problem beside its rows, its machine included
MAPPED_LINEAR_ROW = 150  # of a linear method's run and certificate, its points included
ROUNDS_ROW = 120  # of a run in chunks on mapped rows, for each of these
SIMPLEX_ROW, FACE_ROW, LINEAR_ROW, HINGE_ROW = 160, 480, 140, 200  # of a run's own arrays, for each row

LESS = "take fewer rows (fwsvm subset)"


class Size(NamedTuple):
    """Rows as solvers read them: features that no row stores are left out where most are (`fwsvm._occurring`).

    Attributes
    ----------
    rows, features : int
    stored : int, numbers that are not zero, or that a sparse array stores
    longest : int, the most that a row stores
    dense : bool, whether they are an array that holds its zeros
    mapped : bool, whether they lie in a file, of which methods that can copy no more than some rows
    """

    rows: int
    features: int
    stored: int
    longest: int
    dense: bool
    mapped: bool = False

    def part(self, rows: int) -> "Size":
        """Return the size of so many of the rows."""
        return self._replace(rows=rows, stored=-(-self.stored * rows // max(1, self.rows)))

    @property
    def is_dense(self) -> bool:
        """Whether kernel values come from rows laid out with their zeros (`fwsvm.kernels.dense_tiles`)."""
        return self.stored >= DENSE * self.rows * self.features


def size_of(X: Any) -> Size:
    """Return the size of rows (m, n), an ndarray or a csr_array."""
    m, n = X.shape
    if isinstance(X, np.ndarray):
        return Size(m, n, m * n, n, True, is_mapped(X))
    return Size(m, n, int(X.nnz), int(np.diff(X.indptr).max(initial=0)), False, is_mapped(X))


def check(X: Any, features: int, codes: np.ndarray, classes: int, resolved: "Resolved") -> None:
    """Refuse a training that does not fit in the memory available, with `UsageError`.

    ``X`` are the rows as solvers read them, (m, k), of ``features`` features; ``codes`` (m,) are class numbers.
    """
    needed = beside(X, codes, classes, resolved)
    weights = linear_machine(features, X.shape[1], classes, resolved)
    what = f"{resolved.method.name} on {X.shape[0]:,} rows of {features:,} features and {classes:,} classes"
    remedy = LESS
    if weights > needed:
        remedy = (
            "a linear method has a weight for each feature: number the features without gaps, or use a kernel method, "
            "such as swap-2o with --kernel linear, which reads only those that occur"
        )
    elif resolved.method.name in {"wolfe", "pegasos"}:
        remedy += ", or use scs, which samples"
    elif classes > 2 and pairs(len(codes), classes, resolved) > needed // 2:
        remedy = "take fewer classes"
    require(needed + weights, what, remedy)


def training(X: Any, codes: np.ndarray, classes: int, resolved: "Resolved") -> int:
    """Return what a training takes beside its rows X (m, n) and the budget for kernel columns."""
    read = occurring(X).X
    weights = linear_machine(X.shape[1], read.shape[1], classes, resolved)
    return beside(read, codes, classes, resolved) + weights


def beside(X: Any, codes: np.ndarray, classes: int, resolved: "Resolved") -> int:
    """Return what a training takes beside its rows, kernel columns and the weights of linear machines not counted."""
    whole, each = size_of(X), resolved.family.memory
    if each is None:
        return 0
    if classes == 2 or resolved.family.multiclass == "one-vs-rest":
        problems, part = 1 if classes == 2 else classes, whole
    else:
        problems = classes * (classes - 1) // 2
        part = whole.part(int(np.sort(np.bincount(codes, minlength=classes))[-2:].sum()))
        part = part._replace(mapped=False)  # a pair's rows are copied (`fwsvm.solvers.scheduler`)
    common = ENTRY * whole.stored if whole.dense and problems > 1 else 0
    at_first = 0  # a copy in double precision, while the rows for all pairs are made of it
    if whole.mapped and not resolved.family.searches:  # which reads mapped rows as they are
        common = 0
    elif whole.mapped and common and X.dtype != np.float64:
        at_first = FLOAT * whole.stored
    workers = min(problems, resolved.threads)
    return common + max(at_first, workers * each(part, resolved)) + pairs(len(codes), classes, resolved)


def pairs(rows: int, classes: int, resolved: "Resolved") -> int:
    """Return what the list of two-class problems and of their machines takes."""
    if classes == 2:
        return 0
    if resolved.family.multiclass == "one-vs-rest":
        return classes * (PART + rows)
    return classes * (classes - 1) // 2 * PART + (classes - 1) * rows * (FLOAT + 1 + FLOAT)


def linear_machine(features: int, read: int, classes: int, resolved: "Resolved") -> int:
    """Return what a linear method's weights take: a table of all features', and those read of each problem."""
    if resolved.family.multiclass != "one-vs-rest":
        return 0
    return FLOAT * (features + read) * (1 if classes == 2 else classes)


# ---------------------------------------------------------------- families


def simplex(size: Size, resolved: "Resolved") -> int:
    """Return what a run of fw, mfw, swap, swap-2o or cvm takes: rows in two precisions, q, and the certificate's.

    Of mapped rows it is vectors of all rows, and the rows of a first chunk.
    """
    if size.mapped:
        first = size.part(min(size.rows, MOST_FIRST_ROWS))._replace(mapped=False)
        return simplex(first, resolved) + ROUNDS_ROW * size.rows
    return _rows(size) + SIMPLEX_ROW * size.rows


def active_set(size: Size, resolved: "Resolved") -> int:
    """Return what newton takes until it has a factor, of which `for_factor` knows."""
    return _rows(size) + FACE_ROW * size.rows


def chunking(size: Size, resolved: "Resolved") -> int:
    """Return what chunking takes, should its last chunk be all rows; mapped ones never are."""
    if size.mapped:
        return simplex(size, resolved)
    return _rows(size) + FLOAT32 * size.stored + 2 * SIMPLEX_ROW * size.rows


def decomposition(size: Size, resolved: "Resolved") -> int:
    """Return what decomposition takes: rows in two precisions, vectors, and a working set's matrix."""
    return _rows(size) + SIMPLEX_ROW * size.rows + FLOAT * min(size.rows, resolved.rule.size) ** 2


def linear(size: Size, resolved: "Resolved") -> int:
    """Return what a run of liblinear or avsf takes: rows, points, and weights as they change and as certified."""
    if size.mapped:
        return MAPPED_LINEAR_ROW * size.rows + 4 * FLOAT * (size.features + 1)
    rows = 2 * ENTRY * size.stored if size.dense else FLOAT * size.rows
    return rows + size.rows * (POINT.itemsize + LINEAR_ROW) + 4 * FLOAT * (size.features + 1)


def for_kernel_matrix(size: Size, itemsize: int) -> int:
    """Return what wolfe takes, which keeps the kernel matrix of all rows."""
    return (
        itemsize * size.rows**2
        + _drawn(size, size.rows, itemsize)
        + _left_block(size, itemsize)
        + _hinge(size)
    )


def samples(size: Size, most: int, tested: int, itemsize: int, threads: int) -> int:
    """Return what scs takes: a sample of up to ``most`` rows, ``tested`` rows besides, and a table of rows a thread."""
    drawn = _drawn(size, most, itemsize) + _drawn(size, tested, itemsize)
    if size.is_dense:
        return drawn + itemsize * (most + tested) * size.features + _hinge(size)
    return drawn + threads * _left_block(size, itemsize) + _hinge(size)


def expansion(size: Size, pool: int, itemsize: int) -> int:
    """Return what pegasos takes at least: a pool of so many rows, drawn with replacement, however few there are."""
    return (itemsize + INDEX + ENTRY) * size.part(pool).stored + _left_block(size, itemsize) + _hinge(size)


def _rows(size: Size) -> int:
    """Return what rows take in the order of the classes and as kernel columns and gradients read them."""
    copies = (2 if size.dense else 1) * ENTRY + FLOAT32
    tables = _left_block(size, FLOAT32) + _left_block(size, FLOAT)  # of the run, and of its checks
    laid = FLOAT32 * size.rows * size.features if size.is_dense else tables
    return copies * size.stored + laid


def _left_block(size: Size, itemsize: int) -> int:
    """Return what the table of 64 rows takes that others are looked up in."""
    return left_block_bytes(size.features, WIDE * size.longest, itemsize)


def _drawn(size: Size, most: int, itemsize: int) -> int:
    """Return what drawn rows take, in arrays that double, and while they are drawn."""
    return (2 * (itemsize + INDEX) + ENTRY) * size.part(min(most, size.rows)).stored


def _hinge(size: Size) -> int:
    """Return what the vectors of a run, and its objective over all rows or over a sample of them, take."""
    looked_at = min(size.rows, EXACT_ROWS)
    copies = 2 * ENTRY * size.part(looked_at).stored if size.dense else 0
    return HINGE_ROW * looked_at + copies + (0 if size.is_dense else _left_block(size, FLOAT))


# ---------------------------------------------------------------- asked where they are taken


def for_columns(resolved: "Resolved", rows: int, dtype: Any, *, held: int = 0) -> None:
    """Refuse a column cache for the kernel columns of ``rows`` rows that may come to take more than there is.

    ``held`` are the bytes of caches made before that serve for it.
    """
    asked = min(resolved.cache_bytes, rows**2 * np.dtype(dtype).itemsize)
    remedy = "lower --cache-mb, or use swap-2o with --search sampled"
    require(asked, f"the kernel columns of {rows:,} rows", remedy, held=held)


def factor_bytes(active: int) -> int:
    """Return the bytes of a factor of that many active rows, and of a border beside it."""
    return FLOAT * active * (active + 3 * active // 4)


def for_factor(active: int, *, held: int) -> None:
    """Refuse a factor of that many active rows, and a border beside it; ``held`` bytes of room are there already."""
    require(
        factor_bytes(active),
        f"newton's factor of {active:,} active rows",
        "use swap-2o, which has no factor",
        held=held,
    )
