"""Output of ``fwsvm data list`` and ``info``: records for ``--json``, and text."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fwsvm.data.lockfile import DataSource, Entry, RawFile

WIDTH = 80
WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
STATES = {
    "ready": "its files are here",
    "mirror": "its files are in the mirror",
    "derive": "it can be derived from other sets",
    "made": "its rows are generated here",
    "fetch": "`fwsvm data fetch` gets it",
    "trust": "no digest is published; `fwsvm data fetch` records it",
    "by hand": "add its files with `fwsvm data add`: no address is known",
}
#: States of an entry in the user's overlay.
OVERLAY = {
    "added": "added by you",
    "locked": "digests recorded by you",
    "first use": "first use: digests recorded when the files were first fetched",
}


def entry_record(entry: Entry, mirror: str | None, overlay: str | None) -> dict[str, Any]:
    """Return a row of the list: shape after the split, state, source, papers.

    ``overlay`` is the entry's state in the user's overlay, see `fwsvm.data.lockfile.Lock`.
    """
    source, state = _state(entry, mirror)
    rows, test_rows = _shape(entry)
    return {
        "name": entry.name,
        "title": entry.title,
        "task": entry.task,
        "classes": entry.classes,
        "rows": rows,
        "test_rows": test_rows,
        "features": entry.features,
        "scaling": entry.scaling,
        "state": state,
        "source": source.name,
        "overlay": overlay,
        "made": entry.made,
        "stands_for": entry.stands_for,
        "papers": sorted({paper for p in entry.published for paper in p.paper.split(", ")}),
    }


def full_record(entry: Entry, mirror: str | None, overlay: Mapping[str, str]) -> dict[str, Any]:
    """Return all that is known of an entry, sources and files included."""
    from msgspec import to_builtins
    from msgspec.structs import asdict

    from fwsvm.data import lockfile

    record = entry_record(entry, mirror, overlay.get(entry.name))
    record |= {
        "also": list(entry.also),
        "split": dict(entry.split) if entry.split else None,
        "published": [asdict(p) for p in entry.published],
        "note": entry.note,
        "evidence": lockfile.read().evidence,
        "sources": [],
    }
    for source in entry.sources:
        files = []
        for role, of_role in (("train", source.train), ("test", source.test)):
            for file in of_role:
                path = source.path(file)
                files.append(
                    {"role": role, **to_builtins(asdict(file)), "path": str(path), "here": path.is_file()}
                )
        groups = {str(k): list(v) for k, v in source.grouping.items()} if source.grouping else None
        record["sources"].append(
            {
                "name": source.name,
                "loader": dict(source.loader),
                "grouping": groups,
                "note": source.note,
                "generate": source.generate,
                "sha256": source.sha256,
                "files": files,
            }
        )
    return record


def _shape(entry: Entry) -> tuple[int | None, int | None]:
    """Return the numbers of training and test rows after the split, from the lock or else from a paper."""
    from fwsvm.data.synthetic import parse_spec

    for source in entry.sources:
        if source.generate:
            made = parse_spec(source.generate)
            return made.rows, made.test
        train, test = (_rows(files) for files in (source.train, source.test))
        if train is None or (source.test and test is None):
            continue
        if entry.split is None:
            return train, test or 0
        pool = train + (test or 0)
        held_out = (
            pool - int(entry.split["train_rows"])
            if "train_rows" in entry.split
            else math.ceil(entry.split["test_fraction"] * pool)
        )
        return pool - held_out, held_out
    published = entry.published[0] if entry.published else None
    no_test = 0 if entry.split is None and not entry.sources[0].test else None
    return (published.m, published.t or no_test) if published else (None, no_test)


def _rows(files: Sequence[RawFile]) -> int | None:
    return sum(f.rows or 0 for f in files) if files and all(f.rows for f in files) else None


def _state(entry: Entry, mirror: str | None) -> tuple[DataSource, str]:
    """Return the source that would be used and its state, without reading files."""
    order = list(STATES)
    states = [
        ("made" if s.generate else max((_file_state(s, f, mirror) for f in s.files), key=order.index), s)
        for s in entry.sources
    ]
    state, source = min(states, key=lambda pair: order.index(pair[0]))
    return source, state


def _file_state(source: DataSource, file: RawFile, mirror: str | None) -> str:

    if (file.pinned or file.parents) and source.path(file).is_file():
        return "ready"
    if mirror and "://" not in mirror and (Path(mirror) / file.file).is_file():
        return "mirror"
    if file.pinned and file.urls:
        return "fetch"
    if file.parents:
        return "derive"
    return "trust" if file.urls else "by hand"


def list_lines(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the aligned table of the list, at most 80 columns wide."""
    header = ("name", "classes", "rows", "test rows", "features", "state", "papers")
    body = [
        (
            r["name"],
            str(r["classes"]),
            _number(r["rows"]),
            _number(r["test_rows"]),
            _number(r["features"]),
            r["state"],
            " ".join(r["papers"]),
        )
        for r in records
    ]
    widths = [max(len(row[i]) for row in (header, *body)) for i in range(len(header))]
    left = {0, 5, 6}
    return [
        "  ".join(
            c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (header, tuple("-" * w for w in widths), *body)
    ]


def overlay_lines(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return lines that say which entries the user's overlay added or changed."""
    lines = []
    for how, said in OVERLAY.items():
        names = ", ".join(r["name"] for r in records if r["overlay"] == how)
        lines += _hanging("yours:", f"{said}: {names}", 0) if names else []
    return lines


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}" if value else "-"


def info_lines(record: Mapping[str, Any]) -> list[str]:
    """Return the paragraphs of ``fwsvm data info``."""
    test_rows = "no test set" if record["test_rows"] == 0 else f"{_number(record['test_rows'])} test"
    facts = [
        ("task", f"{record['task']}, {record['classes']} classes"),
        ("rows", f"{_number(record['rows'])} training, {test_rows}"),
        ("features", f"{record['features']:,}"),
        ("scaling", _scaling(record["scaling"])),
        ("split", _split(record["split"])),
        ("state", f"{record['state']}: {STATES[record['state']]} (source {record['source']})"),
    ]
    if record["overlay"]:
        from fwsvm.data.lockfile import overlay_path

        facts.append(("yours", f"{OVERLAY[record['overlay']]}: {overlay_path()}"))
    if record["made"]:
        of = f", in place of {record['stands_for']}" if record["stands_for"] else ""
        facts.append(("made here", f"{record['made']} by seed{of}: no published data set"))
    for p in record["published"]:
        shape = ", ".join(f"{k} = {p[k]:,}" for k in ("m", "t", "n") if p[k])
        facts.append((f"paper {p['paper']}", f"{p['name']}: {shape}"))
    facts += [("also", ", ".join(record["also"]))] if record["also"] else []
    facts += [("note", record["note"])] if record["note"] else []
    lines = [f"{record['name']}: {record['title']}"]
    for label, text in facts:
        lines += _hanging(label, text, 2)
    for source in record["sources"]:
        lines += ["", *_source_lines(source, record["evidence"])]
    return lines


def _scaling(scaling: str) -> str:
    return (
        "none: values as the files have them"
        if scaling == "none"
        else f"{scaling} by the training rows' ranges"
    )


def _split(split: Mapping[str, Any] | None) -> str:
    if split is None:
        return "as the files are"
    if "train_rows" in split:
        return f"{split['train_rows']:,} rows drawn by seed for training, the rest for testing"
    return f"{split['test_fraction']:.0%} of the rows drawn by seed for testing"


def _source_lines(source: Mapping[str, Any], evidence: Mapping[str, str]) -> list[str]:
    loader = ", ".join(
        f"{k} {v!r}" for k, v in source["loader"].items() if k not in ("format", "categorical")
    )
    columns = ", ".join(str(column) for column in source["loader"].get("categorical", ()))
    lines = [f"source {source['name']}"]
    if source["generate"]:
        lines += _hanging("generated", source["generate"].replace("?", ", ").replace("&", ", "), 2)
        return [*lines, *_hanging("values", f"sha256 {source['sha256'] or 'unpinned'}", 2)]
    lines += _hanging("loader", f"{source['loader']['format']}{': ' + loader if loader else ''}", 2)
    lines += _hanging("", f"an indicator for each value of columns {columns}", 2) if columns else []
    lines += _hanging("note", source["note"], 2) if source["note"] else []
    for group, members in (source["grouping"] or {}).items():
        lines += _hanging(f"class {group}", ", ".join(str(m) for m in members), 2)
    for file in source["files"]:
        lines += _file_lines(file, evidence)
    return lines


def _file_lines(file: Mapping[str, Any], evidence: Mapping[str, str]) -> list[str]:
    shape = [f"{file['bytes']:,} bytes"] if file["bytes"] else []
    shape += [f"{file['rows']:,} rows"] if file["rows"] else []
    shape += [f"features up to {file['max_index']:,}"] if file["max_index"] else []
    digests = [f"{kind} {file[kind]}" for kind in ("sha256", "md5") if file[kind]] or ["unpinned"]
    facts = [", ".join(shape)] if shape else []
    facts += [*digests, f"evidence {file['evidence']}: {evidence.get(file['evidence'], '')}"]
    facts += [f"recorded on {file['recorded']}"] if file["recorded"] else []
    facts += [f"from {file['digest_from']}"] if file["digest_from"] else []
    if file["complement"]:
        facts.append(f"can be derived: {file['complement']['of']} without {file['complement']['minus']}")
    if rule := file["draw"]:
        facts.append(
            f"drawn: {rule['onto']} and lines of {rule['of']}, {rule['rows']:,} in all, by seed {rule['seed']}"
        )
    facts += [file["note"]] if file["note"] else []
    facts += [f"{url}{'' if file['verified'] else ' (not yet verified)'}" for url in file["urls"]]
    facts += [] if file["urls"] or file["shipped"] else ["address unknown"]
    facts.append(f"{'here' if file['here'] else 'not here'}: {file['path']}")
    member = f", inside it {file['member']}" if file["member"] else ""
    lines = [f"  {file['role']:9} {file['file']}{member}"]
    for fact in facts:
        lines += textwrap.wrap(fact, WIDTH, initial_indent="    ", subsequent_indent="      ", **WHOLE_WORDS)
    return lines


def _hanging(label: str, text: str, indent: int) -> list[str]:
    first = f"{' ' * indent}{label:9} "
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * (indent + 10),
        **WHOLE_WORDS,
    )
