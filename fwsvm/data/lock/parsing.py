"""From YAML values to entries; an invalid value is a `DataError` with file, line and key."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from fwsvm.data.formats.registry import FORMATS, MAX_INDEX
from fwsvm.data.lock import consistency
from fwsvm.data.lock.entry import (
    UNKNOWN,
    UNPINNED,
    Complement,
    DataSource,
    DrawnLines,
    Entry,
    Lock,
    PublishedShape,
    RawFile,
)
from fwsvm.data.lock.values import LockValue
from fwsvm.data.synthetic import parse_spec
from fwsvm.errors import UsageError, not_one_of, shown
from fwsvm.scaling import SCALINGS

VERSION = 1
TASKS = ("binary", "multiclass")
PIN = ("bytes", "sha256", "md5", "rows", "max_index", "evidence", "digest_from", "verified")

Pins = Mapping[str, Mapping[str, Any]]


def parse_lock(
    package: LockValue, overlay: LockValue | None = None, *, others: Sequence[LockValue] = ()
) -> Lock:
    """Return the lock of a package's file and an overlay, which adds data sets and replaces facts of files.

    ``others`` are locks of plug-ins, whose data sets are added to the package's.

    A pin of a file that the package no longer has is ignored.
    """
    whole = _sections(package, ("version", "evidence", "datasets"))
    over = _sections(overlay, ("version", "evidence", "datasets", "pins")) if overlay else {}
    more = [_sections(other, ("version", "evidence", "datasets")) for other in others]
    evidence = {
        key: value.text()
        for part in (*more, whole, over)
        for key, value in _members(part, "evidence").items()
    }
    own, added = _members(whole, "datasets"), _members(over, "datasets")
    for other in more:
        own |= _members(other, "datasets")
    records = own | added
    entries = {name: _entry(name, value, records, evidence) for name, value in records.items()}
    pins = _pins(_members(over, "pins"), evidence)
    entries = {name: _pinned(entry, pins) for name, entry in entries.items()}
    for name, wrong in consistency.objections(entries):
        raise records[name].error(wrong)
    told = dict.fromkeys(added, "added")
    told |= {a.split("/")[0]: "locked" for a in pins if a.split("/")[0] not in added}
    return Lock(entries, evidence, {name: how for name, how in told.items() if name in entries})


def _sections(value: LockValue, known: tuple[str, ...]) -> dict[str, LockValue]:
    sections = value.mapping(known)
    version = sections.get("version")
    if version is not None and (version.node.value != VERSION or isinstance(version.node.value, bool)):
        raise version.error(f"version {shown(version.node.value)}; this fwsvm reads version {VERSION}")
    return sections


def _members(sections: Mapping[str, LockValue], key: str) -> dict[str, LockValue]:
    """Return a section's members; a missing or empty section has none."""
    found = sections.get(key)
    return {} if found is None or found.node.value is None else found.mapping()


def _must(record: Mapping[str, LockValue], key: str, value: LockValue) -> LockValue:
    if key not in record:
        raise value.error(f"{key} is missing")
    return record[key]


