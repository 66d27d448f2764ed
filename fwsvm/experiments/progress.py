"""Progress of an experiment on stderr: a bar on a terminal, lines elsewhere."""

import math
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from fwsvm import promises
from fwsvm.experiments.execute import Record
from fwsvm.experiments.plan import Cell
from fwsvm.solvers.loop import Progress as Inside


class ProgressReporter:
    """The `Reporter` of the command line: notes, and for each run a line or, on a terminal, an update of the bar."""

    def __init__(self, total: int, done: int) -> None:
        self.total, self.done, self.made = total, done, 0
        self.console = Console(stderr=True, highlight=False, emoji=False)
        self.console.soft_wrap = not self.console.is_terminal
        self.started = time.monotonic()
        self.bar: Progress | None = None

    def __enter__(self) -> Self:
        """Show the bar if stderr is a terminal."""
        if self.console.is_terminal:
            self.bar = Progress(
                BarColumn(bar_width=12), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"),
                TimeRemainingColumn(),
                TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
                console=self.console,
            )  # fmt: skip
            self.task = self.bar.add_task("", total=self.total, completed=self.done)
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        if self.bar is not None:
            self.bar.stop()

    def note(self, said: str) -> None:
        """Print a message."""
        self.console.print(said, markup=False)

    def watch(self, cell: Cell, inside: Inside) -> None:
        """Show the progress of the current run."""
        if self.bar is not None:
            where = f" pair {inside.subproblem + 1}/{inside.subproblems}" if inside.subproblems > 1 else ""
            stands = (
                f"gap {inside.gap:.0e}" if math.isfinite(inside.gap) else f"objective {inside.objective:.3g}"
            )
            how = f"{stands}, {inside.support_vectors:,} SV, {inside.iterations:,} iterations"
            self.bar.update(self.task, description=f"{cell.label}{where}: {how}")

    def ended(self, record: Record) -> None:
        """Count a run that ended, and report its status."""
        self.done, self.made = self.done + 1, self.made + 1
        if self.bar is not None:
            self.bar.update(
                self.task, completed=self.done, description=f"{record.cell.label}: {record.status}"
            )
            return
        row, said = record.row, [str(record.status)]
        if row.get("test_accuracy") is not None:
            said.append(f"{100 * row['test_accuracy']:.2f} %")
        if row.get("train_seconds") is not None:
            said.append(f"{row['train_seconds']:.3g} s")
        if void := promises.in_short([row.get("relative_gap") or 0.0], [row["message"]]):
            said.append(f"little is promised: {void}")
        to_go = (self.total - self.done) * (time.monotonic() - self.started) / self.made
        left = f", {format_duration(to_go)} left" if self.done < self.total else ""
        self.note(f"[{self.done}/{self.total}] {record.cell.label}: {', '.join(said)}{left}")


def format_duration(seconds: float) -> str:
    """Return a duration as text: 8 s, 5 min, 3 h 20 min."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
