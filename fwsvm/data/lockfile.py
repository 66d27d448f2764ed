"""``datasets.lock``: what each data set is, its sources and files, and the digests that every byte must agree with.

In a checkout the lock is at the top of the repository, elsewhere in the package. The user's overlay in the cache folder
(`fwsvm.data.overlay`) takes precedence. Other packages add locks by entry points (group ``fwsvm.datasets``,
docs/adding/data-set.md).
"""

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from fwsvm.data.formats.registry import MAX_INDEX, checked_loader
from fwsvm.data.synthetic import parse_spec
from fwsvm.errors import DataError, UsageError
from fwsvm.files.folders import data_folder
from fwsvm.files.yaml_files import parse_yaml, read_yaml
from fwsvm.plugins import load_plugins

VERSION = 1
#: In the lock, ``sha256: unpinned``: no digest of this file is known.
UNPINNED = "unpinned"
#: In the lock, ``urls: unknown``: no address of this file is known.
UNKNOWN = "unknown"
#: The evidence of a digest that was recorded when the file was first fetched.
FIRST_USE = "first use"

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}\Z")]
Text = Annotated[str, Meta(min_length=1)]
Url = Annotated[str, Meta(pattern=r"^https?://[^/\s]+/[!-~]*\Z")]
Sha256 = Annotated[str, Meta(pattern=r"^([0-9a-f]{64}|unpinned)\Z")]
Md5 = Annotated[str, Meta(pattern=r"^([0-9a-f]{32}|unpinned)\Z")]
Count = Annotated[int, Meta(ge=1)]
Index = Annotated[int, Meta(ge=1, le=MAX_INDEX)]
Label = int | float | str

Kind = TypeVar("Kind")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mapping of the lock, whose keys are the attributes."""


class Complement(Record, frozen=True, kw_only=True):
    """A file that can be derived: the lines of ``of``'s training file without those of ``minus``'s."""

    of: Name
    minus: Name

    @property
    def parents(self) -> tuple[str, str]:
        """The data sets from whose training files it is derived, the whole one first."""
        return self.of, self.minus


class DrawnLines(Record, frozen=True, kw_only=True):
    """A file that can be derived: the lines of ``onto``'s training file and others of ``of``'s drawn by seed.

    ``rows`` lines in all, in the order of ``of``, of which ``onto`` is a part. Draws with one seed are nested.
    """

    of: Name
    onto: Name
    rows: Count
    seed: Count

    @property
    def parents(self) -> tuple[str, str]:
        """The data sets from whose training files it is derived, the whole one first."""
        return self.of, self.onto


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
            ("urls", UNKNOWN, ()),
            ("sha256", UNPINNED, None),
            ("md5", UNPINNED, None),
        ):
            if getattr(self, key) == word:
                msgspec.structs.force_setattr(self, key, instead)
        if not self.pinned and self.evidence != UNPINNED:
            raise ValueError(f"no digest, so its evidence must be {UNPINNED}")

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


class DataSource(Record, frozen=True, kw_only=True):
    """One way to obtain a data set: its files, how they are read, and how raw labels become classes.

    ``home`` is the folder of files that are shipped with a plug-in; empty for those of this package. A source without
    files has ``generate``, the synthetic data set whose values it is, and their digest. ``owner`` is the data set whose
    source it is.
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
            try:
                full = parse_spec(self.generate).name
            except UsageError as error:
                raise ValueError(f"generate: {error}") from None
            if full != self.generate:
                raise ValueError(f"generate must give all numbers of the synthetic data set, as in {full}")
            if self.sha256 == UNPINNED:
                msgspec.structs.force_setattr(self, "sha256", None)
            return
        if not self.train:
            raise ValueError("train must name at least one file")
        msgspec.structs.force_setattr(self, "loader", checked_loader(self.loader))
        groups = list((self.grouping or {}).values())
        labels = [label for members in groups for label in members]
        if len(set(labels)) < len(labels) or not all(groups):
            raise ValueError("grouping: each class has raw labels, and each raw label one class")

    @property
    def files(self) -> tuple[RawFile, ...]:
        """Training files, then test files."""
        return self.train + self.test


