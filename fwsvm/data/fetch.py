"""Obtain the files of a data set, verified.

They come from the package, the cache, a mirror, other files, or the network. A file stands under its final
name only when its bytes agree with the lock: it grows as ``NAME.part``, is checked, and is moved in one
step. What does not agree is kept as ``NAME.bad`` for the user to look at, and never used.
"""

import math
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from fwsvm.data import complement, digests, lockfile
from fwsvm.data.cache_paths import Wanted, settle, whole_on_disk
from fwsvm.data.download import Bar, FetchError, Patience, download
from fwsvm.data.entry import Complement, Entry, File, Source
from fwsvm.data.lockvalue import is_address
from fwsvm.errors import DataError, UsageError
from fwsvm.files.folders import data_folder
from fwsvm.files.lock import exclusive

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Options:
    """Where to look and whom to tell.

    ``mirror`` is a folder or URL tried before all else but the cache; ``say`` takes plain progress lines and
    ``bar`` makes a progress bar for a file of a name and size, or None.
    """

    mirror: str | None = None
    offline: bool = False
    patience: Patience = field(default_factory=Patience)
    say: Callable[[str], None] = lambda _: None
    bar: Callable[[str, int | None], Bar | None] = lambda _name, _size: None

    @classmethod
    def default(
        cls,
        mirror: str | Path | None = None,
        *,
        offline: bool = False,
        seconds: float | None = None,
        **more: object,
    ) -> "Options":
        """Return options with the mirror and the seconds for each file given, or those of the environment.

        ``FWSVM_MIRROR`` names the mirror, ``FWSVM_FETCH_SECONDS`` the seconds. `UsageError` where one of them cannot
        be what it is for.
        """
        named = str(mirror) if mirror else os.environ.get("FWSVM_MIRROR") or None
        if named and "://" in named and not is_address(named):
            raise UsageError(f"mirror {named!r}: neither a folder nor a web address")
        patience = Patience(whole_seconds=seconds or _seconds())
        return cls(mirror=named, offline=offline, patience=patience, **more)  # type: ignore[arg-type]


def _seconds() -> float:
    """Return the seconds that the environment allows for each file, or the default."""
    said = os.environ.get("FWSVM_FETCH_SECONDS") or str(Patience.whole_seconds)
    try:
        seconds = float(said)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < threading.TIMEOUT_MAX:
        raise UsageError(f"FWSVM_FETCH_SECONDS: a number of seconds above 0, not {said[:40]!r}")
    return seconds


class Obtained(NamedTuple):
    """A source and its files: path and sha256 by file name, and what the user should know.

    ``lacking`` says what was tried for the test files, where they are not among them.
    """

    source: Source
    files: dict[str, tuple[Path, str]]
    notices: tuple[str, ...]
    lacking: str = ""


def obtain(
    entry: Entry, source_name: str | None, options: Options, *, without_test: bool = False
) -> Obtained:
    """Return the verified files of an entry: of the source named, or of the first that can be had.

    Sources all of whose files are at hand come before those that need the network. With ``without_test``, the
    training files of a source are enough where no source is complete. `DataError` names every place that was
    tried, and how to add the files by hand.
    """
    sources = (entry.source(source_name),) if source_name else entry.sources
    search = Search(options)
    try:
        for network in (False,) if options.offline else (False, True):
            for source in sources:
                files = search.files(source.files, source, network=network)
                if files is not None:
                    return Obtained(source, files, tuple(search.notices))
        remedy = _remedy(entry, sources, search, options)
        for source in sources if without_test else ():  # what the network gave is in the cache by now
            files = search.files(source.train, source, network=False)
            if files is not None:
                lacking = f"the test rows of {entry.name} are not to be had{remedy}"
                return Obtained(source, files, tuple(search.notices), lacking)
    except OSError as error:
        raise DataError(
            f"{error.filename or data_folder()}: cannot be written: {error.strerror or error}"
        ) from None
    raise DataError(f"{entry.name} is not to be had{remedy}")


def _remedy(entry: Entry, sources: Sequence[Source], search: "Search", options: Options) -> str:
    """Return the end of a sentence: what was tried in vain, and what the user can do."""
    tried = "; ".join(dict.fromkeys(search.tried)) or "no address is known"
    unpinned = [f.file for s in sources for f in s.files if not f.pinned and f.complement is None]
    lock_it = f", `fwsvm data lock {entry.name}` to record the digest of {unpinned[0]}" if unpinned else ""
    offline = " (offline)" if options.offline else ""
    return (
        f"{offline}: {tried}. Remedy: `fwsvm data add {entry.name} FILE` "
        f"with a file fetched by hand{lock_it}, or a folder of files in FWSVM_MIRROR"
    )