def _entry(
    name: str, value: LockValue, records: Mapping[str, LockValue], evidence: Mapping[str, str]
) -> Entry:
    LockValue(value.node._replace(value=name), value.file, value.keys).name("data set")
    record = value.mapping({f.name for f in fields(Entry)} - {"name"} | {"sources_of", "grouping"})
    owner, sources = name, record.get("sources")
    if "sources_of" in record:
        owner = record["sources_of"].name("data set")
        if "sources" in record or owner not in records:
            raise record["sources_of"].error(
                "must name a data set of the lock, and stands in place of sources"
            )
        sources = records[owner].mapping().get("sources")
    if sources is None or not sources.mapping():
        raise value.error("must name at least one source")
    found = tuple(_source(key, owner, each, evidence) for key, each in sources.mapping().items())
    if "grouping" in record:
        found = tuple(replace(each, grouping=_grouping(record["grouping"])) for each in found)
    entry = Entry(
        name=name,
        title=_must(record, "title", value).text(),
        task=_must(record, "task", value).one_of(TASKS),
        classes=_must(record, "classes", value).count(),
        features=_must(record, "features", value).count(MAX_INDEX),
        scaling=record["scaling"].one_of(SCALINGS) if "scaling" in record else "none",
        sources=found,
        split=_split(record["split"]) if "split" in record else None,
        published=tuple(_published(each) for each in record["published"].items())
        if "published" in record
        else (),
        also=tuple(each.text() for each in record["also"].items()) if "also" in record else (),
        note=record["note"].text() if "note" in record else "",
        stands_for=record["stands_for"].name("data set") if "stands_for" in record else "",
    )
    if (entry.task == "binary") != (entry.classes == 2):
        raise value.error(f"task {entry.task} with {entry.classes} classes")
    return entry


def _source(name: str, owner: str, value: LockValue, evidence: Mapping[str, str]) -> DataSource:
    LockValue(value.node._replace(value=name), value.file, value.keys).name("source")
    if "generate" in value.mapping():
        return _generated(name, owner, value)
    record = value.mapping(("loader", "train", "test", "grouping", "note"))
    train = _must(record, "train", value).items()
    if not train:
        raise record["train"].error("a list of files, not an empty one")
    return DataSource(
        name=name,
        owner=owner,
        loader=_loader(_must(record, "loader", value)),
        train=tuple(_file(each, evidence) for each in train),
        test=tuple(_file(each, evidence) for each in record["test"].items()) if "test" in record else (),
        grouping=_grouping(record["grouping"]) if "grouping" in record else None,
        note=record["note"].text() if "note" in record else "",
    )


def _generated(name: str, owner: str, value: LockValue) -> DataSource:
    record = value.mapping(("generate", "sha256", "note"))
    given = record["generate"].text()
    try:
        made = parse_spec(given)
    except UsageError as error:
        raise record["generate"].error(str(error)) from None
    if made.name != given:
        raise record["generate"].error(f"must give all numbers of the synthetic data set, as in {made.name}")
    return DataSource(
        name=name,
        owner=owner,
        loader={},
        train=(),
        note=record["note"].text() if "note" in record else "",
        generate=given,
        sha256=_must(record, "sha256", value).digest(64, UNPINNED),
    )


def _grouping(value: LockValue) -> dict[Any, tuple[Any, ...]]:
    groups = {key: tuple(item.label() for item in members.items()) for key, members in value.pairs()}
    labels = [label for members in groups.values() for label in members]
    if len(set(labels)) < len(labels) or not all(groups.values()):
        raise value.error("each class has raw labels, and each raw label one class")
    return groups


def _loader(value: LockValue) -> dict[str, Any]:
    kind = value.mapping().get("format")
    if kind is None:
        raise value.error("format is missing")
    if kind.node.value not in list(FORMATS):
        raise value.error(not_one_of("format", FORMATS, kind.node.value))
    known = FORMATS[kind.node.value]
    record = value.mapping(("format", *known.options))
    options = {key: known.options[key](given) for key, given in record.items() if key != "format"}
    if wrong := known.objection(options):
        raise value.error(wrong)
    return {"format": kind.node.value, **options}


_FILE_FACTS: Mapping[str, Callable[[LockValue], Any]] = {
    "file": lambda value: value.name("file"),
    "urls": lambda value: value.addresses(UNKNOWN),
    "verified": LockValue.boolean,
    "bytes": LockValue.count,
    "sha256": lambda value: value.digest(64, UNPINNED),
    "md5": lambda value: value.digest(32, UNPINNED),
    "rows": LockValue.count,
    "max_index": lambda value: value.count(MAX_INDEX),
    "digest_from": LockValue.text,
    "member": LockValue.text,
    "shipped": LockValue.boolean,
    "note": LockValue.text,
}


