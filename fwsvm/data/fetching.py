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

from msgspec.structs import replace

from fwsvm.data import derived, lockfile, overlay
from fwsvm.data.download import FetchError, FetchOptions, Wanted, download, is_local
from fwsvm.data.first_use import record, size_limit
from fwsvm.data.lockfile import FIRST_USE, UNPINNED, DataSource, Entry, RawFile
from fwsvm.errors import DataError, UnobtainableError
from fwsvm.files.folders import data_folder
from fwsvm.files.lock import exclusive
from fwsvm.files.state import file_digest

Place = str | Path
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
    search = Search(entry, options)
    try:
        for network in (False,) if options.offline else (False, True):
            for source in sources:
                if (files := search.find_all(source, source.files, network=network)) is not None:
                    failed = [f"{said}; the next source was used" for said in search.tried if "://" in said]
                    return search.obtained(source, files, dict.fromkeys(failed))
        remedy = _remedy(search, any(file.urls for source in sources for file in source.files))
        for source in sources if without_test else ():  # what the network gave is in the cache by now
            if (files := search.find_all(source, source.train, network=False)) is not None:
                return search.obtained(
                    source, files, (), f"the test rows of {entry.name} are not available{remedy}"
                )
    except OSError as error:
        raise DataError(
            f"{error.filename or data_folder()}: cannot be written: {error.strerror or error}; free some space, or set "
            "FWSVM_CACHE to a folder on another disk"
        ) from None
    for notice in search.notices:
        options.say(notice)
    raise UnobtainableError(f"{entry.name} is not available{remedy}")


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

    def obtained(
        self, source: DataSource, files: dict[str, Found], failed: Iterable[str], lacking: str = ""
    ) -> Obtained:
        """Return what was found; ``failed`` are notices of what was of no use before."""
        trusted = any(overlay.pinned(source, file).evidence == FIRST_USE for file in source.files)
        return Obtained(source, files, (*failed, *self.notices), lacking, trusted)

    def find_all(
        self, source: DataSource, files: Sequence[RawFile], *, network: bool
    ) -> dict[str, Found] | None:
        """Return path and sha256 of each of these files of a source, or None as soon as one cannot be found."""
        found: dict[str, Found] = {}
        for file in {file.file: file for file in files}.values():
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
        with exclusive(path):
            if self.accept:
                file = replace(file, sha256=None, md5=None, bytes=None, evidence=UNPINNED)
            else:
                file = overlay.pinned(source, file)
            found = (
                verified(path, file)
                or self._first(source, file, self._mirrors(source, file, network=network))
                or self._derived(source, file, network=False)
            )
            if found or not network:
                return found
            if not file.urls:
                self.tried.append(f"{file.file}: no address is known")
            return self._first(source, file, file.urls) or self._derived(source, file, network=True)

    def _mirrors(self, source: DataSource, file: RawFile, *, network: bool) -> Sequence[Place]:
        """Return where the mirror may have a file: one URL, or paths that exist."""
        mirror = self.options.mirror
        if not mirror:
            return []
        if "://" in mirror:
            return [f"{mirror.rstrip('/')}/{file.file}"] if network else []
        paths = (Path(mirror) / file.file, Path(mirror) / source.owner / source.name / file.file)
        there = [path for path in paths if path.is_file() and path.absolute() != source.path(file).absolute()]
        if not there:
            self.tried.append(f"{paths[0]}: no such file")
        return there

    def _first(self, source: DataSource, file: RawFile, places: Iterable[Place]) -> Found | None:
        return next((found for place in places if (found := self.take(source, file, place))), None)

    def take(self, source: DataSource, file: RawFile, place: Place) -> Found | None:
        """Return a file that a place has, if it is what the lock says, or what can be recorded."""
        path = source.path(file)
        part = part_of(path)
        if not file.pinned:  # what is there may be of another server, and no digest would tell
            part.unlink(missing_ok=True)
        is_resumed = part.is_file()
        try:
            self._bring(file, part, place)
            if not file.pinned:
                accept = self.accept
                self.notices.append(
                    record(self.entry, source, file, part, str(place), self.evidence, accept=accept)
                )
        except (FetchError, DataError) as failure:
            self._refuse(source, place, str(failure), hint=isinstance(failure, DataError))
            return None
        if wrong := mismatch(file, part):
            part.unlink()
            if is_resumed:  # its beginning may have come from elsewhere
                return self.take(source, file, place)
            self._refuse(source, place, wrong, hint=file.evidence in {"C", "D", FIRST_USE})
            return None
        return keep(path), file.sha256 or file_digest(path)

    def _refuse(self, source: DataSource, place: Place, wrong: str, *, hint: bool) -> None:
        """Note why what a place has is not taken, with the command that takes it."""
        mirror = f" --mirror {place.parent}" if isinstance(place, Path) else ""
        accept = f"`fwsvm data lock {source.owner} --source {source.name}{mirror} --accept`"
        self.tried.append(f"{place}: {wrong}" + (f" (if you trust this file: {accept})" if hint else ""))

    def _bring(self, file: RawFile, part: Path, place: Place) -> None:
        """Copy or download a file to its ``.part``; `FetchError` where that cannot be done."""
        if isinstance(place, Path):
            part.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place, part)
            return
        from_mirror = place.startswith(f"{self.options.mirror}".rstrip("/") + "/")
        plain_http = file.pinned or from_mirror or is_local(place)
        limit = file.bytes or size_limit(self.entry)
        download(Wanted(place, part, file.bytes, limit, plain_http), self.options)

    def _derived(self, source: DataSource, file: RawFile, *, network: bool) -> Found | None:
        """Return a file that is made of the training files of other data sets."""
        parents = []
        for name in file.parents:
            parent = lockfile.read().entries[name].sources[0]
            search = Search(
                lockfile.read().entries[name], self.options, tried=self.tried, notices=self.notices
            )
            parents.append(search.find(parent, parent.train[0], network=network))
        if not parents or None in parents:
            return None
        whole, part = (found[0] for found in parents if found)
        path, said = source.path(file), derived.describe(file)
        wrong = "no candidate"
        try:
            for text in derived.texts(file, whole, part):
                part_of(path).write_bytes(text)
                if (differs := mismatch(file, part_of(path))) is None:
                    sure = "as its digest confirms" if file.pinned else "and no digest of it is known"
                    self.notices.append(f"{file.file} was derived, {sure}: {said}")
                    return keep(path), file.sha256 or file_digest(path)
                wrong = differs
        except DataError as error:
            wrong = str(error)
        part_of(path).unlink(missing_ok=True)
        self.tried.append(f"{file.file} derived as {said}: {wrong}")
        return None


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
    if not path.is_file() or not file.pinned:
        return None
    return None if mismatch(file, path) else (path, file.sha256 or file_digest(path))


def mismatch(file: RawFile, path: Path) -> str | None:
    """Return how a file at a path differs from the digests and size in the lock, or None if all of these agree."""
    says = f"at first use on {file.recorded} it was" if file.evidence == FIRST_USE else "datasets.lock says"
    for kind in ("sha256", "md5"):
        pinned = getattr(file, kind)
        if pinned and (here := file_digest(path, kind)) != pinned:
            return f"{kind} is {here}, {says} {pinned}"
    size = path.stat().st_size
    return None if file.bytes in (None, size) else f"{size:,} bytes, datasets.lock says {file.bytes:,}"


def _remedy(search: Search, has_urls: bool) -> str:
    """Return the end of a sentence: what was tried in vain, and what the user can do."""
    name, offline = search.entry.name, search.options.offline
    tried = "; ".join(dict.fromkeys(search.tried)) or (
        "it is not here" if has_urls else "no address is known"
    )
    fetch_it = f"`fwsvm data fetch {name}`, " if offline and has_urls else ""
    return (
        f"{' (offline)' if offline else ''}: {tried}. To get it: {fetch_it}`fwsvm data add {name} FILE` "
        f"with a file you downloaded, or set FWSVM_MIRROR to a folder that has the files"
    )
