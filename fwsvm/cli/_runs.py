"""Progress of many runs, in the display that single runs have, and of one run in it."""

import math
import time
from typing import TYPE_CHECKING

import click

from fwsvm import promises
from fwsvm.cli._display import Compiled, Display
from fwsvm.cli._lines import echo
from fwsvm.experiments.forecast import TimeLeft, format_duration
from fwsvm.phases import Phase

SECONDS_OF_ONE_RUN = 3.0  # for which it is shown, at least, where others go on beside it

if TYPE_CHECKING:
    from fwsvm.experiments.plan import Cell
    from fwsvm.experiments.run import Record
    from fwsvm.solvers.loop import Progress


class TrainingDisplay:
    """Shows the progress of runs that train, one after another, in a display; call it with each `Progress`."""

    def __init__(self, display: Display) -> None:
        self.display = display
        self.share = Share()

    def __call__(self, progress: "Progress") -> None:
        """Show the progress of a run."""
        self.display.show(Phase.TRAIN, self.share.of(progress), _words(progress), _line(progress))


class Share:
    """What part of a run is done: of its subproblems, and of the way, in orders of magnitude, of one's gap.

    It does not go back within a run, though gaps may; a run that begins is known by its clock.
    """

    def __init__(self) -> None:
        self.seconds = self.most = 0.0
        self.number, self.first = 0, math.nan

    def of(self, progress: "Progress") -> float:
        """Return the part, 0 to 1."""
        if progress.seconds < self.seconds:
            self.most, self.first = 0.0, math.nan
        if progress.subproblem != self.number:
            self.first = math.nan
        self.seconds, self.number = progress.seconds, progress.subproblem
        ratio, inside = _gap(progress) / progress.tolerance if progress.tolerance else math.nan, 0.0
        if 0 < ratio < math.inf:
            self.first = ratio if math.isnan(self.first) else max(self.first, ratio)
            inside = 1.0 - max(0.0, math.log(ratio)) / max(1.0, math.log(self.first))
        self.most = max(self.most, min(1.0, (progress.subproblem + inside) / progress.subproblems))
        return self.most


def _gap(progress: "Progress") -> float:
    return progress.gap / progress.objective if progress.objective else math.nan


def _part(progress: "Progress") -> str:
    return f"part {min(progress.subproblem + 1, progress.subproblems)}/{progress.subproblems}"


def _words(progress: "Progress") -> tuple[str, ...]:
    """Return what stands beside the bar, the most telling first; SV are support vectors."""
    gap = _gap(progress)
    stands = f"gap {gap:.1e}" if math.isfinite(gap) else ""
    if not stands and math.isfinite(progress.objective):
        stands = f"objective {progress.objective:.3g}"
    many = progress.subproblems > 1
    done, size = f"{progress.iterations:,} iter.", f"{progress.support_vectors:,} SV"
    parts = (_part(progress), stands, done) if many else (stands, done, size)
    return tuple(part for part in parts if part)


def _line(progress: "Progress") -> str:
    part = f"{_part(progress)}  " if progress.subproblems > 1 else ""
    line = f"{part}{progress.seconds:6.1f} s  iteration {progress.iterations:,}"
    gap = _gap(progress)
    if math.isfinite(gap):
        line += f"  relative gap {gap:.2g}"
    elif math.isfinite(progress.objective):
        line += f"  objective {progress.objective:.4g}"
    return f"{line}  support {progress.support_vectors:,}" if progress.support_vectors else line


class RunsDisplay(Display):
    """The `Reporter` of ``fwsvm grid``: notes, the present run and how many are done, or a line for each run.

    Of several that go on beside each other (``slots`` > 1) one is shown for a while, then another.
    """

    def __init__(
        self, total: int, done: int, slots: int, time_left: TimeLeft, compiled: Compiled | None = None
    ) -> None:
        super().__init__(compiled=compiled)
        self.slots, self.time_left = slots, time_left
        self.total, self.done = total, done
        self.last_end = time.monotonic()
        self._at, self._since, self._share = "", self.last_end, Share()
        self.count("runs", done, total)

    def note(self, said: str) -> None:
        """Print a message."""
        echo(said, 2, err=True)

    def watch(self, cell: "Cell", inside: "Progress | Phase") -> None:
        """Show the phase or the progress of a run, unless one beside it is shown."""
        now = time.monotonic()
        if self._at != cell.run_id:
            if self.slots > 1 and self._at and now - self._since < SECONDS_OF_ONE_RUN:
                return
            self._at, self._since, self._share = cell.run_id, now, Share()
            self.begin(cell.label)
        if isinstance(inside, Phase):
            self.enter(inside)
        else:
            self.show(Phase.TRAIN, self._share.of(inside), _words(inside))

    def ended(self, record: "Record") -> None:
        """Count a run that ended, and report its status."""
        self.done += 1
        if self._at == record.cell.run_id:
            self._at = ""
        row = record.row
        compiled = (row.get("compile_seconds") or 0.0) / (row.get("parallel_cells") or 1)
        now = time.monotonic()
        self.time_left.end(record.cell, max(0.0, now - self.last_end - compiled))
        self.last_end, seconds = now, self.time_left.seconds
        to_go = format_duration(seconds) if seconds is not None and self.done < self.total else ""
        self.count("runs", self.done, self.total, f"about {to_go} left" if to_go else "")
        if self.is_live:
            return
        said = [str(record.status)]
        if row.get("test_accuracy") is not None:
            said.append(f"{100 * row['test_accuracy']:.2f} %")
        if row.get("train_seconds") is not None:
            said.append(f"{row['train_seconds']:.3g} s")
        if void := promises.in_short([row.get("relative_gap") or 0.0], [row["flags"] or ""]):
            said.append(f"weak guarantee: {void}")
        left = f", {to_go} left" if to_go else ""
        click.echo(f"[{self.done}/{self.total}] {record.cell.label}: {', '.join(said)}{left}", err=True)
