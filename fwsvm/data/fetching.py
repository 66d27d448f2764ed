"""The files of a data set, verified: of the first source that has all of them.

A file is looked for in the package, the cache, a mirror, other files, and at its URLs, in this order. It gets its final
name only after its digest agrees with the lock, or was recorded at first use.
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace

from fwsvm.data import derived, lockfile, overlay
from fwsvm.data.download import FetchError, FetchOptions, download
from fwsvm.data.lockfile import FIRST_USE, UNPINNED, DataSource, Entry, RawFile
from fwsvm.errors import DataError, UnobtainableError
from fwsvm.files.folders import data_folder, file_digest
from fwsvm.files.lock import exclusive

BYTES_A_VALUE = 32  # of text, index and blank included, at most
SMALLEST_LIMIT, LARGEST_LIMIT = 1 << 24, 1 << 32  # bytes of a file whose size is not known

Found = tuple[Path, str]


class Obtained(NamedTuple):
    """A source and its verified files: path and sha256 by file name, and notices for the user.

    ``lacking`` is empty, or says what was tried for test files that could not be found. ``first_use`` tells that a file
    was trusted when it was first fetched.
    """

    source: DataSource
    files: dict[str, Found]
    notices: tuple[str, ...]
    lacking: str = ""
    first_use: bool = False


def obtain(
    entry: Entry, source_name: str | None, options: FetchOptions, *, without_test: bool = False
) -> Obtained:
    """Return the verified files of an entry: of the named source, or of the first source that is complete.

    Sources whose files need no network come first. With ``without_test``, training files alone are returned if no
    source is complete. `UnobtainableError` names every place that was tried and says how to add the files by hand.
    """
    sources = (entry.source(source_name),) if source_name else entry.sources
    search, lacking = Search(entry, options), ""
    # what the network gave is in the cache when training files alone are looked for
    ways = [(False, False), *[(True, False)] * (not options.offline), *[(False, True)] * without_test]
    try:
        for network, train_only in ways:
            for source in sources:
                files = search.find_all(source, source.train if train_only else source.files, network=network)
                if files is None:
                    continue
                if train_only:
                    lacking = f"the test rows of {entry.name} are not available{search.remedy(sources)}"
                failed = [f"{said}; the next source was used" for said in search.tried if "://" in said]
                trusted = any(overlay.pinned(source, file).evidence == FIRST_USE for file in source.files)
                notices = *([] if train_only else dict.fromkeys(failed)), *search.notices
                return Obtained(source, files, notices, lacking, trusted)
    except OSError as error:
        raise DataError(
            f"{error.filename or data_folder()}: cannot be written: {error.strerror or error}; free some space, or set "
            "FWSVM_CACHE to a folder on another disk"
        ) from None
    for notice in search.notices:
        options.say(notice)
    raise UnobtainableError(f"{entry.name} is not available{search.remedy(sources)}")


@dataclass
class Search:
    """A search for files of an entry: what was tried in vain, and notices.

    ``evidence`` is that of digests that are recorded. With ``accept`` files are fetched anew, and any digest and shape
    is recorded.
    """

    entry: Entry
    options: FetchOptions
    evidence: str = FIRST_USE
    accept: bool = False
    tried: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def find_all(
        self, source: DataSource, files: Sequence[RawFile], *, network: bool
    ) -> dict[str, Found] | None:
        """Return path and sha256 of each of these files of a source, or None as soon as one cannot be found."""
        found: dict[str, Found] = {}
        for file in files:
            if file.file not in found:
                if (one := self.find(source, file, network=network)) is None:
                    return None
                found[file.file] = one
        return found

    def find(self, source: DataSource, file: RawFile, *, network: bool) -> Found | None:
        """Return path and sha256 of one file, or None: from the cache, the mirror, other files, or its URLs."""
        path = source.path(file)
        if not self.accept and (whole := verified(path, file)):
            return whole
        if file.shipped:
            self.tried.append(f"{path}: missing or altered: reinstall the package that ships it")
            return None
        mirror = self.options.mirror or ""
        places = []
        if mirror and "://" not in mirror:
            in_cache = Path(mirror) / source.owner / source.name / file.file
            places = [str(each) for each in (Path(mirror) / file.file, in_cache) if each.is_file()]
            self.tried += [] if places else [f"{Path(mirror) / file.file}: no such file"]
        if network:
            places += [f"{mirror.rstrip('/')}/{file.file}"] * ("://" in mirror) + [*file.urls]
            self.tried += [] if places else [f"{file.file}: no address is known"]
        with exclusive(path):
            file = overlay.pinned(source, file)
            if self.accept:
                file = replace(file, sha256=None, md5=None, bytes=None, evidence=UNPINNED)
            elif whole := verified(path, file):
                return whole
            found = next((found for place in places if (found := self.take(source, file, place))), None)
            return found or self._derived(source, file, network=network)

    def take(self, source: DataSource, file: RawFile, place: str) -> Found | None:
        """Return a file that a place, a URL or path, has, if it is what the lock says, or what can be recorded."""
        path = source.path(file)
        part = part_of(path)
        try:
            if "://" in place:
                host = urlsplit(place).hostname
                is_safe = place not in file.urls or host in {"localhost", "127.0.0.1", "::1"}
                limit = file.bytes or size_limit(self.entry)
                download(place, part, file.bytes, limit, self.options, plain_http=file.pinned or is_safe)
            else:
                shutil.copyfile(place, part)
            if not file.pinned:
                said = overlay.record(
                    self.entry, source, file, part, place, self.evidence, accept=self.accept
                )
                self.notices.append(said)
            wrong = mismatch(file, part)
            if wrong is None:
                return keep(path), file.sha256 or file_digest(path)
        except DataError as failure:
            wrong = str(failure)
            is_doubtful = not isinstance(failure, FetchError)
        else:
            is_doubtful = file.evidence in {"C", "D", FIRST_USE}
        part.unlink(missing_ok=True)
        accept = f"`fwsvm data lock {source.owner} --source {source.name} --accept`"
        hint = f" (if you trust this file: {accept})" if is_doubtful else ""
        self.tried.append(f"{place}: {wrong}{hint}")
        return None

    def _derived(self, source: DataSource, file: RawFile, *, network: bool) -> Found | None:
        """Return a file that is made of the training files of other data sets."""
        parents = []
        for name in file.parents:
            parent = lockfile.read().entries[name]
            search = Search(parent, self.options, tried=self.tried, notices=self.notices)
            origin = parent.sources[0]
            parents.append(search.find(origin, origin.train[0], network=network))
        if not parents or None in parents:
            return None
        path, said = source.path(file), derived.describe(file)
        for text in derived.texts(file, *[found[0] for found in parents if found]):
            part_of(path).write_bytes(text)
            if mismatch(file, part_of(path)) is None:
                sure = "as its digest confirms" if file.pinned else "and no digest of it is known"
                self.notices.append(f"{file.file} was derived, {sure}: {said}")
                return keep(path), file.sha256 or file_digest(path)
        self.tried.append(f"{file.file} derived as {said}: its digest is another")
        return None

    def remedy(self, sources: Iterable[DataSource]) -> str:
        """Return the end of a sentence: what was tried in vain, and what the user can do."""
        name, offline = self.entry.name, self.options.offline
        has_urls = any(file.urls for source in sources for file in source.files)
        tried = "; ".join(dict.fromkeys(self.tried)) or (
            "it is not here" if has_urls else "no address is known"
        )
        fetch_it = f"`fwsvm data fetch {name}`, " if offline and has_urls else ""
        return (
            f"{' (offline)' if offline else ''}: {tried}. To get it: {fetch_it}`fwsvm data add {name} FILE` "
            f"with a file you downloaded, or set FWSVM_MIRROR to a folder that has the files"
        )


def size_limit(entry: Entry) -> int:
    """Return how many bytes a file of unknown size may have at most, by the rows that papers print."""
    rows = max(((p.m or 0) + (p.t or 0) for p in entry.published), default=0)
    if not rows or entry.split:
        return LARGEST_LIMIT
    return min(max(BYTES_A_VALUE * rows * (entry.features + 1), SMALLEST_LIMIT), LARGEST_LIMIT)


def part_of(path: Path) -> Path:
    """Return the name of a file while it is incomplete or not verified."""
    return path.with_name(f"{path.name}.part")


def keep(path: Path) -> Path:
    """Rename the ``.part`` of a file, which is verified, to its final name, once its bytes are on the disk."""
    with part_of(path).open("r+b") as file:  # fsync needs a writable file on Windows
        os.fsync(file.fileno())
    return part_of(path).replace(path)


def verified(path: Path, file: RawFile) -> Found | None:
    """Return path and sha256 of a file if it is there and matches the lock, else None."""
    if not path.is_file() or not file.pinned or mismatch(file, path):
        return None
    return path, file.sha256 or file_digest(path)


def mismatch(file: RawFile, path: Path) -> str | None:
    """Return how a file at a path differs from the digests and size in the lock, or None if all of these agree."""
    says = f"at first use on {file.recorded} it was" if file.evidence == FIRST_USE else "datasets.lock says"
    for kind in ("sha256", "md5"):
        pinned = getattr(file, kind)
        if pinned and (here := file_digest(path, kind)) != pinned:
            return f"{path.stat().st_size:,} bytes whose {kind} is {here}, {says} {pinned}"
    size = path.stat().st_size
    return None if file.bytes in (None, size) else f"{size:,} bytes, datasets.lock says {file.bytes:,}"
