"""``datasets.lock``: what each data set is, its sources and files, and the digests that every byte must agree with.

In a checkout the lock is at the top of the repository, elsewhere in the package. The user's overlay in the cache folder
(`fwsvm.data.overlay`) takes precedence. Other packages add locks by entry points (group ``fwsvm.datasets``,
docs/adding/data-set.md).
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from fwsvm.data.formats.registry import MAX_INDEX, checked_loader
from fwsvm.errors import DataError, UsageError, clipped
from fwsvm.files.folders import data_folder
from fwsvm.files.yaml_files import read_yaml
from fwsvm.plugins import load_plugins

VERSION = 1
#: In the lock, ``sha256: unpinned``: no digest of this file is known.
UNPINNED = "unpinned"
#: The evidence of a digest that was recorded when the file was first fetched, and by the user.
FIRST_USE, LOCKED = "first use", "locked"
SHIPPED = Path(__file__).with_name("shipped")

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}\Z")]
Text = Annotated[str, Meta(min_length=1)]
Url = Annotated[str, Meta(pattern=r"^https?://[^/\s]+/[!-~]*\Z")]
Sha256 = Annotated[str, Meta(pattern=r"^([0-9a-f]{64}|unpinned)\Z")]
Md5 = Annotated[str, Meta(pattern=r"^([0-9a-f]{32}|unpinned)\Z")]
Count = Annotated[int, Meta(ge=1)]
Index = Annotated[int, Meta(ge=1, le=MAX_INDEX)]
Label = int | float | str
Sources = Annotated[dict[str, dict[str, Any]], Meta(min_length=1)]

Kind = TypeVar("Kind")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mapping of the lock, whose keys are the attributes."""


class Complement(Record, frozen=True):
    """A file that can be derived: the lines of ``of``'s training file without those of ``minus``'s."""

    of: Name
    minus: Name


class DrawnLines(Record, frozen=True):
    """A file that can be derived: the lines of ``onto``'s training file and others of ``of``'s drawn by seed.

    ``rows`` lines in all, in the order of ``of``, of which ``onto`` is a part. Draws with one seed are nested.
    """

    of: Name
    onto: Name
    rows: Count
    seed: Count


class RawFile(Record, frozen=True, kw_only=True):
    """One file as it came from its site.

    ``sha256`` and ``md5`` are None where that digest is not known. ``max_index`` is the largest feature index in the
    file (svmlight) and may be below the declared dimension. ``member`` names a file inside a zip archive.
    ``recorded`` is the date of a digest in the overlay.
    """

    file: Name
    urls: tuple[Url, ...] | Literal["unknown"] = ()
    verified: bool = False
    bytes: Count | None = None
    sha256: Sha256 | None = None
    md5: Md5 | None = None
    rows: Count | None = None
    max_index: Index | None = None
    evidence: Text
    digest_from: str = ""
    recorded: str = ""
    member: str = ""
    shipped: bool = False
    complement: Complement | None = None
    draw: DrawnLines | None = None
    note: str = ""

    def __post_init__(self) -> None:
        for key, word, instead in (
            ("urls", "unknown", ()),
            ("sha256", UNPINNED, None),
            ("md5", UNPINNED, None),
        ):
            if getattr(self, key) == word:
                msgspec.structs.force_setattr(self, key, instead)
        if not self.pinned and self.evidence != UNPINNED:
            raise ValueError(f"no digest, so its evidence must be {UNPINNED}")

    @property
    def parents(self) -> tuple[str, ...]:
        """The data sets from whose training files it can be derived, the whole one first; none if it cannot."""
        if self.complement:
            return self.complement.of, self.complement.minus
        return (self.draw.of, self.draw.onto) if self.draw else ()

    @property
    def pinned(self) -> bool:
        """Whether a digest is known."""
        return self.sha256 is not None or self.md5 is not None


