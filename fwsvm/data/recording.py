"""What ``fwsvm data`` changes: files and digests that the user adds, locks and removes; files verified and pruned."""

import contextlib
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fwsvm.data import formats, labels, lockfile, parsed_copies
from fwsvm.data.fetching import PART, Search, describe_mismatch, is_verified
from fwsvm.data.lockfile import LOCKED, DataSource, Entry, RawFile
from fwsvm.errors import DataError, UnobtainableError, UsageError
from fwsvm.files.folders import BUILDING, data_folder, file_digest, parsed_folder
from fwsvm.files.lock import exclusive

ABANDONED = 24 * 3600  # seconds without a change after which no process is taken to write a file any more


def lock(entry: Entry, source: DataSource, *, accept: bool) -> Iterator[str]:
    """Fetch the files of a source and record their digests; yield lines that compare each with the lock.

    With ``accept``, fetch anew, and record a digest that differs from the one in the lock, or a file of another shape.
    `DataError` where a file is not available, or not data, or differs and is not accepted.
    """
    search = Search(entry, LOCKED, accept)
    for file in source.files:
        if file.shipped or (file.parents and not file.urls):
            continue
        if not search.find(source, file):
            raise UnobtainableError(f"{entry.name} cannot be locked: {'; '.join(search.tried)}")
        path, known = source.path(file), file.known_hash
        change = "unchanged" if is_verified(path, file) else f"in place of {known}" if known else "new"
        yield f"{file.file}: sha256 {file_digest(path)}, {change}"
    nothing = f"{entry.name}: nothing to record: {entry.made or 'all is known'}"
    yield from [*search.notices, f"recorded in {lockfile.overlay_path()}"] if search.notices else [nothing]


def add(entry: Entry, given: Path) -> tuple[DataSource, RawFile]:
    """Copy a file fetched by hand into the cache, as each file of the entry with the same digest; return the first.

    A file without a digest in the lock is matched by its name, and its digest recorded. `DataError` names both
    digests if the name matches and the bytes do not.
    """
    pairs = [(source, file) for source in entry.sources for file in source.files if not file.shipped]
    fitting = [pair for pair in pairs if is_verified(given, pair[1])]
    fitting = fitting or [pair for pair in pairs if pair[1].file == given.name][:1]
    if not fitting:
        names = ", ".join(dict.fromkeys(file.file for _, file in pairs)) or "none but what is shipped"
        raise DataError(f"{given}: digest and name fit no file of {entry.name}; its files are: {names}")
    search = Search(entry, LOCKED)
    for source, file in fitting:
        with exclusive(source.path(file)):
            if not search.take(source, file, str(given)):
                raise DataError(search.tried[-1])
    return fitting[0]


def add_new(name: str, train: Path, test: Path | None, scaling: str) -> tuple[str, ...]:
    """Add a data set of the user's own, files in LIBSVM's format, to the overlay; return notices.

    Whether features count from 0 is seen from the training file, and kept.
    """
    if test is not None and test.name == train.name:
        raise UsageError(f"{train} and {test} have the same name; rename one of them")
    loader: dict[str, Any] = {"format": "svmlight", "zero_based": None}
    files, features = {}, 0
    said: list[str] = []
    for role, path in (("train", train), ("test", test)):
        if path is None:
            continue
        table, sha256, notices = formats.read(path, loader)
        if role == "train":
            labels.require_two(table.labels, str(train))
            classes = len(labels.classes(table.labels))
            loader["zero_based"] = table.zero_based
        files[role] = [{"file": path.name, "sha256": sha256, **lockfile.origin(str(path), LOCKED)}]
        features, said = max(features, table.features), [*said, *notices]
    with lockfile.changing_overlay() as overlay:
        overlay["datasets"][name] = {
            "title": name,
            "task": "binary" if classes == 2 else "multiclass",
            "classes": classes,
            "features": features,
            "scaling": scaling,
            "sources": {"local": {"loader": loader, **files}},
        }
    added = lockfile.read().entries[name]
    for path in filter(None, (train, test)):
        add(added, path)
    return tuple(said)


def remove(name: str) -> tuple[bool, int]:
    """Remove a user's data set, and the pins of its files; return whether there was an entry, and how many pins.

    `UsageError` if there is nothing to remove.
    """
    with lockfile.changing_overlay() as overlay:
        kept = {place: pin for place, pin in overlay["pins"].items() if place.split("/")[0] != name}
        found = overlay["datasets"].pop(name, None) is not None, len(overlay["pins"]) - len(kept)
        if not any(found):
            raise UsageError(f"{name}: nothing of it was added or locked by you in {lockfile.overlay_path()}")
        overlay["pins"] = kept
    return found


def check(entries: list[Entry]) -> Iterator[tuple[str, str]]:
    """Hash every file of the entries again; yield it as ``DATASET/SOURCE/FILE``, and its state.

    That is ``whole``, ``missing``, ``unpinned``, or how its bytes differ.
    """
    for path, (source, file) in _files(entries).items():
        state = "missing" if not path.is_file() else "unpinned"
        if file.known_hash and path.is_file():
            state = describe_mismatch(path, file) or "whole"
        yield lockfile.address(source, file), state


def _files(entries: Iterable[Entry]) -> dict[Path, tuple[DataSource, RawFile]]:
    pairs = [(source, file) for entry in entries for source in entry.sources for file in source.files]
    return {source.path(file): (source, file) for source, file in pairs}


def prune(*, everything: bool, dry_run: bool) -> Iterator[tuple[Path, str, int]]:
    """Remove unfinished files, files of no data set in the lock and stale parsed copies; yield path, why and bytes.

    With ``everything``, all data. Files in folders that fwsvm did not write, which have no lock file, stay. With
    ``dry_run``, everything does.
    """
    for path, why in list(_unused(everything=everything)):
        size = sum(each.stat().st_size for each in (path, *path.rglob("*")) if each.is_file())
        if not dry_run:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        yield path, why, size


def _unused(*, everything: bool) -> Iterator[tuple[Path, str]]:
    """Yield files of ``data/NAME/SOURCE`` and parsed copies that are not in use, and why they can go."""
    known = _files(lockfile.read().entries.values())
    for folder in sorted({lock.parent for lock in data_folder().glob("*/*/*.lock")}):
        for path in sorted(folder.iterdir()):
            if path.suffix == PART:
                if _is_abandoned(path):
                    yield path, "unfinished"
            elif everything or known.keys().isdisjoint({path, path.with_suffix("")}):
                yield path, "raw file" if path in known else "of no data set in the lock"
    for folder in sorted(parsed_folder().glob("*")):
        with contextlib.suppress(OSError):  # another process may be removing it
            if folder.name.startswith(BUILDING) and _is_abandoned(folder):
                yield folder, "unfinished parsed copy"
            elif parsed_copies.DIGEST.fullmatch(folder.name):
                is_stale = parsed_copies.reader_version() not in (folder / "about.json").read_text("utf-8")
                if everything or is_stale:
                    yield folder, "parsed by another version" if is_stale else "parsed copy"


def _is_abandoned(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > ABANDONED
