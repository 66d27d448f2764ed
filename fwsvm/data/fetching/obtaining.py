"""The files of a data set, verified: of the first source that has all of them.

A file is looked for in the package, the cache, a mirror, other files, and at its URLs, in this order. It gets its final
name only after its digest agrees with the lock, or was recorded at first use. A download that does not agree is kept as
``NAME.bad`` and never used.
"""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from fwsvm.data import lockfile, overlay
from fwsvm.data.fetching import derived
from fwsvm.data.fetching.cached_files import CacheFile, mismatch
from fwsvm.data.fetching.download import LOCAL_HOSTS, FetchError, FetchOptions, Limits, download
from fwsvm.data.fetching.first_use import record_first_use, size_limit
from fwsvm.data.lockfile import FIRST_USE, DataSource, Entry, RawFile
from fwsvm.errors import DataError, UnobtainableError
from fwsvm.files.folders import data_folder
from fwsvm.files.lock import exclusive
from fwsvm.files.state import measure

Place = str | Path


class Obtained(NamedTuple):
    """A source and its verified files: path and sha256 by file name, and notices for the user.

    ``lacking`` is empty, or says what was tried for test files that could not be found. ``first_use`` tells that a file
    was trusted when it was first fetched.
    """

    source: DataSource
    files: dict[str, tuple[Path, str]]
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
    search = FileSearch(entry, options)
    try:
        for network in (False,) if options.offline else (False, True):
            for source in sources:
                files = search.find_all(source.files, source, network=network)
                if files is not None:
                    return search.obtained(source, files)
        remedy = _remedy(entry, sources, search)
        for source in sources if without_test else ():  # what the network gave is in the cache by now
            files = search.find_all(source.train, source, network=False)
            if files is not None:
                lacking = f"the test rows of {entry.name} are not available{remedy}"
                return search.obtained(source, files, lacking)
    except OSError as error:
        raise DataError(
            f"{error.filename or data_folder()}: cannot be written: {error.strerror or error}; free some space, or set "
            "FWSVM_CACHE to a folder on another disk"
        ) from None
    for notice in search.notices:
        options.say(notice)
    raise UnobtainableError(f"{entry.name} is not available{remedy}")


