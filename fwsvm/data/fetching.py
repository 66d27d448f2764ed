"""The files of data sets: fetched and verified, added by hand, recorded in the user's lock, removed.

A file is looked for in the package, the cache, a mirror, and at its URLs, in this order; else it is derived from other
files. pooch gives it its final name after its digest agrees with the lock. A file without a published digest must be of
the published shape; its digest is recorded in the user's lock, and from then on its bytes must agree.
"""

import itertools
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from fwsvm import phases
from fwsvm.data import formats, labels, lockfile, parsed_copies
from fwsvm.data.dataset import grouped
from fwsvm.data.lockfile import FIRST_USE, LOCKED, UNPINNED, DataSource, Derivation, Entry, RawFile, files_of
from fwsvm.data.splits import permutation
from fwsvm.errors import DataError, UnobtainableError, UsageError
from fwsvm.files.folders import data_folder, file_digest
from fwsvm.files.lock import exclusive
from fwsvm.phases import Phase
from fwsvm.plugins import entry_of

CHUNK = 1 << 16
LARGEST = 1 << 32  # bytes of a file whose size is not known
SECONDS = 3600.0  # for a file
SILENCE = 30.0  # of a server
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
    """A source whose files are verified, and notices for the user.

    ``lacking`` is empty, or says what was tried for test files that could not be found.
    """

    source: DataSource
    notices: tuple[str, ...]
    lacking: str = ""


