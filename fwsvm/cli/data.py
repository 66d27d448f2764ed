"""``fwsvm data``: what data sets there are, and their files."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fwsvm.errors import DataError, UsageError

if TYPE_CHECKING:
    from fwsvm.data.entry import Entry
    from fwsvm.data.fetch import Options

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
    type=click.FloatRange(0, 1e6, min_open=True),
    help="Seconds for each file, all attempts included; the default is FWSVM_FETCH_SECONDS, or 3600.",
)
source_option = click.option("--source", metavar="NAME", help="Use this one of the entry's sources.")
json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")
checkout_option = click.option(
    "--into-checkout",
    is_flag=True,
    help="Write to the datasets.lock of the checkout that fwsvm runs from, and not to your own.",
)
paper_option = click.option("--paper", metavar="000|002|003|004", help="All data sets of this paper.")


@click.group()
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
    """List all data sets: classes, rows, features, and how each can be had."""
    from fwsvm.cli import _data_text as text
    from fwsvm.data import lockfile

    options = _options(mirror, offline=True)
    overlay = lockfile.read().overlay
    records = [
        text.entry_record(entry, options.mirror, overlay.get(entry.name)) for entry in _entries((), paper)
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
    """Show an entry: task, scaling, split, published shapes, sources, files, digests, addresses."""
    from fwsvm.cli import _data_text as text
    from fwsvm.data import lockfile

    entry = _entries((name,), None)[0]
    record = text.full_record(entry, _options(mirror, offline=True).mirror, lockfile.read())
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
    """Fetch data sets into the cache, verified; what is there already is only checked."""
    from fwsvm.data.fetch import obtain

    if not names and not paper:
        raise UsageError("name the data sets to fetch, or a --paper")
    options = _options(mirror, offline=offline, seconds=seconds)
    entries = _entries(names, paper)
    failed = 0
    for entry in entries:
        try:
            got = obtain(entry, source, options)
        except DataError as error:
            if len(entries) == 1:
                raise
            failed += 1
            click.echo(f"fwsvm: {error}", err=True)
            continue
        for notice in got.notices:
            click.echo(f"fwsvm: {notice}", err=True)
        size = sum(path.stat().st_size for path, _ in got.files.values())
        click.echo(
            f"{entry.name}: {len(got.files)} files, {size:,} bytes, source {got.source.name}, verified"
        )
    if failed:
        raise DataError(f"{failed} of {len(entries)} data sets are not to be had")


@command.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
def verify(names: tuple[str, ...]) -> None:
    """Hash files in the cache again, of the data sets named or of all; exit 3 if one is not what it was."""
    from fwsvm.data import cache_maintenance

    bad = whole = 0
    for checked in cache_maintenance.check(_entries(names, None)):
        if checked.state == "missing" and not names:
            continue
        click.echo(f"{checked.entry.name}/{checked.source.name}/{checked.file.file}: {checked.state}")
        whole += checked.state == "whole"
        bad += checked.state not in ("whole", "missing", "unpinned")
    if bad:
        raise DataError(f"{bad} files are not what datasets.lock says; `fwsvm data fetch` replaces them")
    click.echo(f"{whole} files whole")


@command.command()
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
    """Fetch the files of NAME, print what they are against what the lock says, and record it for you.

    A digest that is not known yet is recorded; one that differs is recorded only with --accept, and exit 3
    says so without it.
    """
    from fwsvm.data import pinning

    entry = _entries((name,), None)[0]
    chosen = entry.source(source) if source else entry.sources[0]
    findings = pinning.examine(chosen, _options(mirror, offline=offline, seconds=seconds))
    for finding in findings:
        for line in _finding_lines(finding):
            click.echo(line)
    differ = [f.file.file for f in findings if f.file.pinned and not f.agrees]
    if differ and not accept:
        pinning.discard(chosen, findings)
        raise DataError(
            f"{', '.join(differ)}: not what datasets.lock says, kept as .bad; --accept records what was found"
        )
    if not findings:
        click.echo("nothing to record: shipped")
        return
    written = pinning.accept(chosen, findings, into_checkout=into_checkout)
    click.echo(f"recorded in {written}" if written else "nothing to record: all is known")


def _finding_lines(finding: "pinning.Finding") -> list[str]:  # type: ignore[name-defined]  # noqa: F821
    file, found = finding.file, finding.found
    state = "unchanged" if finding.agrees else ("differs" if file.pinned else "new")
    index = f", features up to {finding.max_index:,}" if finding.max_index else ""
    return [
        f"{file.file}: {state}, from {finding.place}",
        f"  lock   {file.digest}" + (f", {file.bytes:,} bytes" if file.bytes else ""),
        f"  found  sha256:{found.sha256}, {found.bytes:,} bytes, {finding.rows:,} rows{index}",
        f"         md5:{found.md5}",
    ]


@command.command()
@click.argument("name")
@source_option
@mirror_option
def path(name: str, source: str | None, mirror: str | None) -> None:
    """Print where the verified files of NAME lie, training files first, one a line; fetches nothing."""
    from fwsvm.data.fetch import obtain

    got = obtain(_entries((name,), None)[0], source, _options(mirror, offline=True))
    for file in got.source.files:
        click.echo(str(got.files[file.file][0]))


@command.command()
@click.argument("name")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--test", type=click.Path(path_type=Path), help="Test rows of a new data set.")
@click.option("--scaling", type=click.Choice(["none", "[-1,1]", "[0,1]"]), help="Of a new data set.")
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
    """Take files fetched by hand into the cache, as what the lock says NAME consists of.

    A NAME that is not in the lock becomes a new data set: one FILE in LIBSVM's format, and test rows with
    --test.
    """
    from fwsvm.data import lockfile, pinning

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
        click.echo(f"{given}: is {entry.name}/{source.name}/{file.file}, now {place}")


@command.command()
@click.argument("name")
@checkout_option
def remove(name: str, *, into_checkout: bool) -> None:
    """Take a data set that you added, or what you locked of NAME, out of your datasets.lock again."""
    from fwsvm.data import lockedit
    from fwsvm.files.folders import data_folder

    gone = lockedit.remove(name, into_checkout=into_checkout)
    what = ["the entry"] if gone.entry else []
    what += [f"the digests of {gone.pins} {'file' if gone.pins == 1 else 'files'}"] if gone.pins else []
    click.echo(f"{name}: {' and '.join(what)} removed from {gone.path}")
    if (data_folder() / name).is_dir():
        click.echo(f"its files stay in {data_folder() / name} until `fwsvm data prune`")


@command.command()
@click.option("--all", "everything", is_flag=True, help="Remove every data file and parsed copy.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
def prune(*, everything: bool, dry_run: bool) -> None:
    """Remove from the cache what nothing will use again: broken downloads, stale parsed copies."""
    from fwsvm.data import cache_maintenance

    removals = cache_maintenance.removable(everything=everything)
    for removal in removals:
        click.echo(f"{removal.path}: {removal.why}, {removal.bytes:,} bytes")
    if not dry_run:
        cache_maintenance.remove(removals)
    total = sum(removal.bytes for removal in removals)
    click.echo(f"{'would free' if dry_run else 'freed'} {total:,} bytes in {len(removals)} places")


def _options(mirror: str | None, *, offline: bool, seconds: float | None = None) -> "Options":
    from fwsvm.cli._progress import download_bar
    from fwsvm.data.fetch import Options

    def say(line: str) -> None:
        click.echo(line, file=sys.stderr)

    return Options.default(mirror, offline=offline, seconds=seconds, say=say, bar=download_bar)


def _entries(names: tuple[str, ...], paper: str | None) -> "list[Entry]":
    """Return the entries named, those of a paper, or all."""
    from fwsvm.data import lockfile, unknown_name

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
