"""Progress of downloads on stderr: a bar in a terminal, a line every few seconds elsewhere."""

import sys
import time
from typing import Any

import click

SECONDS_BETWEEN_LINES = 5.0


def download_bar(name: str, size: int | None) -> "TerminalProgress | PlainProgress":
    """Return a progress bar for a file of a name and size (bytes, or None), for a terminal or not."""
    return TerminalProgress(name, size) if sys.stderr.isatty() else PlainProgress(name, size)


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
            of = f" of {self.total / 1e6:,.1f}" if self.total else ""
            click.echo(f"{self.name}: {self.done / 1e6:,.1f}{of} MB", err=True)

    def reset(self) -> None:
        """Begin to count again."""
        self.done = 0

    def close(self) -> None:
        """Return: there is nothing to close."""


class TerminalProgress:
    """A rich progress bar that appears with the first bytes and goes when closed."""

    def __init__(self, name: str, size: int | None) -> None:
        self.name = name
        self.total = size or 0
        self.progress: Any = None
        self.task: Any = None

    def update(self, count: int) -> None:
        """Count bytes, and show them."""
        if self.progress is None:
            self._open()
        self.progress.update(self.task, advance=count, total=self.total or None)

    def reset(self) -> None:
        """Begin to count again."""
        if self.progress is not None:
            self.progress.reset(self.task)

    def close(self) -> None:
        """Remove the bar, whether the download succeeded or not."""
        if self.progress is not None:
            self.progress.stop()
            self.progress = None

    def _open(self) -> None:
        from rich import progress
        from rich.console import Console

        self.progress = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.DownloadColumn(),
            progress.TransferSpeedColumn(),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.progress.add_task(self.name, total=self.total or None)
        self.progress.start()