def obtain(
    entry: Entry,
    source_name: str | None = None,
    *,
    offline: bool = False,
    without_test: bool = False,
    evidence: str = FIRST_USE,
    accept: bool = False,
) -> Obtained:
    """Return the verified files of an entry: of the named source, or of the first source that is complete.

    Sources whose files need no network come first. With ``without_test``, training files alone are returned if no
    source is complete. For ``evidence`` and ``accept`` see `Search`. `UnobtainableError` names every place that was
    tried and says how to add the files by hand.
    """
    sources = entry.sources
    if source_name:
        sources = (entry_of({source.name: source for source in sources}, "source", source_name),)
    search = Search(entry, evidence, accept)
    try:
        for search.network, source in itertools.product((False, True)[: 2 - offline], sources):
            if all(search.find(source, file) for file in source.files):
                refused = search.tried if search.network and source is not sources[0] else []
                return Obtained(source, tuple(dict.fromkeys([*refused, *search.notices])))
        fetch_it = f"`fwsvm data fetch {entry.name}`, " * offline
        tried = (
            f"{' (offline)' * offline}: {'; '.join(dict.fromkeys(search.tried)) or 'no address is known'}. To get it: "
            f"{fetch_it}`fwsvm data add {entry.name} FILE` with a file you downloaded, or set FWSVM_MIRROR to a folder "
            "that has the files"
        )
        search.network = False  # what it gave is in the cache
        for source in sources if without_test else ():
            if all(search.find(source, file) for file in source.train):
                return Obtained(
                    source, (*search.notices,), f"the test rows of {entry.name} are not available{tried}"
                )
    except OSError as error:
        raise DataError(
            f"{data_folder()} cannot be written: {error.strerror or error}; free some space, or set FWSVM_CACHE to a "
            "folder on another disk"
        ) from None
    raise UnobtainableError(f"{entry.name} is not available{tried}")


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
        if (file.shipped or not self.accept) and state_of(file) == WHOLE:
            return True
        if file.shipped:
            self.tried.append(f"{file.path}: missing or altered: reinstall the package that ships it")
            return False
        mirror = os.environ.get("FWSVM_MIRROR", "")
        places = (
            [f"{mirror.rstrip('/')}/{file.file}"] * bool(mirror)
            + [*file.urls]
            + [DERIVED] * bool(file.derived)
        )
        places = [place for place in places if self.network or "://" not in place]
        with exclusive(file.path):
            file = lockfile.pinned(file)  # another process may just have recorded its digest
            if self.accept:
                file = replace(file, sha256=None, md5=None, bytes=None, evidence=UNPINNED)
            return state_of(file) == WHOLE or any(self.take(source, file, place) for place in places)

    def take(self, source: DataSource, file: RawFile, place: str) -> bool:
        """Get a file from a place, a URL, path or `DERIVED`, if it is what the lock says, or what can be recorded."""
        import pooch

        rule = file.derived if place == DERIVED else None

        def downloader(_url: str, output: str, _pooch: object) -> None:
            part = Path(output)
            part.unlink()  # pooch makes a file that no other user can read
            if rule:
                part.write_bytes(self._derive(rule))
            elif "://" in place:
                _receive(place, part, file)
            elif Path(place).is_file():
                shutil.copyfile(place, part)
            else:
                raise UnobtainableError("no such file")
            if (state := state_of(file, part)) not in {WHOLE, UNPINNED}:
                raise DataError(state)
            if state == UNPINNED and not rule:
                self._record(source, file, part, place)

        pooch.get_logger().setLevel("ERROR")
        try:
            part = pooch.retrieve(
                place, file.known_hash, f".{file.file}", file.path.parent, downloader=downloader
            )
            Path(part).replace(file.path)
        except DataError as failure:
            said = f"{place}: {failure}"
            if file.evidence in {"C", "D", FIRST_USE} and not isinstance(failure, UnobtainableError):
                lock = f"fwsvm data lock {self.entry.name} --source {source.name} --accept"
                said = f"{said} (if you trust this file: `{lock}`)"
            self.tried.append(said)
            return False
        if rule:
            sure = ", as its digest confirms," * bool(file.known_hash)
            self.notices.append(f"{file.file} was derived{sure} from {rule.of} and {rule.part}")
        return True

    def _record(self, source: DataSource, file: RawFile, path: Path, place: str) -> None:
        """Record the digest of a file that came from a place and is at ``path``, and notice it.

        `DataError` where the file is not data, or, without ``accept``, not of the shape that its entry and papers say.
        """
        entry = self.entry
        is_test = file.file in {test.file for test in source.test}
        table = grouped(formats.read(path, source.loader, member=file.member), source.grouping)
        found = len(labels.classes(table.labels))
        papers = () if entry.split else entry.published
        published = {shape.t if is_test else shape.m for shape in papers} - {None}
        has_classes = found <= entry.classes if is_test else found == entry.classes
        fits = has_classes and table.features <= entry.features and table.rows in (published or {table.rows})
        if not (fits or self.accept):
            wanted = f"{' or '.join(map(str, published))} rows, " * bool(published)
            raise DataError(
                f"{file.file} has {table.rows} rows, {table.features} features and {found} classes, and should have "
                f"{wanted}{entry.features} features and {entry.classes} classes"
            )
        with lockfile.changing_overlay() as overlay:
            overlay.pins[file.address] = {
                "bytes": path.stat().st_size,
                "sha256": table.sha256,
                "rows": table.rows,
                "verified": place in file.urls,
                "evidence": self.evidence,
                "digest_from": place,
                "recorded": time.strftime("%Y-%m-%d", time.gmtime()),
            }
        said = "no published checksum; " * (self.evidence == FIRST_USE)
        shape = f"{table.rows:,} rows{', as published' * bool(published)}"
        self.notices.append(f"{file.file}: {said}recorded sha256 {table.sha256[:12]}... ({shape})")

    def _derive(self, rule: Derivation) -> bytes:
        """Return the text of a file, made of the training files of other data sets.

        `UnobtainableError` where these cannot be had.
        """
        paths = []
        for name in (rule.of, rule.part):
            parent = lockfile.read().entries[name]
            search = Search(parent, network=self.network, tried=self.tried, notices=self.notices)
            origin = parent.sources[0]
            if not search.find(origin, origin.train[0]):
                raise UnobtainableError(f"{name} is not available")
            paths.append(origin.train[0].path)
        return derived_text(rule, *paths)


