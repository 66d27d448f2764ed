"""What ``fwsvm data`` changes: files and digests that the user adds, locks and removes; files verified and pruned."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fwsvm.data import formats, labels, lockfile, parsed_copies
from fwsvm.data.fetching import WHOLE, Search, state_of
from fwsvm.data.lockfile import LOCKED, DataSource, Entry, RawFile
from fwsvm.errors import DataError, UnobtainableError, UsageError
from fwsvm.files.folders import BUILDING, data_folder, file_digest, parsed_folder
from fwsvm.files.lock import exclusive


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
        change = "unchanged" if state_of(path, file) == WHOLE else f"in place of {known}" if known else "new"
        yield f"{file.file}: sha256 {file_digest(path)}, {change}"
    nothing = f"{entry.name}: nothing to record: {entry.made or 'all is known'}"
    yield from [*search.notices, f"recorded in {lockfile.overlay_path()}"] if search.notices else [nothing]


def add(entry: Entry, given: Path) -> tuple[DataSource, RawFile]:
    """Copy a file fetched by hand into the cache, as the file of the entry with its digest; return which that is.

    A file without a digest in the lock is matched by its name, and its digest recorded. `DataError` names both
    digests if the name matches and the bytes do not.
    """
    pairs = [pair for pair in _files([entry]).values() if not pair[1].shipped]
    fitting = [pair for pair in pairs if state_of(given, pair[1]) == WHOLE]
    fitting = fitting or [pair for pair in pairs if pair[1].file == given.name]
    if not fitting:
        names = ", ".join(file.file for _, file in pairs) or "none but what is shipped"
        raise DataError(f"{given}: digest and name fit no file of {entry.name}; its files are: {names}")
    (source, file), search = fitting[0], Search(entry, LOCKED)
    with exclusive(source.path(file)):
        if not search.take(source, file, str(given)):
            raise DataError(search.tried[-1])
    return source, file


def add_new(name: str, train: Path, test: Path | None, scaling: str) -> tuple[str, ...]:
    """Add a data set of the user's own, files in LIBSVM's format, to the overlay; return notices.

    Whether features count from 0 is seen from the training file, and kept.
    """
    if test is not None and test.name == train.name:
        raise UsageError(f"{train} and {test} have the same name; rename one of them")
    table, _, notices = formats.read(train, {"format": "svmlight", "zero_based": None})
    labels.require_two(table.labels, str(train))
    classes, features = len(labels.classes(table.labels)), table.features
    source: dict[str, Any] = {"loader": {"format": "svmlight", "zero_based": table.zero_based}}
    for role, path in {"train": train, "test": test}.items():
        if path is not None:
            features = max(features, formats.read(path, source["loader"])[0].features)
            source[role] = [{"file": path.name}]
    with lockfile.changing_overlay() as overlay:
        overlay.datasets[name] = {
            "title": name,
            "task": "binary" if classes == 2 else "multiclass",
            "classes": classes,
            "features": features,
            "scaling": scaling,
            "sources": {"local": source},
        }
    for path in filter(None, (train, test)):
        add(lockfile.read().entries[name], path)
    return notices


def remove(name: str) -> tuple[bool, int]:
    """Remove a user's data set, and the pins of its files; return whether there was an entry, and how many pins.

    `UsageError` if there is nothing to remove.
    """
    with lockfile.changing_overlay() as overlay:
        pins = [place for place in overlay.pins if place.split("/")[0] == name]
        is_entry = overlay.datasets.pop(name, None) is not None
        if not (pins or is_entry):
            raise UsageError(f"{name}: nothing of it was added or locked by you in {lockfile.overlay_path()}")
        for place in pins:
            del overlay.pins[place]
    return is_entry, len(pins)


def check(entries: list[Entry]) -> Iterator[tuple[str, str]]:
    """Hash every file of the entries again; yield it as ``DATASET/SOURCE/FILE``, and its state.

    That is ``whole``, ``missing``, ``unpinned``, or how its bytes differ.
    """
    for path, (source, file) in _files(entries).items():
        yield lockfile.address(source, file), state_of(path, file)


def _files(entries: Iterable[Entry]) -> dict[Path, tuple[DataSource, RawFile]]:
    pairs = [(source, file) for entry in entries for source in entry.sources for file in source.files]
    return {source.path(file): (source, file) for source, file in pairs}


def prune(*, everything: bool, dry_run: bool) -> Iterator[tuple[Path, str, int]]:
    """Remove unfinished files, files of no data set in the lock and stale parsed copies; yield path, why and bytes.

    With ``everything``, all data. Files in folders that fwsvm did not write stay. With ``dry_run``, everything does.
    """
    for path, why in _unused(everything=everything):
        size = sum(each.stat().st_size for each in (path, *path.rglob("*")) if each.is_file())
        if not dry_run:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        yield path, why, size


def _unused(*, everything: bool) -> Iterator[tuple[Path, str]]:
    """Yield files of ``data/NAME/SOURCE`` and parsed copies that are not in use, and why they can go."""
    kept = set() if everything else {*_files(lockfile.read().entries.values())}
    for folder in sorted({lock.parent for lock in data_folder().glob("*/*/*.lock")}):
        for path in sorted(folder.iterdir()):
            if kept.isdisjoint({path, path.with_suffix("")}):  # a lock file stays beside its file
                yield path, "raw file" if everything else "of no data set in the lock"
    for path in sorted(parsed_folder().glob(f"*/{parsed_copies.ABOUT}")):
        is_stale = not path.parent.name.startswith(parsed_copies.reader_version())
        if everything or is_stale:
            yield path.parent, "parsed by another version" if is_stale else "parsed copy"
    for path in parsed_folder().glob(f"*{BUILDING}"):
        yield path, "unfinished parsed copy"
