"""The one progress display: lines at the foot of a terminal with fixed columns, plain lines elsewhere.

On a terminal, on stderr:

    runs      ━━━━━━━━━━──────   62%    1:07  13 of 21, about 40 s left
              wdbc swap-2o select C=4 fold 3
    train     ━━━━━━──────────   35%    0:04  gap 1.2e-02, 5,678 iter., 1,234 SV

The last line is the present phase; the others are there where a command makes several runs. The time is that of the
line's phase, and goes on by itself while nothing is told.
"""

import contextlib
import math
import sys
import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from fwsvm import phases
from fwsvm.cli._display_lines import REFRESHES, SPARE, DisplayLine, indented, rendered
from fwsvm.cli._lines import has_cursor
from fwsvm.phases import Phase

if TYPE_CHECKING:
    from rich.text import Text

SECONDS_BETWEEN_LINES = 5.0  # where there is no terminal
#: Functions that are compiled first, those that read a file, and the time each takes, in parts of a later one's.
FIRST_FUNCTIONS, THEIR_WEIGHT = 22, 0.6
LINGER = 0.7  # seconds for which compiling stays shown after its last function: many come one after another
MOMENT = 0.4  # seconds that a phase lasts before it is shown: parts of a run are checked one by one
SAY_COMPILING_AFTER, LEAST_FUNCTIONS = 1.0, 12  # seconds and functions: a few are compiled without a word


def is_animated() -> bool:
    """Return whether stderr is a terminal on which lines can be written over."""
    return sys.stderr.isatty() and has_cursor()


@dataclass
class Compiled:
    """What was compiled so far, of so many functions if that is known, and whether something is being compiled."""

    expected: int | None = None
    began: float = 0.0
    now: bool = False
    last: float = -math.inf
    times: int = 0
    announced: bool = False

    @property
    def functions(self) -> int:
        """The number of functions; each is told of twice."""
        return self.times // 2

    @property
    def fraction(self) -> float | None:
        """What part of the expected functions that is; a run that needs more stays just below 1."""
        return None if self.expected is None else min(0.99, _weight(self.functions) / _weight(self.expected))

    @property
    def words(self) -> str:
        """What is said, and where no part of it is known how many functions are done."""
        return self.said if self.expected is not None else f"{self.said}, {self.functions:,} done"

    @property
    def said(self) -> str:
        """For whom, how often and how long, judged by the functions so far."""
        seconds = time.monotonic() - self.began
        if self.fraction is None or seconds < SAY_COMPILING_AFTER or self.functions < LEAST_FUNCTIONS:
            return "for this machine, once"
        about = 5 * math.ceil(max(seconds, seconds / self.fraction) / 5)
        return f"for this machine, once, about {about} s"


def _weight(functions: int) -> float:
    """Return how long so many functions take to compile, in times of a later one."""
    first = min(functions, FIRST_FUNCTIONS)
    return functions - first + THEIR_WEIGHT * first


