"""Taking files in by hand, and recording digests: the two acts that change what fwsvm trusts."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fwsvm.data import digests, labels, loaders, lockedit, lockfile
from fwsvm.data.cache_paths import Wanted, settle
from fwsvm.data.digests import Found
from fwsvm.data.download import FetchError
from fwsvm.data.entry import UNPINNED, Entry, File, Source
from fwsvm.data.fetch import Options, Search
from fwsvm.errors import DataError, UsageError
from fwsvm.files.lock import exclusive

#: A file that is locked again may have this many bytes, or this many times those it had, whichever is more.
LEAST_ALLOWED, MOST_GROWTH = 64 << 20, 4


class Finding(NamedTuple):
    """A file that was fetched without being trusted: from where, and what it was found to be."""

    file: File
    place: str
    found: Found
    rows: int
    max_index: int | None

    @property
    def agrees(self) -> bool:
        """Whether the lock pins this file already, and rightly."""
        return self.file.pinned and digests.mismatch(self.file, self.found) is None


def examine(source: Source, options: Options) -> tuple[Finding, ...]:
    """Fetch every file of a source, whatever the lock says of its bytes, and read it to see that it is data.

    The files wait as ``NAME.part`` for `accept`. `DataError` where one cannot be fetched or read, unless it
    can be derived from others and so needs no digest.
    """
    findings = []
    for file in _distinct(source):
        if file.shipped:
            continue
        try:
            findings.append(_examine(source, file, options))
        except DataError as error:
            if file.complement is None:
                raise
            options.say(f"{error}; it will be derived")
    return tuple(findings)


def _distinct(source: Source) -> Sequence[File]:
    return tuple({file.file: file for file in source.files}.values())


def _examine(source: Source, file: File, options: Options) -> Finding:
    want = Wanted(source, file)
    with exclusive(want.path):
        place = _bring(want, options)
        found = digests.measure(want.part)
        table, _ = loaders.read(want.part, found.sha256, source.loader, file.member)
    width = table.features if source.loader["format"] == "svmlight" else None
    return Finding(file, place, found, table.rows, width)


def _bring(want: Wanted, options: Options) -> str:
    """Put a file's bytes at ``want.part``, from the mirror, the cache or its URLs, and say from where."""
    name = want.file.file
    mirror = options.mirror.rstrip("/") if options.mirror else ""
    folder = Path(mirror) / name if mirror and "://" not in mirror else None
    for place in (folder, want.path):
        if place is not None and place.is_file():
            want.part.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place, want.part)
            return str(place)
    of_mirror = [f"{mirror}/{name}"] if "://" in mirror else []
    search = Search(options)
    most = max(LEAST_ALLOWED, MOST_GROWTH * want.file.bytes) if want.file.bytes else None
    untrusted = Wanted(want.source, File(name, want.file.urls))  # neither its size nor its digest count here
    for url in (*of_mirror, *(() if options.offline else want.file.urls)):
        try:
            search.download(url, untrusted, from_mirror=url in of_mirror, most=most)
        except FetchError as failure:
            search.tried.append(f"{url}: {failure}")
        else:
            return url
    why = "; ".join(search.tried) or ("offline" if want.file.urls else "no address is known")
    raise DataError(f"{name} is not to be had: {why}")


def accept(source: Source, findings: Sequence[Finding], *, into_checkout: bool = False) -> Path | None:
    """Record what was found, move the files to their final names, and return the lock written to, if any was."""
    pins: dict[lockedit.Address, dict[str, Any]] = {}
    for finding in findings:
        values: dict[str, Any] = {}
        if not finding.agrees:
            values = {
                "bytes": finding.found.bytes,
                "sha256": finding.found.sha256,
                "rows": finding.rows,
                "evidence": "locked",
            }
            if finding.file.md5:
                values["md5"] = UNPINNED  # sha256 takes its place
            if finding.max_index is not None:
                values["max_index"] = finding.max_index
            if finding.file.digest_from:
                values["digest_from"] = finding.place
        if finding.place in finding.file.urls and not finding.file.verified:
            values["verified"] = True
        if values:
            pins[(source.owner, source.name, finding.file.file)] = values
    lock = lockedit.record(pins, into_checkout=into_checkout) if pins else None
    for finding in findings:
        want = Wanted(source, finding.file)
        settle(want.part, want.path)
    return lock


def discard(source: Source, findings: Sequence[Finding]) -> None:
    """Keep what was examined and not accepted as ``NAME.bad`` where it differs, and drop the rest."""
    for finding in findings:
        want = Wanted(source, finding.file)
        if finding.agrees:
            settle(want.part, want.path)
        elif finding.file.pinned:
            want.part.replace(want.bad)
        else:
            want.part.unlink(missing_ok=True)


def add(entry: Entry, given: Path, *, into_checkout: bool = False) -> tuple[Source, File, Path]:
    """Take a file fetched by hand into the cache, as the file of the entry whose digest it has.

    A file whose digest is not known yet is taken by its name, and its digest recorded. `DataError` names both
    digests where the name fits and the bytes do not.
    """
    found = digests.measure(given)
    pairs = [(s, f) for s in entry.sources for f in s.files if not f.shipped]
    for source, file in pairs:
        if file.pinned and digests.mismatch(file, found) is None:
            return source, file, _adopt(source, file, given)
    for source, file in pairs:
        if file.file == given.name and file.pinned:
            raise DataError(
                f"{given}: {digests.mismatch(file, found)}; if you trust it: "
                f"`fwsvm data lock {entry.name} --source {source.name} --mirror {given.parent} --accept`"
            )
        if file.file == given.name:
            table, _ = loaders.read(given, found.sha256, source.loader, file.member)
            width = table.features if source.loader["format"] == "svmlight" else None
            path = _adopt(source, file, given)
            path.replace(Wanted(source, file).part)
            finding = Finding(file, str(given), found, table.rows, width)
            accept(source, [finding], into_checkout=into_checkout)
            return source, file, path
    names = ", ".join(dict.fromkeys(f.file for _, f in pairs)) or "none but what is shipped"
    raise DataError(
        f"{given}: sha256 {found.sha256} and name fit no file of {entry.name}, which are: {names}"
    )


def _adopt(source: Source, file: File, given: Path) -> Path:
    want = Wanted(source, file)
    with exclusive(want.path):
        shutil.copyfile(given, want.beside(".copy"))
        settle(want.beside(".copy"), want.path)
    return want.path


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
        table, _ = loaders.read(path, found.sha256, {"format": "svmlight"})
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
    lock = lockedit.add_entry(name, entry, into_checkout=into_checkout)
    added = lockfile.read().entries[name]
    for path in (train, test):
        if path is not None:
            add(added, path)
    return lock
