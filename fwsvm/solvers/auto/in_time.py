"""auto on large data within a time limit: the whole problem if the time is enough, else the best machine of a sample.

A first sample says whether the time is enough even if seconds grow as the cube of the rows, the most that they do. If
so the whole problem is solved as without a limit, and to the same machine.

Else samples grow, each a part of the next and solved as a problem of its own: to start where the one before ended
saves 2 % of the kernel values on cover type, and is left out. Seconds grow with the rows, so each sample says what the
whole problem would take. If that fits into what is left, the whole problem is solved. If not, samples grow as far as
the time goes, and rows held out decide which machine is returned; where the user gave no width, they decide on the
width, too, as long as samples are small.

The limit is on all of this: training, certificates, and predictions of the rows held out; compiling is not counted.
"""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from fwsvm import promises
from fwsvm._memory import ran_out, require
from fwsvm.errors import FwsvmError
from fwsvm.phases import Phase, enter
from fwsvm.problems.machines import KernelModel
from fwsvm.problems.precomputed import is_given
from fwsvm.solvers.auto.sample_message import of_sample
from fwsvm.solvers.auto.samples import (
    CHOSEN_WIDTH,
    MOST_POWER,
    Data,
    SampleTrial,
    forecast_seconds,
    nested,
    rows_in_samples,
)
from fwsvm.solvers.fit import train
from fwsvm.solvers.gathering import gathered
from fwsvm.solvers.loop import Watch
from fwsvm.solvers.memory import LESS
from fwsvm.solvers.protocols import PROTOCOLS
from fwsvm.solvers.registry import FAMILIES, method
from fwsvm.solvers.resolve import Resolved
from fwsvm.solvers.result import Result, SampleFacts
from fwsvm.solvers.settings import Settings
from fwsvm.solvers.tuning import (
    CLIMB_SHARE,
    FIRST_SAMPLE,
    LARGEST_JUMP,
    MANY_SUPPORT_VECTORS,
    SAFE_SHARE,
    SMALLEST_JUMP,
    WIDTH_STEPS,
    WIDTH_TIMES,
)
from fwsvm.solvers.warm_up import GAPS, once, tiny_problem
from fwsvm.status import Status


def suits(rows: int, classes: int, resolved: Resolved) -> bool:
    """Whether there is a time limit, and rows enough for samples, on a problem that is solved to a certificate.

    A sample has a row of each class at least.
    """
    resolved.rule.check()
    return (
        resolved.time_limit is not None
        and rows >= resolved.rule.samples_from
        and classes <= rows_in_samples(rows)
        and not is_given(resolved.kernel_name)  # whose values, the cost of all else, are there
        and (resolved.search, resolved.protocol) == ("full", PROTOCOLS["default"])
        and resolved.max_iterations is None
        and resolved.final_gap
    )


