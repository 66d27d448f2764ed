"""The files of a data set, verified: of the first source that has all of them.

A file is looked for in the package, the cache, a mirror, and at its URLs, in this order; else it is derived from other
files. pooch gives it its final name after its digest agrees with the lock. A file without a published digest must be of
the published shape; its digest is recorded in the user's lock, and from then on its bytes must agree.
"""

import datetime as dt
import itertools
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from fwsvm import phases
from fwsvm.data import formats, lockfile
from fwsvm.data.dataset import grouped
from fwsvm.data.labels import classes
from fwsvm.data.lockfile import FIRST_USE, UNPINNED, DataSource, Entry, RawFile
from fwsvm.data.splits import permutation
from fwsvm.errors import DataError, UnobtainableError
from fwsvm.files.folders import data_folder, file_digest
from fwsvm.files.lock import exclusive
from fwsvm.phases import Phase

CHUNK = 1 << 16
LARGEST = 1 << 32  # bytes of a file whose size is not known
SECONDS = 3600.0  # for a file
SECONDS_TO_CONNECT, SILENCE = 10.0, 30.0  # of a server
LOCAL = re.compile(r"http://(localhost|127\.0\.0\.1|\[::1\])[:/]")
HTML = (b"<!doctype", b"<html")
MISSING, WHOLE = "missing", "whole"  # states of a file, as is `UNPINNED`
DERIVED = "made of other files"  # the place of a file that is made of others
#: Words of errors of requests and urllib3, and what they mean.
REASONS = {
    "NameResolution": "no such host, or no network",
    "timed out": "the server does not answer",
    "IncompleteRead": "the connection broke off in mid-file",
    "": "the connection failed, or the server's answer is not HTTP",
}


