"""Progress on stderr: bars on a terminal, a plain line now and then elsewhere, nothing with --quiet.

    runs     ━━━━━━━━━━━━────── 13 of 21                    0:01:07 0:00:40 left
    train    ━━━━━━──────────── gap 1.2e-02, 1,234 SV       0:00:04 0:00:12 left
             wdbc swap-2o select C=4 fold 3

The first line is there where a command makes several runs, the last where they have names.
"""

import contextlib
import math
import os
import sys
import time
from typing import TYPE_CHECKING, Self

from fwsvm import phases
from fwsvm.cli._lines import echo, is_quiet, note, outcome
from fwsvm.phases import Phase

if TYPE_CHECKING:
    from fwsvm.cli._bars import Bars
    from fwsvm.experiments.plan import Cell
    from fwsvm.experiments.run import Record
    from fwsvm.solvers.loop import Progress as RunProgress

SECONDS_BETWEEN_LINES = 10.0  # where there is no terminal
MANY_FUNCTIONS = 12  # fewer are compiled without a word
COMPILING = "compiling for first use"
RUNS, PHASE = range(2)  # lines of the bars


class Display(contextlib.ExitStack):
    """Progress as a context manager; within it, phases that the layers below announce are shown."""

    _bars: "Bars | None" = None

    def __init__(self) -> None:
        super().__init__()
        is_dumb = os.environ.get("TERM", "").lower() in {"dumb", "unknown"}
        if sys.stderr.isatty() and not (is_dumb or is_quiet()):
            from fwsvm.cli._bars import Bars

            self._bars = Bars()
        self._compiled, self._counted, self._last_line, self._done = 0, "", -math.inf, 0.0
        self.begin()

    def __enter__(self) -> Self:
        """Show bars as soon as there are any."""
        self.enter_context(phases.listening(self.enter, self.inside))
        if self._bars is not None:
            self.enter_context(self._bars)
        return self

    def begin(self, name: str = "") -> None:
        """Show another run of that name, whose phases begin anew."""
        self._phase = ""
        if self._bars is not None:
            self._bars.run_name = name

    def enter(self, phase: str) -> None:
        """Show another phase; compiling is shown within the phase that needs it."""
        if phase == Phase.COMPILE:
            self._compiled += 1
            self.inside(COMPILING)
            if self._compiled == MANY_FUNCTIONS and self._bars is None:
                note(COMPILING)
        elif phase != self._phase:
            self.show(phase, None, "begins" if phase == Phase.TRAIN else "")

    def inside(self, what: str, part: float | None = None) -> None:
        """Show a long step of the present phase, and how far it is if that is known."""
        if self._phase == Phase.FETCH:
            self.show(Phase.FETCH, part, what)
            return
        if self._bars is not None:
            said = what if part is None else f"{what} {part:.0%}"
            self._bars.update(self._bars.tasks[PHASE].id, said=said)

    def show(self, phase: str, done: float | None, said: str) -> None:
        """Show how far a phase is; without a terminal write a line, if the last one is some seconds ago."""
        if phase != self._phase:
            self._phase = phase
            self._done = 0.0
        now = time.monotonic()
        if self._bars is not None:
            self._bars.show(PHASE, phase, done, said)
        elif said and now - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = now
            note(f"{self._counted}{phase}: {said}")

    def count(self, label: str, done: int, total: int) -> None:
        """Show how many runs or folds are done."""
        said = f"{done:,} of {total:,}"
        if self._bars is not None:
            self._bars.show(RUNS, label, done / total if total else 1.0, said)
        self._counted = f"{label} {said}, "

    def __call__(self, progress: "RunProgress") -> None:
        """Show the progress of a run that trains: its subproblems, and how near the gap of one is to the tolerance."""
        number, of, _, iterations, objective, gap, tolerance, vectors = progress
        relative = gap / objective if objective else math.nan
        nearness = 0.0  # of the logarithm of the gap, from 1 on
        if relative > 0.0 and 0.0 < tolerance < 1.0:
            nearness = min(1.0, math.log(min(1.0, relative)) / math.log(tolerance))
        self._done = max(self._done, min(1.0, (number + nearness) / of))
        parts = [f"part {min(number + 1, of)}/{of}"] if of > 1 else []
        if math.isfinite(relative):
            parts.append(f"gap {relative:.1e}")
        parts.append(f"{vectors:,} SV" if vectors else f"{iterations:,} iter.")
        self.show(Phase.TRAIN, self._done, ", ".join(parts))


class RunsDisplay(Display):
    """What ``fwsvm grid`` shows: notes, the present run and how many are done, or a line for each run.

    Of several that go on beside each other one is shown until it ends.
    """

    def __init__(self, total: int, done: int) -> None:
        super().__init__()
        self.total, self.done, self._at = total, done, ""
        self.count("runs", done, total)

    def note(self, said: str, *, warns: bool) -> None:
        """Print a message, with --quiet if it ``warns``."""
        echo(said, err=True) if warns else note(said)

    def watch(self, cell: "Cell", inside: "RunProgress | Phase") -> None:
        """Show the phase or the progress of a run, unless one beside it is shown."""
        if not self._at:
            self._at = cell.run_id
            self.begin(cell.label)
        if self._at == cell.run_id:
            self.enter(inside) if isinstance(inside, Phase) else self(inside)

    def ended(self, record: "Record") -> None:
        """Count a run that ended, and report its status."""
        self.done += 1
        if self._at == record.cell.run_id:
            self._at = ""
        self.count("runs", self.done, self.total)
        if self._bars is not None:
            return
        note(f"[{self.done}/{self.total}] {record.cell.label}: {outcome(record.row)}")
        self._last_line = time.monotonic()
