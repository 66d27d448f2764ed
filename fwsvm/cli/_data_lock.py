"""The commands of ``fwsvm data`` that change which files are trusted: lock, add and remove."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fwsvm.cli import _types
from fwsvm.cli._data_options import (
    fetch_options,
    find_entries,
    mirror_option,
    offline_option,
    seconds_option,
    source_option,
)
from fwsvm.cli._types import NearestChoice
from fwsvm.errors import DataError, UsageError

if TYPE_CHECKING:
    from fwsvm.data.lock.pinning import FetchedFile

checkout_option = click.option(
    "--into-checkout",
    is_flag=True,
    help="Write to the datasets.lock of the checkout that fwsvm runs from, and not to your own.",
)


@click.command()
@click.argument("name")
@click.option("--accept", is_flag=True, help="Record a digest that differs from the one in the lock.")
@checkout_option
@source_option
@mirror_option
@offline_option
@seconds_option
def lock(
    name: str,
    source: str | None,
    mirror: str | None,
    seconds: float | None,
    *,
    accept: bool,
    into_checkout: bool,
    offline: bool,
) -> None:
    """Fetch the files of NAME, and record their digests for you.

    Size and digest of each file are printed beside those in the lock. A digest that is not known yet is recorded; one
    that differs is recorded only with --accept, and without it the exit code is 3.
    """
    from fwsvm.data.lock import pinning

    entry = find_entries((name,), None)[0]
    chosen = entry.source(source) if source else entry.sources[0]
    fetched = pinning.examine(chosen, fetch_options(mirror, offline=offline, seconds=seconds))
    for each in fetched:
        for line in _comparison(each):
            click.echo(line)
    differ = [f.file.file for f in fetched if f.file.pinned and not f.agrees]
    if differ and not accept:
        pinning.discard(chosen, fetched)
        raise DataError(
            f"{', '.join(differ)}: not what datasets.lock says, kept as .bad; --accept records what was found"
        )
    if not fetched:
        click.echo(f"{entry.name}: nothing to record: {entry.made or 'its files ship with fwsvm'}")
        return
    written = pinning.accept(chosen, fetched, into_checkout=into_checkout)
    click.echo(f"recorded in {written}" if written else "nothing to record: all is known")


def _comparison(fetched: "FetchedFile") -> list[str]:
    """Return lines that compare a fetched file with what the lock has of it."""
    file, found = fetched.file, fetched.found
    state = "unchanged" if fetched.agrees else ("differs" if file.pinned else "new")
    index = f", features up to {fetched.max_index:,}" if fetched.max_index else ""
    return [
        f"{file.file}: {state}, from {fetched.place}",
        f"  lock   {file.digest}" + (f", {file.bytes:,} bytes" if file.bytes else ""),
        f"  found  sha256:{found.sha256}, {found.bytes:,} bytes, {fetched.rows:,} rows{index}",
        f"         md5:{found.md5}",
    ]


@click.command()
@click.argument("name")
@click.argument("files", nargs=-1, required=True, type=_types.ANY, metavar="FILE...")
@click.option("--test", type=_types.ANY, help="Test rows of a new data set.")
@click.option("--scaling", type=NearestChoice(["none", "[-1,1]", "[0,1]"]), help="Of a new data set.")
@click.option("--title", help="Of a new data set.")
@checkout_option
def add(
    name: str,
    files: tuple[Path, ...],
    test: Path | None,
    scaling: str | None,
    title: str | None,
    *,
    into_checkout: bool,
) -> None:
    """Take files fetched by hand into the cache, as those of NAME.

    Each must match a file that the lock lists for NAME, by digest or, if none is known, by name. A NAME that is not in
    the lock becomes a new data set: one FILE in LIBSVM's format, and test rows with --test.
    """
    from fwsvm.data.lock import lockfile, pinning

    entry = lockfile.read().find(name)
    if entry is None:
        if len(files) > 1:
            raise UsageError(f"{name} is a new data set: give one FILE, and test rows with --test")
        written = pinning.add_new(
            name,
            files[0],
            test,
            scaling=scaling or "none",
            title=title or name,
            into_checkout=into_checkout,
        )
        click.echo(f"{name}: recorded in {written}")
        return
    if test is not None or scaling or title:
        raise UsageError(
            f"{entry.name} is in the lock already: --test, --scaling and --title are for a new name"
        )
    for given in files:
        source, file, place = pinning.add(entry, given, into_checkout=into_checkout)
        click.echo(f"{given}: copied to {place}, as {entry.name}/{source.name}/{file.file}")


@click.command()
@click.argument("name")
@checkout_option
def remove(name: str, *, into_checkout: bool) -> None:
    """Remove your own entry and digests of NAME from your datasets.lock."""
    from fwsvm.data.lock import editing
    from fwsvm.files.folders import data_folder

    gone = editing.remove(name, into_checkout=into_checkout)
    what = ["the entry"] if gone.entry else []
    what += [f"the digests of {gone.pins} {'file' if gone.pins == 1 else 'files'}"] if gone.pins else []
    click.echo(f"{name}: {' and '.join(what)} removed from {gone.path}")
    if (data_folder() / name).is_dir():
        click.echo(f"its files stay in {data_folder() / name} until `fwsvm data prune`")
