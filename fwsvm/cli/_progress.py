"""Progress on stderr: bars on a terminal, plain lines every few seconds elsewhere, nothing with --quiet.

    runs     ━━━━━━━━━━━━────── 13 of 21                    0:01:07 00:40 left
    train    ━━━━━━──────────── gap 1.2e-02, 1,234 SV       0:00:04 00:12 left
             wdbc swap-2o select C=4 fold 3

The first line is there where a command makes several runs, the last where they have names.
"""

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Self

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from fwsvm import phases, promises
from fwsvm.cli._lines import has_cursor, is_quiet, note
from fwsvm.phases import Phase

if TYPE_CHECKING:
    from fwsvm.data.download import FetchOptions
    from fwsvm.experiments.plan import Cell
    from fwsvm.experiments.run import Record
    from fwsvm.solvers.loop import Progress as RunProgress

SECONDS_BETWEEN_LINES = 5.0  # where there is no terminal
MANY_FUNCTIONS = 12  # a few are compiled without a word
WIDTH = 77  # columns of a line at most, so that ^C begins no other on a terminal of 80
WORDS = 27  # columns beside the bar
RUNS, PHASE = TaskID(0), TaskID(1)


class Bars(Progress):
    """The bars, and the name of the present run below them."""

    run_name = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield what is shown."""
        yield from super().get_renderables()
        if self.run_name:
            name = Text(f"{'':9}{self.run_name}", no_wrap=True, end="")
            name.truncate(min(WIDTH, self.console.width), overflow="ellipsis")
            yield name


class LeftColumn(TimeRemainingColumn):
    """The time that is left, where it is known."""

    def render(self, task: Task) -> Text:
        """Return it."""
        shown = super().render(task).plain
        return Text(f"{shown} left" if shown[:1].isdigit() else "", no_wrap=True)


def clock(seconds: float) -> str:
    """Return a time as a clock shows it.

    >>> clock(7), clock(127), clock(4000)
    ('0:07', '2:07', '1h06')
    """
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}"


class Display:
    """Progress as a context manager; within it, phases that the layers below announce are shown."""

    def __init__(self) -> None:
        self._bars: Bars | None = None
        self._phase, self._share, self._functions = "", Share(), 0
        self._open, self._last_line = contextlib.ExitStack(), time.monotonic()

    def __enter__(self) -> Self:
        """Show bars as soon as there are any."""
        self._open.enter_context(phases.listening(self.enter, self.inside))
        if sys.stderr.isatty() and has_cursor() and not is_quiet():
            said = Column(width=WORDS, no_wrap=True, overflow="ellipsis")
            bars = Bars(
                TextColumn("{task.description:<8}", markup=False),
                BarColumn(18, complete_style="cyan", finished_style="cyan"),
                TextColumn("{task.fields[said]}", markup=False, table_column=said),
                TimeElapsedColumn(),
                LeftColumn(compact=True),
                console=Console(stderr=True, highlight=False, emoji=False),
                transient=True,
                redirect_stdout=sys.stdout.isatty(),
            )
            for _ in (RUNS, PHASE):
                bars.add_task("", total=None, visible=False, said="")
            self._bars = self._open.enter_context(bars)
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bars away."""
        self._open.close()

    def _update(self, line: TaskID, label: str, done: float | None, said: str) -> None:
        """Show a line's label, the part that is done (0 to 1, or None) and its words; a new label has a new clock."""
        if self._bars is None:
            return
        if self._bars.tasks[line].description != label:
            self._bars.reset(line, total=None, description=label, visible=True)
        total = None if done is None else 1.0
        self._bars.update(line, total=total, completed=done or 0.0, said=said)

    def enter(self, phase: str) -> None:
        """Show another phase; compiling is shown within the phase that needs it."""
        if phase == Phase.COMPILE:
            self._functions += 1
            self.inside("compiling (once)")
            if self._functions == 2 * MANY_FUNCTIONS and self._bars is None:  # each is announced twice
                note("compiling for this machine (once)")
        elif phase != self._phase:
            self._phase = phase
            self._update(PHASE, phase, None, "")

    def inside(self, what: str, part: float | None = None) -> None:
        """Show a long step of the present phase, and how far it is if that is known."""
        if self._bars is not None:
            self._bars.update(PHASE, said=what if part is None else f"{what} {part:.0%}")

    def begin(self, name: str = "") -> None:
        """Show another run of that name, whose phases begin anew."""
        self._phase, self._share = "", Share()
        if self._bars is not None:
            self._bars.run_name = name

    def show(self, phase: str, done: float | None, said: str, plain: str) -> None:
        """Show how far a phase is; without a terminal write ``plain``, if the last line is some seconds ago."""
        self.enter(phase)
        self._update(PHASE, phase, done, said)
        if self._bars is None and time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            note(plain)

    def count(self, label: str, done: int, total: int) -> None:
        """Show how many runs or folds are done."""
        self._update(RUNS, label, done / total if total else 1.0, f"{done:,} of {total:,}")

    def __call__(self, progress: "RunProgress") -> None:
        """Show the progress of a run that trains."""
        number, of, seconds, iterations, objective, gap, _, vectors = progress
        relative = gap / objective if objective else math.nan
        parts = [f"part {min(number + 1, of)}/{of}"] if of > 1 else []
        if math.isfinite(relative):
            parts.append(f"gap {relative:.1e}")
        elif math.isfinite(objective):
            parts.append(f"objective {objective:.3g}")
        parts.append(f"{vectors:,} SV" if vectors else f"{iterations:,} iter.")
        said = ", ".join(parts)
        plain = f"{seconds:6.1f} s  {said}, iteration {iterations:,}"
        self.show(Phase.TRAIN, self._share.of(progress, relative), said, plain)


