"""From a lock's values to entries; whatever is wrong in it is a `DataError` with file, line and key."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from fwsvm.data.entry import UNKNOWN, UNPINNED, Complement, Entry, File, Lock, Published, Source
from fwsvm.data.lockvalue import Value
from fwsvm.data.separators import not_a_separator
from fwsvm.errors import shown
from fwsvm.scaling import SCALINGS

VERSION = 1
TASKS = ("binary", "multiclass")
MOST_FEATURES = 2**31 - 2  # what a reader's 32-bit indices hold
PIN = ("bytes", "sha256", "md5", "rows", "max_index", "evidence", "digest_from", "verified")

Pins = Mapping[str, Mapping[str, Any]]


def lock(package: Value, overlay: Value | None = None) -> Lock:
    """Return the lock that a package's file and an overlay make: its data sets are added, its pins replace facts.

    An overlay's pin of a file that the package no longer has is left aside.
    """
    whole = _sections(package, ("version", "evidence", "datasets"))
    over = _sections(overlay, ("version", "evidence", "datasets", "pins")) if overlay else {}
    evidence = {
        key: value.text() for part in (whole, over) for key, value in _members(part, "evidence").items()
    }
    own, added = _members(whole, "datasets"), _members(over, "datasets")
    records = own | added
    entries = {name: _entry(name, value, records, evidence) for name, value in records.items()}
    pins = _pins(_members(over, "pins"), evidence)
    entries = {name: _pinned(entry, pins) for name, entry in entries.items()}
    _check_names(entries, records)
    _check_complements(entries, records)
    told = dict.fromkeys(added, "added")
    told |= {a.split("/")[0]: "locked" for a in pins if a.split("/")[0] not in added}
    return Lock(entries, evidence, {name: how for name, how in told.items() if name in entries})


def _sections(value: Value, known: tuple[str, ...]) -> dict[str, Value]:
    sections = value.mapping(known)
    version = sections.get("version")
    if version is not None and (version.node.value != VERSION or isinstance(version.node.value, bool)):
        raise version.wrong(f"version {shown(version.node.value)}; this fwsvm reads version {VERSION}")
    return sections


def _members(sections: Mapping[str, Value], key: str) -> dict[str, Value]:
    """Return a section's members; one that is left out or empty has none."""
    found = sections.get(key)
    return {} if found is None or found.node.value is None else found.mapping()


def _must(record: Mapping[str, Value], key: str, value: Value) -> Value:
    if key not in record:
        raise value.wrong(f"{key} is missing")
    return record[key]


def _entry(name: str, value: Value, records: Mapping[str, Value], evidence: Mapping[str, str]) -> Entry:
    Value(value.node._replace(value=name), value.file, value.keys).name("data set")
    record = value.mapping({f.name for f in fields(Entry)} - {"name"} | {"sources_of"})
    owner, sources = name, record.get("sources")
    if "sources_of" in record:
        owner = record["sources_of"].name("data set")
        if "sources" in record or owner not in records:
            raise record["sources_of"].wrong("a data set of the lock, in place of sources of one's own")
        sources = records[owner].mapping().get("sources")
    if sources is None or not sources.mapping():
        raise value.wrong("no sources")
    entry = Entry(
        name=name,
        title=_must(record, "title", value).text(),
        task=_must(record, "task", value).one_of(TASKS),
        classes=_must(record, "classes", value).count(),
        features=_must(record, "features", value).count(MOST_FEATURES),
        scaling=record["scaling"].one_of(SCALINGS) if "scaling" in record else "none",
        sources=tuple(_source(key, owner, each, evidence) for key, each in sources.mapping().items()),
        split=_split(record["split"]) if "split" in record else None,
        published=tuple(_published(each) for each in record["published"].items())
        if "published" in record
        else (),
        also=tuple(each.text() for each in record["also"].items()) if "also" in record else (),
        note=record["note"].text() if "note" in record else "",
    )
    if (entry.task == "binary") != (entry.classes == 2):
        raise value.wrong(f"task {entry.task} with {entry.classes} classes")
    return entry


def _source(name: str, owner: str, value: Value, evidence: Mapping[str, str]) -> Source:
    Value(value.node._replace(value=name), value.file, value.keys).name("source")
    record = value.mapping(("loader", "train", "test", "grouping", "note"))
    train = _must(record, "train", value).items()
    if not train:
        raise record["train"].wrong("a list of files, not an empty one")
    return Source(
        name=name,
        owner=owner,
        loader=_loader(_must(record, "loader", value)),
        train=tuple(_file(each, evidence) for each in train),
        test=tuple(_file(each, evidence) for each in record["test"].items()) if "test" in record else (),
        grouping=_grouping(record["grouping"]) if "grouping" in record else None,
        note=record["note"].text() if "note" in record else "",
    )


def _grouping(value: Value) -> dict[Any, tuple[Any, ...]]:
    groups = {key: tuple(item.label() for item in members.items()) for key, members in value.pairs()}
    labels = [label for members in groups.values() for label in members]
    if len(set(labels)) < len(labels) or not all(groups.values()):
        raise value.wrong("each class has raw labels, and each raw label one class")
    return groups


def _text_or_nothing(value: Value) -> str | None:
    """Return a text as it stands, blanks and all, or None."""
    if value.node.value is not None and not isinstance(value.node.value, str):
        raise value.wrong(f"a text, not {shown(value.node.value)}")
    return value.node.value


def _categorical(value: Value) -> Any:
    if isinstance(value.node.value, list):
        return [item.column() for item in value.items()]
    columns = {key: [item.label() for item in values.items()] for key, values in value.pairs()}
    if len({type(key) for key in columns}) > 1 or float in map(type, columns):
        raise value.wrong("columns are all places or all names")
    return columns