class PublishedShape(Record, frozen=True, kw_only=True):
    """The shape a paper prints: m training rows, t test rows, n features (None where it prints none)."""

    paper: Text
    name: Text
    m: Count | None = None
    t: Count | None = None
    n: Count | None = None


class Entry(Record, frozen=True, kw_only=True):
    """A data set: its task, declared dimension, scaling, split, published shapes and sources.

    ``stands_for`` names the published data set whose place one that is made here takes. ``meanings`` are those of the
    grades of evidence in its lock.
    """

    name: Name
    title: Text
    task: Literal["binary", "multiclass"]
    classes: Count
    features: Index
    scaling: Literal["none", "[-1,1]", "[0,1]"] = "none"
    sources: tuple[DataSource, ...]
    split: dict[str, float] | None = None
    published: tuple[PublishedShape, ...] = ()
    also: tuple[Text, ...] = ()
    note: str = ""
    stands_for: str = ""
    meanings: dict[str, str] = {}

    def __post_init__(self) -> None:
        if (self.task == "binary") != (self.classes == 2):
            raise ValueError(f"task {self.task} with {self.classes} classes")
        if self.split is not None:
            key, part = next(iter(self.split.items()), ("", 0.0))
            whole = key == "train_rows" and part >= 1 and float(part).is_integer()
            if len(self.split) != 1 or not (whole or (key == "test_fraction" and 0 < part < 1)):
                raise ValueError("split must be {test_fraction: 0.2} or {train_rows: 500}")
            msgspec.structs.force_setattr(self, "split", {key: int(part) if whole else part})

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
    """All entries by name; ``overlay`` says which are of the user's: ``added``, ``locked`` or ``first use``."""

    entries: dict[str, Entry]
    overlay: dict[str, str] = {}

    def find(self, name: str) -> Entry | None:
        """Return the entry whose name or alias is ``name``, or None."""
        if name in self.entries:
            return self.entries[name]
        return next((entry for entry in self.entries.values() if name in entry.also), None)


class LockText(Record, frozen=True, kw_only=True):
    """The sections of a lock or an overlay before its entries are looked at."""

    version: int = VERSION
    evidence: dict[str, str] | None = None
    datasets: dict[str, dict[str, Any]] | None = None
    pins: dict[str, dict[str, Any]] | None = None


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
    if taken := next((name for name in added.datasets or {} if known.find(name)), None):
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
        stamps = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths)
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read: {error.strerror}") from None
    return _read(stamps)


@functools.lru_cache(maxsize=4)
def _read(stamps: tuple[tuple[Path, int, int], ...]) -> Lock:
    return assemble({path: load(path) for path, _, _ in stamps})


def load(path: Path) -> LockText:
    """Return the sections of a lock or an overlay; `DataError` if it is not YAML, or not of these sections."""
    return _sections(read_yaml(path, DataError), path)


def parse(text: str, path: Path) -> LockText:
    """Return the sections of a lock's text; ``path`` is named in errors. Else like `load`."""
    return _sections(parse_yaml(text.encode(), str(path), DataError), path)


def _sections(raw: Any, path: Path) -> LockText:
    found = _converted({} if raw is None else raw, LockText, str(path))
    if found.version != VERSION:
        raise DataError(f"{path}: version {found.version}; this fwsvm reads version {VERSION}")
    return found


