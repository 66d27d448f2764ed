"""How a run ended, each with its sentence."""

from collections.abc import Iterable
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