_OPTIONS: Mapping[str, Mapping[str, Callable[[Value], Any]]] = {
    "svmlight": {"zero_based": Value.truth},
    "csv": {
        "delimiter": _text_or_nothing,
        "header": Value.truth,
        "label": Value.column,
        "drop": lambda value: [item.column() for item in value.items()],
        "categorical": _categorical,
        "comment": _text_or_nothing,
        "features": lambda value: value.count(MOST_FEATURES),
    },
    "kdd99": {},
    "miniboone": {},
}


def _loader(value: Value) -> dict[str, Any]:
    kind = value.mapping().get("format")
    if kind is None or kind.node.value not in list(_OPTIONS):
        raise value.wrong(f"format must be one of {', '.join(_OPTIONS)}")
    options = _OPTIONS[kind.node.value]
    record = value.mapping(("format", *options))
    loader = {"format": kind.node.value}
    loader |= {key: options[key](given) for key, given in record.items() if key != "format"}
    if loader["format"] == "csv" and (
        wrong := not_a_separator(loader.get("delimiter", ","), loader.get("comment", ""))
    ):
        raise value.wrong(wrong)
    return loader


_FACTS: Mapping[str, Callable[[Value], Any]] = {
    "file": lambda value: value.name("file"),
    "urls": lambda value: value.addresses(UNKNOWN),
    "verified": Value.truth,
    "bytes": Value.count,
    "sha256": lambda value: value.digest(64, UNPINNED),
    "md5": lambda value: value.digest(32, UNPINNED),
    "rows": Value.count,
    "max_index": lambda value: value.count(MOST_FEATURES),
    "digest_from": Value.text,
    "member": Value.text,
    "shipped": Value.truth,
    "note": Value.text,
}


def _facts(value: Value, known: tuple[str, ...], evidence: Mapping[str, str]) -> dict[str, Any]:
    record = value.mapping(known)
    found = {key: _FACTS[key](given) for key, given in record.items() if key in _FACTS}
    if "evidence" in record:
        found["evidence"] = record["evidence"].one_of(evidence)
    return found


def _file(value: Value, evidence: Mapping[str, str]) -> File:
    record = value.mapping({f.name for f in fields(File)})
    name = _must(record, "file", value).name("file")
    value = Value(value.node, value.file, (*value.keys, name))
    _must(record, "evidence", value)
    found = _facts(value, tuple(f.name for f in fields(File)), evidence)
    if "complement" in record:
        rule = record["complement"].node.value
        if not isinstance(rule, dict) or set(rule) != {"of", "minus"}:
            raise record["complement"].wrong("{of: NAME, minus: NAME}")
        found["complement"] = Complement(
            **{key: each.name("data set") for key, each in record["complement"].mapping().items()}
        )
    return _consistent(File(**found), value)


def _consistent(file: File, value: Value) -> File:
    if not file.pinned and file.evidence != UNPINNED:
        raise value.wrong(f"no digest, so its evidence must be {UNPINNED}")
    return file


def _published(value: Value) -> Published:
    known = tuple(f.name for f in fields(Published))
    if not isinstance(value.node.value, dict) or not {"paper", "name"} <= set(value.node.value):
        raise value.wrong("each has paper and name, and m, t, n where printed")
    record = value.mapping(known)
    paper, name = (record[key].text() for key in ("paper", "name"))
    return Published(paper, name, **{key: record[key].count() for key in ("m", "t", "n") if key in record})


def _split(value: Value) -> dict[str, Any]:
    said = "{test_fraction: 0.2} or {train_rows: 500}"
    found = value.node.value
    if not isinstance(found, dict) or list(found) not in (["test_fraction"], ["train_rows"]):
        raise value.wrong(said)
    ((key, each),) = value.mapping().items()
    if key == "train_rows":
        return {key: each.count()}
    part = each.node.value
    if isinstance(part, bool) or not isinstance(part, (int, float)) or not 0 < part < 1:
        raise each.wrong(
            f"a number between 0 and 1, not {part!r}" if not isinstance(part, (dict, list)) else said
        )
    return {key: part}


def _pins(section: Mapping[str, Value], evidence: Mapping[str, str]) -> Pins:
    pins = {}
    for address, value in section.items():
        if len(address.split("/")) != 3:
            raise value.wrong("a pin is of DATASET/SOURCE/FILE")
        pins[address] = _facts(value, PIN, evidence)
    return pins


def _pinned(entry: Entry, pins: Pins) -> Entry:
    """Return the entry with the facts that are pinned elsewhere."""
    if not pins:
        return entry

    def files(source: Source, given: tuple[File, ...]) -> tuple[File, ...]:
        return tuple(replace(f, **pins.get(f"{source.owner}/{source.name}/{f.file}", {})) for f in given)

    return replace(
        entry,
        sources=tuple(replace(s, train=files(s, s.train), test=files(s, s.test)) for s in entry.sources),
    )


def _check_names(entries: Mapping[str, Entry], records: Mapping[str, Value]) -> None:
    seen: dict[str, str] = {}
    for name, entry in entries.items():
        for word in (name, *entry.also):
            if seen.setdefault(word, name) != name or (word != name and word in entries):
                raise records[name].wrong(f"the name {word!r} is taken by {seen[word]}")


def _check_complements(entries: Mapping[str, Entry], records: Mapping[str, Value]) -> None:
    """Refuse a file that is to be derived from what there is not, or from what is derived itself."""
    for name, entry in entries.items():
        for rule in (f.complement for s in entry.sources for f in s.files if f.complement):
            for word in (rule.of, rule.minus):
                if word not in entries:
                    raise records[name].wrong(f"complement: there is no data set {word!r}")
                if entries[word].sources[0].train[0].complement:
                    raise records[name].wrong(f"complement: the training file of {word} is derived itself")
