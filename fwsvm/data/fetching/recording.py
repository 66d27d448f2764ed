"""Digests that the user records: by ``fwsvm data lock`` and by ``fwsvm data add``."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from fwsvm.data import formats, labels, lockfile, overlay
from fwsvm.data.fetching.cached_files import CacheFile, mismatch
from fwsvm.data.fetching.download import FetchOptions
from fwsvm.data.fetching.first_use import examine, origin
from fwsvm.data.fetching.obtaining import FileSearch
from fwsvm.data.lockfile import UNPINNED, DataSource, Entry, RawFile
from fwsvm.errors import DataError, UnobtainableError, UsageError
from fwsvm.files.lock import exclusive
from fwsvm.files.state import Measured, measure

CACHE = "the cache"


def lock(
    entry: Entry, source: DataSource, options: FetchOptions, *, accept: bool, into_checkout: bool
) -> Iterator[str]:
    """Fetch the files of a source and record their digests; yield lines that compare each with the lock.

    Parameters
    ----------
    accept : bool
        Fetch anew, and record a digest that differs from the one in the lock, or a file of another shape.
    into_checkout : bool
        Write to the checkout's lock in place of the overlay.

    Raises
    ------
    DataError
        A file is not available, or not data; its digest or its shape differs and is not accepted.
    """
    files = [file for file in {file.file: file for file in source.files}.values() if not file.shipped]
    if not files:
        yield f"{entry.name}: nothing to record: {entry.made or 'its files ship with fwsvm'}"
        return
    pins: dict[str, dict[str, Any]] = {}
    differ = []
    for file in files:
        with _brought(entry, source, file, options, anew=accept) as (target, place):
            if place is None:
                continue
            found = measure(target.path if place == CACHE else target.part)
            wrong = mismatch(target.file, found)
            lines = _comparison(target.file, place, found, wrong)
            if wrong and not accept:
                target.part.replace(target.bad)
                differ.append(f"{file.file}: {wrong}")
            elif wrong or not target.file.pinned:
                facts, shape, odd = examine(entry, target, found)
                if odd and not accept:
                    raise DataError(f"{place}: {shape}; nothing is recorded; --accept records it")
                replaced = {"md5": UNPINNED} if file.md5 else {}
                pins[overlay.address(source, file)] = {
                    **facts,
                    **origin(place, "locked", file.urls),
                    **replaced,
                }
                if not into_checkout:
                    overlay.record(pins)
                lines.append(f"         {shape}")
            elif into_checkout and target.file.recorded:
                pins[overlay.address(source, file)] = _facts(target.file)
            if place != CACHE and not (wrong and not accept):
                target.keep()
        yield from lines
    if differ:
        accepting = f"`fwsvm data lock {entry.name} --source {source.name} --accept`"
        raise DataError(f"{'; '.join(differ)}; kept as .bad; if you trust it: {accepting}")
    written = overlay.record_in_checkout(pins) if into_checkout and pins else lockfile.overlay_path()
    yield f"recorded in {written}" if pins else f"nothing to record: {entry.made or 'all is known'}"


def _comparison(file: RawFile, place: str, found: Measured, wrong: str | None) -> list[str]:
    """Return lines that compare a fetched file with what the lock has of it."""
    state = "differs" if wrong else "unchanged" if file.pinned else "new"
    return [
        f"{file.file}: {state}, from {place}",
        f"  lock   {file.digest}" + (f", {file.bytes:,} bytes" if file.bytes else ""),
        f"  found  sha256:{found.sha256}, {found.bytes:,} bytes",
    ]


@contextmanager
def _brought(
    entry: Entry, source: DataSource, file: RawFile, options: FetchOptions, *, anew: bool
) -> Iterator[tuple[CacheFile, str | None]]:
    """Bring a file to its ``.part``, whatever its digest, and hold its lock; give it, and where it is from.

    A verified file stays in the cache, unless it is to be asked for ``anew``. The place is None if the file cannot be
    had but can be derived; `UnobtainableError` if it cannot be derived either.
    """
    search = FileSearch(entry, options)
    target = CacheFile(source, overlay.pinned(source, file))
    with exclusive(target.path):
        if not anew and target.verified():
            yield target, CACHE
            return
        loose = CacheFile(source, RawFile(file=file.file, urls=file.urls, evidence=UNPINNED))
        places = [*search.mirrors(target, network=True), *(() if options.offline else file.urls)]
        place = next((place for place in places if search.bring(place, loose)), None)
        if place is None:
            why = "; ".join(search.tried) or ("offline" if file.urls else "no address is known")
            if file.derivation is None:
                raise UnobtainableError(f"{file.file} is not available: {why}")
            options.say(f"{file.file} is not available: {why}; it will be derived")
        yield target, None if place is None else str(place)


def _facts(file: RawFile) -> dict[str, Any]:
    """Return what the overlay has of a file, for the checkout's lock."""
    keys = ("bytes", "sha256", "rows", "max_index", "digest_from", "recorded", "verified")
    facts = {key: value for key, value in msgspec.to_builtins(file).items() if key in keys}
    return facts | {"evidence": "locked"}


