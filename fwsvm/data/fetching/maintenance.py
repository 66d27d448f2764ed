"""Verifying the cached files again, and pruning the ones that nothing needs."""

import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fwsvm.data import lockfile, parsed_copies
from fwsvm.data.fetching.cached_files import cached_path, mismatch
from fwsvm.data.lockfile import DataSource, Entry, RawFile
from fwsvm.files.folders import BUILDING, data_folder, parsed_folder
from fwsvm.files.lock import exclusive
from fwsvm.files.state import measure

ENDINGS = (".part", ".bad", ".lock")  # of the files beside a raw file
REFUSED = "unfinished or refused"
ABANDONED = 24 * 3600  # seconds without a change after which no process is taken to make a copy any more


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
    return mismatch(file, measure(path)) or "whole"


class Removal(NamedTuple):
    """A file or folder of the cache that can be removed: path, reason and size in bytes."""

    path: Path
    why: str
    bytes: int


def removable(*, everything: bool = False) -> list[Removal]:
    """List what can be removed: unfinished files, files of data sets that were removed, stale parsed copies.

    With ``everything``, all data. Files that fwsvm did not write are never listed.
    """
    return [*_raw_files(everything=everything), *_copies(everything=everything)]


def _raw_files(*, everything: bool) -> Iterator[Removal]:
    """Yield files of ``data/NAME/SOURCE`` that fwsvm wrote: a lock file is beside each.

    A folder that no lock names counts only if it holds nothing else.
    """
    sources = [source for entry in lockfile.read().entries.values() for source in entry.sources]
    known = {cached_path(source, file).parent for source in sources for file in source.files}
    for path in sorted(data_folder().glob(".datasets.lock.*.part")):
        if not _in_use(lockfile.overlay_path()):
            yield Removal(path, REFUSED, path.stat().st_size)
    for folder in sorted(path for path in data_folder().glob("*/*") if path.is_dir()):
        there = sorted(folder.iterdir())
        own = [path for path in there if path.is_file() and _lock_of(_whole(path)).is_file()]
        if folder not in known and len(own) < len(there):
            continue
        whole = ("raw file" if everything else "") if folder in known else "of no data set in the lock"
        for path in own:
            why = REFUSED if path.suffix in {".part", ".bad"} else whole
            if why and not _in_use(_whole(path)):
                yield Removal(path, why, path.stat().st_size)


def _whole(path: Path) -> Path:
    """Return the raw file that a file is, or is beside."""
    return path.with_suffix("") if path.suffix in ENDINGS else path


def _lock_of(path: Path) -> Path:
    return Path(f"{path}.lock")


def _in_use(path: Path) -> bool:
    """Whether another process holds the lock of a file: it is writing the file."""
    if not _lock_of(path).is_file():
        return False
    try:
        with exclusive(path, wait=False):
            return False
    except BlockingIOError:
        return True


def _copies(*, everything: bool) -> Iterator[Removal]:
    for path in sorted(parsed_folder().glob("*")):
        why = "" if path.is_symlink() else _stale(path, everything=everything)
        if why:
            yield Removal(path, why, sum(p.stat().st_size for p in path.rglob("*")))


def _stale(folder: Path, *, everything: bool) -> str:
    """Return why a folder can be removed; nothing of one that is in use, or is no parsed copy."""
    if folder.name.startswith(BUILDING):
        return "unfinished parsed copy" if time.time() - _last_change(folder) > ABANDONED else ""
    if not parsed_copies.DIGEST.fullmatch(folder.name) or not (folder / "about.json").is_file():
        return ""
    if everything:
        return "parsed copy"
    try:
        about = json.loads((folder / "about.json").read_text("utf-8"))
    except (OSError, ValueError):
        return "damaged parsed copy"
    known = about.get("readers") if isinstance(about, dict) else None
    return "" if known == parsed_copies.reader_version() else "parsed by another version"


def _last_change(folder: Path) -> float:
    """Return when something was last written to a folder, which another process may be removing."""
    changed = 0.0
    with contextlib.suppress(FileNotFoundError):
        for path in (folder, *folder.iterdir()):
            changed = max(changed, path.stat().st_mtime)
        return changed
    return time.time()


def remove(removals: list[Removal]) -> None:
    """Remove what `removable` listed."""
    for path, _, _ in removals:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