@dataclass
class FileSearch:
    """A search for files of an entry: what was tried in vain, notices, and names of files trusted at first use."""

    entry: Entry
    options: FetchOptions
    tried: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    trusted: set[str] = field(default_factory=set)

    def obtained(self, source: DataSource, files: dict[str, tuple[Path, str]], lacking: str = "") -> Obtained:
        """Return what was found, and which addresses were of no use before."""
        failed = [f"{said}; the next source was used" for said in self.tried if "://" in said]
        trusted = any(file.evidence == FIRST_USE or file.file in self.trusted for file in source.files)
        notices = [*(() if lacking else dict.fromkeys(failed)), *self.notices]
        return Obtained(source, files, tuple(notices), lacking, trusted)

    def find_all(
        self, files: Sequence[RawFile], source: DataSource, *, network: bool
    ) -> dict[str, tuple[Path, str]] | None:
        """Return path and sha256 of each of these files of a source, or None as soon as one cannot be found."""
        found: dict[str, tuple[Path, str]] = {}
        for file in files:
            if file.file not in found:
                path_and_digest = self.find(source, file, network=network)
                if path_and_digest is None:
                    return None
                found[file.file] = path_and_digest
        return found

    def find(self, source: DataSource, file: RawFile, *, network: bool) -> tuple[Path, str] | None:
        """Return path and sha256 of one file, or None: from the cache, the mirror, other files, or its URLs."""
        target = CacheFile(source, file)
        if whole := target.verified():
            return whole
        if file.shipped:
            self.tried.append(f"{target.path}: missing or altered: reinstall the package that ships it")
            return None
        with exclusive(target.path):
            target = CacheFile(source, overlay.pinned(source, file))
            if target.file.evidence == FIRST_USE:
                self.trusted.add(file.file)
            found = (
                self._from_cache(target)
                or self._from_places(target, self.mirrors(target, network=network))
                or self._from_others(target, network=False)
            )
            if found or not network:
                return found
            if not file.urls:
                self.tried.append(f"{file.file}: no address is known")
            return self._from_places(target, file.urls) or self._from_others(target, network=True)

    def _from_cache(self, target: CacheFile) -> tuple[Path, str] | None:
        """Return the cached file; one that is not what the lock says is put aside as ``.bad``."""
        if not target.path.is_file() or not target.file.pinned:
            return None
        if whole := target.verified():
            return whole
        wrong = mismatch(target.file, measure(target.path))
        target.path.replace(target.bad)
        self._note_mismatch(target, f"{target.bad} (it lay in the cache)", wrong or "")
        return None

    def mirrors(self, target: CacheFile, *, network: bool) -> list[Place]:
        """Return where the mirror may have a file: one URL, or paths that exist.

        Offline, a URL of this computer is asked, as if it were a folder.
        """
        mirror, (source, file) = self.options.mirror, target
        if not mirror:
            return []
        if "://" in mirror:
            url = f"{mirror.rstrip('/')}/{file.file}"
            if self.options.offline and urlsplit(url).hostname not in LOCAL_HOSTS:
                self.tried.append(f"{url}: not asked (offline)")
                return []
            return [url] if network or self.options.offline else []
        paths = (Path(mirror) / file.file, Path(mirror) / source.owner / source.name / file.file)
        there = [path for path in paths if path.is_file() and path.absolute() != target.path.absolute()]
        if not there:
            self.tried.append(f"{paths[0]}: no such file")
        return list(there)

    def _from_places(self, target: CacheFile, places: Iterable[Place]) -> tuple[Path, str] | None:
        return next((found for place in places if (found := self._from_place(target, place))), None)

    def _from_place(self, target: CacheFile, place: Place) -> tuple[Path, str] | None:
        """Return a file that a place has, if it is what the lock says, or can be trusted at first use."""
        is_resumed = target.file.pinned and target.part.is_file()
        if not self.bring(place, target):
            return None
        found = measure(target.part)
        if not target.file.pinned:
            try:
                self.notices.append(record_first_use(self.entry, target, str(place), found))
            except DataError as refused:
                target.part.unlink()
                accept = f"`fwsvm data lock {target.source.owner} --accept`"
                self.tried.append(f"{place}: {refused} (if you trust this file: {accept})")
                return None
            self.trusted.add(target.file.file)
            return target.path, found.sha256
        if (wrong := mismatch(target.file, found)) is None:
            target.keep()
            return target.path, found.sha256
        if isinstance(place, Path):
            target.part.unlink()
            self._note_mismatch(target, str(place), wrong)
        elif is_resumed:  # its beginning may have come from elsewhere
            target.part.unlink()
            return self._from_place(target, place)
        else:
            target.part.replace(target.bad)
            self._note_mismatch(target, f"{place}: kept as {target.bad}", wrong)
        return None

    def bring(self, place: Place, target: CacheFile) -> bool:
        """Copy or download a file to its ``.part``; whether that could be done, and if not, note why."""
        file = target.file
        if isinstance(place, Path):
            target.part.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place, target.part)
            return True
        if not file.pinned:  # what is there may be of another server, and no digest would tell
            target.part.unlink(missing_ok=True)
        limit, why = size_limit(self.entry)
        of_mirror = bool(self.options.mirror) and place.startswith(f"{self.options.mirror}".rstrip("/") + "/")
        plain_http = file.pinned or of_mirror or urlsplit(place).hostname in LOCAL_HOSTS
        try:
            download(
                place, target.part, Limits(file.bytes, file.bytes or limit, why, plain_http), self.options
            )
        except FetchError as failure:
            self.tried.append(f"{place}: {failure}")
            return False
        return True

    def _from_others(self, target: CacheFile, *, network: bool) -> tuple[Path, str] | None:
        file = target.file
        if (rule := file.derivation) is None:
            return None
        whole, part = (self._training_file(name, network=network) for name in rule.parents)
        if whole is None or part is None:
            return None
        wrong = "no candidate"
        try:
            for text in derived.texts(rule, whole, part):
                target.part.write_bytes(text)
                found = measure(target.part)
                if (differs := mismatch(file, found)) is None:
                    target.keep()
                    sure = "as its digest confirms" if file.pinned else "and no digest of it is known"
                    self.notices.append(f"{file.file} was derived, {sure}: {derived.in_words(rule)}")
                    return target.path, found.sha256
                wrong = differs
        except DataError as error:
            wrong = str(error)
        target.part.unlink(missing_ok=True)
        self._note_mismatch(target, f"{file.file} derived as {derived.in_words(rule)}", wrong)
        return None

    def _training_file(self, name: str, *, network: bool) -> Path | None:
        parent = lockfile.read().entries[name]
        search = FileSearch(parent, self.options, self.tried, self.notices)
        source = parent.sources[0]
        found = search.find(source, source.train[0], network=network)
        return found[0] if found else None

    def _note_mismatch(self, target: CacheFile, place: str, wrong: str) -> None:
        source, file = target
        rests = {"C": "a single copy", "D": "a single copy", FIRST_USE: "the first download"}.get(
            file.evidence
        )
        accept = f"`fwsvm data lock {source.owner} --source {source.name} --accept` records it"
        hint = f" (that digest rests on {rests}, evidence {file.evidence}: if you trust this file, {accept})"
        self.tried.append(f"{place}: {wrong}{hint if rests else ''}")


def _remedy(entry: Entry, sources: Sequence[DataSource], search: FileSearch) -> str:
    """Return the end of a sentence: what was tried in vain, and what the user can do."""
    unasked = search.options.offline and any(file.urls for source in sources for file in source.files)
    untried = "no server was asked" if unasked else "no address is known"
    tried = "; ".join(dict.fromkeys(search.tried)) or untried
    fetch_it = f"`fwsvm data fetch {entry.name}`, " if unasked else ""
    offline = " (offline)" if search.options.offline else ""
    return (
        f"{offline}: {tried}. To get it: {fetch_it}`fwsvm data add {entry.name} FILE` "
        f"with a file you downloaded, or set FWSVM_MIRROR to a folder that has the files"
    )
