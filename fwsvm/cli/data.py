"""``fwsvm data``: the data sets there are, and their files."""

import json

import click

from fwsvm.cli import Summaries, _data_lock
from fwsvm.cli._data_options import (
    fetch_options,
    find_entries,
    mirror_option,
    offline_option,
    seconds_option,
    source_option,
)
from fwsvm.cli._lines import echo, tell
from fwsvm.errors import DataError, UsageError

json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")
paper_option = click.option("--paper", metavar="000|002|003|004", help="All data sets of this paper.")


@click.group(cls=Summaries)
def command() -> None:
    """Show, fetch, verify and add data sets.

    A data set is an entry of datasets.lock; a file of it counts only if its bytes have the digest written
    there.
    """


@command.command("list")
@paper_option
@mirror_option
@json_option
def list_(paper: str | None, mirror: str | None, *, as_json: bool) -> None:
    """List all data sets, their sizes, and where each is from."""
    from fwsvm.cli import _data_text as text
    from fwsvm.data.lock import lockfile

    options = fetch_options(mirror, offline=True)
    overlay = lockfile.read().overlay
    records = [
        text.entry_record(entry, options.mirror, overlay.get(entry.name)) for entry in find_entries((), paper)
    ]
    if as_json:
        click.echo(json.dumps(records, indent=1))
        return
    for line in text.list_lines(records):
        click.echo(line)
    states = {record["state"] for record in records}
    click.echo()
    for state in (state for state in text.STATES if state in states):
        click.echo(f"{state + ':':9}{text.STATES[state]}")
    for line in text.overlay_lines(records):
        click.echo(line)


@command.command()
@click.argument("name")
@mirror_option
@json_option
def info(name: str, mirror: str | None, *, as_json: bool) -> None:
    """Show an entry: task, scaling, shapes, sources, files, digests."""
    from fwsvm.cli import _data_text as text
    from fwsvm.data.lock import lockfile

    entry = find_entries((name,), None)[0]
    record = text.full_record(entry, fetch_options(mirror, offline=True).mirror, lockfile.read())
    click.echo(json.dumps(record, indent=1) if as_json else "\n".join(text.info_lines(record)))


@command.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@paper_option
@source_option
@mirror_option
@offline_option
@seconds_option
def fetch(
    names: tuple[str, ...],
    paper: str | None,
    source: str | None,
    mirror: str | None,
    seconds: float | None,
    *,
    offline: bool,
) -> None:
    """Fetch data sets into the cache, and verify them.

    What is there already is only checked.
    """
    from fwsvm.data.fetching.obtaining import obtain

    if not names and not paper:
        raise UsageError("name the data sets to fetch, or a --paper")
    options = fetch_options(mirror, offline=offline, seconds=seconds)
    entries = find_entries(names, paper)
    failed = 0
    for entry in entries:
        try:
            got = obtain(entry, source, options)
        except DataError as error:
            if len(entries) == 1:
                raise
            failed += 1
            echo(f"fwsvm: {error}", 2, err=True)
            continue
        tell(got.notices)
        if got.source.generate:
            click.echo(f"{entry.name}: generated when it is used, nothing to fetch")
            continue
        size = sum(path.stat().st_size for path, _ in got.files.values())
        click.echo(
            f"{entry.name}: {len(got.files)} files, {size:,} bytes, source {got.source.name}, verified"
        )
    if failed:
        raise DataError(f"{failed} of {len(entries)} data sets are not available")


@command.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
def verify(names: tuple[str, ...]) -> None:
    """Hash files in the cache again, of the data sets named or of all.

    The exit code is 3 if one is not what it was.
    """
    from fwsvm.data.fetching import cache_maintenance

    bad = whole = 0
    for checked in cache_maintenance.check(find_entries(names, None)):
        if checked.state == "missing" and not names:
            continue
        click.echo(f"{checked.entry.name}/{checked.source.name}/{checked.file.file}: {checked.state}")
        whole += checked.state == "whole"
        bad += checked.state not in ("whole", "missing", "unpinned")
    if bad:
        raise DataError(f"{bad} files are not what datasets.lock says; `fwsvm data fetch NAME` replaces them")
    click.echo(f"{whole} files whole")


@command.command()
@click.argument("name")
@source_option
@mirror_option
def path(name: str, source: str | None, mirror: str | None) -> None:
    """Print where the verified files of NAME lie.

    Training files come first, one a line. Nothing is fetched.
    """
    from fwsvm.data.fetching.obtaining import obtain

    got = obtain(find_entries((name,), None)[0], source, fetch_options(mirror, offline=True))
    for file in got.source.files:
        click.echo(str(got.files[file.file][0]))


@command.command()
@click.option("--all", "everything", is_flag=True, help="Remove every data file and parsed copy.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
def prune(*, everything: bool, dry_run: bool) -> None:
    """Remove from the cache what nothing will use again.

    That is broken downloads, files of data sets that no lock names any more, parsed copies of other versions of fwsvm,
    and copies that were not finished and have not changed for a day. What fwsvm did not write stays, with --all, too.
    """
    from fwsvm.data.fetching import cache_maintenance

    removals = cache_maintenance.removable(everything=everything)
    for removal in removals:
        click.echo(f"{removal.path}: {removal.why}, {removal.bytes:,} bytes")
    if not dry_run:
        cache_maintenance.remove(removals)
    total = sum(removal.bytes for removal in removals)
    click.echo(f"{'would free' if dry_run else 'freed'} {total:,} bytes in {len(removals)} places")


for changing in (_data_lock.lock, _data_lock.add, _data_lock.remove):
    command.add_command(changing)
