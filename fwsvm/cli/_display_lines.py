"""A line of the progress display, in fixed columns: label, bar, per cent, time and words, which fit in 80 columns."""

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

REFRESHES = 8  # a second
LABEL, BAR, GAP = 8, 16, "  "  # columns of the label and the bar, and what parts columns
SPARE = 3  # columns at the end of a line: the ^C that a terminal writes there must not begin another line
WORDS = 80 - SPARE - (LABEL + BAR + len("100%") + len("  0:00") + 4 * len(GAP))  # columns of the words, of 80
PIECE = 4  # columns of what moves in a bar of unknown length


@dataclass
class DisplayLine:
    """A line of the display: its label, what is done of it (0 to 1, None where that is not known), and words.

    The words are parts, of which the first come before others where there is not room for all. ``inside`` is the step
    that is under way, and how far it is, until more is told.
    ``spent`` are its seconds before ``since``, when it was entered last; None while another phase is present.
    """

    label: str
    fraction: float | None = None
    said: tuple[str, ...] = ()
    inside: str = ""
    spent: float = 0.0
    since: float | None = None

    @property
    def seconds(self) -> float:
        """The seconds that it took so far."""
        return self.spent + (time.monotonic() - self.since if self.since is not None else 0.0)

    @property
    def words(self) -> str:
        """The words, as many parts as there is room for beside the other columns."""
        parts = (self.inside, *self.said) if self.inside else self.said
        kept: list[str] = []
        for part in parts:
            if not kept or len(", ".join([*kept, part])) <= WORDS:
                kept.append(part)
        return ", ".join([*kept[1:], kept[0]] if self.inside else kept)

    def leave(self) -> None:
        """Stop its clock."""
        self.spent, self.since = self.seconds, None

    def resume(self) -> None:
        """Let its clock go on."""
        if self.since is None:
            self.since = time.monotonic()


def rendered(line: DisplayLine, *, ascii_only: bool) -> "Text":
    """Return a line in fixed columns: label, bar, per cent, time, words."""
    from rich.text import Text

    share = "" if line.fraction is None else f"{math.floor(100 * min(1.0, max(0.0, line.fraction)))}%"
    seconds = line.seconds
    return Text.assemble(
        f"{line.label:<{LABEL}}{GAP}", *_bar(line.fraction, seconds, "#-" if ascii_only else "━─"),
        f"{GAP}{share:>4}{GAP}{clock(seconds)}{GAP}{line.words}",
    )  # fmt: skip


def _bar(fraction: float | None, seconds: float, marks: str) -> list[tuple[str, str]]:
    """Return the parts of a bar with their styles; without a fraction a piece of it moves to and fro."""
    if fraction is None:
        way = BAR - PIECE
        first = way - abs(int(REFRESHES * seconds) % (2 * way) - way)
        end = first + PIECE
    else:
        first, end = 0, min(BAR, max(0, round(BAR * fraction)))
    dim, bright = "bright_black", "cyan"
    return [(marks[1] * first, dim), (marks[0] * (end - first), bright), (marks[1] * (BAR - end), dim)]


def indented(name: str, width: int) -> str:
    """Return the name of a run as it stands below the bars: whole if it fits, else without some of its middle."""
    return " " * (LABEL + len(GAP)) + without_middle(name, max(8, width - LABEL - len(GAP)))


def without_middle(name: str, room: int) -> str:
    """Return a name whole if it fits, else without some of its middle.

    >>> without_middle("covtype.libsvm.binary.scale.bz2", 18)
    'covty....scale.bz2'
    """
    if len(name) <= room:
        return name
    kept = room - 3
    return f"{name[: kept // 3]}...{name[len(name) - (kept - kept // 3) :]}"


def clock(seconds: float) -> str:
    """Return a time as a clock shows it, in six columns.

    >>> clock(7), clock(127), clock(4000), clock(400_000)
    ('  0:07', '  2:07', '  1h06', '  111h')
    """
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes:3d}:{rest:02d}"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:3d}h{minutes:02d}" if hours < 100 else f"{hours:5d}h"