class Display:
    """Progress on stderr, as a context manager; within it, phases that are announced are shown.

    ``listens`` says whether the layers below announce phases. ``compiled`` is that of the display before, in a command
    that shows several, so that compiling is announced once.
    """

    def __init__(self, *, listens: bool = True, compiled: Compiled | None = None) -> None:
        self.overall: DisplayLine | None = None
        self.name = ""
        self.lines: dict[str, DisplayLine] = {}
        self.present: DisplayLine | None = None
        self.previous: DisplayLine | None = None  # shown until the present one has lasted a moment
        self.compiled = compiled or Compiled()
        self._live: Any = None
        self._open = contextlib.ExitStack()
        self._listens = listens
        self._said = self._entered = time.monotonic()

    def __enter__(self) -> Self:
        """Show the lines, as soon as there are any."""
        # the time that a display before took is not this one's
        self.compiled.began = time.monotonic()
        if self._listens:
            self._open.enter_context(phases.listening(self.enter))
            self._open.enter_context(phases.listening_inside(self.inside))
        if is_animated():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, highlight=False, emoji=False)
            self._live = Live(
                get_renderable=lambda: self._rendered(
                    console.width - SPARE, ascii_only=console.options.ascii_only or console.legacy_windows
                ),
                console=console,
                refresh_per_second=REFRESHES,
                transient=True,
                redirect_stdout=sys.stdout.isatty(),  # what goes to a file or another program is left alone
            )
            self._open.enter_context(self._live)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the lines away."""
        self._open.close()

    @property
    def is_live(self) -> bool:
        """Whether the lines are shown, on a terminal."""
        return self._live is not None

    def enter(self, phase: Phase) -> None:
        """Show another phase; one that the run was in before goes on where it was left."""
        if phase is Phase.COMPILE:
            self._compile()
            return
        self.compiled.now = False
        if self.present is None or self.present.label != phase:
            if self.present is not None:
                self.present.leave()
            self.previous, self.present = self.present, self.lines.setdefault(phase, DisplayLine(phase))
            self.present.inside = ""
            self._entered = time.monotonic()
        self.present.resume()

    def begin(self, name: str = "") -> None:
        """Show another run of that name, whose phases begin anew."""
        self.name, self.lines, self.present = name, {}, None

    def show(self, phase: Phase, fraction: float | None, said: tuple[str, ...], plain: str = "") -> None:
        """Show how far a phase is; without a terminal write ``plain``, if the last line is some seconds ago."""
        self.enter(phase)
        assert self.present is not None  # noqa: S101 - just entered
        self.present.fraction, self.present.said, self.present.inside = fraction, said, ""
        if not self.is_live and plain and time.monotonic() - self._said > SECONDS_BETWEEN_LINES:
            self._said = time.monotonic()
            click.echo(plain, err=True)

    def inside(self, what: str, part: float | None = None) -> None:
        """Show a long step of the present phase, and how far it is if that is known."""
        if self.present is not None:
            self.present.inside = what if part is None else f"{what} {math.floor(100 * part)}%"

    def count(self, label: str, done: int, total: int, more: str = "") -> None:
        """Show how many of the runs or folds are done."""
        if self.overall is None:
            self.overall = DisplayLine(label, since=time.monotonic())
        self.overall.fraction = done / total if total else 1.0
        self.overall.said = (f"{done:,} of {total:,}", *([more] if more else []))

    def _compile(self) -> None:
        now, compiled = time.monotonic(), self.compiled
        if compiled.times == 0:
            compiled.began = now
        if self.present is not None:
            self.present.leave()
        compiled.now = True
        compiled.times, compiled.last = compiled.times + 1, now
        late = now - compiled.began > SAY_COMPILING_AFTER and compiled.functions >= LEAST_FUNCTIONS
        if late and not self.is_live and not compiled.announced:
            compiled.announced = True
            click.echo(f"compiling {compiled.said.replace(', once', ' (once', 1)})", err=True)

    def _rendered(self, width: int, *, ascii_only: bool) -> "Text":
        """Return the lines, none wider than ``width``."""
        from rich.text import Text

        lines, present, compiled = [], self.present, self.compiled
        if self.overall is not None:
            lines.append(rendered(self.overall, ascii_only=ascii_only))
        if self.name:
            lines.append(Text(indented(self.name, width)))
        now = time.monotonic()
        if compiled.now or now - compiled.last < LINGER:
            present = DisplayLine(Phase.COMPILE, compiled.fraction, (compiled.words,), since=compiled.began)
        elif self.previous is not None and now - self._entered < MOMENT:
            present = self.previous
        if present is not None:
            lines.append(rendered(present, ascii_only=ascii_only))
        for line in lines:
            line.truncate(width, overflow="crop" if ascii_only else "ellipsis")
        return Text("\n", no_wrap=True).join(lines)
