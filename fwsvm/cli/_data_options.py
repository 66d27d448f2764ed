"""Options that the commands of ``fwsvm data`` share, and the entries that their arguments name."""

import sys
from typing import TYPE_CHECKING

import click

from fwsvm.cli._types import FiniteFloat
from fwsvm.errors import UsageError

if TYPE_CHECKING:
    from fwsvm.data.fetching.options import FetchOptions
    from fwsvm.data.lock.entry import Entry

mirror_option = click.option(
    "--mirror",
    metavar="DIR|URL",
    help="Try this folder or URL first; the default is FWSVM_MIRROR.",
)
offline_option = click.option("--offline", is_flag=True, help="Ask no server.")
seconds_option = click.option(
    "--time-limit",
    "seconds",
    metavar="S",
    type=FiniteFloat(0, 1e6, min_open=True),
    help="Seconds for each file, all attempts included; the default is FWSVM_FETCH_SECONDS, or 3600.",
)
source_option = click.option("--source", metavar="NAME", help="Use this one of the entry's sources.")


def fetch_options(mirror: str | None, *, offline: bool, seconds: float | None = None) -> "FetchOptions":
    """Return where to fetch from, with progress on stderr."""
    from fwsvm.cli._progress import download_bar
    from fwsvm.data.fetching.options import FetchOptions

    def say(line: str) -> None:
        click.echo(line, file=sys.stderr)

    return FetchOptions.default(mirror, offline=offline, seconds=seconds, say=say, bar=download_bar)


def find_entries(names: tuple[str, ...], paper: str | None) -> "list[Entry]":
    """Return the entries named, those of a paper, or all."""
    from fwsvm.data import unknown_name
    from fwsvm.data.lock import lockfile

    lock = lockfile.read()
    found = []
    for name in names:
        entry = lock.find(name)
        if entry is None:
            raise UsageError(unknown_name(name))
        found.append(entry)
    if paper:
        of_paper = [e for e in lock.entries.values() if any(paper in p.paper for p in e.published)]
        if not of_paper:
            raise UsageError(f"--paper {paper}: no data set is of that paper; papers are 000, 002, 003, 004")
        found += of_paper
    return found or list(lock.entries.values())
