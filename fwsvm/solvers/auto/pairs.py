"""Small pairs of classes, solved together in compiled code (`fwsvm.solvers.auto.pair_solver`).

A pair without a certificate that holds goes on by a run of its own, from where it stood.
"""

from collections.abc import Sequence

import numpy as np

from fwsvm.kernels.dense_tiles import HEIGHT
from fwsvm.kernels.distances import cancels, value_error
from fwsvm.kernels.kernel import own_terms_and_values
from fwsvm.kernels.rows import some_rows
from fwsvm.kernels.values import is_dense, kernel_matrix, product_rounding, table
from fwsvm.numerics.threads import together
from fwsvm.solvers.auto.pair_solver import PairRows, Solutions, fill_address, solve_pairs
from fwsvm.solvers.certify import Certified, proven
from fwsvm.solvers.frank_wolfe.state import stopping_line
from fwsvm.solvers.loop import BinaryResult, Clock, Progress, Watch
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters, WarmStart
from fwsvm.solvers.subproblems import Solved, Subproblems
from fwsvm.solvers.tuning import PAIRS_SHARE
from fwsvm.status import Status


def solve_small_pairs(
    problems: Subproblems, settings: Sequence[Resolved], watch: Watch | None
) -> list[Solved]:
    """Solve the pairs of classes together for all settings, which differ in C alone; return what each came to.

    That is nothing where a pair is large, or there is one alone. Pairs without a certificate that holds have a warm
    start: those that took more steps than Newton steps would be cheaper than, and those that a limit cut short. The
    seconds are shared out by the steps of each setting.
    """
    resolved, clock = settings[0], Clock()
    if not _are_small(problems, settings):
        return []
    with clock.running():
        own, itself = own_terms_and_values(resolved.kernel, problems.compressed)
        # a certificate would need differences, which those of runs take; a smaller error counts in certificates here
        if cancels(value_error(resolved.kernel, own), dense=False):
            return []
        some = _pair_rows(problems, settings, own, itself)
        shape, threads = (len(settings), len(problems)), min(resolved.threads, len(problems))
        coefficients, biases = np.zeros((len(settings), len(own), problems.K - 1)), np.zeros(shape)
        steps, evaluations = np.zeros((2, *shape), np.int64)
        solutions = Solutions(coefficients, biases, np.full((*shape, 5), np.nan), steps, evaluations)
        claimed, fill_at = np.zeros(len(problems), np.int64), fill_address(some)
        widths = np.diff(some.starts)
        # by numpy, whose large arrays have large pages
        columns = np.empty((threads, int(np.sort(widths)[-2:].sum()) ** 2))

    def solve(share: np.ndarray) -> None:
        with clock.running():
            given = some, share, claimed, fill_at
            together(lambda me: solve_pairs(*given, columns[me], solutions), threads)

    order = np.argsort(-problems.sizes, kind="stable")  # the largest first
    shares = min(len(order), int((problems.sizes**2).sum()) // (PAIRS_SHARE * threads) + 1)
    begun, interrupted = order[:0], False
    try:
        for share in np.array_split(order, shares):
            solve(share)
            begun = order[: len(begun) + len(share)]
            if watch is not None:
                known = clock.seconds, int(steps.sum()), np.nan, np.nan
                watch(Progress(len(begun), len(order), *known, resolved.tolerance, 0))
            if clock.seconds >= (resolved.time_limit or np.inf):
                break
    except KeyboardInterrupt:
        interrupted = True
        if not len(begun):
            raise
    # the kernel values that are no pair's own
    evaluations[0, begun[0]] += some.known @ np.repeat(widths, widths) or some.values.size // 2
    weights, found = steps.sum(axis=1) + 1, []
    for k, weight in enumerate(weights.tolist()):
        seconds, compiling = clock.seconds * weight / weights.sum(), 0.0 if k else clock.compiling
        found.append(Solved([], seconds, interrupted, {}, coefficients[k], biases[k], compiling))
        _add_parts(found[-1], problems, some, begun, *(each[k][begun].tolist() for each in solutions[2:]))
    return found


def _add_parts(
    solved: Solved,
    problems: Subproblems,
    some: PairRows,
    begun: np.ndarray,
    certificates: list[list[float]],
    *counts: list[int],
) -> None:
    """Add the results of the pairs ``begun``, and warm starts of those without a certificate that holds."""
    assert solved.coefficients is not None  # noqa: S101
    for number, (R, gap, primal, dual, rounding), steps, evaluations in zip(
        begun.tolist(), certificates, *counts, strict=True
    ):
        goal = some.constant + some.slope * R
        outcome = proven(R, gap, primal, dual, goal=goal, measured=gap + rounding)
        if not outcome.within:
            i, j = problems.classes[number]
            machine = (
                solved.coefficients[problems.members[i], j - 1],
                solved.coefficients[problems.members[j], i],
            )
            weights = np.abs(np.concatenate(machine))
            total = float(weights.sum())
            if not 0.0 < total < np.inf:
                continue
            solved.warm_starts[number] = WarmStart(weights / total)
        status = Status.CONVERGED if outcome.within else Status.TIME_LIMIT
        counters = Counters(steps, steps, evaluations)
        part = BinaryResult(number, begun[:0], status, counters, 0, 0.0, Certified(outcome, None), "swap-2o")
        solved.parts.append(part)


def _are_small(problems: Subproblems, settings: Sequence[Resolved]) -> bool:
    """Return whether all problems are small pairs, of which no more is asked than is known here."""
    resolved, sizes = settings[0], problems.sizes
    asked = resolved.search, resolved.protocol, resolved.max_iterations, resolved.final_gap
    if (
        not problems.in_pairs
        or sizes.max() >= resolved.rule.fewest
        or asked != ("full", PROTOCOLS["default"], None, True)
        or resolved.stop == "meb"  # its goal is in parts of the largest K~_ii of each pair
        or (len(settings) > 1 and resolved.time_limit is not None)
    ):
        return False
    widths = HEIGHT + np.bincount(problems.codes)
    columns = resolved.threads * int(sizes.max() + 2 * HEIGHT) ** 2
    values = int(widths.sum()) * int(widths.max() if is_dense(problems.compressed) else widths.sum())
    held = columns + values + len(settings) * len(problems.codes) * problems.K
    return 8 * held <= resolved.cache_bytes


def _pair_rows(
    problems: Subproblems, settings: Sequence[Resolved], own: np.ndarray, itself: np.ndarray
) -> PairRows:
    """Return the rows grouped by class, with their own terms and values k(x, x), both (m,), in the problem's order."""
    resolved, codes, dense = settings[0], problems.codes, is_dense(problems.compressed)
    order, counts = np.argsort(codes, kind="stable"), np.bincount(codes)
    widths = -(-counts // HEIGHT) * HEIGHT
    starts = np.concatenate([[0], np.cumsum(widths)])
    size, places = starts[-1], np.arange(len(codes))
    places += np.repeat(starts[1:] - widths - np.cumsum(counts) + counts, counts)
    rows = some_rows(problems.compressed, order)
    rounding = product_rounding(resolved.kernel, rows, own)
    lengths, row = np.zeros((2, size + 1), np.int64)
    lengths[places + 1], row[places] = np.diff(rows.starts), order
    padded, ridges = np.zeros((2, size)), np.ones((len(settings), size))
    padded[:, places] = own[order], itself[order]
    ridges[:, places] = [1.0 / problems.penalties(order, each.C) for each in settings]
    diagonals = np.zeros_like(ridges)
    diagonals[:, places] = itself[order] + 1.0 + ridges[:, places]
    own, itself = padded
    rows = rows._replace(starts=np.cumsum(lengths))
    shared = (
        np.empty((size, widths.max())) if dense else kernel_matrix(resolved.kernel, rows, resolved.threads)
    )
    line = stopping_line(resolved.stop, resolved.tolerance, np.nan)
    numbers = starts, np.array(problems.classes), row
    vectors = ridges, diagonals, itself
    return PairRows(
        resolved.kernel,
        *numbers,
        *vectors,
        table(rows, own, dense=dense).tiles,
        shared,
        np.zeros(size, np.int64),
        rounding,
        *line,
    )