class SampleTrials:
    """Trials so far, and the clock they are on; `run` makes them.

    Parameters
    ----------
    data : Data
    settings : Settings
    resolved : Resolved, of the settings for all rows; they suit (`suits`)
    watch : callable, optional
    """

    def __init__(self, data: Data, settings: Settings, resolved: Resolved, watch: Watch | None) -> None:
        self.data, self.settings, self.resolved, self.watch = data, settings, resolved, watch
        self.started = perf_counter()
        self.compiled = _compile(resolved.kernel)
        self.order, held_out = nested(data.codes, resolved.seed)
        self.held_out = data.some(held_out)
        self.gamma = getattr(resolved.kernel, "gamma", None)
        self.widths_left = self.gamma is not None and (
            (settings.gamma, settings.sigma2, settings.width_rule) == (None, None, None)
        )
        self.trials: list[SampleTrial] = []
        self.engine = resolved  # what samples are solved by

    @property
    def seconds(self) -> float:
        """Seconds since the beginning, compiling not counted."""
        return perf_counter() - self.started - self.compiled

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return (self.resolved.time_limit or 0.0) - self.seconds

    def run(self) -> Result:
        """Return the whole problem's result where the time is enough for it, else that of the best sample.

        So it is, too, where a later run is refused or memory runs out in it.
        """
        status, whole, refused = Status.TIME_LIMIT, None, ""
        try:
            whole = self._whole_or_samples()
        except KeyboardInterrupt:
            if not self.trials:
                raise
            status = Status.INTERRUPTED
        except (FwsvmError, MemoryError) as error:
            if not self.trials:
                raise
            refused = ran_out(error) if isinstance(error, MemoryError) else str(error)
        return self._of_sample(self._best(), status, refused) if whole is None else whole

    # ---------------------------------------------------------------- the course

    def _whole_or_samples(self) -> Result | None:
        """Make trials until two larger samples were no better, none larger fits, or the whole problem does."""
        # the first row of each class comes before all others
        fewest = max(2, len(self.data.classes))
        at = self._try(max(fewest, min(FIRST_SAMPLE, len(self.order) // 4)), self.gamma)
        if self._fits([at], len(self.data.codes), MOST_POWER):
            return self._whole()
        if at.result.support_vectors > MANY_SUPPORT_VECTORS * at.rows:
            chosen = method("decomposition")
            self.engine = replace(
                self.resolved, method=chosen, rule=chosen.make({}), family=FAMILIES[chosen.family]
            )
        path = [at]  # one width, growing
        steps = list(WIDTH_STEPS)
        while True:
            known = len(path) > 1 or self._is_hopeless(at)
            if known and at.gamma == self.gamma and self._fits(path, len(self.data.codes)):
                return self._whole()
            if known and self.widths_left:
                at = self._climb(at, steps.pop(0) if len(steps) > 1 else steps[0])
                path = path if at is path[-1] else [at]
                self.widths_left = at.seconds <= CLIMB_SHARE * self.left
            rows = self._next_rows(path)
            if not rows or all(grown.accuracy < self._best().accuracy for grown in path[-2:]):
                return None
            at = self._try(rows, at.gamma)
            path.append(at)

    def _is_hopeless(self, at: SampleTrial) -> bool:
        """Whether the whole problem does not fit even if seconds grow as the rows, the least that they do."""
        return at.seconds * len(self.data.codes) / at.rows > self.left

    def _fits(self, path: list[SampleTrial], rows: int, least: float | None = None) -> bool:
        """Whether so many rows fit into the time left, where seconds grow as the power ``least`` of them at least."""
        if least is None:
            # seconds of decomposition grow as rows times support vectors
            least = 1.0 if self.engine is self.resolved else 2.0
        seconds = forecast_seconds([at.rows for at in path], [at.seconds for at in path], rows, least)
        return seconds <= SAFE_SHARE * self.left

    def _next_rows(self, path: list[SampleTrial]) -> int:
        """Return the rows of the next sample: all that fit, but twice as many where far more do; 0 for no more."""
        at, most = path[-1].rows, len(self.order)
        jumps = np.geomspace(LARGEST_JUMP, SMALLEST_JUMP, 24)
        sizes = [rows for jump in jumps if (rows := min(most, round(jump * at))) >= round(SMALLEST_JUMP * at)]
        fits = next((rows for rows in sizes if self._fits(path, rows)), 0)
        return min(most, 2 * at) if fits == round(LARGEST_JUMP * at) else fits

    def _climb(self, at: SampleTrial, factor: float) -> SampleTrial:
        """Return the best trial of the same rows among widths times and over powers of a factor, while it is better."""
        for way in (factor, 1.0 / factor):
            found = at
            while (found.gamma or 0.0) > 0.0 and self.left > WIDTH_TIMES * at.seconds:
                other = self._try(at.rows, (found.gamma or 0.0) * way, limit=WIDTH_TIMES / 2 * at.seconds)
                if not other.accuracy > found.accuracy:
                    break
                found = other
            if found is not at:
                return found
        return at

    # ---------------------------------------------------------------- one run

    def _seconds_after(self, rows: int) -> float:
        """Return the seconds to keep for the certificate and the judgement of a run on so many rows."""
        if not self.trials:
            return 0.0
        last = self.trials[-1]
        return 1.5 * last.after * max(1.0, rows / last.rows) ** 2

    def _resolved(self, rows: int, gamma: float | None, limit: float) -> Resolved:
        """Return the settings of a run on so many rows: C as given, or lambda."""
        engine = self.engine
        C = engine.C if self.settings.lambda_ is None else 1.0 / (self.settings.lambda_ * rows)
        kernel, rule = engine.kernel, engine.width_rule
        if gamma is not None and gamma != self.gamma:
            kernel, rule = kernel._replace(gamma=gamma), CHOSEN_WIDTH
        return replace(
            engine, C=C, lambda_=1.0 / (C * rows), kernel=kernel, width_rule=rule, time_limit=max(1e-3, limit)
        )

    def _try(self, rows: int, gamma: float | None, limit: float | None = None) -> SampleTrial:
        """Train on the first rows of the order, and judge the machine."""
        began = self.seconds
        require(self.data.bytes_of(rows), f"copying a sample of {rows:,} rows", LESS)
        some = self.data.some(self.order[:rows])
        left = self.left - self._seconds_after(rows)
        resolved = self._resolved(rows, gamma, left if limit is None else min(left, limit))
        result = gathered(train(some.X, some.codes, some.classes, resolved, some.weights, self.watch))
        self._leave_out_compiling(result, began)
        judged, accuracy = self.seconds, float("nan")
        if result.status is not Status.INTERRUPTED:
            accuracy = self._accuracy(result)
        after = result.check_seconds + self.seconds - judged
        trial = SampleTrial(rows, gamma, result, accuracy, self.seconds - began, after)
        self.trials.append(trial)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return trial

    def _leave_out_compiling(self, result: Result, began: float) -> None:
        """Take the compiling of a run out of the seconds since it began.

        That is at most all of these: threads that wait for each other count it several times.
        """
        self.compiled += min(result.compile_seconds, self.seconds - began)

    def _accuracy(self, result: Result) -> float:
        """Return the part of the rows held out, by weight, that a machine is right on; NaN where interrupted."""
        enter(Phase.PREDICT)
        try:
            predicted = result.model.predict(self.held_out.X, self.resolved.threads)
        except KeyboardInterrupt:
            return float("nan")
        return float(np.average(predicted == self.held_out.codes, weights=self.held_out.weights))

    def _whole(self) -> Result | None:
        """Solve the whole problem; None where the time was not enough after all."""
        data, rows = self.data, len(self.data.codes)
        began, resolved = (
            self.seconds,
            self._resolved(rows, self.gamma, self.left - self._seconds_after(rows)),
        )
        result = gathered(train(data.X, data.codes, data.classes, resolved, data.weights, self.watch))
        self._leave_out_compiling(result, began)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return None if result.status is Status.TIME_LIMIT else self._told(result)

    # ---------------------------------------------------------------- what is returned

    def _best(self) -> SampleTrial:
        """Return the trial of the highest accuracy, of equal ones the smallest; the last where none was judged."""
        judged = [trial for trial in self.trials if trial.accuracy == trial.accuracy]
        return max(judged, key=lambda trial: (trial.accuracy, -trial.rows)) if judged else self.trials[-1]

    def _told(self, result: Result) -> Result:
        """Return a result by the name of the method that was asked for, with the seconds of the whole course."""
        return replace(
            result,
            settings={**result.settings, "method": self.resolved.method.name},
            chosen=result.chosen or str(result.settings["method"]),
            train_seconds=self.seconds - result.check_seconds,
            compile_seconds=self.compiled,
        )

    def _of_sample(self, best: SampleTrial, status: Status, refused: str) -> Result:
        sample = SampleFacts(best.rows, len(self.data.codes), len(self.held_out.codes), best.accuracy)
        told, of = self._told(best.result), best.result
        void = promises.of_gap(status, of.objective, of.gap, of.relative_gap, of.gap_kind)
        by_weight = bool(np.ptp(self.held_out.weights) > 0.0)
        said = of_sample(sample, of, status, refused, by_weight=by_weight)
        return replace(
            told, status=status, sample=sample, chosen=f"{told.chosen}, sample of {sample.rows:,} rows",
            message=f"{said} {void}".rstrip(),
        )  # fmt: skip


def _compile(kernel: Any) -> float:
    """Have predictions of a tiny machine compiled, for dense rows and others; return the seconds."""

    def work() -> None:
        for gaps in (0, GAPS):
            X, y, _, _ = tiny_problem(gaps)
            half = len(y) // 2
            KernelModel(("a", "b"), kernel, X, np.array([half, half]), y[:, None], np.zeros(1)).predict(X)

    return once(("judgements", type(kernel)), work)
