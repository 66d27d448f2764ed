"""``fwsvm data``: the data sets there are, and their files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fwsvm.cli._help import Summaries
from fwsvm.cli._lines import tell
from fwsvm.cli._options import PATH, NearestChoice, json_option, offline_option
from fwsvm.errors import DataError, UsageError, counted
from fwsvm.papers import PAPERS, by_author
from fwsvm.plugins import entry_of

if TYPE_CHECKING:
    from fwsvm.data.lockfile import Entry

name_argument = click.argument("name")
names_argument = click.argument("names", nargs=-1, metavar="[NAME]...")
source_option = click.option("--source", metavar="NAME", help="Use this one of the entry's sources.")
paper_option = click.option(
    "--paper", metavar="AUTHOR", help="All data sets of this paper: frandi, nanculef, glasmachers or zhang."
)


def find_entries(names: tuple[str, ...], paper: str | None = None) -> "list[Entry]":
    """Return the entries named, those of a paper, or all."""
    from fwsvm.data import lockfile, unknown_name

    lock = lockfile.read()
    found = []
    for name in names:
        if (entry := lock.find(name)) is None:
            raise UsageError(unknown_name(name))
        found.append(entry)
    if paper:
        number = entry_of(PAPERS, "paper", by_author(paper)).number
        found += [e for e in lock.entries.values() if any(number in p.paper for p in e.published)]
    return found or list(lock.entries.values())


@click.group(cls=Summaries)
def data() -> None:
    """Show, fetch, verify and add data sets.

    A data set is an entry of datasets.lock; a file of it counts only if its bytes have the digest written
    there.
    """


@data.command("list")
@paper_option
@json_option
def list_(paper: str | None, *, as_json: bool) -> None:
    """List all data sets, their sizes, and where each is from."""
    from fwsvm.cli import _data_text as text
    from fwsvm.data import lockfile
    from fwsvm.data.download import FetchOptions

    mirror, overlay = FetchOptions.default().mirror, lockfile.read().overlay
    found = [text.entry_record(each, mirror, overlay.get(each.name)) for each in find_entries((), paper)]
    click.echo(json.dumps(found, indent=1) if as_json else "\n".join(text.list_lines(found)))


@data.command()
@name_argument
@json_option
def info(name: str, *, as_json: bool) -> None:
    """Show an entry: task, scaling, shapes, sources, files, digests."""
    from fwsvm.cli import _data_text as text
    from fwsvm.data import lockfile
    from fwsvm.data.download import FetchOptions

    (entry,) = find_entries((name,))
    record = text.full_record(entry, FetchOptions.default().mirror, lockfile.read().overlay)
    click.echo(json.dumps(record, indent=1) if as_json else text.info_text(record))


@data.command()
@names_argument
@paper_option
@source_option
@offline_option
def fetch(
    names: tuple[str, ...],
    paper: str | None,
    source: str | None,
    *,
    offline: bool,
) -> None:
    """Fetch data sets into the cache, and verify them.

    What is there already is only checked.
    """
    from fwsvm.cli._progress import Display, fetch_options
    from fwsvm.data.fetching import obtain

    if not names and not paper:
        raise UsageError("name the data sets to fetch, or a --paper")
    entries = find_entries(names, paper)
    failed = 0
    for entry in entries:
        try:
            with Display() as display:
                got = obtain(entry, source, fetch_options(display, offline=offline))
        except DataError as error:
            if len(entries) == 1:
                raise
            failed += 1
            tell([error])
            continue
        tell(got.notices)
        if got.source.generate:
            click.echo(f"{entry.name}: generated when it is used, nothing to fetch")
            continue
        size = sum(path.stat().st_size for path, _ in got.files.values())
        files = counted(len(got.files), "file")
        click.echo(f"{entry.name}: {files}, {size:,} bytes, source {got.source.name}, verified")
    if failed:
        raise DataError(f"{failed} of {len(entries)} data sets are not available")


@data.command()
@names_argument
def verify(names: tuple[str, ...]) -> None:
    """Hash files in the cache again, of the data sets named or of all.

    The exit code is 3 if one is not what it was.
    """
    from fwsvm.data import maintenance

    bad = whole = 0
    for file, state in maintenance.check(find_entries(names)):
        if state == "missing" and not names:
            continue
        click.echo(f"{file}: {state}")
        whole += state == "whole"
        bad += state not in ("whole", "missing", "unpinned")
    if bad:
        raise DataError("not what datasets.lock says; `fwsvm data fetch NAME` replaces it")
    click.echo(f"{counted(whole, 'file')} whole")


@data.command()
@name_argument
@source_option
def path(name: str, source: str | None) -> None:
    """Print where the verified files of NAME lie.

    Training files come first, one a line. Nothing is fetched.
    """
    from fwsvm.data.download import FetchOptions
    from fwsvm.data.fetching import obtain

    got = obtain(find_entries((name,))[0], source, FetchOptions.default(offline=True))
    for file in got.source.files:
        click.echo(str(got.files[file.file][0]))


@data.command()
@click.option("--all", "everything", is_flag=True, help="Remove every data file and parsed copy.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
def prune(*, everything: bool, dry_run: bool) -> None:
    """Remove from the cache what nothing will use again.

    That is broken downloads, files of data sets that no lock names any more, parsed copies of other versions of fwsvm,
    and copies that were not finished and have not changed for a day. What fwsvm did not write stays, with --all, too.
    """
    from fwsvm.data import maintenance

    total = places = 0
    for path, why, size in maintenance.prune(everything=everything, dry_run=dry_run):
        total, places = total + size, places + 1
        click.echo(f"{path}: {why}, {size:,} bytes")
    click.echo(f"{'would free' if dry_run else 'freed'} {total:,} bytes in {counted(places, 'place')}")


@data.command()
@name_argument
@click.option("--accept", is_flag=True, help="Fetch anew, and record a digest or a shape that differs.")
@source_option
@offline_option
def lock(
    name: str,
    source: str | None,
    *,
    accept: bool,
    offline: bool,
) -> None:
    """Fetch the files of NAME, and record their digests for you.

    The digest of each file is printed beside that in the lock. A digest that is not known yet is recorded; one
    that differs is recorded only with --accept, and without it the exit code is 3.
    """
    from fwsvm.cli._progress import Display, fetch_options
    from fwsvm.data import recording

    entry = find_entries((name,))[0]
    chosen = entry.source(source) if source else entry.sources[0]
    with Display() as display:
        options = fetch_options(display, offline=offline)
        for line in recording.lock(entry, chosen, options, accept=accept):
            click.echo(line)


@data.command()
@name_argument
@click.argument("files", nargs=-1, required=True, type=PATH, metavar="FILE...")
@click.option("--test", type=PATH, help="Test rows of a new data set.")
@click.option("--scaling", type=NearestChoice(["none", "[-1,1]", "[0,1]"]), help="Of a new data set.")
@click.option("--title", help="Of a new data set.")
@click.option("--zero-based", is_flag=True, help="The features of a new data set count from 0.")
def add(
    name: str,
    files: tuple[Path, ...],
    test: Path | None,
    scaling: str | None,
    title: str | None,
    *,
    zero_based: bool,
) -> None:
    """Take files fetched by hand into the cache, as those of NAME.

    Each must match a file that the lock lists for NAME, by digest or, if none is known, by name. A NAME that is not in
    the lock becomes a new data set: one FILE in LIBSVM's format, and test rows with --test.
    """
    from fwsvm.data import lockfile, recording

    entry = lockfile.read().find(name)
    if entry is None:
        if len(files) > 1:
            raise UsageError(f"{name} is a new data set: give one FILE, and test rows with --test")
        notices = recording.add_new(
            name,
            files[0],
            test,
            scaling=scaling or "none",
            title=title or name,
            zero_based=zero_based or None,
        )
        tell(notices)
        click.echo(f"{name}: recorded in {lockfile.overlay_path()}")
        return
    if test is not None or scaling or title or zero_based:
        raise UsageError(
            f"{entry.name} is in the lock already: --test, --scaling, --title and --zero-based are for a new name"
        )
    for given in files:
        source, file = recording.add(entry, given)
        click.echo(f"{given}: copied to {source.path(file)}, as {entry.name}/{source.name}/{file.file}")


@data.command()
@name_argument
def remove(name: str) -> None:
    """Remove your own entry and digests of NAME from your datasets.lock."""
    from fwsvm.data import lockfile, overlay
    from fwsvm.files.folders import data_folder

    is_entry, pins = overlay.remove(name)
    what = ["the entry"] if is_entry else []
    what += [f"the digests of {counted(pins, 'file')}"] if pins else []
    click.echo(f"{name}: {' and '.join(what)} removed from {lockfile.overlay_path()}")
    if (data_folder() / name).is_dir():
        click.echo(f"its files stay in {data_folder() / name} until `fwsvm data prune`")