def _receive(url: str, path: Path, expected: RawFile) -> None:
    """Write the body that a server sends to a file, as it is: some servers call the compression of a file an encoding.

    `UnobtainableError` where the server does not send it, `DataError` where it sends more bytes than are expected,
    `OSError` where the file cannot be written.
    """
    import requests
    from urllib3.exceptions import HTTPError

    deadline, done, limit = time.monotonic() + SECONDS, 0, expected.bytes or LARGEST
    if url.startswith("http://") and url in expected.urls and not (expected.known_hash or LOCAL.match(url)):
        raise UnobtainableError("plain http is only for files whose digest is pinned")
    phases.enter(Phase.FETCH)
    phases.inside(url)
    try:
        with (
            path.open("wb") as file,
            requests.get(
                url, headers={"Accept-Encoding": "identity"}, stream=True, timeout=SILENCE
            ) as response,
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


def state_of(file: RawFile, path: Path | None = None) -> str:
    """Return `WHOLE` if a file is at its path, or at another, and matches the lock, else `MISSING` or `UNPINNED`.

    Of other bytes, how their digest differs.
    """
    path = path or file.path
    if not path.is_file():
        return MISSING
    if file.known_hash is None:
        return UNPINNED
    kind, _, known = file.known_hash.partition(":")
    if (here := file_digest(path, kind)) == known:
        return WHOLE
    says = f"at first use on {file.recorded} it was" if file.evidence == FIRST_USE else "datasets.lock says"
    return f"{path.stat().st_size:,} bytes whose {kind} is {here}, {says} {known}"


def derived_text(rule: Derivation, whole: Path, part: Path) -> bytes:
    """Return the lines of a file that is derived from those of a whole set and of a part."""
    lines, taken = (path.read_bytes().splitlines() for path in (whole, part))
    rest = enumerate(lines)
    found = list[int]()
    for number, wanted in enumerate(taken):
        equal = (place for place, line in rest if line == wanted)
        found.append(next(itertools.islice(equal, number in rule.later, None)))
    kept = sorted({*range(len(lines))}.difference(found))
    if rule.rows:
        drawn = permutation(len(kept), rule.seed)[: rule.rows - len(taken)]
        kept = sorted([*found, *(kept[place] for place in drawn)])
    return b"".join(lines[place] + b"\n" for place in kept)


# ---------------------------------------------------------------- what `fwsvm data` changes


def add(entry: Entry, given: Path) -> RawFile:
    """Copy a file fetched by hand into the cache, as the file of the entry with its digest; return which that is.

    A file without a digest in the lock is matched by its name, and its digest recorded. `DataError` names both
    digests if the name matches and the bytes do not.
    """
    pairs = [(source, file) for source in entry.sources for file in source.files if not file.shipped]
    by_digest = [pair for pair in pairs if state_of(pair[1], given) == WHOLE]
    for source, file in by_digest or pairs:
        if by_digest or file.file == given.name:
            search = Search(entry, LOCKED)
            with exclusive(file.path):
                if not search.take(source, file, str(given)):
                    raise DataError(search.tried[-1])
            return file
    names = ", ".join(file.file for _, file in pairs) or "none but what is shipped"
    raise DataError(f"{given}: digest and name fit no file of {entry.name}; its files are: {names}")


def add_new(name: str, paths: Sequence[Path]) -> tuple[str, ...]:
    """Add a data set of the user's own to the overlay: training rows, then test rows, if any; return notices.

    The files are in LIBSVM's format and are called NAME and NAME.t. Whether features count from 0 is seen from the
    training file, and kept.
    """
    if not re.match(lockfile.NAME, name):
        raise UsageError(f"{name!r} is no name for a data set: take letters, digits and . _ + - alone")
    loader: dict[str, Any] = {"format": "svmlight", "zero_based": None}
    tables = []
    for path in paths:
        tables.append(formats.read(path, loader))
        loader["zero_based"] = tables[0].zero_based
    classes = len(labels.require_two(tables[0].labels, str(paths[0])))
    files = {
        role: [{"file": file, "sha256": table.sha256, "rows": table.rows, "evidence": LOCKED}]
        for role, file, table in zip(("train", "test"), (name, f"{name}.t"), tables, strict=False)
    }
    with lockfile.changing_overlay() as overlay:
        overlay.datasets[name] = {
            "title": name,
            "task": "binary" if classes == 2 else "multiclass",
            "classes": classes,
            "features": max(table.features for table in tables),
            "sources": {"local": {"loader": loader, **files}},
        }
    for path in paths:
        add(lockfile.read().entries[name], path)
    return tables[0].notices


def remove(name: str) -> None:
    """Remove a user's data set, and the digests of files that the user recorded of it; the files stay.

    `UsageError` if there is nothing to remove.
    """
    with lockfile.changing_overlay() as overlay:
        pins = [place for place in overlay.pins if place.split("/")[0] == name]
        if not (pins or name in overlay.datasets):
            raise UsageError(f"{name}: nothing of it was added or locked by you in {lockfile.overlay_path()}")
        overlay.datasets.pop(name, None)
        for place in pins:
            del overlay.pins[place]


def prune(*, dry_run: bool) -> Iterator[tuple[Path, int]]:
    """Remove unfinished files, files of no data set in the lock and stale parsed copies; yield path and bytes.

    Files in folders that fwsvm did not write stay, and lock files. With ``dry_run``, everything does.
    """
    kept = files_of(lockfile.read().entries.values())
    folders = {lock.parent for lock in data_folder().glob("*/*/*.lock")}
    found = sorted(
        path for folder in folders for path in folder.iterdir() if path.suffix != ".lock" and path not in kept
    )
    for path in [*found, *parsed_copies.stale()]:
        size = sum(each.stat().st_size for each in (path, *path.rglob("*")) if each.is_file())
        if not dry_run:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        yield path, size
