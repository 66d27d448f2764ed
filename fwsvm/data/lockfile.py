"""``datasets.lock``: what each data set is, where its files come from, and the digests that prove them.

The lock is YAML. An entry has alternative sources; a source has its own files, and a file its own URLs, size
and digests, so that no byte is ever trusted by its name. In a checkout the file lies at the top of the
repository and is edited in place; elsewhere it is part of the package and additions go to an overlay in the
cache folder.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from fwsvm.data.entry import UNKNOWN, UNPINNED, Complement, Entry, File, Lock, Published, Source
from fwsvm.errors import DataError
from fwsvm.folders import data_folder

#: YAML's safe reader, in C where it is there: a lock of 1,500 lines takes 40 ms with it, 500 ms without.
SAFE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

VERSION = 1
SCALINGS = ("none", "[-1,1]", "[0,1]")
LOADERS = ("svmlight", "csv", "kdd99", "miniboone")


def in_checkout() -> bool:
    """Whether the package runs from a checkout, whose top-level lock is the one to edit."""
    top = Path(__file__).parents[2]
    return (top / "datasets.lock").is_file() and (top / "pyproject.toml").is_file()


def lock_path() -> Path:
    """Return the lock that belongs to this copy of the package."""
    return (
        Path(__file__).parents[2] / "datasets.lock"
        if in_checkout()
        else Path(__file__).parent / "datasets.lock"
    )


def overlay_path() -> Path:
    """Return the file in the cache that holds what was added or locked outside a checkout."""
    return data_folder() / "datasets.lock"


def read() -> Lock:
    """Return the package's lock with the overlay's entries and digests laid over it."""
    paths = [lock_path()] + ([overlay_path()] if not in_checkout() and overlay_path().is_file() else [])
    stamps = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths)
    return _read(stamps)


@functools.lru_cache(maxsize=4)
def _read(stamps: tuple[tuple[Path, int, int], ...]) -> Lock:
    raw: dict[str, Any] = {}
    for path, _, _ in stamps:
        lay_over(raw, load_yaml(path))
    return parse(raw, str(stamps[0][0]))


def load_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file; `DataError` says where it is broken."""
    try:
        raw = yaml.load(path.read_text("utf-8"), Loader=SAFE)  # noqa: S506
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"{path}: not a readable lock: {' '.join(str(error).split())}") from None
    if not isinstance(raw, dict):
        raise DataError(f"{path}: not a lock: the top level must be a mapping")
    return raw


def lay_over(raw: dict[str, Any], more: dict[str, Any]) -> None:
    """Lay ``more`` over ``raw``: new data sets are added, ``pins`` replace digests of single files."""
    raw.setdefault("datasets", {}).update(more.get("datasets") or {})
    raw["evidence"] = (raw.get("evidence") or {}) | (more.get("evidence") or {})
    for address, pin in (more.get("pins") or {}).items():
        for record in file_records(raw, address):
            record.update(pin)


def file_records(raw: Mapping[str, Any], address: str) -> list[dict[str, Any]]:
    """Return the raw records that ``dataset/source/file`` names (a file may serve as train and test)."""
    dataset, source, name = address.split("/", 2)
    found = (((raw["datasets"].get(dataset) or {}).get("sources") or {}).get(source)) or {}
    return [r for role in ("train", "test") for r in found.get(role) or () if r.get("file") == name]


def parse(raw: Mapping[str, Any], where: str = "datasets.lock") -> Lock:
    """Turn a lock's YAML into entries; `DataError` names the entry and key that are wrong."""
    _no_other_keys(raw, {"version", "evidence", "datasets"}, where)
    if raw.get("version", 1) != VERSION:
        raise DataError(f"{where}: version {raw['version']}; this fwsvm reads version {VERSION}")
    evidence = raw.get("evidence") or {}
    datasets = raw.get("datasets") or {}
    entries: dict[str, Entry] = {}
    for name, record in datasets.items():
        entries[name] = _entry(name, record, datasets, evidence, f"{where}: {name}")
    seen: dict[str, str] = {}
    for name, entry in entries.items():
        for word in (name, *entry.also):
            if seen.setdefault(word, name) != name or (word != name and word in entries):
                raise DataError(f"{where}: {name}: the name {word!r} is taken by {seen[word]}")
    return Lock(entries, evidence)


