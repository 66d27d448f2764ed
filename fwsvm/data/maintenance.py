"""Verifying the cached files again, and pruning what nothing needs."""

import contextlib
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from fwsvm.data import lockfile, parsed_copies
from fwsvm.data.fetching import mismatch
from fwsvm.data.lockfile import Entry
from fwsvm.files.folders import BUILDING, data_folder, parsed_folder
from fwsvm.files.lock import exclusive

ABANDONED = 24 * 3600  # seconds without a change after which no process is taken to make a copy any more


def check(entries: list[Entry]) -> Iterator[tuple[str, str]]:
    """Hash every file of the entries again; yield it as ``DATASET/SOURCE/FILE``, and its state.

    That is ``whole``, ``missing``, ``unpinned``, or how its bytes differ.
    """
    pairs = [(source, file) for entry in entries for source in entry.sources for file in source.files]
    for path, (source, file) in {source.path(file): (source, file) for source, file in pairs}.items():
        state = "unpinned" if path.is_file() else "missing"
        if file.pinned and path.is_file():
            state = mismatch(file, path) or "whole"
        yield f"{source.owner}/{source.name}/{file.file}", state


def prune(*, everything: bool, dry_run: bool) -> Iterator[tuple[Path, str, int]]:
    """Remove unfinished files, files of no data set in the lock and stale parsed copies; yield path, why and bytes.

    With ``everything``, all data. Files that fwsvm did not write, which have no lock file beside them, stay. With
    ``dry_run``, everything does.
    """
    for path, why in [*_raw_files(everything=everything), *_copies(everything=everything)]:
        size = sum(each.stat().st_size for each in (path, *path.rglob("*")) if each.is_file())
        if not dry_run:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        yield path, why, size


def _raw_files(*, everything: bool) -> Iterator[tuple[Path, str]]:
    """Yield files of ``data/NAME/SOURCE`` that fwsvm wrote and that are not in use, and why they can go."""
    sources = [source for entry in lockfile.read().entries.values() for source in entry.sources]
    known = {source.path(file) for source in sources for file in source.files}
    for lock in sorted(data_folder().glob("*/*/*.lock")):
        path, part = lock.with_suffix(""), lock.with_suffix(".part")
        with contextlib.suppress(BlockingIOError), exclusive(path, wait=False):
            if part.exists():
                yield part, "unfinished"
            if path.exists() and (everything or path not in known):
                yield path, "raw file" if path in known else "of no data set in the lock"
                yield lock, "its lock"


def _copies(*, everything: bool) -> Iterator[tuple[Path, str]]:
    """Yield parsed copies that are not finished and were left, or are of another version, and why they can go."""
    for folder in sorted(parsed_folder().glob("*")):
        with contextlib.suppress(OSError):  # another process may be removing it
            if folder.name.startswith(BUILDING) and time.time() - folder.stat().st_mtime > ABANDONED:
                yield folder, "unfinished parsed copy"
            elif parsed_copies.DIGEST.fullmatch(folder.name):
                is_stale = parsed_copies.reader_version() not in (folder / "about.json").read_text("utf-8")
                if everything or is_stale:
                    yield folder, "parsed by another version" if is_stale else "parsed copy"
