"""The user's own ``datasets.lock`` in the cache folder: data sets that were added, and digests that were recorded.

``datasets`` are the user's entries, ``pins`` facts of single files by ``DATASET/SOURCE/FILE``. A change that makes the
lock invalid is not written. Every change holds one lock between processes.

A file without a published digest is trusted when it is first fetched: it must be data, of the shape that its entry and
the papers say. Its digest is recorded here, and from then on its bytes must agree.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import yaml

from fwsvm.data import formats, lockfile
from fwsvm.data.dataset import grouped
from fwsvm.data.labels import classes
from fwsvm.data.lockfile import FIRST_USE, UNPINNED, DataSource, Entry, LockText, RawFile
from fwsvm.errors import DataError, UsageError
from fwsvm.files.atomic import make_folder, replacing
from fwsvm.files.folders import file_digest
from fwsvm.files.lock import exclusive


def _address(source: DataSource, file: RawFile) -> str:
    """Return the address of a file among the pins."""
    return f"{source.owner}/{source.name}/{file.file}"


def pinned(source: DataSource, file: RawFile) -> RawFile:
    """Return a file with what the overlay has of it now, which another process may just have recorded."""
    path = lockfile.overlay_path()
    facts = lockfile.load(path).pins.get(_address(source, file), {}) if path.is_file() else {}
    return msgspec.convert(lockfile.known(msgspec.to_builtins(file) | facts), RawFile)


def record(
    entry: Entry, source: DataSource, file: RawFile, path: Path, place: str, evidence: str, *, accept: bool
) -> str:
    """Record the digest of a file that came from a place and is at ``path``, and return the notice.

    `DataError` where the file is not data, or, unless ``accept``, not of the shape that its entry and the papers say.
    """
    sha256, is_train = file_digest(path), file in source.train
    table = grouped(formats.read(path, sha256, source.loader, file.member)[0], source.grouping, entry.name)
    found, is_svmlight = len(classes(table.labels)), source.loader["format"] == "svmlight"
    published = {shape.m if is_train else shape.t for shape in entry.published if not entry.split} - {None}
    fits = table.features == entry.features or (is_svmlight and table.features < entry.features)
    fits = fits and (found == entry.classes or (found < entry.classes and not is_train))
    if not accept and not (fits and (not published or table.rows in published)):
        rows = f"{' or '.join(map(str, published))} rows, " if published else ""
        raise DataError(
            f"{file.file} has {table.rows} rows, {table.features} features and {found} classes, and should have {rows}"
            f"{entry.features} features and {entry.classes} classes"
        )
    shape = f"{table.rows:,} rows" + (", as published" if published else f", {table.features:,} features")
    facts = {"bytes": path.stat().st_size, "sha256": sha256, "rows": table.rows, **origin(place, evidence)}
    facts |= {"verified": True} if place in file.urls else {}
    facts |= {"md5": UNPINNED} if accept else {}  # in place of one that may be in the lock
    facts |= {"max_index": table.features} if is_svmlight else {}
    with _changed() as overlay:
        overlay["pins"].setdefault(_address(source, file), {}).update(facts)
    said = "no published checksum; " if evidence == FIRST_USE else ""
    return f"{file.file}: {said}recorded sha256 {sha256[:12]}... ({shape})"


def origin(place: str, evidence: str) -> dict[str, Any]:
    """Return the facts of a digest that is recorded now: its evidence, the place and the date."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    return {"evidence": evidence, "digest_from": place, "recorded": today}


def add_entry(name: str, entry: Mapping[str, Any]) -> None:
    """Add a data set to the overlay."""
    with _changed() as overlay:
        overlay["datasets"][name] = dict(entry)


def remove(name: str) -> tuple[bool, int]:
    """Remove a user's data set, and the pins of its files; return whether there was an entry, and how many pins.

    `UsageError` if there is nothing to remove.
    """
    with _changed() as overlay:
        pins = [pin for pin in overlay["pins"] if pin.split("/")[0] == name]
        was_there = overlay["datasets"].pop(name, None) is not None
        if not (was_there or pins):
            raise UsageError(f"{name}: nothing of it was added or locked by you in {lockfile.overlay_path()}")
        for pin in pins:
            del overlay["pins"][pin]
    return was_there, len(pins)


@contextmanager
def _changed() -> Iterator[dict[str, Any]]:
    """Give the overlay's sections to change, and write them if the lock is valid with them."""
    path, package = lockfile.overlay_path(), lockfile.lock_path()
    make_folder(path.parent)
    with exclusive(path):
        before = lockfile.load(path) if path.is_file() else LockText()
        sections = {"version": lockfile.VERSION, "datasets": {}, "pins": {}, **msgspec.to_builtins(before)}
        yield sections
        lockfile.assemble({package: lockfile.load(package), path: msgspec.convert(sections, LockText)})
        with replacing(path) as file:
            yaml.safe_dump(sections, file, sort_keys=False, allow_unicode=True)
