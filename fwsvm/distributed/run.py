"""A run in chunks on one two-class problem whose rows are on workers: the chunk alone is here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fwsvm._occurring import occurring
from fwsvm.distributed.block import as_csr
from fwsvm.distributed.pair_rows import LookAtAll, PairRows
from fwsvm.distributed.working_set import WorkingSet
from fwsvm.kernels.rows import as_rows
from fwsvm.problems.binary import Binary
from fwsvm.solvers.certify import Candidate, Certified, tracked
from fwsvm.solvers.chunking import inner_settings
from fwsvm.solvers.chunking.rounds import Rounds
from fwsvm.solvers.chunking.working_set import share_far
from fwsvm.solvers.frank_wolfe.iterate import SimplexIterate, machine_of, outcome_of
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.solver import Counters
from fwsvm.solvers.warm_start import WarmStart


@dataclass(frozen=True, kw_only=True)
class RemoteIterate(SimplexIterate):
    """An iterate whose alpha (k,) is that of the rows of a working set; all others have weight 0."""

    working: WorkingSet


class RemoteRun(Rounds):
    """A `Solver` on rows that are on workers."""

    def __init__(self, rows: PairRows, rule: Any, resolved: Resolved, stream: tuple[int, ...]) -> None:
        super().__init__(inner_settings(rule, resolved), rows.widest, Counters())
        self.all, self.stream = rows, stream
        share = 1.0 if rows.count < rule.fewest else share_far(rows.count)
        self.seen: LookAtAll | None = None
        self._start(rows.drawn(np.random.default_rng(stream), share))

    def _start(self, chunk: WorkingSet) -> None:
        self.working = chunk
        settings = self._of_chunk()
        y = chunk.y
        penalties = 1.0 / np.where(y > 0.0, *self.all.pair.ridges)
        problem = Binary(as_rows(occurring(as_csr(chunk.rows)).X), y, penalties, self.stream)
        warm_start = WarmStart(chunk.alpha) if chunk.alpha.any() else None
        self.inner = settings.family.start(problem, settings.rule, settings, warm_start)

    def _again(self) -> None:
        self._start(self.working)

    @property
    def _is_whole(self) -> bool:
        return len(self.working.numbers) == self.all.count

    def _end(self) -> SimplexIterate:
        last, before = self.iterate(), self.counters
        self.working, self.last, self.before = last.working, last, before
        self.found = self.outcome = self.inner = None
        return last

    def _survey(self, dtype: type = np.float64) -> LookAtAll:
        self.seen = self.all.survey(self.working, dtype)
        self.found = self.seen.found
        evaluations = self.all.count * int(np.count_nonzero(self.working.alpha))
        self.before = self.before._replace(kernel_evaluations=self.before.kernel_evaluations + evaluations)
        return self.seen

    def _excess_outside(self, look: LookAtAll) -> float:
        return 2.0 * (look.R - look.outside) - self._goal(look.R)

    def _next_chunk(self, look: LookAtAll) -> WorkingSet:
        return self.all.next(self.working, look)

    def _whole_chunk(self) -> WorkingSet:
        assert self.seen is not None  # noqa: S101  (asked for after a look)
        return self.all.next(self.working, self.seen, everything=True)

    def iterate(self) -> RemoteIterate:
        """Return alpha on the working set, R and the support size, and the gap over all rows when last seen."""
        if self.inner is None:
            assert isinstance(self.last, RemoteIterate)  # noqa: S101  (an inner run has ended)
            gap = self.last.gap if self.found is None else self.found.gap
            return replace(self.last, gap=gap, outcome=self.outcome)
        here = self.inner.iterate()
        assert isinstance(here, SimplexIterate)  # noqa: S101  (of a method on the simplex)
        whole = self._is_whole
        return RemoteIterate(
            iterations=self.before.iterations + here.iterations,
            objective=here.objective,
            gap=here.gap if whole else self.found.gap if self.found is not None else np.nan,
            support_vectors=here.support_vectors,
            gap_kind=here.gap_kind,
            outcome=here.outcome if whole else None,
            alpha=here.alpha,
            working=self.working._replace(alpha=here.alpha),
        )


def start(
    problem: Binary, rule: Any, resolved: Resolved, warm_start: WarmStart | None = None, _columns: object = None,
) -> RemoteRun:  # fmt: skip
    """Begin a run on a problem whose ``X`` is a `PairRows`; it starts cold, and its columns are its own."""
    assert isinstance(problem.X, PairRows)  # noqa: S101  (what `fwsvm.distributed.fit` makes)
    assert warm_start is None  # noqa: S101  (as it asks for)
    rule.check()
    return RemoteRun(problem.X, rule, resolved, problem.stream)


def certify(candidates: Sequence[Candidate[RemoteIterate]], *, exact: bool) -> list[Certified]:
    """Return what iterates are worth, and their machines, whose rows are numbers in the whole table."""
    return [_certified(candidate, exact=exact) for candidate in candidates]


def _certified(candidate: Candidate[RemoteIterate], *, exact: bool) -> Certified:
    rows, at = candidate.problem.X, candidate.iterate
    assert isinstance(rows, PairRows)  # noqa: S101  (as in `start`)
    outcome = at.outcome if exact else tracked(at)
    if outcome is None:
        found = rows.survey(at.working, np.float64).found
        outcome = outcome_of(found, candidate.resolved, rows.widest)
    machine = machine_of(at.working.y, at.alpha, outcome.objective)
    return Certified(outcome, machine._replace(rows=at.working.numbers[machine.rows]))
