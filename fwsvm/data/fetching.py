"""The files of a data set, verified: of the first source that has all of them.

A file is looked for in the package, the cache, a mirror, and at its URLs, in this order; else it is derived from other
files. pooch gives it its final name after its digest agrees with the lock. A file without a published digest must be of
the published shape; its digest is recorded in the user's lock, and from then on its bytes must agree.
"""

import hashlib
import itertools
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace

from fwsvm import phases
from fwsvm.data import formats, lockfile
from fwsvm.data.dataset import grouped
from fwsvm.data.labels import classes
from fwsvm.data.lockfile import FIRST_USE, UNPINNED, DataSource, Entry, RawFile
from fwsvm.data.splits import permutation
from fwsvm.errors import DataError, UnobtainableError
from fwsvm.files.atomic import write_whole
from fwsvm.files.folders import data_folder, file_digest, require_file
from fwsvm.files.lock import exclusive
from fwsvm.phases import Phase

PART = ".fetching"  # ends the name of the folder of a file that is incomplete or not verified
CHUNK = 1 << 16
LARGEST = 1 << 32  # bytes of a file whose size is not known
SECONDS = 3600.0  # for a file
SECONDS_TO_CONNECT, SILENCE = 10.0, 30.0  # of a server
HTML = (b"<!doctype", b"<html")
#: Words of errors of requests and urllib3, and what they mean.
REASONS = {
    "NameResolution": "no such host, or no network",
    "timed out": "the server does not answer",
    "IncompleteRead": "the connection broke off in mid-file",
    "InvalidSchema": "plain http is only for files whose digest is pinned",
    "": "the connection failed, or the server's answer is not HTTP",
}
MAX_CANDIDATES = 256  # of a derived file, tried at most: a1a needs 8


class Obtained(NamedTuple):
    """A source whose files are verified, at `DataSource.path`, and notices for the user.

    ``lacking`` is empty, or says what was tried for test files that could not be found. ``first_use`` tells that a file
    was trusted when it was first fetched.
    """

    source: DataSource
    notices: tuple[str, ...]
    lacking: str = ""
    first_use: bool = False


def obtain(
    entry: Entry, source_name: str | None = None, *, offline: bool = False, without_test: bool = False
) -> Obtained:
    """Return the verified files of an entry: of the named source, or of the first source that is complete.

    Sources whose files need no network come first. With ``without_test``, training files alone are returned if no
    source is complete. `UnobtainableError` names every place that was tried and says how to add the files by hand.
    """
    sources = (entry.source(source_name),) if source_name else entry.sources
    search = Search(entry)
    # what the network gave is in the cache when training files alone are looked for
    ways = [(False, False), *[(True, False)] * (not offline), *[(False, True)] * without_test]
    try:
        for (search.network, train_only), source in itertools.product(ways, sources):
            if not all(search.find(source, file) for file in (source.train if train_only else source.files)):
                continue
            failed = [f"{said}; the next source was used" for said in search.tried if "://" in said]
            lacking = f"the test rows of {entry.name} are not available{search.remedy(offline=offline)}"
            trusted = any(lockfile.pinned(source, file).evidence == FIRST_USE for file in source.files)
            notices = *([] if train_only else dict.fromkeys(failed)), *search.notices
            return Obtained(source, notices, lacking if train_only else "", trusted)
    except OSError as error:
        raise DataError(
            f"{error.filename2 or error.filename or data_folder()}: cannot be written: {error.strerror or error}; free "
            "some space, or set FWSVM_CACHE to a folder on another disk"
        ) from None
    raise UnobtainableError(f"{entry.name} is not available{search.remedy(offline=offline)}")


