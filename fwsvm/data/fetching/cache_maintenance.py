"""Verifying the cached files again, and pruning the ones that nothing needs."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fwsvm.data import parsed_copies
from fwsvm.data.fetching import digests
from fwsvm.data.fetching.cache_paths import cached_path
from fwsvm.data.lock import lockfile
from fwsvm.data.lock.entry import DataSource, Entry, RawFile
from fwsvm.files.folders import data_folder, parsed_folder

#: Endings of files that are not verified.
UNFINISHED = (".part", ".bad", ".copy", ".derived")


class Checked(NamedTuple):
    """A file of the lock and its state: ``whole``, ``missing``, ``unpinned``, or how its bytes differ."""

    entry: Entry
    source: DataSource
    file: RawFile
    path: Path
    state: str


def check(entries: list[Entry]) -> Iterator[Checked]:
    """Hash every file of the entries that is in the cache or the package again."""
    seen = set()
    for entry in entries:
        for source in entry.sources:
            for file in source.files:
                path = cached_path(source, file)
                if path not in seen:
                    seen.add(path)
                    yield Checked(entry, source, file, path, _state(file, path))


def _state(file: RawFile, path: Path) -> str:
    if not path.is_file():
        return "missing"
    if not file.pinned:
        return "unpinned"
    return digests.mismatch(file, digests.measure(path)) or "whole"


class Removal(NamedTuple):
    """A file or folder of the cache that can be removed: path, reason and size in bytes."""

    path: Path
    why: str
    bytes: int


def removable(*, everything: bool = False) -> list[Removal]:
    """List what can be removed: unfinished files, files of data sets that were removed, stale parsed copies.

    With ``everything``, all data.
    """
    found = []
    owners = {source.owner for entry in lockfile.read().entries.values() for source in entry.sources}
    if data_folder().is_dir():
        for path in sorted(p for p in data_folder().rglob("*") if p.is_file()):
            if path.name.endswith(UNFINISHED):
                found.append(Removal(path, "unfinished or refused", path.stat().st_size))
            elif path.parent != data_folder() and path.relative_to(data_folder()).parts[0] not in owners:
                found.append(Removal(path, "of no data set in the lock", path.stat().st_size))
            elif everything and path.name not in ("datasets.lock", "datasets.lock.lock"):
                found.append(Removal(path, "raw file", path.stat().st_size))
    if parsed_folder().is_dir():
        for path in sorted(parsed_folder().iterdir()):
            why = "parsed copy" if everything else _stale(path)
            if why:
                found.append(Removal(path, why, sum(p.stat().st_size for p in path.rglob("*"))))
    return found


def _stale(folder: Path) -> str:
    try:
        about = json.loads((folder / "about.json").read_text("utf-8"))
    except (OSError, ValueError):
        return "unfinished parsed copy"
    known = about.get("readers") if isinstance(about, dict) else None
    return "" if known == parsed_copies.reader_version() else "parsed by another version"


def remove(removals: list[Removal]) -> None:
    """Remove what `removable` listed."""
    for path, _, _ in removals:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
