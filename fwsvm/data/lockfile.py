"""``datasets.lock``: what each data set is, its sources and files, and the digests that every byte must agree with.

In a checkout the lock is at the top of the repository, elsewhere in the package. The user's overlay in the cache folder
takes precedence: ``datasets`` are the user's entries, ``pins`` facts of single files by ``DATASET/SOURCE/FILE``. Every
change of it holds a lock between processes. Other packages add locks by entry points (group ``fwsvm.datasets``,
docs/adding/data-set.md).
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
import yaml
from msgspec import Meta, to_builtins
from msgspec.structs import replace

from fwsvm.errors import DataError, shortened
from fwsvm.files.atomic import replacing
from fwsvm.files.folders import data_folder
from fwsvm.files.lock import exclusive
from fwsvm.files.yaml_files import read_yaml
from fwsvm.plugins import load_plugins

#: The evidence of a file without a digest, of one recorded when it was first fetched, and of one the user recorded.
UNPINNED, FIRST_USE, LOCKED = "unpinned", "first use", "locked"
SHIPPED = Path(__file__).with_name("shipped")

NAME = r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}\Z"
Name = Annotated[str, Meta(pattern=NAME)]
Url = Annotated[str, Meta(pattern=r"^https?://[^/\s]+/[!-~]*\Z")]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Md5 = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
Count = Annotated[int, Meta(ge=1)]
Index = Annotated[int, Meta(ge=1, le=2**31 - 2)]
Label = int | float | str
Grouping = dict[Label, tuple[Label, ...]] | None  # raw labels of each class
Raw = dict[str, dict[str, Any]]
Kind = TypeVar("Kind")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mapping of the lock, whose keys are the attributes."""


class Loader(Record, frozen=True):
    """How a file is read: its format, and options of csv (`fwsvm.data.formats.tables.read`) and of svmlight."""

    format: Literal["svmlight", "csv", "kdd99", "miniboone"]
    zero_based: bool = False
    delimiter: str = ","
    header: bool = False
    label: int | str = -1
    drop: list[int | str] = []
    categorical: dict[int | str, list[Label]] = {}
    comment: str = ""


class Derivation(Record, frozen=True):
    """A file that can be derived: the lines of ``of``'s training file without those of ``part``'s.

    A line of ``part`` is the first equal line of ``of`` after the line before it; those at the places ``later`` in
    ``part``, counted from 0, are the second. With ``rows`` it has that many lines of ``of``, in their order: those of
    ``part``, and others drawn by ``seed``. Draws with one seed are nested.
    """

    of: Name
    part: Name
    later: tuple[int, ...] = ()
    rows: Count | None = None
    seed: Count = 1


class RawFile(Record, frozen=True, kw_only=True):
    """One file as it came from its site.

    ``sha256`` and ``md5`` are None where that digest is not known. ``max_index`` is the largest feature index in the
    file (svmlight) and may be below the declared dimension. ``member`` names a file inside a zip archive.
    ``recorded`` is the date of a digest in the overlay. ``folder`` is where it lies: that of the lock that ships it,
    else ``DATASET/SOURCE`` in the cache.
    """

    file: Name
    urls: tuple[Url, ...] = ()
    verified: bool = False
    bytes: Count | None = None
    sha256: Sha256 | None = None
    md5: Md5 | None = None
    rows: Count | None = None
    max_index: Index | None = None
    evidence: str = UNPINNED
    digest_from: str = ""
    recorded: str = ""
    member: str = ""
    shipped: bool = False
    derived: Derivation | None = None
    note: str = ""
    folder: str = ""

    @property
    def address(self) -> str:
        """Its address among the pins: ``DATASET/SOURCE/FILE``."""
        return f"{self.folder}/{self.file}"

    @property
    def path(self) -> Path:
        """Where it lies once it is verified."""
        return data_folder() / self.address

    @property
    def known_hash(self) -> str | None:
        """The digest that its bytes must have, as pooch takes it; None if none is known."""
        return f"sha256:{self.sha256}" if self.sha256 else f"md5:{self.md5}" if self.md5 else None


class DataSource(Record, frozen=True, kw_only=True):
    """One way to obtain a data set: its files, how they are read, and how raw labels become classes.

    A source without files has ``generate``, the synthetic data set whose values it is, and their digest.
    """

    name: Name
    loader: dict[str, Any] = {}
    train: tuple[RawFile, ...] = ()
    test: tuple[RawFile, ...] = ()
    grouping: Grouping = None
    note: str = ""
    generate: str = ""
    sha256: Sha256 | None = None

    @property
    def files(self) -> tuple[RawFile, ...]:
        """Training files, then test files."""
        return self.train + self.test


class Split(Record, frozen=True):
    """How rows are drawn by seed: a fraction of them for testing, or a number of them for training."""

    test_fraction: Annotated[float, Meta(gt=0, lt=1)] | None = None
    train_rows: Count | None = None


class PublishedShape(Record, frozen=True, kw_only=True):
    """The shape a paper prints: m training rows, t test rows, n features (None where it prints none)."""

    paper: str
    name: str
    m: Count | None = None
    t: Count | None = None
    n: Count | None = None


class Entry(Record, frozen=True, kw_only=True):
    """A data set: its task, declared dimension, scaling, split, published shapes and sources.

    ``stands_for`` names the published data set whose place one that is made here takes.
    """

    name: Name
    title: str
    task: Literal["binary", "multiclass"]
    classes: Count
    features: Index
    scaling: Literal["none", "[-1,1]", "[0,1]"] = "none"
    sources: tuple[DataSource, ...]
    split: Split | None = None
    published: tuple[PublishedShape, ...] = ()
    also: tuple[str, ...] = ()
    note: str = ""
    stands_for: str = ""
    sources_of: str = ""
    grouping: Grouping = None

    @property
    def made(self) -> str:
        """How its rows are made here: ``drawn`` or ``generated`` by seed; empty for those that come from elsewhere."""
        first = self.sources[0]
        drawn = any(file.derived and file.derived.rows for file in first.files)
        return "generated" if first.generate else "drawn" if drawn else ""