def assemble(texts: Mapping[Path, LockText]) -> Lock:
    """Return the lock of several files; later entries replace earlier ones, and pins replace facts of files.

    A pin of a file that is in no lock is ignored.
    """
    records = {
        name: (path, record) for path, text in texts.items() for name, record in (text.datasets or {}).items()
    }
    pins = {address: pin for text in texts.values() for address, pin in (text.pins or {}).items()}
    shared: dict[str, str] = {}
    for text in reversed(list(texts.values())):
        shared |= text.evidence or {}
    entries = {}
    for name, (path, record) in records.items():
        home = "" if path == next(iter(texts)) else str(path.parent)
        meanings = shared | (texts[path].evidence or {})
        entries[name] = _entry(
            name, record, {n: r for n, (_, r) in records.items()}, pins, (path, home, meanings)
        )
    for name, wrong in _objections(entries):
        raise DataError(f"{records[name][0]}: datasets.{name}: {wrong}")
    overlay = texts.get(overlay_path()) or LockText()
    theirs = {address.split("/")[0]: pin.get("evidence") for address, pin in pins.items()}
    said = {name: FIRST_USE if evidence == FIRST_USE else "locked" for name, evidence in theirs.items()}
    said |= dict.fromkeys(overlay.datasets or {}, "added")
    return Lock(entries=entries, overlay={name: how for name, how in said.items() if name in entries})


def _entry(
    name: str,
    record: dict[str, Any],
    records: Mapping[str, dict[str, Any]],
    pins: Mapping[str, dict[str, Any]],
    of_lock: tuple[Path, str, dict[str, str]],
) -> Entry:
    path, home, meanings = of_lock
    where = f"{path}: datasets.{name}"
    owner = record.get("sources_of", name)
    if owner != name and ("sources" in record or owner not in records):
        raise DataError(
            f"{where}.sources_of: must name a data set of the lock, and stands in place of sources"
        )
    sources = _converted(records[owner].get("sources"), dict[str, dict[str, Any]], f"{where}.sources")
    if not sources:
        raise DataError(f"{where}.sources: must name at least one source")
    grouping = {"grouping": record["grouping"]} if "grouping" in record else {}
    found = []
    for key, source in sources.items():
        pinned = {
            role: [_pinned(file, f"{owner}/{key}", pins) for file in source[role]]
            for role in ("train", "test")
            if isinstance(source.get(role), list)
        }
        whole = {**source, **pinned, **grouping, "name": key, "owner": owner, "home": home}
        found.append(_converted(whole, DataSource, f"{where}.sources.{key}"))
    rest = {key: value for key, value in record.items() if key not in {"sources", "sources_of", "grouping"}}
    some = {"name": name, "sources": (), "meanings": meanings}
    return msgspec.structs.replace(_converted({**rest, **some}, Entry, where), sources=tuple(found))


def _pinned(file: Any, source: str, pins: Mapping[str, dict[str, Any]]) -> Any:
    """Return a file's record with the facts that are pinned elsewhere."""
    return {**file, **pins.get(f"{source}/{file.get('file')}", {})} if isinstance(file, dict) else file


def _converted(raw: object, kind: type[Kind], where: str) -> Kind:
    """Return a value of a type; `DataError` names the place and the key of what is wrong."""
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        said, _, key = str(error).partition(" - at `")
        raise DataError(f"{where}{key.rstrip('`').lstrip('$')}: {said}") from None


def _objections(entries: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """Yield the names of entries that do not go with the others, and what is wrong with each."""
    seen: dict[str, str] = {}
    for name, entry in entries.items():
        for word in (name, *entry.also):
            if seen.setdefault(word, name) != name or (word != name and word in entries):
                yield name, f"the name {word!r} is taken by {seen[word]}"
        for rule in (file.derivation for source in entry.sources for file in source.files):
            kind = "complement" if isinstance(rule, Complement) else "draw"
            for word in rule.parents if rule else ():
                files = entries[word].sources[0].train if word in entries else ()
                if word not in entries:
                    yield name, f"{kind}: there is no data set {word!r}"
                elif not files or (files[0].complement if kind == "complement" else files[0].derivation):
                    yield name, f"{kind}: the training file of {word} is derived itself"
        if entry.stands_for and not (entry.stands_for in entries and entries[entry.stands_for].published):
            yield name, f"stands_for: no paper has a data set {entry.stands_for!r}"