def _file_facts(value: LockValue, known: tuple[str, ...], evidence: Mapping[str, str]) -> dict[str, Any]:
    record = value.mapping(known)
    found = {key: _FILE_FACTS[key](given) for key, given in record.items() if key in _FILE_FACTS}
    if "evidence" in record:
        found["evidence"] = record["evidence"].one_of(evidence)
    return found


def _file(value: LockValue, evidence: Mapping[str, str]) -> RawFile:
    record = value.mapping({f.name for f in fields(RawFile)})
    name = _must(record, "file", value).name("file")
    value = LockValue(value.node, value.file, (*value.keys, name))
    _must(record, "evidence", value)
    found = _file_facts(value, tuple(f.name for f in fields(RawFile)), evidence)
    if "complement" in record:
        rule = record["complement"].node.value
        if not isinstance(rule, dict) or set(rule) != {"of", "minus"}:
            raise record["complement"].error("must be {of: NAME, minus: NAME}")
        found["complement"] = Complement(
            **{key: each.name("data set") for key, each in record["complement"].mapping().items()}
        )
    if "draw" in record:
        found["draw"] = _draw(record["draw"])
    return _consistent(RawFile(**found), value)


def _draw(value: LockValue) -> DrawnLines:
    rule = value.node.value
    if not isinstance(rule, dict) or set(rule) != {"of", "onto", "rows", "seed"}:
        raise value.error("must be {of: NAME, onto: NAME, rows: M, seed: N}")
    record = value.mapping()
    of, onto = (record[key].name("data set") for key in ("of", "onto"))
    return DrawnLines(of, onto, record["rows"].count(), record["seed"].count())


def _consistent(file: RawFile, value: LockValue) -> RawFile:
    if not file.pinned and file.evidence != UNPINNED:
        raise value.error(f"no digest, so its evidence must be {UNPINNED}")
    return file


def _published(value: LockValue) -> PublishedShape:
    known = tuple(f.name for f in fields(PublishedShape))
    if not isinstance(value.node.value, dict) or not {"paper", "name"} <= set(value.node.value):
        raise value.error("each has paper and name, and m, t, n where printed")
    record = value.mapping(known)
    paper, name = (record[key].text() for key in ("paper", "name"))
    return PublishedShape(
        paper, name, **{key: record[key].count() for key in ("m", "t", "n") if key in record}
    )


def _split(value: LockValue) -> dict[str, Any]:
    said = "must be {test_fraction: 0.2} or {train_rows: 500}"
    found = value.node.value
    if not isinstance(found, dict) or list(found) not in (["test_fraction"], ["train_rows"]):
        raise value.error(said)
    ((key, each),) = value.mapping().items()
    if key == "train_rows":
        return {key: each.count()}
    part = each.node.value
    if isinstance(part, bool) or not isinstance(part, (int, float)) or not 0 < part < 1:
        raise each.error(
            f"a number between 0 and 1, not {part!r}" if not isinstance(part, (dict, list)) else said
        )
    return {key: part}


def _pins(section: Mapping[str, LockValue], evidence: Mapping[str, str]) -> Pins:
    pins = {}
    for address, value in section.items():
        if len(address.split("/")) != 3:
            raise value.error("a pin is of DATASET/SOURCE/FILE")
        pins[address] = _file_facts(value, PIN, evidence)
    return pins


def _pinned(entry: Entry, pins: Pins) -> Entry:
    """Return the entry with the facts that are pinned elsewhere."""
    if not pins:
        return entry

    def files(source: DataSource, given: tuple[RawFile, ...]) -> tuple[RawFile, ...]:
        return tuple(replace(f, **pins.get(f"{source.owner}/{source.name}/{f.file}", {})) for f in given)

    return replace(
        entry,
        sources=tuple(replace(s, train=files(s, s.train), test=files(s, s.test)) for s in entry.sources),
    )
