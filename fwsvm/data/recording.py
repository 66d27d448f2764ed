"""Digests that the user records, by ``fwsvm data lock`` and by ``fwsvm data add``."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fwsvm.data import formats, labels, lockfile, overlay
from fwsvm.data.download import FetchOptions
from fwsvm.data.fetching import Search, mismatch
from fwsvm.data.lockfile import LOCKED, DataSource, Entry, RawFile
from fwsvm.errors import DataError, UnobtainableError, UsageError
from fwsvm.files.lock import exclusive


def lock(entry: Entry, source: DataSource, options: FetchOptions, *, accept: bool) -> Iterator[str]:
    """Fetch the files of a source and record their digests; yield lines that compare each with the lock.

    With ``accept``, fetch anew, and record a digest that differs from the one in the lock, or a file of another shape.
    `DataError` where a file is not available, or not data, or differs and is not accepted.
    """
    search = Search(entry, options, LOCKED, accept)
    for file in source.files:
        if file.shipped or (file.parents and not file.urls):
            continue
        if (found := search.find(source, file, network=not options.offline)) is None:
            said = "; ".join(search.tried) or "no server was asked (offline)"
            raise UnobtainableError(f"{entry.name} cannot be locked: {said}")
        known = file.sha256 or file.md5
        change = (
            f"in place of {known}" if known and mismatch(file, found[0]) else "unchanged" if known else "new"
        )
        yield f"{file.file}: sha256 {found[1]}, {change}"
    nothing = f"{entry.name}: nothing to record: {entry.made or 'all is known'}"
    yield from [*search.notices, f"recorded in {lockfile.overlay_path()}"] if search.notices else [nothing]


def add(entry: Entry, given: Path) -> tuple[DataSource, RawFile]:
    """Copy a file fetched by hand into the cache, as each file of the entry with the same digest; return the first.

    A file without a digest in the lock is matched by its name, and its digest recorded. `DataError` names both
    digests if the name matches and the bytes do not.
    """
    pairs = [(source, file) for source in entry.sources for file in source.files if not file.shipped]
    fitting = [pair for pair in pairs if pair[1].pinned and not mismatch(pair[1], given)]
    fitting = fitting or [pair for pair in pairs if pair[1].file == given.name][:1]
    if not fitting:
        names = ", ".join(dict.fromkeys(file.file for _, file in pairs)) or "none but what is shipped"
        raise DataError(f"{given}: digest and name fit no file of {entry.name}; its files are: {names}")
    search = Search(entry, FetchOptions(), LOCKED)
    for source, file in fitting:
        with exclusive(source.path(file)):
            if search.take(source, file, str(given)) is None:
                raise DataError(search.tried[-1])
    return fitting[0]


def add_new(
    name: str, train: Path, test: Path | None, *, scaling: str, title: str, zero_based: bool | None = None
) -> tuple[str, ...]:
    """Add a data set of the user's own, files in LIBSVM's format, to the overlay; return notices.

    Whether features count from 0 is seen from the training file, unless ``zero_based`` says, and kept.
    """
    if test is not None and test.name == train.name:
        raise UsageError(f"{train} and {test} have the same name; rename one of them")
    table, sha256, notices = formats.read_file(train, {"format": "svmlight", "zero_based": zero_based})
    labels.require_two(table.labels, str(train))
    classes = len(labels.classes(table.labels))
    loader: dict[str, Any] = {"format": "svmlight", **({"zero_based": True} if table.zero_based else {})}

    def facts(path: Path, digest: str) -> list[dict[str, Any]]:
        return [{"file": path.name, "sha256": digest, **overlay.origin(str(path), LOCKED)}]

    files, features = {"train": facts(train, sha256)}, table.features
    if test is not None:
        tested, sha256, more = formats.read_file(test, {"zero_based": False, **loader})
        files["test"], notices = facts(test, sha256), (*notices, *more)
        features = max(features, tested.features)
    entry = {
        "title": title,
        "task": "binary" if classes == 2 else "multiclass",
        "classes": classes,
        "features": features,
        "scaling": scaling,
        "sources": {"local": {"loader": loader, **files}},
    }
    overlay.add_entry(name, entry)
    added = lockfile.read().entries[name]
    for path in filter(None, (train, test)):
        add(added, path)
    return notices