class DataSource(Record, frozen=True, kw_only=True):
    """One way to obtain a data set: its files, how they are read, and how raw labels become classes.

    ``home`` is the folder of files that are shipped. A source without files has ``generate``, the synthetic data set
    whose values it is, and their digest. ``owner`` is the data set whose source it is.
    """

    name: Name = "local"
    owner: str = ""
    loader: dict[str, Any] = {}
    train: tuple[RawFile, ...] = ()
    test: tuple[RawFile, ...] = ()
    grouping: dict[Label, tuple[Label, ...]] | None = None
    note: str = ""
    home: str = ""
    generate: str = ""
    sha256: Sha256 | None = None

    def __post_init__(self) -> None:
        if self.generate:
            if self.files or self.sha256 is None:
                said = "has no files" if self.files else "needs sha256, the digest of its values"
                raise ValueError(f"a source that is generated {said}")
            return
        if not self.train:
            raise ValueError("train must name at least one file")
        msgspec.structs.force_setattr(self, "loader", checked_loader(self.loader))
        labels = [label for members in (self.grouping or {}).values() for label in members]
        if len(set(labels)) < len(labels):
            raise ValueError("grouping: each raw label has one class")

    @property
    def files(self) -> tuple[RawFile, ...]:
        """Training files, then test files."""
        return self.train + self.test

    def path(self, file: RawFile) -> Path:
        """Return the path of a verified file: in the package that ships it, or in the cache."""
        return Path(self.home) / file.file if file.shipped else self.folder / file.file

    @property
    def folder(self) -> Path:
        """The folder of its files in the cache."""
        return data_folder() / self.owner / self.name


class Split(Record, frozen=True):
    """How rows are drawn by seed: a fraction of them for testing, or a number of them for training."""

    test_fraction: Annotated[float, Meta(gt=0, lt=1)] | None = None
    train_rows: Count | None = None


class PublishedShape(Record, frozen=True, kw_only=True):
    """The shape a paper prints: m training rows, t test rows, n features (None where it prints none)."""

    paper: Text
    name: Text
    m: Count | None = None
    t: Count | None = None
    n: Count | None = None


class Entry(Record, frozen=True, kw_only=True):
    """A data set: its task, declared dimension, scaling, split, published shapes and sources.

    ``stands_for`` names the published data set whose place one that is made here takes.
    """

    name: Name
    title: Text
    task: Literal["binary", "multiclass"]
    classes: Count
    features: Index
    scaling: Literal["none", "[-1,1]", "[0,1]"] = "none"
    sources: tuple[DataSource, ...]
    split: Split | None = None
    published: tuple[PublishedShape, ...] = ()
    also: tuple[Text, ...] = ()
    note: str = ""
    stands_for: str = ""

    def __post_init__(self) -> None:
        if (self.task == "binary") != (self.classes == 2):
            raise ValueError(f"task {self.task} with {self.classes} classes")
        if self.split and (self.split.test_fraction is None) == (self.split.train_rows is None):
            raise ValueError("split must be {test_fraction: 0.2} or {train_rows: 500}")

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


class Lock(Record, frozen=True, kw_only=True):
    """All entries by name, and the meanings of the grades of evidence.

    ``overlay`` says which entries are of the user's: ``added``, ``locked`` or ``first use``.
    """

    entries: dict[str, Entry]
    evidence: dict[str, str] = {}
    overlay: dict[str, str] = {}

    def find(self, name: str) -> Entry | None:
        """Return the entry whose name or alias is ``name``, or None."""
        if name in self.entries:
            return self.entries[name]
        return next((entry for entry in self.entries.values() if name in entry.also), None)


class LockText(Record, frozen=True, kw_only=True):
    """The sections of a lock or an overlay before its entries are looked at."""

    version: int = VERSION
    evidence: dict[str, str] = {}
    datasets: dict[str, dict[str, Any]] = {}
    pins: dict[str, dict[str, Any]] = {}


def in_checkout() -> bool:
    """Whether the package runs from a checkout, with the lock at its top."""
    top = Path(__file__).parents[2]
    return (top / "datasets.lock").is_file() and (top / "pyproject.toml").is_file()


def lock_path() -> Path:
    """Return the lock that belongs to this copy of the package."""
    return Path(__file__).parents[2 if in_checkout() else 0] / "datasets.lock"


def overlay_path() -> Path:
    """Return the file in the cache that holds what the user added or locked."""
    return data_folder() / "datasets.lock"


def read() -> Lock:
    """Return the package's lock, updated with the overlay's entries and digests.

    `DataError` says which file is wrong, and at which key.
    """
    _load_plugins()
    return _present()


