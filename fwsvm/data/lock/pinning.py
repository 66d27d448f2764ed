"""Adding files by hand and recording digests, the two operations that change which files are trusted."""

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fwsvm.data import formats, labels
from fwsvm.data.fetching import digests
from fwsvm.data.fetching.cache_paths import CacheFile, move_verified
from fwsvm.data.fetching.digests import Measured
from fwsvm.data.fetching.file_search import FileSearch
from fwsvm.data.fetching.http_response import FetchError
from fwsvm.data.fetching.options import FetchOptions
from fwsvm.data.lock import editing, lockfile
from fwsvm.data.lock.entry import UNPINNED, DataSource, Entry, RawFile
from fwsvm.errors import DataError, UnobtainableError, UsageError
from fwsvm.files.lock import exclusive

#: A file that is locked again may have this many bytes, or this many times those it had, whichever is more.
ALWAYS_ALLOWED_BYTES, MAX_GROWTH = 64 << 20, 4


class FetchedFile(NamedTuple):
    """A file that was fetched but not verified: where from, its size and digests, its rows and largest index."""

    file: RawFile
    place: str
    found: Measured
    rows: int
    max_index: int | None

    @property
    def agrees(self) -> bool:
        """Whether the file matches the digest that the lock has."""
        return self.file.pinned and digests.mismatch(self.file, self.found) is None


def examine(source: DataSource, options: FetchOptions) -> tuple[FetchedFile, ...]:
    """Fetch every file of a source without checking its digest, and parse it to see that it is data.

    The files stay at ``NAME.part`` until `accept` or `discard`. `DataError` if one cannot be fetched or parsed, unless
    it can be derived from others and so needs no digest.
    """
    fetched = []
    for file in {file.file: file for file in source.files}.values():
        if file.shipped:
            continue
        try:
            fetched.append(_examine(source, file, options))
        except DataError as error:
            if file.derivation is None:
                raise
            options.say(f"{error}; it will be derived")
    return tuple(fetched)


def _examine(source: DataSource, file: RawFile, options: FetchOptions) -> FetchedFile:
    target = CacheFile(source, file)
    with exclusive(target.path):
        place = _fetch_part(target, options)
        found = digests.measure(target.part)
        table, _ = formats.read(target.part, found.sha256, source.loader, file.member)
    width = table.features if source.loader["format"] == "svmlight" else None
    return FetchedFile(file, place, found, table.rows, width)


def _fetch_part(target: CacheFile, options: FetchOptions) -> str:
    """Copy or download a file to ``target.part``, from the mirror, the cache or its URLs; return from where."""
    name = target.file.file
    mirror = options.mirror.rstrip("/") if options.mirror else ""
    folder = Path(mirror) / name if mirror and "://" not in mirror else None
    for place in (folder, target.path):
        if place is not None and place.is_file():
            target.part.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place, target.part)
            return str(place)
    of_mirror = [f"{mirror}/{name}"] if "://" in mirror else []
    search = FileSearch(options)
    most = max(ALWAYS_ALLOWED_BYTES, MAX_GROWTH * target.file.bytes) if target.file.bytes else None
    untrusted = CacheFile(
        target.source, RawFile(name, target.file.urls)
    )  # neither its size nor its digest count here
    for url in (*of_mirror, *(() if options.offline else target.file.urls)):
        target.part.unlink(
            missing_ok=True
        )  # what is there may be of another server, and no digest would tell
        try:
            search.download(url, untrusted, from_mirror=url in of_mirror, most=most)
        except FetchError as failure:
            search.tried.append(f"{url}: {failure}")
        else:
            return url
    why = "; ".join(search.tried) or ("offline" if target.file.urls else "no address is known")
    raise UnobtainableError(f"{name} is not available: {why}")


def accept(source: DataSource, fetched: Sequence[FetchedFile], *, into_checkout: bool = False) -> Path | None:
    """Record the digests of files, move these to their final names, and return the lock written to, or None.

    `DataError`, and nothing is recorded or moved, where a file is not the one that was examined any more; nothing is
    moved where the record is refused.
    """
    pins: dict[editing.Address, dict[str, Any]] = {}
    for each in fetched:
        values: dict[str, Any] = {}
        if not each.agrees:
            values = {
                "bytes": each.found.bytes,
                "sha256": each.found.sha256,
                "rows": each.rows,
                "evidence": "locked",
            }
            if each.file.md5:
                values["md5"] = UNPINNED  # sha256 takes its place
            if each.max_index is not None:
                values["max_index"] = each.max_index
            if each.file.digest_from:
                values["digest_from"] = each.place
        if each.place in each.file.urls and not each.file.verified:
            values["verified"] = True
        if values:
            pins[(source.owner, source.name, each.file.file)] = values
    targets = [CacheFile(source, each.file) for each in fetched]
    with contextlib.ExitStack() as held:
        for target, each in zip(targets, fetched, strict=True):
            held.enter_context(exclusive(target.path))
            _refuse_other(target.part, each.found)
        lock = editing.record(pins, into_checkout=into_checkout) if pins else None
        for target in targets:
            move_verified(target.part, target.path)
    return lock