class Lock(NamedTuple):
    """All entries by name, and the meanings of the grades of evidence."""

    entries: dict[str, Entry]
    evidence: dict[str, str]

    def find(self, name: str) -> Entry | None:
        """Return the entry whose name or alias is ``name``, or None."""
        return next((entry for entry in self.entries.values() if name in (entry.name, *entry.also)), None)


class LockText(Record, frozen=True):
    """The sections of a lock or an overlay before its entries are looked at."""

    version: Literal[1] = 1
    evidence: dict[str, str] = {}
    datasets: Raw = {}
    pins: Raw = {}


def lock_path() -> Path:
    """Return the lock that belongs to this copy of the package: at the top of a checkout, else beside this file."""
    top = Path(__file__).parents[2]
    return (top if (top / "pyproject.toml").is_file() else Path(__file__).parent) / "datasets.lock"


def files_of(entries: Iterable[Entry]) -> dict[Path, RawFile]:
    """Return all files of the entries by their paths."""
    return {file.path: file for entry in entries for source in entry.sources for file in source.files}


def overlay_path() -> Path:
    """Return the file in the cache that holds what the user added or locked."""
    return data_folder() / "datasets.lock"


_LOCKS: dict[Path, None] = {}  # of plug-ins


def add_lock(path: Path) -> None:
    """Add the data sets of another package's lock; files that it says are shipped lie beside it."""
    _LOCKS[path] = None


def read() -> Lock:
    """Return the package's lock, updated with the overlay's entries and digests.

    `DataError` says which file is wrong, and at which key.
    """
    paths = filter(Path.is_file, (lock_path(), *_LOCKS, overlay_path()))
    return _read(tuple((path, path.stat().st_mtime_ns) for path in paths))


@functools.lru_cache(maxsize=4)
def _read(stamps: tuple[tuple[Path, int], ...]) -> Lock:
    return assemble({path: load(path) for path, _ in stamps})


def load(path: Path) -> LockText:
    """Return the sections of a lock or an overlay, or none if it is not there; `DataError` if it is wrong."""
    raw = known(read_yaml(path, DataError) or {}) if path.is_file() else {}
    return converted(raw, LockText, str(path))


def known(raw: Any) -> Any:
    """Return values of YAML without the keys whose value says that nothing is known."""
    if isinstance(raw, list):
        return [*map(known, raw)]
    if not isinstance(raw, dict):
        return raw
    return {key: known(value) for key, value in raw.items() if value not in (UNPINNED, "unknown")}


def assemble(texts: Mapping[Path, LockText]) -> Lock:
    """Return the lock of several files: entries of the overlay replace others, and pins replace facts of files.

    A pin of a file that is in no lock is ignored. `DataError` if an entry is wrong, or if two packages have its name.
    """
    entries = dict[str, Entry]()
    evidence = dict[str, str]()
    overlay = texts.get(overlay_path(), LockText())
    for path, text in texts.items():
        evidence |= text.evidence
        for name in text.datasets:
            if name in entries and text is not overlay:
                raise DataError(f"{path}: a data set named {name!r} is there already")
            entries[name] = _entry(name, text.datasets, path, overlay.pins)
    return Lock(entries, evidence)


def _entry(name: str, records: Raw, path: Path, pins: Raw) -> Entry:
    """Return an entry as its lock at ``path`` has it, with the facts of its files in ``pins``."""
    where = f"{path}: datasets.{name}"
    record = records[name]
    owner = record.get("sources_of", name)
    home = str(SHIPPED if path == lock_path() else path.parent)
    sources = converted(records.get(owner, {}).get("sources"), Raw, f"{where}.sources")
    named = [{"grouping": record.get("grouping"), **source, "name": key} for key, source in sources.items()]
    entry = converted({**record, "name": name, "sources": named}, Entry, where)
    found = []
    for source in entry.sources:
        if source.files:
            converted(source.loader, Loader, f"{where}.sources.{source.name}.loader")
        folder = f"{owner}/{source.name}"
        train, test = (
            tuple(pinned(replace(file, folder=home if file.shipped else folder), pins) for file in files)
            for files in (source.train, source.test)
        )
        found.append(replace(source, train=train, test=test))
    return replace(entry, sources=tuple(found))


def converted(raw: object, kind: type[Kind], where: str) -> Kind:
    """Return a value of a type; `DataError` names the place and the key of what is wrong."""
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        said, _, key = str(error).partition(" - at `")
        raise DataError(f"{where}{key.rstrip('`').lstrip('$')}: {shortened(said, 200)}") from None


def pinned(file: RawFile, pins: Raw | None = None) -> RawFile:
    """Return a file with the facts that ``pins`` have of it, or what the user's lock has now."""
    found = load(overlay_path()).pins if pins is None else pins
    return replace(file, **found.get(file.address, {}))


@contextmanager
def changing_overlay() -> Iterator[LockText]:
    """Give the user's lock to change, and write it if it is valid then."""
    path = overlay_path()
    with exclusive(path):
        text = load(path)
        yield text
        assemble({path: text})
        with replacing(path) as file:
            yaml.safe_dump(to_builtins(text), file, sort_keys=False, allow_unicode=True)


load_plugins("fwsvm.datasets", "data set", _LOCKS, check=read)
