"""Output of ``fwsvm data list`` and ``info``: records for ``--json``, and text."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwsvm.cli._lines import align, as_yaml, wrap
from fwsvm.papers import by_author

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fwsvm.data.lockfile import DataSource, Entry, RawFile

#: States of an entry, from the nearest to the farthest.
STATES = {
    "ready": "its files are here",
    "mirror": "its files are in the mirror",
    "derive": "it can be derived from other sets",
    "made": "its rows are generated here",
    "fetch": "`fwsvm data fetch` gets it",
    "trust": "no digest is published; the first download is recorded",
    "by hand": "add its files with `fwsvm data add`: no address is known",
}
#: States of an entry in the user's overlay.
OVERLAY = {
    "added": "added by you",
    "locked": "digests recorded by you",
    "first use": "first use: digests recorded when the files were first fetched",
}
COLUMNS = ("name", "classes", "rows", "test_rows", "features", "state")


def entry_record(entry: Entry, mirror: str | None, overlay: str | None) -> dict[str, Any]:
    """Return a row of the list: shape after the split, state, source, papers.

    ``overlay`` is the entry's state in the user's overlay, see `fwsvm.data.lockfile.Lock`.
    """
    order = list(STATES)

    def distance(source: DataSource) -> int:
        states = [_state(source, file, mirror) for file in source.files] or ["made"]
        return max(map(order.index, states))

    nearest = min(entry.sources, key=distance)
    rows, test_rows = _shape(entry)
    names = ("name", "title", "task", "classes", "features", "scaling", "made", "stands_for")
    return {
        **{name: getattr(entry, name) for name in names},
        "rows": rows,
        "test_rows": test_rows,
        "state": order[distance(nearest)],
        "source": nearest.name,
        "overlay": overlay,
        "papers": sorted(
            {by_author(number) for shape in entry.published for number in shape.paper.split(", ")}
        ),
    }


def full_record(entry: Entry, mirror: str | None, overlay: Mapping[str, str]) -> dict[str, Any]:
    """Return all that is known of an entry, sources and files included."""
    from msgspec import to_builtins
    from msgspec.structs import asdict

    from fwsvm.data import lockfile

    evidence = lockfile.read().evidence

    def facts(source: DataSource, file: RawFile) -> dict[str, Any]:
        path, role = source.path(file), "train" if file in source.train else "test"
        more = {"evidence": evidence.get(file.evidence, file.evidence), "here": path.is_file()}
        return {"role": role, **asdict(file), **more, "path": str(path)}

    record = entry_record(entry, mirror, overlay.get(entry.name)) | {
        "also": entry.also,
        "split": entry.split,
        "published": entry.published,
        "note": entry.note,
        "sources": [
            {
                **{name: getattr(each, name) for name in ("name", "loader", "grouping", "note", "generate")},
                "sha256": each.sha256,
                "files": [facts(each, file) for file in each.files],
            }
            for each in entry.sources
        ],
    }
    found: dict[str, Any] = to_builtins(record, str_keys=True)
    return found


def _shape(entry: Entry) -> tuple[int | None, int | None]:
    """Return the numbers of training and test rows after the split, from the lock or else from a paper."""
    from fwsvm.data.synthetic import parse_spec

    def total(files: Sequence[RawFile]) -> int | None:
        counts = [file.rows for file in files if file.rows]
        return sum(counts) if len(counts) == len(files) else None

    for source in entry.sources:
        if source.generate:
            made = parse_spec(source.generate)
            return made.rows, made.test
        train, test = total(source.train), total(source.test)
        if train is None or test is None:
            continue
        pool = train + test
        if entry.split is not None:
            drawn = entry.split.train_rows or pool - math.ceil((entry.split.test_fraction or 0) * pool)
            return drawn, pool - drawn
        return train, test
    no_test = 0 if entry.split is None and not entry.sources[0].test else None
    return (entry.published[0].m, entry.published[0].t or no_test) if entry.published else (None, no_test)


def _state(source: DataSource, file: RawFile, mirror: str | None) -> str:
    """Return the state of a file, without reading it."""
    if (file.pinned or file.parents) and source.path(file).is_file():
        return "ready"
    if mirror and "://" not in mirror and Path(mirror, file.file).is_file():
        return "mirror"
    if file.pinned and file.urls:
        return "fetch"
    if file.parents:
        return "derive"
    return "trust" if file.urls else "by hand"


def list_lines(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the aligned table of the list, at most 80 columns wide, and what its words mean."""
    rows = [[_number(value) for value in map(record.get, COLUMNS)] for record in records]
    rows.insert(0, [name.replace("_", " ") for name in COLUMNS])
    rows.insert(1, ["-" * max(map(len, column)) for column in zip(*rows, strict=True)])
    yield from (*align(rows, left=(0, 5)), "")
    states = {record["state"] for record in records}
    yield from (f"{state + ':':9}{said}" for state, said in STATES.items() if state in states)
    for how, said in OVERLAY.items():
        if names := ", ".join(record["name"] for record in records if record["overlay"] == how):
            yield from wrap(f"{said}: {names}", "yours:    ", " " * 10)


def _number(value: Any) -> str:
    return "?" if value is None else "-" if value == 0 else f"{value:,}" if isinstance(value, int) else value


def info_text(record: Mapping[str, Any]) -> str:
    """Return a record as YAML, without what is empty."""
    said = {"state": STATES[record["state"]], "overlay": OVERLAY.get(record["overlay"] or "")}
    return as_yaml({**record, **said})
