"""Training from blocks of rows that never lie in memory together, by methods that draw the rows they use.

The blocks are gone through twice: once to count rows, features, labels and spread, and once to pick the rows that the
method's random numbers name. The run is the one that the same rows in one array give.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from fwsvm._mapped import RowMatrix, stacked
from fwsvm._memory import require
from fwsvm._occurring import occurring
from fwsvm.errors import UsageError
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.kernels.limits import refuse_overflow
from fwsvm.kernels.widths import mean_squared_distance, sparse_spread
from fwsvm.numerics.threads import blas_on
from fwsvm.problems.binary import Binary, Expansion
from fwsvm.problems.hinge import EXACT_ROWS, fixed_sample
from fwsvm.problems.precomputed import is_given
from fwsvm.solvers import memory
from fwsvm.solvers.certify import Certified
from fwsvm.solvers.fit import fit
from fwsvm.solvers.gathering import Trained, gathered
from fwsvm.solvers.loop import Clock, Limits, Watch
from fwsvm.solvers.registry import method
from fwsvm.solvers.resolve import Resolved, resolve, width_rule_of
from fwsvm.solvers.result import Result
from fwsvm.solvers.settings import Settings
from fwsvm.solvers.stochastic.run import rows_drawn
from fwsvm.solvers.subproblems import Solved, Subproblems, solve, teller
from fwsvm.solvers.warm_up import compile_runs

Blocks: TypeAlias = Iterable[tuple[RowMatrix, np.ndarray]]
Encode: TypeAlias = Callable[[np.ndarray], np.ndarray]


class BlockSurvey(NamedTuple):
    """What a pass over the blocks found.

    Attributes
    ----------
    rows, features : int
    labels : ndarray, the different labels in order of first appearance
    spread : float, the mean of |x_i - x_j|^2 over i != j
    """

    rows: int
    features: int
    labels: np.ndarray
    spread: float


def survey(blocks: Blocks) -> BlockSurvey:
    """Go through the blocks once.

    Raises
    ------
    UsageError
        No block, blocks of different widths, values that are not finite, or labels that do not fit their rows.
    """
    rows, features, labels = 0, 0, []
    mean, squares = np.zeros(0), 0.0  # of x, and the sum of |x - mean|^2
    for X, y in blocks:
        if X.ndim != 2 or X.shape[0] != len(y) or (rows and X.shape[1] != features):
            raise UsageError(
                f"a block after {rows} rows has shape {X.shape} and {len(y)} labels; all blocks have the same "
                "number of features and a label a row"
            )
        if not np.isfinite(X.data if sparse.issparse(X) else X).all():
            raise UsageError(f"the block after {rows} rows holds values that are not finite numbers")
        if len(y) == 0:
            continue
        # of means: a block's, the one so far, their difference, and the next
        require(
            4 * 8 * X.shape[1], f"the mean of {X.shape[1]:,} features", "number the features without gaps"
        )
        own_mean, own_squares = _moments(X)
        if rows == 0:
            features, mean = X.shape[1], np.zeros(X.shape[1])
        total, apart = rows + len(y), own_mean - mean
        squares += own_squares + _squares(apart) * rows * len(y) / total
        mean = mean + apart * (len(y) / total)
        rows = total
        distinct, firsts = np.unique(y, return_index=True)
        labels += [label for label in distinct[np.argsort(firsts)].tolist() if label not in labels]
    if rows < 2:
        raise UsageError("the blocks hold fewer than two rows")
    return BlockSurvey(rows, features, np.array(labels), 2.0 * squares / (rows - 1))


def _moments(X: RowMatrix) -> tuple[np.ndarray, float]:
    """Return the mean row, and the sum of squared distances from it."""
    if sparse.issparse(X):
        mean = np.asarray(X.sum(axis=0)).ravel() / X.shape[0]
        return mean, X.shape[0] * sparse_spread(X, None, _squares(np.asarray(X.data)) / X.shape[0], mean)
    mean = X.mean(axis=0)
    return mean, _squares(X - mean)


def _squares(values: np.ndarray) -> float:
    """Return the sum of squares, without BLAS as in `fwsvm.kernels.widths`."""
    return float(np.sum(np.square(values)))


class Picked:
    """Rows of a larger table by their numbers there; those that were not picked must not be asked for.

    Parameters
    ----------
    rows : int, of the larger table
    numbers : ndarray of int, shape (p,), ascending
    values : array, shape (p,) or (p, n)
    """

    def __init__(self, rows: int, numbers: np.ndarray, values: RowMatrix) -> None:
        self.numbers, self.values = numbers, values
        self.shape = (rows, *values.shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def places(self, which: np.ndarray) -> np.ndarray:
        """Return where among the picked rows the rows ``which`` are; `LookupError` for one that was not picked."""
        places = np.searchsorted(self.numbers, which)
        missing = np.flatnonzero(np.take(self.numbers, places, mode="clip") != which)
        if len(missing):
            raise LookupError(f"row {which[missing[0]]} is asked for, but was not picked")
        return places

    def __getitem__(self, which: np.ndarray) -> Any:
        return self.values[self.places(which)]


def fit_blocks(
    blocks: Blocks, found: BlockSurvey, encode: Encode, classes: tuple[str, ...], settings: Settings, *,
    watch: Watch | None = None,
) -> Result:  # fmt: skip
    """Train a machine for two classes; memory is that of the rows the method draws, and of one block.

    Parameters
    ----------
    blocks : iterable of (rows, labels), the one that ``found`` is the survey of
    encode : callable, labels to class numbers, 0 and 1; 0 is +1
    classes : two labels

    Raises
    ------
    UsageError
        A method that looks at all rows; more than two classes; a width that would need all rows; weights of classes.
    """
    if len(classes) != 2:
        raise UsageError(
            f"blocks are for two classes, and these hold {len(classes)}; give the rows as one array"
        )
    if settings.class_weight is not None:
        raise UsageError("class_weight is for training on rows that are in memory together; leave it out")
    resolved = resolve_surveyed(settings, found.rows, found.spread, 0.0)
    method_draws = rows_drawn(resolved.rule, resolved, found.rows, (resolved.seed, 0))
    if found.rows <= EXACT_ROWS:
        X, codes = _pick(blocks, np.arange(found.rows), encode)
        width = getattr(resolved.kernel, "gamma", None)
        return fit(X, codes, classes, replace(settings, gamma=width, sigma2=None), watch=watch)
    numbers = np.union1d(method_draws, fixed_sample(found.rows))
    X, codes = _pick(blocks, numbers, encode)
    read = occurring(X)
    memory.check(read.X, X.shape[1], codes, len(classes), resolved)
    refuse_overflow(resolved.kernel, resolved.kernel_name, read.X)
    clock = Clock()
    rows = Picked(found.rows, numbers, read.X)
    problem = Binary(
        rows,
        Picked(found.rows, numbers, np.where(codes == 0, 1.0, -1.0)),  # type: ignore[arg-type]
        np.broadcast_to(resolved.C, found.rows),
        (resolved.seed, 0),
    )
    limits = Limits(resolved.time_limit, resolved.max_iterations)
    told = teller((), 1, resolved, clock, watch)
    with blas_on(1):
        compile_seconds = compile_runs(resolved, read.X)
        part, _ = solve(problem, np.arange(len(numbers)), 0, 1, resolved, limits, clock, told)
    machine = part.machine
    assert isinstance(machine, Expansion)  # noqa: S101  (what one-versus-one families return)
    drawn = machine._replace(rows=rows.places(machine.rows))
    part = replace(part, end=Certified(part.outcome, drawn))
    whole = Subproblems(codes, 2, resolved.family.multiclass)
    solved = Solved([part], clock.seconds)
    return gathered(Trained(X, read, codes, classes, resolved, whole, solved, compile_seconds))


def resolve_surveyed(settings: Settings, rows: int, spread: float, extreme: float) -> Resolved:
    """Resolve settings for so many rows that are not here, of a mean squared distance and a value farthest from 0.

    Raises
    ------
    UsageError
        As of `resolve`; a default width, or a kernel, that needs all rows at once.
    DataError
        As of `resolve`.
    """
    if is_given(settings.kernel):
        raise UsageError("a precomputed kernel needs all rows at once, and has no blocks; use fwsvm.train")
    chosen = method(settings.method)
    given = settings.gamma is not None or settings.sigma2 is not None
    resolved = resolve(settings if given else replace(settings, gamma=1.0), np.array([[extreme]]), rows=rows)
    if given or not hasattr(resolved.kernel, "gamma"):
        return resolved
    wanted = width_rule_of(settings)
    rule, width = kernel_family(resolved.kernel_name).width(wanted)
    if width.spread is not mean_squared_distance:
        raise UsageError(
            f"{chosen.name} from blocks: the default width of the {resolved.kernel_name} kernel "
            f"(rule {wanted}) needs all rows at once; give gamma"
        )
    return replace(resolved, kernel=resolved.kernel._replace(gamma=width.of(spread)), width_rule=rule)


def _pick(blocks: Blocks, numbers: np.ndarray, encode: Encode) -> tuple[RowMatrix, np.ndarray]:
    """Go through the blocks a second time and keep the rows ``numbers``, ascending."""
    parts, codes, first = [], [], 0
    for X, y in blocks:
        low, high = np.searchsorted(numbers, [first, first + len(y)])
        which = numbers[low:high] - first
        if len(which):
            parts.append(sparse.csr_array(X)[which] if sparse.issparse(X) else X[which])
            codes.append(encode(y[which]))
        first += len(y)
    if sum(map(len, codes)) < len(numbers):
        raise UsageError(
            "the blocks ended sooner when gone through again; give an iterable that starts anew each time, "
            "such as a list"
        )
    return stacked(parts).astype(np.float64, copy=False), np.concatenate(codes)
