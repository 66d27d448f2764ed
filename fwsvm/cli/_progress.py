"""Progress of downloads on stderr: a bar in a terminal, a line every few seconds elsewhere."""

import time
from typing import TYPE_CHECKING

import click

from fwsvm.cli._display import SECONDS_BETWEEN_LINES, Display, is_animated
from fwsvm.cli._display_lines import WORDS, without_middle
from fwsvm.phases import Phase

if TYPE_CHECKING:
    from fwsvm.data.fetching.download import FetchOptions


def download_bar(name: str, size: int | None) -> "TerminalProgress | PlainProgress":
    """Return a progress bar for a file of a name and size (bytes, or None), for a terminal or not."""
    return TerminalProgress(name, size) if is_animated() else PlainProgress(name, size)


class PlainProgress:
    """Progress as plain lines, at most one every few seconds."""

    def __init__(self, name: str, size: int | None) -> None:
        self.name = name
        self.total = size or 0
        self.done = 0
        self.said = time.monotonic()

    def update(self, count: int) -> None:
        """Count bytes; print a line if the last one is some seconds ago."""
        self.done += count
        if time.monotonic() - self.said > SECONDS_BETWEEN_LINES:
            self.said = time.monotonic()
            click.echo(f"{self.name}: {amount(self.done, self.total)}", err=True)

    def reset(self) -> None:
        """Begin to count again."""
        self.done = 0

    def close(self) -> None:
        """Return: there is nothing to close."""


class TerminalProgress:
    """A line of a display, or one of its own, which appears with the first bytes and goes when closed."""

    def __init__(self, name: str, size: int | None, display: Display | None = None) -> None:
        self.name = name
        self.total = size or 0
        self.done = 0
        self.display = display
        self.own: Display | None = None

    def update(self, count: int) -> None:
        """Count bytes, and show them."""
        self.done += count
        if not self.done:
            return
        if self.display is None and self.own is None:
            self.own = Display(listens=False)
            self.own.__enter__()
        display = self.display or self.own
        assert display is not None  # noqa: S101 - made above
        part, said = min(1.0, self.done / self.total) if self.total else None, amount(self.done, self.total)
        display.show(Phase.FETCH, part, (f"{said}  {without_middle(self.name, WORDS - len(said) - 2)}",))

    def reset(self) -> None:
        """Begin to count again."""
        self.done = 0

    def close(self) -> None:
        """Remove the line, whether the download succeeded or not."""
        if self.own is not None:
            self.own.__exit__(None, None, None)
            self.own = None
        elif self.display is not None:
            self.display.enter(Phase.LOAD)


def amount(done: int, total: int) -> str:
    """Return a number of bytes, and of how many where that is known (0 if not), in MB."""
    of = f" of {total / 1e6:,.1f}" if total else ""
    return f"{done / 1e6:,.1f}{of} MB"


def loading(display: Display, *, offline: bool) -> "FetchOptions":
    """Begin to show that data is loaded; return how to fetch it, with progress in the same display."""
    from fwsvm.data.fetching.download import FetchOptions

    def bar(name: str, size: int | None) -> "TerminalProgress | PlainProgress":
        return TerminalProgress(name, size, display) if display.is_live else PlainProgress(name, size)

    display.enter(Phase.LOAD)
    return FetchOptions.default(offline=offline, bar=bar)
