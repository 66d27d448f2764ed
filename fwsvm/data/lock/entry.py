"""Entries of the lock: a data set's alternative sources, their files, and the files' digests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fwsvm.errors import UsageError

#: In the lock, ``sha256: unpinned``: no digest of this file is known yet.
UNPINNED = "unpinned"
#: In the lock, ``urls: unknown``: no address of this file is known.
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Complement:
    """A file that can be derived: the lines of ``of``'s training file without those of ``minus``'s."""

    of: str
    minus: str

    @property
    def parents(self) -> tuple[str, str]:
        """The data sets from whose training files it is derived, the whole one first."""
        return self.of, self.minus


@dataclass(frozen=True)
class DrawnLines:
    """A file that can be derived: the lines of ``onto``'s training file and others of ``of``'s drawn by seed.

    ``rows`` lines in all, in the order of ``of``, of which ``onto`` is a part. Draws with one seed are nested: fewer
    rows are a part of more.
    """

    of: str
    onto: str
    rows: int
    seed: int

    @property
    def parents(self) -> tuple[str, str]:
        """The data sets from whose training files it is derived, the whole one first."""
        return self.of, self.onto


@dataclass(frozen=True)
class RawFile:
    """One file as it came from its site.

    ``sha256`` and ``md5`` are None where that digest is not known; ``max_index`` is the largest feature
    index in it (svmlight) and may be smaller than the declared dimension. ``member`` names a file inside a
    zip archive.
    """

    file: str
    urls: tuple[str, ...] = ()
    verified: bool = False
    bytes: int | None = None
    sha256: str | None = None
    md5: str | None = None
    rows: int | None = None
    max_index: int | None = None
    evidence: str = ""
    digest_from: str = ""
    member: str = ""
    shipped: bool = False
    complement: Complement | None = None
    draw: DrawnLines | None = None
    note: str = ""

    @property
    def derivation(self) -> Complement | DrawnLines | None:
        """How the file can be derived from others; None if it cannot."""
        return self.complement or self.draw

    @property
    def pinned(self) -> bool:
        """Whether a digest is known."""
        return self.sha256 is not None or self.md5 is not None

    @property
    def digest(self) -> str:
        """The strongest known digest, as ``sha256:...``, ``md5:...`` or ``unpinned``."""
        if self.sha256:
            return f"sha256:{self.sha256}"
        return f"md5:{self.md5}" if self.md5 else UNPINNED


@dataclass(frozen=True)
class DataSource:
    """One way to obtain a data set: its files, how they are read, and how raw labels become classes.

    ``home`` is the folder of files that are shipped with a plug-in; empty for those of this package. A source without
    files has ``generate``, the synthetic data set whose values it is, and their digest.
    """

    name: str
    owner: str
    loader: Mapping[str, Any]
    train: tuple[RawFile, ...]
    test: tuple[RawFile, ...] = ()
    grouping: Mapping[Any, tuple[Any, ...]] | None = None
    note: str = ""
    home: str = ""
    generate: str = ""
    sha256: str | None = None

    @property
    def files(self) -> tuple[RawFile, ...]:
        """Training files, then test files."""
        return self.train + self.test


@dataclass(frozen=True)
class PublishedShape:
    """The shape a paper prints: m training rows, t test rows, n features (None where it prints none)."""

    paper: str
    name: str
    m: int | None = None
    t: int | None = None
    n: int | None = None


@dataclass(frozen=True)
class Entry:
    """A data set: its task, declared dimension, scaling, split, published shapes and sources.

    ``stands_for`` names the published data set whose place one that is made here takes; empty otherwise.
    """

    name: str
    title: str
    task: str
    classes: int
    features: int
    scaling: str
    sources: tuple[DataSource, ...]
    split: Mapping[str, Any] | None = None
    published: tuple[PublishedShape, ...] = ()
    also: tuple[str, ...] = ()
    note: str = ""
    stands_for: str = ""

    @property
    def made(self) -> str:
        """How its rows are made here: ``drawn`` or ``generated`` by seed; empty for those that come from elsewhere."""
        first = self.sources[0]
        return "generated" if first.generate else "drawn" if any(f.draw for f in first.files) else ""

    def source(self, name: str) -> DataSource:
        """Return the source of that name; `UsageError` lists the names there are."""
        for source in self.sources:
            if source.name == name:
                return source
        there = ", ".join(source.name for source in self.sources)
        raise UsageError(f"{self.name} has no source {name!r}; it has: {there}")


@dataclass(frozen=True)
class Lock:
    """All entries by name, and the meanings of the evidence grades.

    ``overlay`` maps names of entries in the user's overlay to ``added`` (the entry is there) or ``locked`` (digests).
    ``meanings`` are those of the grades in locks of other packages, by name of the entry.
    """

    entries: Mapping[str, Entry]
    evidence: Mapping[str, str]
    overlay: Mapping[str, str] = field(default_factory=dict)
    meanings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def find(self, name: str) -> Entry | None:
        """Return the entry whose name or alias is ``name``, or None."""
        if name in self.entries:
            return self.entries[name]
        return next((entry for entry in self.entries.values() if name in entry.also), None)
