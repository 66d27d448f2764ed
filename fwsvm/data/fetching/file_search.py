"""One verified file: from the package, the cache, a mirror, other files, or its URLs, tried in this order.

A file gets its final name only after its digest matches the lock: it grows as ``NAME.part``, is hashed, and is then
moved in one step. A file that does not match is kept as ``NAME.bad`` for inspection and never used.
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from fwsvm.data.fetching import complement, digests, draw
from fwsvm.data.fetching.cache_paths import CacheFile, move_verified, verified_on_disk
from fwsvm.data.fetching.download import download
from fwsvm.data.fetching.http_response import FetchError
from fwsvm.data.fetching.options import FetchOptions
from fwsvm.data.lock import lockfile
from fwsvm.data.lock.entry import Complement, DataSource, DrawnLines, RawFile
from fwsvm.errors import DataError
from fwsvm.files.lock import exclusive

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


@dataclass
class FileSearch:
    """A search for files: what was tried so far without success, and notices about what was found."""

    options: FetchOptions
    tried: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def find_all(
        self, files: Sequence[RawFile], source: DataSource, *, network: bool
    ) -> dict[str, tuple[Path, str]] | None:
        """Return path and sha256 of each of these files of a source, or None as soon as one cannot be found."""
        found = {}
        for file in files:
            if file.file in found:
                continue
            path_and_digest = self.find(source, file, network=network)
            if path_and_digest is None:
                return None
            found[file.file] = path_and_digest
        return found

    def find(self, source: DataSource, file: RawFile, *, network: bool) -> tuple[Path, str] | None:
        """Return path and sha256 of one file, or None: from the cache, the mirror, other files, or its URLs."""
        target = CacheFile(source, file)
        if file.shipped:
            return self._shipped(target)
        whole = verified_on_disk(target)
        if whole:
            return whole
        with exclusive(target.path):
            return (
                self._from_cache(target)
                or self._from_mirror(target)
                or self._from_others(target, network=False)
                or (self._from_urls(target) if network else None)
                or (self._from_others(target, network=True) if network else None)
            )

    def _shipped(self, target: CacheFile) -> tuple[Path, str] | None:
        whole = verified_on_disk(target)
        if whole is None:
            self.tried.append(f"{target.path}: missing or altered: reinstall the package that ships it")
        return whole

    def _from_cache(self, target: CacheFile) -> tuple[Path, str] | None:
        """Return the cached file; one that is not what the lock says is put aside as ``.bad``."""
        if not target.path.is_file() or not target.file.pinned:
            return None
        found = digests.measure(target.path)
        wrong = digests.mismatch(target.file, found)
        if wrong:
            target.path.replace(target.bad)
            self._note_mismatch(target, f"{target.bad} (it lay in the cache)", wrong)
            return None
        return target.path, found.sha256

    def _from_mirror(self, target: CacheFile) -> tuple[Path, str] | None:
        mirror, file, source = self.options.mirror, target.file, target.source
        if not mirror:
            return None
        if "://" in mirror:
            url = f"{mirror.rstrip('/')}/{file.file}"
            if self.options.offline and urlsplit(url).hostname not in LOCAL_HOSTS:
                self.tried.append(f"{url}: not asked (offline)")
                return None
            return self._from_url(url, target, from_mirror=True)
        for place in (Path(mirror) / file.file, Path(mirror) / source.owner / source.name / file.file):
            if place.is_file() and place.absolute() != target.path.absolute():
                return self._copy_in(place, target)
        self.tried.append(f"{Path(mirror) / file.file}: no such file")
        return None

    def _copy_in(self, place: Path, target: CacheFile) -> tuple[Path, str] | None:
        if not target.file.pinned:
            self.tried.append(f"{place}: its digest is not in the lock")
            return None
        copy = target.beside(".copy")
        shutil.copyfile(place, copy)
        found = digests.measure(copy)
        wrong = digests.mismatch(target.file, found)
        if wrong:
            copy.unlink()
            self._note_mismatch(target, str(place), wrong)
            return None
        move_verified(copy, target.path)
        return target.path, found.sha256

    def _from_others(self, target: CacheFile, *, network: bool) -> tuple[Path, str] | None:
        rule = target.file.derivation
        if rule is None:
            return None
        whole, part = (self._training_file(name, network=network) for name in rule.parents)
        if whole is None or part is None:
            return None
        wrong: str | None = None
        try:
            for text in _texts(rule, whole, part):
                found = digests.of_bytes(text)
                wrong = digests.mismatch(target.file, found)
                if wrong is None:
                    derived = target.beside(".derived")
                    derived.write_bytes(text)
                    move_verified(derived, target.path)
                    self.notices.append(_derived_notice(target.file, rule))
                    return target.path, found.sha256
        except DataError as error:
            wrong = str(error)
        self._note_mismatch(
            target, f"{target.file.file} derived as {_in_words(rule)}", wrong or "no candidate"
        )
        return None

    def _training_file(self, name: str, *, network: bool) -> Path | None:
        source = lockfile.read().entries[name].sources[0]
        found = self.find(source, source.train[0], network=network)
        return found[0] if found else None

    def _from_urls(self, target: CacheFile) -> tuple[Path, str] | None:
        if not target.file.urls:
            self.tried.append(f"{target.file.file}: no address is known")
        for url in target.file.urls:
            found = self._from_url(url, target)
            if found:
                return found
        return None

    def _from_url(self, url: str, target: CacheFile, *, from_mirror: bool = False) -> tuple[Path, str] | None:
        if not target.file.pinned:
            self.tried.append(f"{url}: not asked, since the lock has no digest of {target.file.file}")
            return None
        resumed = target.part.is_file()
        try:
            self.download(url, target, from_mirror=from_mirror)
            found = digests.measure(target.part)
            wrong = digests.mismatch(target.file, found)
            if wrong and resumed:  # its beginning may have come from elsewhere
                target.part.unlink()
                self.download(url, target, from_mirror=from_mirror)
                found = digests.measure(target.part)
                wrong = digests.mismatch(target.file, found)
        except FetchError as failure:
            self.tried.append(f"{url}: {failure}")
            return None
        if wrong:
            target.part.replace(target.bad)
            self._note_mismatch(target, f"{url}: kept as {target.bad}", wrong)
            return None
        move_verified(target.part, target.path)
        return target.path, found.sha256

    def download(
        self, url: str, target: CacheFile, *, from_mirror: bool = False, most: int | None = None
    ) -> None:
        """Download a URL to ``target.part``; raise `FetchError`. Checks no digest.

        A file whose size is not pinned may have ``most`` bytes.
        """
        plain_http = from_mirror or target.file.pinned or urlsplit(url).hostname in LOCAL_HOSTS
        if urlsplit(url).scheme != "https" and not plain_http:
            raise FetchError("plain http is only for files whose digest is pinned", again=False)
        target.part.parent.mkdir(parents=True, exist_ok=True)
        self.options.say(f"fetching {url}")
        download(
            url,
            target.part,
            size=target.file.bytes,
            plain_http=plain_http,
            most=most,
            timeouts=self.options.timeouts,
            bar=self.options.bar(target.file.file, target.file.bytes),
            say=self.options.say,
        )

    def _note_mismatch(self, target: CacheFile, place: str, wrong: str) -> None:
        weak = (
            f" (that digest rests on a single copy, evidence {target.file.evidence}: if you trust this file, "
            f"`fwsvm data lock {target.source.owner} --source {target.source.name} --accept` records it)"
            if target.file.evidence in ("C", "D")
            else ""
        )
        self.tried.append(f"{place}: {wrong}{weak}")


def _texts(rule: Complement | DrawnLines, whole: Path, part: Path) -> Iterator[bytes]:
    """Yield the texts that a derived file may have, likely ones first."""
    if isinstance(rule, Complement):
        yield from complement.candidates(whole, part)
    else:
        yield draw.drawn(whole, part, rows=rule.rows, seed=rule.seed)


def _in_words(rule: Complement | DrawnLines) -> str:
    if isinstance(rule, Complement):
        return f"{rule.of} minus {rule.minus}"
    return f"{rule.onto} and lines of {rule.of} drawn by seed {rule.seed}, {rule.rows:,} in all"


def _derived_notice(file: RawFile, rule: Complement | DrawnLines) -> str:
    sure = "as its digest confirms" if file.pinned else "and no digest of it is known"
    how = (
        f"the lines of {rule.of} that are not in {rule.minus}"
        if isinstance(rule, Complement)
        else _in_words(rule)
    )
    return f"{file.file} was derived, {sure}: {how}"
