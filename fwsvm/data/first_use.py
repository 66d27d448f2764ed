"""Trust on first use: what a file without a published digest must be, and its record.

A file without a published digest is trusted when it is first fetched: it must be data, of the shape that its entry and
the papers say. Its digest is recorded in the user's overlay with the date, and from then on its bytes must agree.
"""

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np

from fwsvm.data import formats, overlay
from fwsvm.data.dataset import grouped
from fwsvm.data.lockfile import FIRST_USE, UNPINNED, DataSource, Entry, RawFile
from fwsvm.errors import DataError
from fwsvm.files.state import file_digest

BYTES_A_VALUE = 32  # of text, index and blank included, at most
SMALLEST_LIMIT, LARGEST_LIMIT = 1 << 24, 1 << 32  # bytes of a file whose size is not known
DIGITS = 12  # of a digest that a notice quotes


def size_limit(entry: Entry) -> int:
    """Return how many bytes a file of unknown size may have at most, by the rows that papers print."""
    rows = max(((p.m or 0) + (p.t or 0) for p in entry.published), default=0)
    if not rows or entry.split:
        return LARGEST_LIMIT
    return min(max(BYTES_A_VALUE * rows * (entry.features + 1), SMALLEST_LIMIT), LARGEST_LIMIT)


def record(
    entry: Entry, source: DataSource, file: RawFile, path: Path, place: str, evidence: str, *, accept: bool
) -> str:
    """Record the digest of a file that came from a place and is at ``path``, and return the notice.

    `DataError` where the file is not data, or, unless ``accept``, not of the shape that its entry and the papers say.
    """
    sha256 = file_digest(path)
    role = source.train if any(each.file == file.file for each in source.train) else source.test
    members = [each.member for each in role if each.file == file.file]
    read = [formats.read(path, sha256, source.loader, member)[0] for member in members]
    tables = [grouped(table, source.grouping, entry.name) for table in read]
    rows, width = sum(table.rows for table in tables), max(table.features for table in tables)
    classes = len(set(np.concatenate([table.labels for table in tables]).tolist()))
    is_svmlight, is_all = source.loader["format"] == "svmlight", len(members) == len(role)
    shapes = entry.published if is_all and not entry.split else ()
    published = {shape.m if role is source.train else shape.t for shape in shapes} - {None}
    wrong = ""
    if width > entry.features or (width < entry.features and not is_svmlight):
        wrong = f"{width:,} features, not the {entry.features:,} of datasets.lock"
    elif published and rows not in published:
        wrong = f"{rows:,} rows, not {' or '.join(f'{count:,}' for count in published)} as published"
    elif classes > entry.classes or (is_all and role is source.train and classes < entry.classes):
        wrong = f"{classes} classes, not the {entry.classes} of datasets.lock"
    if wrong and not accept:
        raise DataError(f"{file.file} has {wrong}")
    shape = wrong or f"{rows:,} rows" + (", as published" if published else f", {width:,} features")
    facts = {"bytes": path.stat().st_size, "sha256": sha256, **origin(place, evidence)}
    facts |= {"verified": True} if place in file.urls else {}
    facts |= {"md5": UNPINNED} if accept else {}  # in place of one that may be in the lock
    if len(members) == 1:
        facts |= {"rows": rows, **({"max_index": width} if is_svmlight else {})}
    overlay.pin(source, file, facts)
    said = "no published checksum; " if evidence == FIRST_USE else ""
    return f"{file.file}: {said}recorded sha256 {sha256[:DIGITS]}... ({shape})"


def origin(place: str, evidence: str) -> dict[str, Any]:
    """Return the facts of a digest that is recorded now: its evidence, the place and the date."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    return {"evidence": evidence, "digest_from": place, "recorded": today}
