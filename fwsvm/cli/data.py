"""``fwsvm data``: the data sets there are, and their files."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm.cli._lines import print_facts, tell
from fwsvm.cli._options import PATH, offline_option
from fwsvm.errors import DataError, UsageError, counted

if TYPE_CHECKING:
    from fwsvm.data.lockfile import Entry, RawFile

#: States of an entry, from the nearest to the farthest.
STATES = ("ready", "made", "fetch", "trust", "by hand")
ENTRY = ("name", "title", "task", "classes", "features", "scaling", "made", "stands_for")
COLUMNS = ("name", "classes", "rows", "test_rows", "features", "state")

name_argument = click.argument("name")
names_argument = click.argument("names", nargs=-1, metavar="[NAME]...")
source_option = click.option("--source", metavar="NAME", help="Use this one of the entry's sources.")


def find_entries(*names: str) -> "list[Entry]":
    """Return the entries named, or all."""
    from fwsvm.data import lockfile, unknown_name

    lock = lockfile.read()
    found = []
    for name in names:
        if (entry := lock.find(name)) is None:
            raise UsageError(unknown_name(name))
        found.append(entry)
    return found or list(lock.entries.values())


def entry_record(entry: "Entry") -> dict[str, Any]:
    """Return a row of the list: facts of the entry, shape after the split, and state."""
    states = [max([STATES.index(_state(file)) for file in each.files] or [1]) for each in entry.sources]
    rows, test_rows = _shape(entry)
    return {
        **{name: getattr(entry, name) for name in ENTRY},
        "rows": rows,
        "test_rows": test_rows,
        "state": STATES[min(states)],
    }


def _shape(entry: "Entry") -> tuple[int | None, int | None]:
    """Return the numbers of training and test rows after the split, from the lock or else from a paper."""
    from fwsvm.data.synthetic import parse_spec

    for source in entry.sources:
        if source.generate:
            made = parse_spec(source.generate)
            return made.rows, made.test
        train, test = (sum(file.rows or 0 for file in files) for files in (source.train, source.test))
        if entry.split is not None:
            whole = train + test
            train = entry.split.train_rows or whole - math.ceil((entry.split.test_fraction or 0) * whole)
            test = whole - train
        if all(file.rows for file in source.files):
            return train, test
    no_test = None if entry.split or entry.sources[0].test else 0
    return (entry.published[0].m, entry.published[0].t or no_test) if entry.published else (None, no_test)


def _state(file: "RawFile") -> str:
    """Return the state of a file, without reading it."""
    is_sure = file.known_hash or file.derived
    if is_sure and file.path.is_file():
        return "ready"
    return "by hand" if not (file.urls or file.derived) else "fetch" if is_sure else "trust"


@click.group()
def data() -> None:
    """Show, fetch, verify and add data sets.

    A data set is an entry of datasets.lock; a file of it counts only if its bytes have the digest written
    there.
    """


@data.command("list")
def list_() -> None:
    """List all data sets, their sizes, and where each is from.

    \b
    ready    its files are here
    made     its rows are generated here
    fetch    `fwsvm data fetch` gets or derives it
    trust    as fetch; no digest is published, so the first download is recorded
    by hand  add its files with `fwsvm data add`: no address is known
    """  # noqa: D301, a literal backslash-b tells click to keep the lines
    rows = [[name.replace("_", " ") for name in COLUMNS]]
    rows += [[_cell(record[name]) for name in COLUMNS] for record in map(entry_record, find_entries())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:  # numbers to the right
        cells = zip(row, "<>>>><", widths, strict=True)
        click.echo("  ".join(f"{text:{side}{width}}" for text, side, width in cells).rstrip())


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "?" if value is None else f"{value:,}" if value else "-"


@data.command()
@name_argument
def info(name: str) -> None:
    """Show an entry: task, scaling, shapes, sources, files, digests."""
    from msgspec import to_builtins

    from fwsvm.data import lockfile

    (entry,), meanings = find_entries(name), lockfile.read().evidence
    files = lockfile.files_of([entry])
    facts = {
        "evidence": {file.evidence: meanings.get(file.evidence, "") for file in files.values()},
        "here": [str(path) for path in files if path.is_file()],
    }
    print_facts(entry_record(entry) | to_builtins(entry, str_keys=True) | facts)


@data.command()
@names_argument
@source_option
@offline_option
def fetch(names: tuple[str, ...], source: str | None, *, offline: bool) -> None:
    """Fetch data sets into the cache, and verify them.

    What is there already is only checked.
    """
    from fwsvm.cli._progress import Display
    from fwsvm.data.fetching import obtain

    if not names:
        raise UsageError("name the data sets to fetch")
    failed = 0
    for entry in find_entries(*names):
        try:
            with Display():
                got = obtain(entry, source, offline=offline)
        except DataError as error:
            if len(names) == 1:
                raise
            tell([error])
            failed += 1
            continue
        tell(got.notices)
        files = {file.path for file in got.source.files}
        size = sum(path.stat().st_size for path in files)
        said = f"{counted(len(files), 'file')}, {size:,} bytes, source {got.source.name}, verified"
        made = "generated when it is used, nothing to fetch"
        click.echo(f"{entry.name}: {made if got.source.generate else said}")
    if failed:
        raise DataError(f"{failed} of {len(names)} data sets are not available")


@data.command()
@names_argument
def verify(names: tuple[str, ...]) -> None:
    """Hash files in the cache again, of the data sets named or of all.

    The exit code is 3 if one is not what it was.
    """
    from fwsvm.data.fetching import MISSING, WHOLE, state_of
    from fwsvm.data.lockfile import UNPINNED, files_of

    bad = whole = 0
    for file in files_of(find_entries(*names)).values():
        state = state_of(file)
        if state == MISSING and not names:
            continue
        click.echo(f"{file.address}: {state}")
        whole += state == WHOLE
        bad += state not in (WHOLE, MISSING, UNPINNED)
    if bad:
        raise DataError("not what datasets.lock says; `fwsvm data fetch NAME` replaces it")
    click.echo(f"{counted(whole, 'file')} whole")


@data.command()
@name_argument
def path(name: str) -> None:
    """Print where the verified files of NAME lie.

    Training files come first, one a line. Nothing is fetched.
    """
    from fwsvm.data.fetching import obtain

    for file in obtain(find_entries(name)[0], offline=True).source.files:
        click.echo(file.path)


@data.command()
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
def prune(*, dry_run: bool) -> None:
    """Remove from the cache what nothing will use again.

    That is broken downloads, files of data sets that no lock names any more, parsed copies of other versions of fwsvm,
    and copies that were not finished: let no other fwsvm fetch or read data meanwhile. What fwsvm did not write stays.
    """
    from fwsvm.data import fetching

    total = places = 0
    for path, size in fetching.prune(dry_run=dry_run):
        total += size
        places += 1
        click.echo(f"{path}: {size:,} bytes")
    click.echo(f"{'would free' if dry_run else 'freed'} {total:,} bytes in {counted(places, 'place')}")


@data.command()
@name_argument
@click.option("--accept", is_flag=True, help="Fetch anew, and record a digest or a shape that differs.")
@source_option
def lock(name: str, source: str | None, *, accept: bool) -> None:
    """Fetch the files of NAME, and record their digests for you.

    The digest of each file is printed beside that in the lock. A digest that is not known yet is recorded; one
    that differs is recorded only with --accept, and without it the exit code is 3.
    """
    from fwsvm.cli._progress import Display
    from fwsvm.data.fetching import obtain
    from fwsvm.data.lockfile import LOCKED, UNPINNED
    from fwsvm.files.folders import file_digest

    (entry,) = find_entries(name)
    with Display():
        got = obtain(entry, source or entry.sources[0].name, evidence=LOCKED, accept=accept)
    for file in got.source.files:
        click.echo(f"{file.file}: sha256 {file_digest(file.path)}, in the lock {file.known_hash or UNPINNED}")
    tell(got.notices or [f"{entry.name}: nothing to record"])


@data.command()
@name_argument
@click.argument("files", nargs=-1, required=True, type=PATH, metavar="FILE...")
def add(name: str, files: tuple[Path, ...]) -> None:
    """Take files fetched by hand into the cache, as those of NAME.

    Each must match a file that the lock lists for NAME, by digest or, if none is known, by name. A NAME that is not in
    the lock becomes a new data set of files in LIBSVM's format: training rows, then test rows, if there are any.
    """
    from fwsvm.data import fetching, lockfile

    if entry := lockfile.read().find(name):
        for given in files:
            click.echo(f"{given}: copied to {fetching.add(entry, given).path}")
        return
    if len(files) > 2:
        raise UsageError(f"{name} is a new data set: give a file of training rows, and one of test rows")
    tell(fetching.add_new(name, files))
    click.echo(f"{name}: recorded in {lockfile.overlay_path()}")


@data.command()
@name_argument
def remove(name: str) -> None:
    """Remove your own entry and digests of NAME from your datasets.lock."""
    from fwsvm.data import fetching, lockfile

    fetching.remove(name)
    click.echo(f"{name}: removed from {lockfile.overlay_path()}")
