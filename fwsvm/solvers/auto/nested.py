"""nested: growing samples of the rows, each solved exactly, as far as a time limit goes (ours; none of the papers').

Each sample is a part of the next, drawn at random class by class, and solved by `auto` as a problem of its own. Two
classes start where the sample before ended, while the kernel columns of the support fit in the cache. The seconds of
the samples so far say what the next would take: it is as large as fits into the time left, at most `LARGEST_JUMP` times
the last. The last sample may be all rows, and the result is then that of `auto`. Otherwise objective, gap and
certificate are those of the sample's problem, and the result says how many rows that had.

The limit is on training and certificates; compiling is not counted.
"""

from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from fwsvm.errors import FwsvmError
from fwsvm.settings import Settings
from fwsvm.solvers.chunking import fits
from fwsvm.solvers.registry import register
from fwsvm.solvers.resolve import Resolved, with_method
from fwsvm.solvers.result import Result, SampleFacts, result_of
from fwsvm.solvers.solver import WarmStart
from fwsvm.solvers.subproblems import solve_all
from fwsvm.solvers.tuning import LARGEST_JUMP, SAFE_SHARE, SMALLEST_JUMP
from fwsvm.status import Status

MOST_POWER = 3.0  # of the rows that seconds grow as: a factor of the kernel matrix


@register(
    "nested",
    family="nested",
    paper="ours",
    tolerance="the Frank-Wolfe gap 2 (R - min q) over the rows of the sample, recomputed from scratch",
)
class Nested(NamedTuple):
    """Train on growing samples of the rows, as far as the time limit goes. For more rows than there is time for.

    Problem: min alpha' K~ alpha on the simplex, of the largest sample that was solved. Stops on the Frank-Wolfe gap.

    Parameters
    ----------
    first : rows of the first sample
    """

    first: int = 4096


def train_nested(checked: Any, settings: Settings, resolved: Resolved, watch: Any) -> Result:
    """Return the result of the largest sample that the time was enough for; see `fwsvm.solvers.fit.fit`."""
    from fwsvm.solvers.fit import prepare

    X, codes, classes = checked.X, checked.codes, checked.labels
    m, order, limit = len(codes), nested_order(codes, resolved.seed), resolved.time_limit or np.inf
    sizes, seconds = [max(len(classes), min(m, resolved.rule.first))], list[float]()
    starts: dict[int, WarmStart] = {}
    auto = with_method(resolved, "auto")
    auto = replace(auto, method=auto.method._replace(name="nested"))
    found, spent, compiled, why = None, 0.0, 0.0, ""
    while True:
        rows = np.sort(order[: sizes[-1]])
        # C as it was given, or from lambda
        C = resolved.C if settings.lambda_ is None else 1.0 / (settings.lambda_ * len(rows))
        one = replace(auto, C=C, lambda_=1.0 / (C * len(rows)), time_limit=limit - spent)
        started = perf_counter()
        try:
            some = X[rows] if len(rows) < m else X
            sample = checked._replace(X=some, codes=codes[rows], weights=checked.weights[rows])
            problems, one = prepare(sample, one)
            solved = solve_all(problems, one, watch, starts)
            result = result_of(problems, one, solved)
        except (FwsvmError, MemoryError, KeyboardInterrupt) as error:
            if found is None:
                raise
            is_refused = not isinstance(error, KeyboardInterrupt)
            status = Status.TIME_LIMIT if is_refused else Status.INTERRUPTED
            why = f"A larger sample was refused: {error}" if is_refused else ""
            break
        seconds.append(perf_counter() - started - result.compile_seconds)
        spent += seconds[-1]
        compiled += result.compile_seconds
        status = result.status
        is_cut = status in {Status.TIME_LIMIT, Status.INTERRUPTED}
        if found is None or not is_cut:
            found = result, len(rows)
        if len(rows) == m or is_cut:
            break
        size = next_size(sizes, seconds, m, limit - spent)
        if size == 0:
            status = Status.TIME_LIMIT
            break
        sizes.append(size)
        starts = {}
        # to begin on all rows takes their columns, of a support that grows with the sample
        if len(classes) == 2 and fits(result.support_vectors * size // len(rows), size, auto):
            machine: Any = solved.parts[0].certified.machine
            ended = np.zeros(m)
            ended[rows[machine.rows]] = np.abs(machine.coefficients)
            starts = {0: WarmStart(ended[np.sort(order[:size])] / ended.sum())}
    result, size = found
    result = replace(result, train_seconds=spent - result.check_seconds, compile_seconds=compiled)
    if size == m:
        return result
    return replace(
        result,
        status=status,
        sample=SampleFacts(size, m),
        support=None,
        message=(
            f"{status.sentence if status is Status.INTERRUPTED else ''} The model was trained on a random sample of "
            f"{size:,} of the {m:,} rows; objective and {'certificate' if result.certified else 'gap'} are of the "
            f"sample's problem. {why}"
        ).strip(),
        chosen=f"{result.chosen}, sample of {size:,} rows",
    )


def nested_order(codes: np.ndarray, seed: int) -> np.ndarray:
    """Return the order in which rows come into samples: at random, each class evenly, its first row before all others.

    ``codes`` (m,) are the class numbers; the result is a permutation of 0 ... m - 1.
    """
    drawn = np.random.default_rng(seed).permutation(len(codes))
    place = np.empty(len(codes))
    for k in range(codes.max() + 1):
        mine = drawn[codes[drawn] == k]
        place[mine] = (np.arange(len(mine)) + 0.5) / max(1, len(mine))
        place[mine[:1]] = 0.0
    return np.argsort(place, kind="stable")


def next_size(sizes: list[int], seconds: list[float], m: int, left: float) -> int:
    """Return the rows of the next sample, 0 where there is no time for a larger one.

    Seconds grow as a power of the rows, which the last two samples show. After one sample it is taken to be 2.

    Parameters
    ----------
    sizes, seconds : lists, of the samples so far
    m : int, rows there are
    left : float, seconds that are left
    """
    at = sizes[-1]
    power = 2.0
    if len(seconds) > 1:
        grown = np.log(max(seconds[-1], 1e-9) / max(seconds[-2], 1e-9)) / np.log(sizes[-1] / sizes[-2])
        power = min(max(grown, 1.0), MOST_POWER)
    jump = min(LARGEST_JUMP, max(0.0, SAFE_SHARE * left / seconds[-1]) ** (1.0 / power))
    size = min(m, int(jump * at))
    return size if size >= min(m, SMALLEST_JUMP * at) and size > at else 0