class Share:
    """What part of a run is done: of its subproblems, and of the way, in orders of magnitude, of one's gap."""

    def __init__(self) -> None:
        self.most, self.number, self.first = 0.0, 0, 1.0

    def of(self, progress: "RunProgress", gap: float) -> float:
        """Return the part, 0 to 1, which never falls."""
        if progress.subproblem != self.number:
            self.number, self.first = progress.subproblem, 1.0
        inside, ratio = 0.0, gap / progress.tolerance if progress.tolerance else math.nan
        if 0 < ratio < math.inf:
            orders = max(0.0, math.log(ratio))
            self.first = max(self.first, orders)
            inside = 1.0 - orders / self.first
        self.most = max(self.most, min(1.0, (progress.subproblem + inside) / progress.subproblems))
        return self.most


class RunsDisplay(Display):
    """The `Reporter` of ``fwsvm grid``: notes, the present run and how many are done, or a line for each run.

    Of several that go on beside each other one is shown until it ends.
    """

    def __init__(self, total: int, done: int) -> None:
        super().__init__()
        self.total, self.done, self._at = total, done, ""
        #: When the first run ended, and how many were to do then; the first run compiles.
        self._timed_from: tuple[float, int] | None = None

    def __enter__(self) -> Self:
        """Show how many runs are done."""
        super().__enter__()
        self.count("runs", self.done, self.total)
        return self

    def note(self, said: str) -> None:
        """Print a message."""
        note(said)

    def watch(self, cell: "Cell", inside: "RunProgress | Phase") -> None:
        """Show the phase or the progress of a run, unless one beside it is shown."""
        if not self._at:
            self._at = cell.run_id
            self.begin(cell.label)
        if self._at != cell.run_id:
            return
        if isinstance(inside, Phase):
            self.enter(inside)
        else:
            self(inside)

    def ended(self, record: "Record") -> None:
        """Count a run that ended, and report its status."""
        self.done += 1
        if self._at == record.cell.run_id:
            self._at = ""
        self.count("runs", self.done, self.total)
        if self._bars is not None:
            return
        row, to_do = record.row, self.total - self.done
        now = time.monotonic()
        begun, first = self._timed_from = self._timed_from or (now, to_do)
        time_left = (now - begun) / (first - to_do) * to_do if first > to_do > 0 else None
        said = [promises.ending(record.status, row["stop"], row.get("relative_gap") or 0.0)]
        if row.get("test_accuracy") is not None:
            said.append(f"{100 * row['test_accuracy']:.2f} %")
        if row.get("train_seconds") is not None:
            said.append(f"{row['train_seconds']:.3g} s")
        said.append(promises.in_short([], [row.get("flags") or ""]))
        said.append("" if time_left is None else f"{clock(time_left)} left")
        note(f"[{self.done}/{self.total}] {record.cell.label}: {', '.join(filter(None, said))}")


@contextlib.contextmanager
def downloading(
    name: str, size: int | None, display: Display | None = None
) -> Iterator[Callable[[int], None]]:
    """Show how much of a file is fetched, in a display, or in one of its own that goes when the file is there."""
    with contextlib.ExitStack() as own:
        shown = display

        def show(done: int) -> None:
            nonlocal shown
            shown = shown or own.enter_context(Display())
            said = f"{done / 1e6:,.1f}" + (f" of {size / 1e6:,.1f}" if size else "") + " MB"
            shown.begin(name)
            shown.show(Phase.FETCH, min(1.0, done / size) if size else None, said, f"{name}: {said}")

        try:
            yield show
        finally:
            if shown is not None:
                shown.begin()
                shown.enter(Phase.LOAD)


def loading(display: Display, *, offline: bool) -> "FetchOptions":
    """Begin to show that data is loaded; return how to fetch it, with progress in the same display."""
    from fwsvm.data.download import FetchOptions

    display.enter(Phase.LOAD)
    return FetchOptions.default(
        offline=offline, say=note, bar=lambda name, size: downloading(name, size, display)
    )