def _refuse_other(path: Path, found: Measured) -> None:
    """Refuse a file that has not the size and digests that were found of it before."""
    if not path.is_file() or digests.measure(path) != found:
        raise DataError(
            f"{path} is not the file that was examined: another process has changed it; try again"
        )


def discard(source: DataSource, fetched: Sequence[FetchedFile]) -> None:
    """Rename examined files that do not match the lock to ``NAME.bad``, and delete those without a digest."""
    for each in fetched:
        target = CacheFile(source, each.file)
        if each.agrees:
            move_verified(target.part, target.path)
        elif each.file.pinned:
            target.part.replace(target.bad)
        else:
            target.part.unlink(missing_ok=True)


def add(entry: Entry, given: Path, *, into_checkout: bool = False) -> tuple[DataSource, RawFile, Path]:
    """Copy a file fetched by hand into the cache, as each file of the entry with the same digest; return the first.

    A file without a digest in the lock is matched by its name, and its digest recorded. `DataError` names both
    digests if the name matches and the bytes do not.
    """
    found = digests.measure(given)
    pairs = [(s, f) for s in entry.sources for f in s.files if not f.shipped]
    alike = [(s, f) for s, f in pairs if f.pinned and digests.mismatch(f, found) is None]
    if alike:
        places = [_adopt(source, file, given, found) for source, file in alike]
        return *alike[0], places[0]
    for source, file in pairs:
        if file.file == given.name and file.pinned:
            raise DataError(
                f"{given}: {digests.mismatch(file, found)}; if you trust it: "
                f"`fwsvm data lock {entry.name} --source {source.name} --mirror {given.parent} --accept`"
            )
        if file.file == given.name:
            table, _ = formats.read(given, found.sha256, source.loader, file.member)
            width = table.features if source.loader["format"] == "svmlight" else None
            path = _adopt(source, file, given, found)
            path.replace(CacheFile(source, file).part)
            each = FetchedFile(file, str(given), found, table.rows, width)
            accept(source, [each], into_checkout=into_checkout)
            return source, file, path
    names = ", ".join(dict.fromkeys(f.file for _, f in pairs)) or "none but what is shipped"
    raise DataError(
        f"{given}: sha256 {found.sha256} and name fit no file of {entry.name}; its files are: {names}"
    )


def _adopt(source: DataSource, file: RawFile, given: Path, found: Measured) -> Path:
    """Copy a file of these digests into the cache and return its path there."""
    target = CacheFile(source, file)
    with exclusive(target.path):
        shutil.copyfile(given, target.beside(".copy"))
        _refuse_other(target.beside(".copy"), found)
        move_verified(target.beside(".copy"), target.path)
    return target.path


def add_new(
    name: str, train: Path, test: Path | None, *, scaling: str, title: str, into_checkout: bool = False
) -> Path:
    """Add a data set of the user's own, files in LIBSVM's format, and return the lock it was written to."""
    if test is not None and test.name == train.name:
        raise UsageError(f"{train} and {test} have the same name; rename one of them")
    files: dict[str, list[dict[str, Any]]] = {}
    features, classes = 1, 0
    for role, path in (("train", train), ("test", test)):
        if path is None:
            continue
        found = digests.measure(path)
        table, _ = formats.read(path, found.sha256, {"format": "svmlight"})
        features = max(features, table.features)
        if role == "train":
            labels.require_two(table.labels, str(path))
            classes = len(labels.classes(table.labels))
        files[role] = [
            {
                "file": path.name,
                "urls": "unknown",
                "bytes": found.bytes,
                "sha256": found.sha256,
                "rows": table.rows,
                "max_index": table.features,
                "evidence": "locked",
            }
        ]
    entry = {
        "title": title,
        "task": "binary" if classes == 2 else "multiclass",
        "classes": classes,
        "features": features,
        "scaling": scaling,
        "sources": {"local": {"loader": {"format": "svmlight"}, **files}},
    }
    lock = editing.add_entry(name, entry, into_checkout=into_checkout)
    added = lockfile.read().entries[name]
    for path in (train, test):
        if path is not None:
            add(added, path)
    return lock
