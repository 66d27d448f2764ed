"""How a run ended, and what its numbers promise: where a run ended by its rule and is worth little, that is said.

A tolerance can be nearly void (at 1e-6, 003's rule may mean a relative gap of several hundred per cent), and a machine
can be within it and wrong on more rows than one that always answers with the larger class.
"""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum


class Status(StrEnum):
    """The word written to results; the worst first, which is what several runs come to together."""

    ERROR = "error"
    MISSING = "missing"
    INTERRUPTED = "interrupted"
    TIME_LIMIT = "time_limit"
    MAX_ITERATIONS = "max_iterations"
    STALLED = "stalled"
    SAMPLED_STOP = "sampled_stop"
    CONVERGED = "converged"

    @property
    def sentence(self) -> str:
        """What happened, in a sentence."""
        return _SENTENCES[self]

    @property
    def done(self) -> bool:
        """Whether the run need not be repeated."""
        return self not in {Status.INTERRUPTED, Status.MISSING, Status.ERROR}


_SENTENCES = {
    "error": "The run failed.",
    "missing": "The data were not available.",
    "interrupted": "Interrupted; the point reached so far was kept.",
    "time_limit": "The time limit was reached before the tolerance.",
    "max_iterations": "The iteration limit was reached before the tolerance.",
    "stalled": "The method makes no more progress; the gap plus its rounding margin is above the tolerance.",
    "sampled_stop": "The method stopped by its own rule, which does not prove the tolerance; see the gap.",
    "converged": "The gap, recomputed from scratch, is within the tolerance.",
}
SEVERITY = tuple(Status)


def worst(statuses: Iterable[str]) -> Status:
    """Return the worst of some statuses, of which there is at least one."""
    return min(map(Status, statuses), key=SEVERITY.index)


#: A relative gap above this says little about where the optimum is.
VOID_GAP = 0.1
BY_RULE = (Status.CONVERGED, Status.SAMPLED_STOP)
#: Words of the column ``flags``: what a program must know of a run.
WEAK_GUARANTEE, NOT_FINITE_FLAG, BELOW_MAJORITY = "weak_guarantee", "not_finite", "below_majority"
TRAINED_ON_SAMPLE, TEST_UNMEASURED, FIRST_USE = "trained_on_sample", "test_unmeasured", "first_use"
TRAIN_UNMEASURED = "train_unmeasured"
NOT_FINITE = (
    "The objective or its gap is not a finite number, so nothing is known about this machine: scale the data "
    "(fwsvm scale), or take a smaller degree, gamma or C."
)


def gap_flags(status: Status, objective: float, gap: float, relative_gap: float, gap_kind: str) -> list[str]:
    """Return the flags that the numbers of a run have; none of one that is to be repeated."""
    if not status.done:
        return []
    if not math.isfinite(objective) or (gap_kind == "exact" and not math.isfinite(gap)):
        return [NOT_FINITE_FLAG]
    return [WEAK_GUARANTEE] if relative_gap > VOID_GAP else []


def ending(status: str, stop: str, relative_gap: float) -> str:
    """Return the status of a run in words: where its rule ended it at a large gap, that in place of the status.

    >>> ending("converged", "meb", 4.54)
    'stopped by rule meb, possibly far from the optimum (relative gap 4.54)'
    """
    if status not in BY_RULE or not relative_gap > VOID_GAP:
        return str(status)
    return f"stopped by rule {stop}, possibly far from the optimum (relative gap {relative_gap:.3g})"


def gap_warning(status: Status, objective: float, gap: float, relative_gap: float, gap_kind: str) -> str:
    """Return the sentence that belongs to a finished run's gap where it says little, else ''."""
    flags = gap_flags(status, objective, gap, relative_gap, gap_kind)
    if NOT_FINITE_FLAG in flags:
        return NOT_FINITE
    if not flags or status in BY_RULE:
        return ""
    return f"The relative gap is {relative_gap:.3g}: the model may be far from the best one."


def accuracy_warning(accuracy: float, counts: Sequence[int]) -> str:
    """Return the sentence for a training accuracy below the largest class's share of the rows, else ''."""
    share = max(counts) / sum(counts)
    if not accuracy < share:
        return ""
    return f"The model is right on {accuracy:.1%} of its training rows, fewer than the largest class has ({share:.1%})."


def in_short(relative_gaps: Sequence[float], flags: Sequence[str]) -> str:
    """Return why the results of some runs promise little, in a few words for a table; '' where nothing does.

    ``flags`` are the words of that column, a text for each run.
    """
    words = " ".join(flags)
    void = max((gap for gap in relative_gaps if gap > VOID_GAP), default=0.0)
    said = {
        "numbers that are not finite": NOT_FINITE_FLAG in words,
        f"relative gap {void:.3g}": void,
        "fewer training rows right than the largest class has": BELOW_MAJORITY in words,
    }
    return ", ".join(text for text, holds in said.items() if holds)