def add_lock(path: Path) -> None:
    """Add the data sets of another package's lock; files that it says are shipped lie beside it.

    Raises
    ------
    DataError
        The lock cannot be read, or is wrong.
    ValueError
        A data set of one of its names is there already.
    """
    added, known = load(path), _present()
    if taken := next((name for name in added.datasets if known.find(name)), None):
        raise ValueError(f"a data set named {taken!r} is there already")
    assemble({each: load(each) for each in (lock_path(), *_LOCKS.values())} | {path: added})
    _LOCKS[str(path)] = path


_LOCKS: dict[str, Path] = {}  # of plug-ins


@functools.cache
def _load_plugins() -> None:
    load_plugins("fwsvm.datasets", "data set", _LOCKS)


def _present() -> Lock:
    paths = [lock_path(), *_LOCKS.values()] + ([overlay_path()] if overlay_path().is_file() else [])
    try:
        return _read(tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths))
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read: {error.strerror}") from None


@functools.lru_cache(maxsize=4)
def _read(stamps: tuple[tuple[Path, int, int], ...]) -> Lock:
    return assemble({path: load(path) for path, _, _ in stamps})


def load(path: Path) -> LockText:
    """Return the sections of a lock or an overlay; `DataError` if it is not YAML, or not of these sections."""
    return sections_of(read_yaml(path, DataError) or {}, path)


def sections_of(raw: Any, path: Path) -> LockText:
    """Return the sections of a lock from plain values; ``path`` is named in errors."""
    found = _converted(raw, LockText, str(path))
    if found.version != VERSION:
        raise DataError(f"{path}: version {found.version}; this fwsvm reads version {VERSION}")
    return found


def assemble(texts: Mapping[Path, LockText]) -> Lock:
    """Return the lock of several files; later entries replace earlier ones, and pins replace facts of files.

    A pin of a file that is in no lock is ignored.
    """
    records: dict[str, dict[str, Any]] = {}
    pins: dict[str, dict[str, Any]] = {}
    evidence: dict[str, str] = {}
    files: dict[str, Path] = {}
    for path, text in texts.items():
        records |= text.datasets
        pins |= text.pins
        evidence |= text.evidence
        files |= dict.fromkeys(text.datasets, path)
    package = next(iter(texts))
    entries = {
        name: _entry(name, records, pins, path, str(SHIPPED if path == package else path.parent))
        for name, path in files.items()
    }
    for name, entry in entries.items():
        parents = {word for source in entry.sources for file in source.files for word in file.parents}
        if missing := parents - {*entries}:
            raise DataError(f"{files[name]}: datasets.{name}: there is no data set {missing.pop()!r}")
    overlay = texts.get(overlay_path(), LockText())
    yours = {}
    for address, pin in overlay.pins.items():
        yours[address.split("/")[0]] = FIRST_USE if pin.get("evidence") == FIRST_USE else LOCKED
    yours |= dict.fromkeys(overlay.datasets, "added")
    return Lock(entries=entries, evidence=evidence, overlay={k: yours[k] for k in yours if k in entries})


def _entry(
    name: str,
    records: Mapping[str, dict[str, Any]],
    pins: Mapping[str, dict[str, Any]],
    path: Path,
    home: str,
) -> Entry:
    where, record = f"{path}: datasets.{name}", dict(records[name])
    own, owner = record.pop("sources", None), record.pop("sources_of", name)
    if owner != name and (own or owner not in records):
        raise DataError(
            f"{where}.sources_of: must name a data set of the lock, and stands in place of sources"
        )
    sources = _converted(records[owner].get("sources"), Sources, f"{where}.sources")
    more = {"owner": owner, "home": home}
    if "grouping" in record:
        more["grouping"] = record.pop("grouping")
    found = []
    for key, source in sources.items():
        whole = {**source, **more, "name": key}
        for role in {"train", "test"} & source.keys():
            files = _converted(source[role], list[dict[str, Any]], f"{where}.sources.{key}.{role}")
            whole[role] = [file | pins.get(f"{owner}/{key}/{file.get('file')}", {}) for file in files]
        found.append(_converted(whole, DataSource, f"{where}.sources.{key}"))
    entry = _converted({**record, "name": name, "sources": ()}, Entry, where)
    return msgspec.structs.replace(entry, sources=tuple(found))


def _converted(raw: object, kind: type[Kind], where: str) -> Kind:
    """Return a value of a type; `DataError` names the place and the key of what is wrong."""
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        said, _, key = str(error).partition(" - at `")
        raise DataError(f"{where}{key.rstrip('`').lstrip('$')}: {clipped(said, 200)}") from None