@dataclass
class Search:
    """A search for files of an entry: what was tried in vain, and notices.

    ``evidence`` is that of digests that are recorded. With ``accept`` files are fetched anew, and any digest and shape
    is recorded.
    """

    entry: Entry
    evidence: str = FIRST_USE
    accept: bool = False
    network: bool = True
    tried: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def find(self, source: DataSource, file: RawFile) -> bool:
        """Return whether a file is in the cache, or comes there from the mirror, its URLs, or other files."""
        path, mirror = source.path(file), os.environ.get("FWSVM_MIRROR", "")
        if not self.accept and is_verified(path, file):
            return True
        if file.shipped:
            self.tried.append(f"{path}: missing or altered: reinstall the package that ships it")
            return False
        places = [f"{mirror.rstrip('/')}/{file.file}"] * bool(mirror) + [*file.urls]
        if not self.network:
            places = [place for place in places if "://" not in place]
        elif not places:
            self.tried.append(f"{file.file}: no address is known")
        with exclusive(path):
            file = lockfile.pinned(source, file)  # another process may just have recorded its digest
            if self.accept:
                file = replace(file, sha256=None, md5=None, bytes=None, evidence=UNPINNED)
            elif is_verified(path, file):
                return True
            return any(self.take(source, file, place) for place in places) or self._derive(source, file)

    def take(self, source: DataSource, file: RawFile, place: str) -> bool:
        """Copy a file from a place, a URL or path, if it is what the lock says, or what can be recorded."""
        import pooch

        path, host = source.path(file), urlsplit(place).hostname
        is_safe = bool(file.known_hash) or place not in file.urls or host in {"localhost", "127.0.0.1", "::1"}

        def downloader(_url: str, output: str, _pooch: object) -> None:
            part = Path(output)
            part.unlink()  # pooch makes a file that no other user can read
            if "://" in place:
                _receive(place, part, file.bytes, plain_http=is_safe)
            else:
                require_file(Path(place))
                shutil.copyfile(place, part)
            if not file.known_hash:
                self._record(source, file, part, place)
            elif wrong := describe_mismatch(part, file):
                raise DataError(wrong)

        pooch.get_logger().setLevel("ERROR")
        folder = path.with_name(path.name + PART)
        shutil.rmtree(folder, ignore_errors=True)  # what a kill may have left
        try:
            whole = pooch.retrieve(place, file.known_hash, path.name, folder, downloader=downloader)
            Path(whole).replace(path)
        except DataError as failure:
            accept = (
                f" (if you trust this file: `fwsvm data lock {source.owner} --source {source.name} --accept`)"
            )
            is_doubtful = file.evidence in {"C", "D", FIRST_USE} and not isinstance(
                failure, UnobtainableError
            )
            self.tried.append(f"{place}: {failure}{accept * is_doubtful}")
            return False
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return True

    def _record(self, source: DataSource, file: RawFile, path: Path, place: str) -> None:
        """Record the digest of a file that came from a place and is at ``path``, and notice it.

        `DataError` where the file is not data, or, without ``accept``, not of the shape that its entry and papers say.
        """
        entry, is_train = self.entry, file in source.train
        table, sha256, _ = formats.read(path, source.loader, member=file.member)
        rows, found = table.rows, len(classes(grouped(table, source.grouping, entry.name).labels))
        published = set() if entry.split else {s.m if is_train else s.t for s in entry.published} - {None}
        fits = (
            table.features <= entry.features and (entry.classes if is_train else 1) <= found <= entry.classes
        )
        if not self.accept and not (fits and rows in (published or {rows})):
            wanted = f"{' or '.join(map(str, published))} rows, " if published else ""
            raise DataError(
                f"{file.file} has {rows} rows, {table.features} features and {found} classes, and should have "
                f"{wanted}{entry.features} features and {entry.classes} classes"
            )
        facts = {"bytes": path.stat().st_size, "sha256": sha256, "rows": rows, "verified": place in file.urls}
        with lockfile.changing_overlay() as overlay:
            pin = overlay["pins"].setdefault(lockfile.address(source, file), {})
            pin.update(facts | lockfile.origin(place, self.evidence))
        said = "no published checksum; " * (self.evidence == FIRST_USE)
        shape = f"{rows:,} rows{', as published' if published else ''}"
        self.notices.append(f"{file.file}: {said}recorded sha256 {sha256[:12]}... ({shape})")

    def _derive(self, source: DataSource, file: RawFile) -> bool:
        """Make a file of the training files of other data sets, if it can be."""
        paths = []
        for name in file.parents:
            parent = lockfile.read().entries[name]
            search = Search(parent, network=self.network, tried=self.tried, notices=self.notices)
            origin = parent.sources[0]
            if not search.find(origin, origin.train[0]):
                return False
            paths.append(origin.path(origin.train[0]))
        if not paths:
            return False
        said = " without ".join(file.parents)
        if rule := file.draw:
            said = f"{rule.onto} and lines of {rule.of} drawn by seed {rule.seed}, {rule.rows:,} in all"
        kind, _, known = (file.known_hash or "sha256:").partition(":")
        for text in derived_texts(file, *paths):
            if known in {"", hashlib.new(kind, text).hexdigest()}:
                write_whole(source.path(file), text)
                sure = "as its digest confirms" if known else "and no digest of it is known"
                self.notices.append(f"{file.file} was derived, {sure}: {said}")
                return True
        self.tried.append(f"{file.file} derived as {said}: its digest is another")
        return False

    def remedy(self, *, offline: bool) -> str:
        """Return the end of a sentence: what was tried in vain, and what the user can do."""
        name = self.entry.name
        fetch_it = f"`fwsvm data fetch {name}`, " * offline
        return (
            f"{' (offline)' * offline}: {'; '.join(dict.fromkeys(self.tried)) or 'it is not here'}. To get it: "
            f"{fetch_it}`fwsvm data add {name} FILE` with a file you downloaded, or set FWSVM_MIRROR to a folder that "
            "has the files"
        )