@dataclass
class Search:
    """One attempt to obtain files: what was tried so far, and what to tell the user if it succeeds."""

    options: Options
    tried: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def files(
        self, wanted: Sequence[File], source: Source, *, network: bool
    ) -> dict[str, tuple[Path, str]] | None:
        """Return path and digest of every file wanted of a source, or None as soon as one is not to be had."""
        found = {}
        for file in wanted:
            if file.file in found:
                continue
            one = self.file(source, file, network=network)
            if one is None:
                return None
            found[file.file] = one
        return found

    def file(self, source: Source, file: File, *, network: bool) -> tuple[Path, str] | None:
        """Return path and digest of one file: from the cache, the mirror, other files, or its URLs."""
        want = Wanted(source, file)
        if file.shipped:
            return self._shipped(want)
        whole = whole_on_disk(want)
        if whole:
            return whole
        with exclusive(want.path):
            return (
                self._kept(want)
                or self._from_mirror(want)
                or self._derived(want, network=False)
                or (self._from_urls(want) if network else None)
                or (self._derived(want, network=True) if network else None)
            )

    def _shipped(self, want: Wanted) -> tuple[Path, str] | None:
        whole = whole_on_disk(want)
        if whole is None:
            self.tried.append(f"{want.path}: missing or altered: the installation is damaged")
        return whole

    def _kept(self, want: Wanted) -> tuple[Path, str] | None:
        """Return the cached file; one that is not what the lock says is put aside as ``.bad``."""
        if not want.path.is_file() or not want.file.pinned:
            return None
        found = digests.measure(want.path)
        wrong = digests.mismatch(want.file, found)
        if wrong:
            want.path.replace(want.bad)
            self._blame(want, f"{want.bad} (it lay in the cache)", wrong)
            return None
        return want.path, found.sha256

    def _from_mirror(self, want: Wanted) -> tuple[Path, str] | None:
        mirror, file, source = self.options.mirror, want.file, want.source
        if not mirror:
            return None
        if "://" in mirror:
            url = f"{mirror.rstrip('/')}/{file.file}"
            if self.options.offline and urlsplit(url).hostname not in LOCAL_HOSTS:
                self.tried.append(f"{url}: not asked (offline)")
                return None
            return self._from_url(url, want, from_mirror=True)
        for place in (Path(mirror) / file.file, Path(mirror) / source.owner / source.name / file.file):
            if place.is_file() and place.absolute() != want.path.absolute():
                return self._adopt(place, want)
        self.tried.append(f"{Path(mirror) / file.file}: no such file")
        return None

    def _adopt(self, place: Path, want: Wanted) -> tuple[Path, str] | None:
        if not want.file.pinned:
            self.tried.append(f"{place}: its digest is not in the lock")
            return None
        copy = want.beside(".copy")
        shutil.copyfile(place, copy)
        found = digests.measure(copy)
        wrong = digests.mismatch(want.file, found)
        if wrong:
            copy.unlink()
            self._blame(want, str(place), wrong)
            return None
        settle(copy, want.path)
        return want.path, found.sha256

    def _derived(self, want: Wanted, *, network: bool) -> tuple[Path, str] | None:
        rule = want.file.complement
        if rule is None:
            return None
        whole, part = (self._training_file(name, network=network) for name in (rule.of, rule.minus))
        if whole is None or part is None:
            return None
        wrong: str | None = None
        try:
            for text in complement.candidates(whole, part):
                found = digests.of_bytes(text)
                wrong = digests.mismatch(want.file, found)
                if wrong is None:
                    derived = want.beside(".derived")
                    derived.write_bytes(text)
                    settle(derived, want.path)
                    self.notices.append(_derivation(want.file, rule))
                    return want.path, found.sha256
        except DataError as error:
            wrong = str(error)
        self._blame(
            want, f"{want.file.file} derived as {rule.of} minus {rule.minus}", wrong or "no candidate"
        )
        return None

    def _training_file(self, name: str, *, network: bool) -> Path | None:
        source = lockfile.read().entries[name].sources[0]
        found = self.file(source, source.train[0], network=network)
        return found[0] if found else None

    def _from_urls(self, want: Wanted) -> tuple[Path, str] | None:
        if not want.file.urls:
            self.tried.append(f"{want.file.file}: no address is known")
        for url in want.file.urls:
            found = self._from_url(url, want)
            if found:
                return found
        return None

    def _from_url(self, url: str, want: Wanted, *, from_mirror: bool = False) -> tuple[Path, str] | None:
        if not want.file.pinned:
            self.tried.append(f"{url}: not asked, since the lock has no digest of {want.file.file}")
            return None
        resumed = want.part.is_file()
        try:
            self.download(url, want, from_mirror=from_mirror)
            found = digests.measure(want.part)
            wrong = digests.mismatch(want.file, found)
            if wrong and resumed:  # its beginning may have come from elsewhere
                want.part.unlink()
                self.download(url, want, from_mirror=from_mirror)
                found = digests.measure(want.part)
                wrong = digests.mismatch(want.file, found)
        except FetchError as failure:
            self.tried.append(f"{url}: {failure}")
            return None
        if wrong:
            want.part.replace(want.bad)
            self._blame(want, f"{url}: kept as {want.bad}", wrong)
            return None
        settle(want.part, want.path)
        return want.path, found.sha256

    def download(self, url: str, want: Wanted, *, from_mirror: bool = False, most: int | None = None) -> None:
        """Download a URL to ``want.part``; raise `FetchError`. Checks no digest.

        A file whose size is not pinned may have ``most`` bytes.
        """
        plain_http = from_mirror or want.file.pinned or urlsplit(url).hostname in LOCAL_HOSTS
        if urlsplit(url).scheme != "https" and not plain_http:
            raise FetchError("plain http is only for files whose digest is pinned", again=False)
        want.part.parent.mkdir(parents=True, exist_ok=True)
        self.options.say(f"fetching {url}")
        download(
            url,
            want.part,
            size=want.file.bytes,
            plain_http=plain_http,
            most=most,
            patience=self.options.patience,
            bar=self.options.bar(want.file.file, want.file.bytes),
            say=self.options.say,
        )

    def _blame(self, want: Wanted, place: str, wrong: str) -> None:
        weak = (
            f" (that digest rests on a single copy, evidence {want.file.evidence}: if you trust this file, "
            f"`fwsvm data lock {want.source.owner} --source {want.source.name} --accept` records it)"
            if want.file.evidence in ("C", "D")
            else ""
        )
        self.tried.append(f"{place}: {wrong}{weak}")


def _derivation(file: File, rule: Complement) -> str:
    sure = "as its digest confirms" if file.pinned else "and no digest of it is known"
    return f"{file.file} was derived, {sure}: the lines of {rule.of} that are not in {rule.minus}"
