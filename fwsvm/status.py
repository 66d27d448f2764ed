"""How a run ended, and what its numbers promise: where a run ended by its rule and is worth little, that is said.

A tolerance can be nearly void (at 1e-6, 003's rule may mean a relative gap of several hundred per cent), and a machine
can be within it and wrong on more rows than one that always answers with the larger class.
"""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum


class Status(StrEnum):
    """The word written to results; ``sentence`` is what a person is told."""

    CONVERGED = "converged"
    SAMPLED_STOP = "sampled_stop"
    MAX_ITERATIONS = "max_iterations"
    TIME_LIMIT = "time_limit"
    STALLED = "stalled"
    INTERRUPTED = "interrupted"
    MISSING = "missing"
    ERROR = "error"

    @property
    def sentence(self) -> str:
        """What happened, in a sentence."""
        return _SENTENCES[self]

    @property
    def done(self) -> bool:
        """Whether the run need not be repeated."""
        return self not in {Status.INTERRUPTED, Status.MISSING, Status.ERROR}


#: The worst first: what several runs come to together is the first of these that occurs among them.
SEVERITY = (
    Status.ERROR,
    Status.MISSING,
    Status.INTERRUPTED,
    Status.TIME_LIMIT,
    Status.MAX_ITERATIONS,
    Status.STALLED,
    Status.SAMPLED_STOP,
    Status.CONVERGED,
)


def worst(statuses: Iterable[str]) -> Status:
    """Return the worst of some statuses, of which there is at least one."""
    return min(map(Status, statuses), key=SEVERITY.index)


_SENTENCES = {
    Status.CONVERGED: "The gap, recomputed from scratch, is within the tolerance.",
    Status.SAMPLED_STOP: "The method stopped by its own rule, which does not prove the tolerance; see the gap.",
    Status.MAX_ITERATIONS: "The iteration limit was reached before the tolerance.",
    Status.TIME_LIMIT: "The time limit was reached before the tolerance.",
    Status.STALLED: "Steps no longer change the objective; the gap plus its rounding margin is above the tolerance.",
    Status.INTERRUPTED: "Interrupted; the point reached so far was kept.",
    Status.MISSING: "The data were not available.",
    Status.ERROR: "The run failed.",
}

#: A relative gap above this says little about where the optimum is.
VOID_GAP = 0.1
#: Words of the column ``flags``: what a program must know of a run.
WEAK_GUARANTEE, NOT_FINITE_FLAG, BELOW_MAJORITY = "weak_guarantee", "not_finite", "below_majority"
TRAINED_ON_SAMPLE, TEST_UNMEASURED, FIRST_USE = "trained_on_sample", "test_unmeasured", "first_use"
TRAIN_UNMEASURED = "train_unmeasured"
NOT_FINITE = (
    "The objective or its gap is not a finite number, so nothing is known about this machine: scale the data "
    "(fwsvm scale), or take a smaller degree, gamma or C."
)


def gap_flags(objective: float, gap: float, relative_gap: float, gap_kind: str) -> list[str]:
    """Return the flags that the numbers of a finished run have."""
    if not math.isfinite(objective) or (gap_kind == "exact" and not math.isfinite(gap)):
        return [NOT_FINITE_FLAG]
    return [WEAK_GUARANTEE] if is_void(relative_gap) else []


def ending(status: str, stop: str, relative_gap: float) -> str:
    """Return the status of a run in words: where its rule ended it at a large gap, that in place of the status.

    >>> ending("converged", "meb", 4.54)
    'stopped by rule meb, possibly far from the optimum (relative gap 4.54)'
    """
    by_rule = status in {Status.CONVERGED, Status.SAMPLED_STOP}
    if not (by_rule and is_void(relative_gap)):
        return str(status)
    return f"stopped by rule {stop}, possibly far from the optimum (relative gap {relative_gap:.3g})"


def gap_warning(status: Status, objective: float, gap: float, relative_gap: float, gap_kind: str) -> str:
    """Return the sentence that belongs to a finished run's gap where it says little, else ''."""
    if not status.done:
        return ""
    if not math.isfinite(objective) or (gap_kind == "exact" and not math.isfinite(gap)):
        return NOT_FINITE
    by_rule = status in {Status.CONVERGED, Status.SAMPLED_STOP}
    if by_rule or not is_void(relative_gap):
        return ""
    return f"The relative gap is {relative_gap:.3g}: the model may be far from the best one."


def accuracy_warning(accuracy: float, counts: Sequence[int]) -> str:
    """Return the sentence for a training accuracy below the largest class's share of the rows, else ''."""
    share = max(counts) / sum(counts)
    if not accuracy < share:
        return ""
    larger = "larger" if len(counts) == 2 else "largest"
    fewer = f"fewer than the {larger} class has ({share:.1%})"
    return f"The model is right on {accuracy:.1%} of its training rows, {fewer}."


def is_void(relative_gap: float) -> bool:
    """Whether a relative gap promises little; one that is not known (NaN) says nothing of the kind."""
    return relative_gap > VOID_GAP


def is_finite(objective: float, flags: str) -> bool:
    """Whether a finished run's numbers are finite, as far as its row tells; an empty objective (NaN) tells nothing."""
    return not math.isinf(objective) and NOT_FINITE_FLAG not in flags.split()


def in_short(relative_gaps: Sequence[float], flags: Sequence[str]) -> str:
    """Return why the results of some runs promise little, in a few words for a table; '' where nothing does.

    ``flags`` are the words of that column, a text for each run.
    """
    present = {word for words in flags for word in words.split()}
    said = ["numbers that are not finite"] if NOT_FINITE_FLAG in present else []
    void = [gap for gap in relative_gaps if is_void(gap)]
    if void:
        said.append(f"relative gap {max(void):.3g}")
    if BELOW_MAJORITY in present:
        said.append("fewer training rows right than the largest class has")
    return ", ".join(said)
