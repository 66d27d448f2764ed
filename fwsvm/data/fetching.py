"""The files of a data set, verified: of the first source that has all of them.

A file is looked for in the package, the cache, a mirror, and at its URLs, in this order; else it is derived from other
files. It gets its final name only after its digest agrees with the lock. A file without a published digest must be of
the published shape; its digest is recorded in the user's lock, and from then on its bytes must agree.
"""

import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace

from fwsvm.data import formats, lockfile
from fwsvm.data.dataset import grouped
from fwsvm.data.download import FetchError, FetchOptions, download
from fwsvm.data.labels import classes
from fwsvm.data.lockfile import FIRST_USE, LOCKED, UNPINNED, DataSource, Entry, RawFile
from fwsvm.data.splits import permutation
from fwsvm.errors import DataError, UnobtainableError
from fwsvm.files.folders import data_folder, file_digest
from fwsvm.files.lock import exclusive

MAX_CANDIDATES = 256  # of a derived file, tried at most: a1a needs 8

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
    # what the network gave is in the cache when training files alone are looked for
    ways = [(False, False), *[(True, False)] * (not options.offline), *[(False, True)] * without_test]
    try:
        for (network, train_only), source in itertools.product(ways, sources):
            wanted = source.train if train_only else source.files
            if (files := search.find_all(source, wanted, network=network)) is None:
                continue
            failed = [f"{said}; the next source was used" for said in search.tried if "://" in said]
            lacking = f"the test rows of {entry.name} are not available{search.remedy()}"
            trusted = any(lockfile.pinned(source, file).evidence == FIRST_USE for file in source.files)
            notices = *([] if train_only else dict.fromkeys(failed)), *search.notices
            return Obtained(source, files, notices, lacking if train_only else "", trusted)
    except OSError as error:
        raise DataError(
            f"{error.filename or data_folder()}: cannot be written: {error.strerror or error}; free some space, or set "
            "FWSVM_CACHE to a folder on another disk"
        ) from None
    for notice in search.notices:
        options.say(notice)
    raise UnobtainableError(f"{entry.name} is not available{search.remedy()}")


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
            one = found.get(file.file) or self.find(source, file, network=network)
            if one is None:
                return None
            found[file.file] = one
        return found

    def find(self, source: DataSource, file: RawFile, *, network: bool) -> Found | None:
        """Return path and sha256 of one file, or None: from the cache, the mirror, its URLs, or other files."""
        path, mirror = source.path(file), self.options.mirror
        if not self.accept and (whole := verified(path, file)):
            return whole
        if file.shipped:
            self.tried.append(f"{path}: missing or altered: reinstall the package that ships it")
            return None
        places = []
        if mirror and "://" not in mirror:
            local = Path(mirror) / file.file
            places += [str(local)] * local.is_file()
            self.tried += [] if places else [f"{local}: no such file"]
        if network:
            places += [f"{mirror.rstrip('/')}/{file.file}"] * ("://" in mirror) + [*file.urls]
            self.tried += [] if places else [f"{file.file}: no address is known"]
        with exclusive(path):
            file = lockfile.pinned(source, file)  # another process may just have recorded its digest
            if self.accept:
                file = replace(file, sha256=None, md5=None, bytes=None, evidence=UNPINNED)
            elif whole := verified(path, file):
                return whole
            found = next((found for place in places if (found := self.take(source, file, place))), None)
            return found or self._derived(source, file, network=network)

    def take(self, source: DataSource, file: RawFile, place: str) -> Found | None:
        """Return a file that a place, a URL or path, has, if it is what the lock says, or what can be recorded."""
        path, part = source.path(file), part_of(source.path(file))
        is_doubtful = file.evidence in {"C", "D", FIRST_USE}
        try:
            if "://" in place:
                host = urlsplit(place).hostname
                is_safe = file.pinned or place not in file.urls or host in {"localhost", "127.0.0.1", "::1"}
                download(place, part, file.bytes, self.options, plain_http=is_safe)
            else:
                shutil.copyfile(place, part)
            if not file.pinned:
                self._record(source, file, part, place)
            if (wrong := mismatch(file, part)) is None:
                return keep(path), file.sha256 or file_digest(path)
        except DataError as failure:
            wrong, is_doubtful = str(failure), not isinstance(failure, FetchError)
        part.unlink(missing_ok=True)
        accept = f"`fwsvm data lock {source.owner} --source {source.name} --accept`"
        self.tried.append(f"{place}: {wrong}" + f" (if you trust this file: {accept})" * is_doubtful)
        return None

    def _record(self, source: DataSource, file: RawFile, path: Path, place: str) -> None:
        """Record the digest of a file that came from a place and is at ``path``, and notice it.

        `DataError` where the file is not data, or, without ``accept``, not of the shape that its entry and papers say.
        """
        entry, is_train = self.entry, file in source.train
        table, sha256, _ = formats.read(path, source.loader, member=file.member)
        table = grouped(table, source.grouping, entry.name)
        found, is_svmlight = len(classes(table.labels)), source.loader["format"] == "svmlight"
        published = set() if entry.split else {s.m if is_train else s.t for s in entry.published} - {None}
        fits = table.features == entry.features or (is_svmlight and table.features < entry.features)
        fits = fits and (found == entry.classes or (found < entry.classes and not is_train))
        if not (self.accept or (fits and table.rows in (published or {table.rows}))):
            rows = f"{' or '.join(map(str, published))} rows, " if published else ""
            raise DataError(
                f"{file.file} has {table.rows} rows, {table.features} features and {found} classes, and should have "
                f"{rows}{entry.features} features and {entry.classes} classes"
            )
        facts = {"bytes": path.stat().st_size, "sha256": sha256, "rows": table.rows}
        facts |= {"verified": True} if place in file.urls else {}
        facts |= {"md5": UNPINNED} if self.accept else {}  # in place of one that may be in the lock
        facts |= {"max_index": table.features} if is_svmlight else {}
        with lockfile.changing_overlay() as overlay:
            pin = overlay["pins"].setdefault(lockfile.address(source, file), {})
            pin.update(facts | lockfile.origin(place, self.evidence))
        shape = f"{table.rows:,} rows" + (", as published" if published else f", {table.features:,} features")
        said = "" if self.evidence == LOCKED else "no published checksum; "
        self.notices.append(f"{file.file}: {said}recorded sha256 {sha256[:12]}... ({shape})")

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
        path, said = source.path(file), " without ".join(file.parents)
        if rule := file.draw:
            said = f"{rule.onto} and lines of {rule.of} drawn by seed {rule.seed}, {rule.rows:,} in all"
        for text in derived_texts(file, *[found[0] for found in parents if found]):
            part_of(path).write_bytes(text)
            if mismatch(file, part_of(path)) is None:
                sure = "as its digest confirms" if file.pinned else "and no digest of it is known"
                self.notices.append(f"{file.file} was derived, {sure}: {said}")
                return keep(path), file.sha256 or file_digest(path)
        self.tried.append(f"{file.file} derived as {said}: its digest is another")
        return None

    def remedy(self) -> str:
        """Return the end of a sentence: what was tried in vain, and what the user can do."""
        name, offline = self.entry.name, self.options.offline
        has_urls = any(file.urls for source in self.entry.sources for file in source.files)
        nothing = "it is not here" if has_urls else "no address is known"
        fetch_it = f"`fwsvm data fetch {name}`, " if offline and has_urls else ""
        return (
            f"{' (offline)' if offline else ''}: {'; '.join(dict.fromkeys(self.tried)) or nothing}. To get it: "
            f"{fetch_it}`fwsvm data add {name} FILE` with a file you downloaded, or set FWSVM_MIRROR to a folder that "
            "has the files"
        )


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
    size = path.stat().st_size
    for kind, pinned in (("sha256", file.sha256), ("md5", file.md5)):
        if pinned and (here := file_digest(path, kind)) != pinned:
            return f"{size:,} bytes whose {kind} is {here}, {says} {pinned}"
    return None if file.bytes in (None, size) else f"{size:,} bytes, datasets.lock says {file.bytes:,}"


def derived_texts(file: RawFile, whole: Path, part: Path) -> Iterator[bytes]:
    """Yield the texts that a derived file may have, likely ones first.

    The rest of a training set are the lines of the whole set that are not in it, in file order. If a line occurs twice
    in the whole and once in the part, either may be the one in it, so there are a few candidates; the digest decides.
    A drawn file is a part's lines and lines of the whole; draws with one seed take from one permutation and are nested.

    `DataError` where ``part`` is not a subsequence of ``whole``'s lines.
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
    positions: list[int] = []
    for place, line in enumerate(lines):
        if len(positions) < len(taken) and line == taken[len(positions)]:
            positions.append(place)
    if len(positions) < len(taken):
        line = taken[len(positions)][:60]
        raise DataError(f"the line {line.decode(errors='replace')!r} is not in the larger set")
    return positions