def _receive(url: str, path: Path, size: int | None, *, plain_http: bool) -> None:
    """Write the body that a server sends to a file, as it is: some servers call the compression of a file an encoding.

    `UnobtainableError` where the server does not send it, `DataError` where it sends more than ``size`` bytes,
    `OSError` where the file cannot be written.
    """
    import requests
    from urllib3.exceptions import HTTPError

    deadline, done, limit = time.monotonic() + SECONDS, 0, size or LARGEST
    phases.enter(Phase.FETCH)
    phases.inside(url)
    how: dict[str, Any] = {"stream": True, "timeout": (SECONDS_TO_CONNECT, SILENCE)}
    try:
        with requests.Session() as session, path.open("wb") as file:
            if not plain_http:
                del session.adapters["http://"]
            with session.get(url, headers={"Accept-Encoding": "identity"}, **how) as response:
                if response.status_code != 200:
                    raise UnobtainableError(f"HTTP status {response.status_code} {response.reason}")
                while chunk := response.raw.read1(CHUNK, decode_content=False):
                    if not done and chunk.lstrip()[:9].lower().startswith(HTML):
                        raise UnobtainableError("an HTML page came in place of the data")
                    done += len(chunk)
                    if done > limit:
                        raise DataError(f"the file there has more than the {limit:,} bytes allowed")
                    if time.monotonic() > deadline:
                        raise UnobtainableError(f"the download was not complete after {SECONDS:g} s")
                    file.write(chunk)
                    phases.inside(f"{done / 1e6:,.1f} MB of {url.rpartition('/')[2]}", size and done / size)
    except (requests.RequestException, HTTPError, ValueError) as error:
        why = next(said for words, said in REASONS.items() if words in repr(error))
        raise UnobtainableError(why) from None
    finally:
        phases.enter(Phase.LOAD)


def is_verified(path: Path, file: RawFile) -> bool:
    """Return whether a file is there and matches the lock."""
    return path.is_file() and file.known_hash is not None and not describe_mismatch(path, file)


def describe_mismatch(path: Path, file: RawFile) -> str:
    """Return how a file at a path differs from the digest and size in the lock; empty if both agree."""
    says = f"at first use on {file.recorded} it was" if file.evidence == FIRST_USE else "datasets.lock says"
    kind, _, known = (file.known_hash or "").partition(":")
    size, here = path.stat().st_size, file_digest(path, kind)
    if here != known:
        return f"{size:,} bytes whose {kind} is {here}, {says} {known}"
    return "" if file.bytes in (None, size) else f"{size:,} bytes, {says} {file.bytes:,}"


def derived_texts(file: RawFile, whole: Path, part: Path) -> Iterator[bytes]:
    """Yield the texts that a derived file may have, likely ones first.

    The rest of a training set are the lines of the whole set that are not in it, in file order. If a line occurs twice
    in the whole and once in the part, either may be the one in it, so there are a few candidates; the digest decides.
    A drawn file is a part's lines and lines of the whole; draws with one seed take from one permutation and are nested.
    """
    lines, taken = (path.read_bytes().removesuffix(b"\n").split(b"\n") for path in (whole, part))
    first, places = _match(lines, taken), range(len(lines))

    def joined(kept: set[int]) -> bytes:
        return b"".join(line + b"\n" for place, line in enumerate(lines) if place in kept)

    if rule := file.draw:
        others = sorted({*places}.difference(first))
        drawn = permutation(len(others), rule.seed)[: rule.rows - len(taken)]
        yield joined({*first, *(others[place] for place in drawn)})
        return
    last = [places[-1] - place for place in _match(lines[::-1], taken[::-1])[::-1]]
    choices = [
        [place for place in range(i, j + 1) if lines[place] == lines[i]]
        for i, j in zip(first, last, strict=True)
    ]
    for positions in itertools.islice(itertools.product(*choices), MAX_CANDIDATES):
        if len({*positions}) == len(taken):
            yield joined({*places}.difference(positions))


def _match(lines: Sequence[bytes], taken: Sequence[bytes]) -> list[int]:
    """Return the positions of ``taken`` as the earliest subsequence of ``lines``."""
    rest = iter(enumerate(lines))
    return [next(place for place, line in rest if line == wanted) for wanted in taken]
