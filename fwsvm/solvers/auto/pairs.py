"""Small pairs of classes, solved together in compiled code (`fwsvm.solvers.auto.pair_solver`).

A pair without a certificate that holds goes on by a run of its own, from where it stood.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from fwsvm.kernels.dense_tiles import HEIGHT, dense_tiles
from fwsvm.kernels.distances import cancels, value_error
from fwsvm.kernels.kernel import add_product, own_terms_and_values, pair
from fwsvm.kernels.polynomial import Linear
from fwsvm.kernels.rows import as_rows, some_rows
from fwsvm.kernels.values import is_dense, kernel_matrix, most_stored, rounding_of_sums
from fwsvm.numerics.threads import scipy_linalg, together
from fwsvm.solvers.auto.pair_solver import PairRows, Solutions, solve_pairs
from fwsvm.solvers.certify import Certified, proven
from fwsvm.solvers.frank_wolfe.state import stopping_line
from fwsvm.solvers.loop import BinaryResult, Clock, Progress, Watch, next_chunk
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, WarmStart
from fwsvm.solvers.subproblems import Solved, Subproblems
from fwsvm.solvers.tuning import FIRST_VALUES, KEPT_SUMS_FROM
from fwsvm.status import Status

# of two classes alone: with more, kernel values in double precision cost more than a run of its own
FEW_ROWS = 1024


def solve_small_pairs(
    problems: Subproblems, settings: Sequence[Resolved], watch: Watch | None
) -> list[Solved]:
    """Solve the pairs of classes together for all settings, which differ in C alone; return what each came to.

    That is nothing where a pair is large, or one alone has many rows or a trace. Pairs without a certificate that holds
    have a warm start: those that took more steps than Newton steps would be cheaper than, and those that a limit cut
    short. The seconds are shared out by the steps of each setting.
    """
    resolved, clock = settings[0], Clock()
    if not _are_small(problems, settings):
        return []
    with clock.running():
        some = _pair_rows(problems, settings)
        if some is None:
            return []
        (S, pairs), threads = (len(settings), len(problems)), min(resolved.threads, len(problems))
        solutions = Solutions(
            np.zeros((S, len(problems.codes), problems.K - 1)),
            np.zeros((S, pairs)),
            np.full((S, pairs, 5), np.nan),
            *np.zeros((2, S, pairs), np.int64),
        )
        # by numpy, whose large arrays have large pages
        columns = np.empty((threads, _largest_pair(np.diff(some.starts)) ** 2))

    def work(share: np.ndarray, me: int) -> None:
        solve_pairs(some, share[me::threads].copy(), columns[me], solutions)

    order = (-problems.sizes).argsort(kind="stable")  # the largest first
    begun, interrupted = order[:0], False
    size = threads if resolved.time_limit else max(threads, FIRST_VALUES // columns.shape[1])
    try:
        while len(begun) < pairs:
            share, before = order[len(begun) :][:size], clock.seconds
            with clock.running():
                together(partial(work, share), threads)
            begun = order[: len(begun) + len(share)]
            size = max(threads, next_chunk(size, len(share), clock.seconds - before))
            if watch is not None:
                known = clock.seconds, int(solutions.steps.sum()), np.nan, np.nan
                watch(Progress(len(begun), pairs, *known, resolved.tolerance, 0))
            if clock.seconds >= (resolved.time_limit or np.inf):
                break
    except KeyboardInterrupt:
        interrupted = True
        if not len(begun):
            raise
    # the kernel values that are no pair's own
    if len(settings) == 1:
        _last.clear()
    solutions.evaluations[0, begun[0]] += some.known.sum() or some.values.size // 2
    weights, found = solutions.steps.sum(axis=1) + 1, []
    for k, weight in enumerate(weights.tolist()):
        seconds, compiling = clock.seconds * weight / weights.sum(), 0.0 if k else clock.compiling
        parts, starts = _results(problems, some, begun, Solutions(*(each[k] for each in solutions)))
        machines = solutions.coefficients[k], solutions.biases[k]
        found.append(Solved(parts, seconds, interrupted, starts, machines, compiling))
    return found


def _results(
    problems: Subproblems, some: PairRows, begun: np.ndarray, found: Solutions
) -> tuple[list[BinaryResult], dict[int, WarmStart]]:
    """Return the results of the pairs ``begun`` for a penalty, and warm starts of those whose certificate fails.

    Pairs with a certificate that holds have one result together.
    """

    def result(numbers: np.ndarray) -> BinaryResult:
        R, gap, primal, dual, rounding = found.certificates[numbers].T
        goal, steps = some.constant + some.slope * R, int(found.steps[numbers].sum())
        outcome = proven(R, gap, primal, dual, goal=goal, measured=gap + rounding)
        status = Status.CONVERGED if np.all(outcome.within) else Status.TIME_LIMIT
        counters = Counters(steps, steps, int(found.evaluations[numbers].sum()))
        return BinaryResult(numbers, begun[:0], status, counters, 0, 0.0, Certified(outcome, None), "swap-2o")

    every, starts = result(begun), dict[int, WarmStart]()
    if every.status is Status.CONVERGED:
        return [every], starts
    holds = every.certified.outcome.within
    parts = [result(begun[holds])] if np.any(holds) else []
    for number in begun[~holds].tolist():
        i, j = problems.classes[number]
        ends = found.coefficients[problems.members[i], j - 1], found.coefficients[problems.members[j], i]
        weights = np.abs(np.concatenate(ends))
        if not problems.in_pairs:  # its rows are in their own order
            weights = weights[np.concatenate([problems.members[i], problems.members[j]]).argsort()]
        total = float(weights.sum())
        if 0.0 < total < np.inf:
            parts.append(result(np.array([number])))
            starts[number] = WarmStart(weights / total)
    return parts, starts


def _are_small(problems: Subproblems, settings: Sequence[Resolved]) -> bool:
    """Return whether all problems are small pairs, with settings that the compiled loop has."""
    resolved = settings[0]
    asked = resolved.search, resolved.protocol, resolved.max_iterations, resolved.final_gap
    return (
        problems.scheme == "one-vs-one"
        and (problems.in_pairs or not resolved.traced)
        and int(problems.sizes.max()) < (resolved.rule.fewest if problems.in_pairs else FEW_ROWS)
        and asked == ("full", PROTOCOLS["default"], None, True)
        and resolved.stop != "meb"  # its goal is in parts of the largest K~_ii of each pair
        and (len(settings) == 1 or resolved.time_limit is None)
    )


def _largest_pair(widths: np.ndarray) -> int:
    """Return the places of the two widest classes."""
    return sum(sorted(widths.tolist())[-2:])


def _pair_rows(problems: Subproblems, settings: Sequence[Resolved]) -> PairRows | None:
    """Return the rows grouped by class.

    None where products are no kernel values of theirs, or the kernel values do not fit in the cache.
    """
    resolved, m = settings[0], len(problems.codes)
    rows = as_rows(problems.source.X)
    widths = -(-problems.counts // HEIGHT) * HEIGHT
    starts = np.zeros(problems.K + 1, np.int64)
    widths.cumsum(out=starts[1:])
    size = int(starts[-1])
    most = resolved.cache_bytes // 8 - resolved.threads * _largest_pair(widths) ** 2
    most -= len(settings) * m * problems.K
    is_path = len(settings) > 1 and rows.features >= KEPT_SUMS_FROM
    tiled = is_dense(rows) and not (is_path and size**2 <= most)
    if size * (widths.max() if tiled else size) > most:
        return None
    # an empty row, of the number m, stands wherever a class has none
    rows = rows._replace(starts=np.append(rows.starts, rows.starts[-1]))
    own, itself = own_terms_and_values(resolved.kernel, rows)
    error = value_error(resolved.kernel, own)
    # a certificate would need differences, which those of runs take; a smaller error counts in certificates here
    if cancels(error, dense=False):
        return None
    classes = np.append(problems.codes, np.arange(problems.K).repeat(widths - problems.counts))
    row = np.minimum(classes.argsort(kind="stable"), m)
    ridges = 1.0 / (np.array([[each.C] for each in settings]) * np.append(problems.weights, 1.0)[row])
    if ridges.min() < 1.0:
        scipy_linalg()  # for Newton's steps
    kernel, values = resolved.kernel, np.empty((size, widths.max()))
    if not tiled:
        kernel, values = _sums(kernel, some_rows(rows, row), resolved.threads)
    return PairRows(
        kernel,
        starts,
        problems.classes,
        row,
        ridges,
        np.where(row < m, itself[row] + 1.0 + ridges, 0.0),
        itself[row],
        own[row],
        dense_tiles(rows, own, row if tiled else row[:0]),
        values,
        np.zeros(size, np.int64),
        rounding_of_sums(resolved.kernel, most_stored(rows), error),
        *stopping_line(resolved.stop, resolved.tolerance, np.nan),
    )


#: The rows of the last path, and their inner products: the next width of a search often has the same rows.
_last: list[Any] = []


def _sums(kernel: Any, rows: Any, threads: int) -> tuple[Any, np.ndarray]:
    """Return sums over features of all rows with all rows, and the kernel that makes its values of them."""
    if pair.dispatch(type(kernel)) is not add_product:  # sums may depend on its parameters
        return Linear(), kernel_matrix(kernel, rows, threads)
    known = _last.copy()  # other threads may train, too
    if not (known and all(map(np.array_equal, known[0], rows))):
        known.clear()  # its memory is wanted
        _last.clear()
        _last[:] = known = [rows, kernel_matrix(Linear(), rows, threads)]
    return kernel, known[1]