def _entry(
    name: str, record: Any, datasets: Mapping[str, Any], evidence: Mapping[str, str], where: str
) -> Entry:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", str(name)) or not isinstance(record, dict):
        raise DataError(f"{where}: an entry is a plain name and a mapping")
    known = {f.name for f in fields(Entry)} - {"name"} | {"sources_of"}
    _no_other_keys(record, known, where)
    owner, sources = name, record.get("sources")
    if "sources_of" in record:
        owner = record["sources_of"]
        sources = (datasets.get(owner) or {}).get("sources")
    if not isinstance(sources, dict) or not sources:
        raise DataError(f"{where}: no sources")
    entry = Entry(
        name=name,
        title=str(_must(record, "title", where)),
        task=_one_of(_must(record, "task", where), ("binary", "multiclass"), f"{where}: task"),
        classes=_count(_must(record, "classes", where), f"{where}: classes"),
        features=_count(_must(record, "features", where), f"{where}: features"),
        scaling=_one_of(record.get("scaling", "none"), SCALINGS, f"{where}: scaling"),
        sources=tuple(_source(s, owner, r, evidence, f"{where}: {s}") for s, r in sources.items()),
        split=_split(record.get("split"), f"{where}: split"),
        published=tuple(_published(p, f"{where}: published") for p in record.get("published") or ()),
        also=tuple(record.get("also") or ()),
        note=" ".join(str(record.get("note", "")).split()),
    )
    if (entry.task == "binary") != (entry.classes == 2):
        raise DataError(f"{where}: task {entry.task} with {entry.classes} classes")
    return entry


def _source(name: str, owner: str, record: Any, evidence: Mapping[str, str], where: str) -> Source:
    if not isinstance(record, dict):
        raise DataError(f"{where}: a source is a mapping")
    _no_other_keys(record, {"loader", "train", "test", "grouping", "note"}, where)
    loader = _must(record, "loader", where)
    if not isinstance(loader, dict) or loader.get("format") not in LOADERS:
        raise DataError(f"{where}: loader: format must be one of {', '.join(LOADERS)}")
    grouping = record.get("grouping")
    return Source(
        name=name,
        owner=owner,
        loader=loader,
        train=tuple(_file(r, evidence, f"{where}: train") for r in _must(record, "train", where)),
        test=tuple(_file(r, evidence, f"{where}: test") for r in record.get("test") or ()),
        grouping={k: tuple(v) for k, v in grouping.items()} if grouping else None,
        note=" ".join(str(record.get("note", "")).split()),
    )


def _file(record: Any, evidence: Mapping[str, str], where: str) -> File:
    if not isinstance(record, dict):
        raise DataError(f"{where}: a file is a mapping")
    _no_other_keys(record, {f.name for f in fields(File)}, where)
    name = str(_must(record, "file", where))
    where = f"{where}: {name}"
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", name):
        raise DataError(f"{where}: not a plain file name")
    values = dict(record)
    values["urls"] = _urls(record.get("urls", UNKNOWN), where)
    for key, length in (("sha256", 64), ("md5", 32)):
        value = record.get(key, UNPINNED)
        if value != UNPINNED and not re.fullmatch(rf"[0-9a-f]{{{length}}}", str(value)):
            raise DataError(f"{where}: {key}: {length} lower-case hexadecimal digits, or {UNPINNED}")
        values[key] = None if value == UNPINNED else value
    if record.get("evidence") not in evidence:
        raise DataError(f"{where}: evidence: one of {', '.join(evidence)}")
    if (values["sha256"] or values["md5"]) is None and values["evidence"] != UNPINNED:
        raise DataError(f"{where}: no digest, so its evidence must be {UNPINNED}")
    for key in ("bytes", "rows", "max_index"):
        if values.get(key) is not None:
            values[key] = _count(values[key], f"{where}: {key}")
    if values.get("complement"):
        rule = values["complement"]
        if not isinstance(rule, dict) or set(rule) != {"of", "minus"}:
            raise DataError(f"{where}: complement: {{of: NAME, minus: NAME}}")
        values["complement"] = Complement(**rule)
    return File(**values)


def _published(record: Any, where: str) -> Published:
    if not isinstance(record, dict) or not {"paper", "name"} <= set(record):
        raise DataError(f"{where}: each has paper and name, and m, t, n where printed")
    _no_other_keys(record, {f.name for f in fields(Published)}, where)
    return Published(**record)


def _urls(urls: Any, where: str) -> tuple[str, ...]:
    if urls == UNKNOWN:
        return ()
    if not isinstance(urls, list) or not all(re.fullmatch(r"https?://\S+", str(u)) for u in urls):
        raise DataError(f"{where}: urls: a list of http(s) addresses, or {UNKNOWN}")
    return tuple(urls)


def _split(split: Any, where: str) -> Mapping[str, Any] | None:
    if split is None:
        return None
    if not isinstance(split, dict) or list(split) not in (["test_fraction"], ["train_rows"]):
        raise DataError(f"{where}: {{test_fraction: 0.2}} or {{train_rows: 500}}")
    return split


def _must(record: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in record:
        raise DataError(f"{where}: {key} is missing")
    return record[key]


def _count(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise DataError(f"{where}: a positive whole number, not {value!r}")
    return value


def _one_of(value: Any, allowed: tuple[str, ...], where: str) -> str:
    if value not in allowed:
        raise DataError(f"{where}: one of {', '.join(allowed)}, not {value!r}")
    return str(value)


def _no_other_keys(record: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in record:
        if key not in known:
            raise DataError(f"{where}: unknown key {key!r}; known: {', '.join(sorted(known))}")
