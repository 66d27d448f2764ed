"""Verifying the cached files again, and pruning the ones that nothing needs."""

import contextlib
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fwsvm.data import lockfile, parsed_copies
from fwsvm.data.fetching import mismatch
from fwsvm.data.lockfile import Entry
from fwsvm.files.folders import BUILDING, data_folder, parsed_folder
from fwsvm.files.lock import exclusive

#: Endings of the files beside a raw file; an older version kept refused ones as .bad.
ENDINGS = (".part", ".bad", ".lock")
ABANDONED = 24 * 3600  # seconds without a change after which no process is taken to make a copy any more


def check(entries: list[Entry]) -> Iterator[tuple[str, str]]:
    """Hash every file of the entries again; yield it as ``DATASET/SOURCE/FILE``, and its state.

    That is ``whole``, ``missing``, ``unpinned``, or how its bytes differ.
    """
    paths = {
        source.path(file): (source, file)
        for entry in entries
        for source in entry.sources
        for file in source.files
    }
    for path, (source, file) in paths.items():
        state = "unpinned" if path.is_file() else "missing"
        if file.pinned and path.is_file():
            state = mismatch(file, path) or "whole"
        yield f"{source.owner}/{source.name}/{file.file}", state


class Removal(NamedTuple):
    """A file or folder of the cache that can be removed: path, reason and size in bytes."""

    path: Path
    why: str
    bytes: int


def removable(*, everything: bool = False) -> list[Removal]:
    """List what can be removed: unfinished files, files of data sets that were removed, stale parsed copies.

    With ``everything``, all data. Files that fwsvm did not write are never listed.
    """
    reasons = {**_raw_files(everything=everything), **_copies(everything=everything)}
    return [
        Removal(path, why, sum(each.stat().st_size for each in (path, *path.rglob("*")) if each.is_file()))
        for path, why in reasons.items()
    ]


def _raw_files(*, everything: bool) -> dict[Path, str]:
    """Return files of ``data/NAME/SOURCE`` that fwsvm wrote, each with a lock file beside it, and why they can go.

    A folder that no lock names counts only if it holds nothing else.
    """
    known = {source.folder for entry in lockfile.read().entries.values() for source in entry.sources}
    reasons = {}
    for folder in sorted(path for path in data_folder().glob("*/*") if path.is_dir()):
        there = sorted(folder.iterdir())
        whole = {path: path.with_suffix("") if path.suffix in ENDINGS else path for path in there}
        ours = [path for path in there if Path(f"{whole[path]}.lock") in there]
        why = ("raw file" if everything else "") if folder in known else "of no data set in the lock"
        for path in ours if folder in known or ours == there else ():
            said = "unfinished or refused" if path.suffix in {".part", ".bad"} else why
            if said and not _in_use(whole[path]):
                reasons[path] = said
    return reasons


def _in_use(path: Path) -> bool:
    """Whether another process holds the lock of a file: it is writing the file."""
    try:
        with exclusive(path, wait=False):
            return False
    except BlockingIOError:
        return True


def _copies(*, everything: bool) -> dict[Path, str]:
    """Return parsed copies that are not finished and were left, or are of another version, and why they can go."""
    reasons = {}
    for folder in sorted(parsed_folder().glob("*")):
        with contextlib.suppress(OSError):  # another process may be removing it
            if folder.name.startswith(BUILDING):
                changed = max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
                if time.time() - changed > ABANDONED:
                    reasons[folder] = "unfinished parsed copy"
            elif parsed_copies.DIGEST.fullmatch(folder.name):
                about = (folder / "about.json").read_text("utf-8", "replace")
                if everything:
                    reasons[folder] = "parsed copy"
                elif parsed_copies.reader_version() not in about:
                    reasons[folder] = "parsed by another version"
    return reasons


def remove(removals: list[Removal]) -> None:
    """Remove what `removable` listed."""
    for path, _, _ in removals:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
