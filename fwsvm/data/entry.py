"""What the lock says of a data set: alternative sources, their files, and the digests of these."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fwsvm.errors import UsageError

#: Says ``sha256: unpinned`` in the lock: no digest of this file is known yet.
UNPINNED = "unpinned"
#: Says ``urls: unknown``: nobody knows an address to fetch this file from.
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Complement:
    """A file that can be derived: the lines of ``of``'s training file without those of ``minus``'s."""

    of: str
    minus: str


@dataclass(frozen=True)
class File:
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
    note: str = ""

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
class Source:
    """One way to obtain a data set: its files, how they are read, and how raw labels become classes."""

    name: str
    owner: str
    loader: Mapping[str, Any]
    train: tuple[File, ...]
    test: tuple[File, ...] = ()
    grouping: Mapping[Any, tuple[Any, ...]] | None = None
    note: str = ""

    @property
    def files(self) -> tuple[File, ...]:
        """Training files, then test files."""
        return self.train + self.test


@dataclass(frozen=True)
class Published:
    """The shape a paper prints: m training rows, t test rows, n features (None where it prints none)."""

    paper: str
    name: str
    m: int | None = None
    t: int | None = None
    n: int | None = None


@dataclass(frozen=True)
class Entry:
    """A data set: its task, declared dimension, scaling, split, published shapes and sources."""

    name: str
    title: str
    task: str
    classes: int
    features: int
    scaling: str
    sources: tuple[Source, ...]
    split: Mapping[str, Any] | None = None
    published: tuple[Published, ...] = ()
    also: tuple[str, ...] = ()
    note: str = ""

    def source(self, name: str) -> Source:
        """Return the source of that name; `UsageError` lists the names there are."""
        for source in self.sources:
            if source.name == name:
                return source
        there = ", ".join(source.name for source in self.sources)
        raise UsageError(f"{self.name} has no source {name!r}; it has: {there}")


@dataclass(frozen=True)
class Lock:
    """All entries, by name, and what the evidence grades mean.

    ``overlay`` says of names what the user's overlay has of them: ``added``, the entry, or ``locked``, digests.
    """

    entries: Mapping[str, Entry]
    evidence: Mapping[str, str]
    overlay: Mapping[str, str] = field(default_factory=dict)

    def find(self, name: str) -> Entry | None:
        """Return the entry called ``name``, by its own name or another it goes by."""
        if name in self.entries:
            return self.entries[name]
        return next((entry for entry in self.entries.values() if name in entry.also), None)