def add(entry: Entry, given: Path) -> tuple[DataSource, RawFile, Path]:
    """Copy a file fetched by hand into the cache, as each file of the entry with the same digest; return the first.

    A file without a digest in the lock is matched by its name, and its digest recorded. `DataError` names both
    digests if the name matches and the bytes do not.
    """
    found = measure(given)
    pairs = [(s, f) for s in entry.sources for f in s.files if not f.shipped]
    alike = [(s, f) for s, f in pairs if f.pinned and mismatch(f, found) is None]
    if alike:
        places = [_adopt(CacheFile(*pair), given, found, entry) for pair in alike]
        return *alike[0], places[0]
    for source, file in pairs:
        if file.file == given.name and file.pinned:
            raise DataError(
                f"{given}: {mismatch(file, found)}; if you trust it: "
                f"`fwsvm data lock {entry.name} --source {source.name} --mirror {given.parent} --accept`"
            )
        if file.file == given.name:
            return source, file, _adopt(CacheFile(source, file), given, found, entry)
    names = ", ".join(dict.fromkeys(f.file for _, f in pairs)) or "none but what is shipped"
    raise DataError(
        f"{given}: sha256 {found.sha256} and name fit no file of {entry.name}; its files are: {names}"
    )


def _adopt(target: CacheFile, given: Path, found: Measured, entry: Entry) -> Path:
    """Copy a file of these digests into the cache, record them if none is known, and return its path there."""
    source, file = target
    with exclusive(target.path):
        shutil.copyfile(given, target.part)
        if measure(target.part) != found:
            raise DataError(f"{given} changed while it was copied; give it when it is complete")
        if not file.pinned:
            facts, shape, wrong = examine(entry, target, found)
            if wrong:
                accept = f"`fwsvm data lock {entry.name} --mirror {given.parent} --accept`"
                raise DataError(f"{given}: {shape}; if you trust it: {accept}")
            overlay.record({overlay.address(source, file): {**facts, **origin(str(given), "locked")}})
        target.keep()
    return target.path


def add_new(
    name: str, train: Path, test: Path | None, *, scaling: str, title: str, zero_based: bool | None = None
) -> tuple[Path, tuple[str, ...]]:
    """Add a data set of the user's own, files in LIBSVM's format; return the overlay and notices.

    Whether features count from 0 is seen from the training file, unless ``zero_based`` says, and kept.
    """
    if test is not None and test.name == train.name:
        raise UsageError(f"{train} and {test} have the same name; rename one of them")
    given = {role: path for role, path in (("train", train), ("test", test)) if path is not None}
    loader: dict[str, Any] = {"format": "svmlight", "zero_based": zero_based}
    files: dict[str, list[dict[str, Any]]] = {}
    features, classes = 1, 0
    notices: tuple[str, ...] = ()
    for role, path in given.items():
        found = measure(path)
        table, said = formats.read(path, found.sha256, loader)
        features, notices = max(features, table.features), (*notices, *said)
        if role == "train":
            labels.require_two(table.labels, str(path))
            classes = len(labels.classes(table.labels))
            loader["zero_based"] = table.zero_based
        facts = {
            "bytes": found.bytes,
            "sha256": found.sha256,
            "rows": table.rows,
            "max_index": table.features,
        }
        files[role] = [{"file": path.name, "urls": "unknown", **facts, **origin(str(path), "locked")}]
    entry = {
        "title": title,
        "task": "binary" if classes == 2 else "multiclass",
        "classes": classes,
        "features": features,
        "scaling": scaling,
        "sources": {"local": {"loader": loader if loader["zero_based"] else {"format": "svmlight"}, **files}},
    }
    written = overlay.add_entry(name, entry)
    added = lockfile.read().entries[name]
    for path in given.values():
        add(added, path)
    return written, notices
