"""Output of ``fwsvm data list`` and ``info``: records for ``--json``, and text."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwsvm.cli._lines import align, wrap

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
COLUMNS = ("name", "classes", "rows", "test_rows", "features", "state", "papers")


def entry_record(entry: Entry, mirror: str | None, overlay: str | None) -> dict[str, Any]:
    """Return a row of the list: shape after the split, state, source, papers.

    ``overlay`` is the entry's state in the user's overlay, see `fwsvm.data.lockfile.Lock`.
    """
    order = list(STATES)
    place, source = min(
        (
            max(
                [order.index(_state(source, file, mirror)) for file in source.files],
                default=order.index("made"),
            ),
            number,
        )
        for number, source in enumerate(entry.sources)
    )
    rows, test_rows = _shape(entry)
    names = ("name", "title", "task", "classes", "features", "scaling", "made", "stands_for")
    return {
        **{name: getattr(entry, name) for name in names},
        "rows": rows,
        "test_rows": test_rows,
        "state": order[place],
        "source": entry.sources[source].name,
        "overlay": overlay,
        "papers": sorted({paper for shape in entry.published for paper in shape.paper.split(", ")}),
    }


def full_record(entry: Entry, mirror: str | None, overlay: Mapping[str, str]) -> dict[str, Any]:
    """Return all that is known of an entry, sources and files included."""
    from msgspec import to_builtins
    from msgspec.structs import asdict

    from fwsvm.data import lockfile

    def facts(source: DataSource) -> dict[str, Any]:
        names = ("name", "loader", "grouping", "note", "generate", "sha256")
        files = []
        for file in source.files:
            role, path = "train" if file in source.train else "test", source.path(file)
            files.append({"role": role, **asdict(file), "path": str(path), "here": path.is_file()})
        return {**{name: getattr(source, name) for name in names}, "files": files}

    record = entry_record(entry, mirror, overlay.get(entry.name)) | {
        "also": entry.also,
        "split": entry.split,
        "published": [asdict(shape) for shape in entry.published],
        "note": entry.note,
        "evidence": lockfile.read().evidence,
        "sources": [facts(source) for source in entry.sources],
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
        match entry.split:
            case {"train_rows": rows}:
                return int(rows), pool - int(rows)
            case {"test_fraction": part}:
                return pool - math.ceil(part * pool), math.ceil(part * pool)
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
    rows = [
        [" ".join(text) if isinstance(text, list) else _number(text) for text in map(record.get, COLUMNS)]
        for record in records
    ]
    rows.insert(0, [name.replace("_", " ") for name in COLUMNS])
    rows.insert(1, ["-" * max(map(len, column)) for column in zip(*rows, strict=True)])
    yield from (*align(rows, left=(0, 5, 6)), "")
    states = {record["state"] for record in records}
    yield from (f"{state + ':':9}{said}" for state, said in STATES.items() if state in states)
    for how, said in OVERLAY.items():
        if names := ", ".join(record["name"] for record in records if record["overlay"] == how):
            yield from _hang("yours:", f"{said}: {names}", 0)


def _number(value: Any) -> str:
    return "?" if value is None else "-" if value == 0 else f"{value:,}" if isinstance(value, int) else value


def _hang(label: str, text: str, indent: int) -> list[str]:
    return wrap(text, f"{' ' * indent}{label:9} ", " " * (indent + 10))


def info_lines(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paragraphs of ``fwsvm data info``."""
    from fwsvm.data.lockfile import overlay_path

    test = "no test set" if record["test_rows"] == 0 else f"{_number(record['test_rows'])} test"
    scaling = "none: values as the files have them"
    if record["scaling"] != "none":
        scaling = f"{record['scaling']} by the training rows' ranges"
    match record["split"]:
        case {"train_rows": rows}:
            split = f"{rows:,} rows drawn by seed for training, the rest for testing"
        case {"test_fraction": part}:
            split = f"{part:.0%} of the rows drawn by seed for testing"
        case _:
            split = "as the files are"
    of = f", in place of {record['stands_for']}" if record["stands_for"] else ""
    yield f"{record['name']}: {record['title']}"
    for label, text in {
        "task": f"{record['task']}, {record['classes']} classes",
        "rows": f"{_number(record['rows'])} training, {test}",
        "features": f"{record['features']:,}",
        "scaling": scaling,
        "split": split,
        "files": f"{STATES[record['state']]} (source {record['source']})",
        "yours": f"{OVERLAY[record['overlay']]}: {overlay_path()}" if record["overlay"] else "",
        "made here": f"{record['made']} by seed{of}: no published data set" if record["made"] else "",
        **{
            f"paper {shape['paper']}": ", ".join(
                [f"{shape['name']}: m = {_number(shape['m'])}"]
                + [f"{key} = {shape[key]:,}" for key in "tn" if shape[key]]
            )
            for shape in record["published"]
        },
        "also": ", ".join(record["also"]),
        "note": record["note"],
    }.items():
        if text:
            yield from _hang(label, text, 2)
    for source in record["sources"]:
        yield from ("", f"source {source['name']}")
        for label, text in _source_facts(source):
            yield from _hang(label, text, 2) if text else ()
        for file in source["files"]:
            member = f", inside it {file['member']}" if file["member"] else ""
            yield f"  {file['role']:9} {file['file']}{member}"
            for fact in _file_facts(file, record["evidence"]):
                yield from wrap(fact, "    ", "      ")


def _source_facts(source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if source["generate"]:
        yield "generated", source["generate"].replace("?", ", ").replace("&", ", ")
        yield "values", f"sha256 {source['sha256'] or 'not known'}"
        return
    loader = dict(source["loader"])
    columns = ", ".join(map(str, loader.pop("categorical", ())))
    yield (
        "loader",
        ": ".join(filter(None, (loader.pop("format"), ", ".join(f"{k} {v!r}" for k, v in loader.items())))),
    )
    yield "", f"an indicator for each value of columns {columns}" if columns else ""
    yield "note", source["note"]
    for group, members in (source["grouping"] or {}).items():
        yield f"class {group}", ", ".join(map(str, members))


def _file_facts(file: Mapping[str, Any], evidence: Mapping[str, str]) -> Iterator[str]:
    shape = {"bytes": "{:,} bytes", "rows": "{:,} rows", "max_index": "features up to {:,}"}
    if known := [form.format(file[name]) for name, form in shape.items() if file[name]]:
        yield ", ".join(known)
    digests = [f"{kind} {file[kind]}" for kind in ("sha256", "md5") if file[kind]]
    yield from digests
    grade = f"evidence {file['evidence']}: " if digests else ""
    yield grade + evidence.get(file["evidence"], "")
    if file["recorded"]:
        yield f"recorded on {file['recorded']}"
    if file["digest_from"]:
        yield f"from {file['digest_from']}"
    if complement := file["complement"]:
        yield f"can be derived: {complement['of']} without {complement['minus']}"
    if rule := file["draw"]:
        yield f"drawn: {rule['onto']} and lines of {rule['of']}, {rule['rows']:,} in all, by seed {rule['seed']}"
    if file["note"]:
        yield file["note"]
    yield from (f"{url}{'' if file['verified'] else ' (not yet verified)'}" for url in file["urls"])
    if not file["urls"] and not file["shipped"]:
        yield "address unknown"
    yield f"{'here' if file['here'] else 'not here'}: {file['path']}"