class Obtained(NamedTuple):
    """A source whose files are verified, at `DataSource.path`, and notices for the user.

    ``lacking`` is empty, or says what was tried for test files that could not be found.
    """

    source: DataSource
    notices: tuple[str, ...]
    lacking: str = ""


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
            lacking = f"the test rows of {entry.name} are not available{search.remedy(offline=offline)}"
            failed = [] if train_only else [said for said in search.tried if "://" in said]
            notices = (
                *(f"{said}; the next source was used" for said in dict.fromkeys(failed)),
                *search.notices,
            )
            return Obtained(source, notices, lacking * train_only)
    except OSError as error:
        raise DataError(
            f"{data_folder()} cannot be written: {error.strerror or error}; free some space, or set FWSVM_CACHE to a "
            "folder on another disk"
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
        if not self.accept and state_of(path, file) == WHOLE:
            return True
        if file.shipped:
            self.tried.append(f"{path}: missing or altered: reinstall the package that ships it")
            return False
        places = [f"{mirror.rstrip('/')}/{file.file}"] * bool(mirror) + [*file.urls]
        if not self.network:
            places = [place for place in places if "://" not in place]
        with exclusive(path):
            file = lockfile.pinned(source, file)  # another process may just have recorded its digest
            if self.accept:
                file = replace(file, sha256=None, md5=None, bytes=None, evidence=UNPINNED)
            places += [DERIVED] * bool(file.parents)
            is_whole = state_of(path, file) == WHOLE
            return is_whole or any(self.take(source, file, place) for place in places)

    def take(self, source: DataSource, file: RawFile, place: str) -> bool:
        """Get a file from a place, a URL, path or `DERIVED`, if it is what the lock says, or what can be recorded."""
        import pooch

        def downloader(_url: str, output: str, _pooch: object) -> None:
            part = Path(output)
            part.unlink()  # pooch makes a file that no other user can read
            if place == DERIVED:
                part.write_bytes(self._derive(file))
            elif "://" in place:
                _receive(place, part, file)
            elif Path(place).is_file():
                shutil.copyfile(place, part)
            else:
                raise UnobtainableError("no such file")
            if (state := state_of(part, file)) not in {WHOLE, UNPINNED}:
                raise DataError(state)
            if state == UNPINNED and place != DERIVED:
                self._record(source, file, part, place)

        pooch.get_logger().setLevel("ERROR")
        path = source.path(file)
        try:
            whole = pooch.retrieve(
                place, file.known_hash, f".{path.name}", path.parent, downloader=downloader
            )
            Path(whole).replace(path)
        except DataError as failure:
            said = f"{place}: {failure}"
            if file.evidence in {"C", "D", FIRST_USE} and not isinstance(failure, UnobtainableError):
                lock = f"fwsvm data lock {source.owner} --source {source.name} --accept"
                said = f"{said} (if you trust this file: `{lock}`)"
            self.tried.append(said)
            return False
        if place == DERIVED:
            sure = "as its digest confirms" if file.known_hash else "and no digest of it is known"
            self.notices.append(f"{file.file} was derived, {sure}, from {' and '.join(file.parents)}")
        return True

    def _record(self, source: DataSource, file: RawFile, path: Path, place: str) -> None:
        """Record the digest of a file that came from a place and is at ``path``, and notice it.

        `DataError` where the file is not data, or, without ``accept``, not of the shape that its entry and papers say.
        """
        entry, is_test = self.entry, file.file in {test.file for test in source.test}
        table, sha256, _ = formats.read(path, source.loader, member=file.member)
        found = len(classes(grouped(table, source.grouping).labels))
        papers = () if entry.split else entry.published
        published = {shape.t if is_test else shape.m for shape in papers} - {None}
        is_whole = found <= entry.classes if is_test else found == entry.classes
        fits = is_whole and table.features <= entry.features and table.rows in (published or {table.rows})
        if not (fits or self.accept):
            wanted = f"{' or '.join(map(str, published))} rows, " * bool(published)
            raise DataError(
                f"{file.file} has {table.rows} rows, {table.features} features and {found} classes, and should have "
                f"{wanted}{entry.features} features and {entry.classes} classes"
            )
        with lockfile.changing_overlay() as overlay:
            overlay.pins[lockfile.address(source, file)] = {
                "bytes": path.stat().st_size,
                "sha256": sha256,
                "rows": table.rows,
                "verified": place in file.urls,
                "evidence": self.evidence,
                "digest_from": place,
                "recorded": dt.datetime.now(dt.UTC).date().isoformat(),
            }
        said = "no published checksum; " * (self.evidence == FIRST_USE)
        shape = f"{table.rows:,} rows{', as published' * bool(published)}"
        self.notices.append(f"{file.file}: {said}recorded sha256 {sha256[:12]}... ({shape})")

    def _derive(self, file: RawFile) -> bytes:
        """Return the text of a file, made of the training files of other data sets.

        `UnobtainableError` where these cannot be had.
        """
        paths = []
        for name in file.parents:
            parent = lockfile.read().entries[name]
            search = Search(parent, network=self.network, tried=self.tried, notices=self.notices)
            origin = parent.sources[0]
            if not search.find(origin, origin.train[0]):
                raise UnobtainableError(f"{name} is not available")
            paths.append(origin.path(origin.train[0]))
        return derived_text(file, *paths)

    def remedy(self, *, offline: bool) -> str:
        """Return the end of a sentence: what was tried in vain, and what the user can do."""
        name = self.entry.name
        fetch_it = f"`fwsvm data fetch {name}`, " * offline
        return (
            f"{' (offline)' * offline}: {'; '.join(dict.fromkeys(self.tried)) or 'no address is known'}. To get it: "
            f"{fetch_it}`fwsvm data add {name} FILE` with a file you downloaded, or set FWSVM_MIRROR to a folder that "
            "has the files"
        )


def _receive(url: str, path: Path, expected: RawFile) -> None:
    """Write the body that a server sends to a file, as it is: some servers call the compression of a file an encoding.

    `UnobtainableError` where the server does not send it, `DataError` where it sends more bytes than are expected,
    `OSError` where the file cannot be written.
    """
    import requests
    from urllib3.exceptions import HTTPError

    deadline, done, limit = time.monotonic() + SECONDS, 0, expected.bytes or LARGEST
    identity, timeout = {"Accept-Encoding": "identity"}, (SECONDS_TO_CONNECT, SILENCE)
    if url.startswith("http://") and url in expected.urls and not (expected.known_hash or LOCAL.match(url)):
        raise UnobtainableError("plain http is only for files whose digest is pinned")
    phases.enter(Phase.FETCH)
    phases.inside(url)
    try:
        with (
            path.open("wb") as file,
            requests.get(url, headers=identity, stream=True, timeout=timeout) as response,
        ):
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
                part = expected.bytes and done / expected.bytes
                phases.inside(f"{done / 1e6:,.1f} MB of {url.rpartition('/')[2]}", part)
    except (requests.RequestException, HTTPError) as error:
        why = next(said for words, said in REASONS.items() if words in repr(error))
        raise UnobtainableError(why) from None
    finally:
        phases.enter(Phase.LOAD)


def state_of(path: Path, file: RawFile) -> str:
    """Return `WHOLE` if a file is there and matches the lock, else `MISSING`, `UNPINNED` or how its digest differs."""
    if not path.is_file():
        return MISSING
    if file.known_hash is None:
        return UNPINNED
    kind, _, known = file.known_hash.partition(":")
    if (here := file_digest(path, kind)) == known:
        return WHOLE
    says = f"at first use on {file.recorded} it was" if file.evidence == FIRST_USE else "datasets.lock says"
    return f"{path.stat().st_size:,} bytes whose {kind} is {here}, {says} {known}"


def derived_text(file: RawFile, whole: Path, part: Path) -> bytes:
    """Return the lines of a derived file: of the whole one those that are not in the part, in file order.

    A drawn file is the part's lines and others of the whole; draws with one seed take from one permutation and are
    nested.
    """
    lines, taken = (path.read_bytes().removesuffix(b"\n").split(b"\n") for path in (whole, part))
    rest, found = enumerate(lines), list[int]()
    for number, wanted in enumerate(taken):
        equal = (place for place, line in rest if line == wanted)
        is_second = file.complement is not None and number in file.complement.later
        found.append(next(itertools.islice(equal, is_second, None)))
    kept = sorted({*range(len(lines))}.difference(found))
    if rule := file.draw:
        drawn = permutation(len(kept), rule.seed)[: rule.rows - len(taken)]
        kept = sorted([*found, *(kept[place] for place in drawn)])
    return b"".join(lines[place] + b"\n" for place in kept)
