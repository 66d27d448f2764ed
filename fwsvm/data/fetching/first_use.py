"""Trust on first use: what a file without a published digest must be, and its record.

A file without a published digest is trusted when it is first fetched: it must be data, of the shape that its entry and
the papers say. Its digest is recorded in the user's overlay with the date, and from then on its bytes must agree.
"""

import datetime as dt
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from fwsvm.data import formats, overlay
from fwsvm.data.fetching.cached_files import CacheFile
from fwsvm.data.lockfile import FIRST_USE, DataSource, Entry
from fwsvm.errors import DataError
from fwsvm.files.state import Measured

BYTES_A_VALUE = 32  # of text, index and blank included, at most
SMALLEST_LIMIT, LARGEST_LIMIT = 1 << 24, 1 << 32  # bytes of a file whose size is not known
DIGITS = 12  # of a digest that a notice quotes


def size_limit(entry: Entry) -> tuple[int, str]:
    """Return how many bytes a file of unknown size may have at most, and what that follows from."""
    rows = max((p.m or 0) + (p.t or 0) for p in entry.published) if entry.published else 0
    if not rows or entry.split:
        return LARGEST_LIMIT, ""
    most = BYTES_A_VALUE * rows * (entry.features + 1)
    said = f" for {rows:,} rows of {entry.features:,} features"
    return min(max(most, SMALLEST_LIMIT), LARGEST_LIMIT), said


class Examined(NamedTuple):
    """What a file was found to be: facts to record, its shape in words, and what is wrong with that, or ''."""

    facts: dict[str, Any]
    shape: str
    wrong: str


def examine(entry: Entry, target: CacheFile, found: Measured) -> Examined:
    """Parse a file at ``target.part`` of these digests, and compare its shape with what its entry and the papers say.

    `DataError` if it is not data.
    """
    source, file = target
    members = [each for each in source.files if each.file == file.file]
    role = "train" if any(each.file == file.file for each in source.train) else "test"
    tables = [formats.read(target.part, found.sha256, source.loader, each.member)[0] for each in members]
    rows, width = sum(table.rows for table in tables), max(table.features for table in tables)
    facts: dict[str, Any] = {"bytes": found.bytes, "sha256": found.sha256}
    is_svmlight = source.loader["format"] == "svmlight"
    if len(members) == 1:
        facts |= {"rows": rows, **({"max_index": width} if is_svmlight else {})}
    expected = _published_rows(entry, source, role)
    least = int(entry.split.get("train_rows", 0)) if entry.split and role == "train" else 0
    wrong = _wrong_labels(entry, source, np.concatenate([np.unique(table.labels) for table in tables]), role)
    if width > entry.features or (width < entry.features and not is_svmlight):
        wrong = f"{width:,} features, not the {entry.features:,} of datasets.lock"
    elif (expected and rows not in expected) or rows < least:
        published = " or ".join(f"{count:,}" for count in sorted(expected)) or f"at least {least:,}"
        wrong = f"{rows:,} rows, not {published} as published"
    shape = f"{rows:,} rows, as published" if expected else f"{rows:,} rows, {width:,} features"
    return Examined(facts, f"{file.file} has {wrong}" if wrong else shape, wrong)


def _published_rows(entry: Entry, source: DataSource, role: str) -> set[int]:
    """Return the numbers of rows that papers print for a file that has all rows of its role; empty if none does."""
    files = source.train if role == "train" else source.test
    if entry.split or len(files) > 1:
        return set()
    found = {shape.m if role == "train" else shape.t for shape in entry.published}
    return {rows for rows in found if rows is not None}


def _wrong_labels(entry: Entry, source: DataSource, found: np.ndarray, role: str) -> str:
    """Return what is wrong with the labels of a file, or ''."""
    classes: set[Any] = set(found.tolist())
    if source.grouping:
        group_of = {raw: group for group, members in source.grouping.items() for raw in members}
        if unknown := [label for label in classes if label not in group_of]:
            return f"the label {unknown[0]!r}, which belongs to no class of datasets.lock"
        classes = {group_of[label] for label in classes}
    has_all = role == "train" and len({file.file for file in source.train}) == 1
    if len(classes) > entry.classes or (has_all and len(classes) != entry.classes):
        return f"{len(classes)} classes, not the {entry.classes} of datasets.lock"
    return ""


def record_first_use(entry: Entry, target: CacheFile, place: str, found: Measured) -> str:
    """Record the digest of a file at ``target.part``, give the file its name, and return the notice.

    `DataError` where the file is not data of the shape that is known.
    """
    source, file = target
    facts, shape, wrong = examine(entry, target, found)
    if wrong:
        raise DataError(shape)
    overlay.record({overlay.address(source, file): {**facts, **origin(place, FIRST_USE, file.urls)}})
    target.keep()
    return f"{file.file}: no published checksum; recorded sha256 {found.sha256[:DIGITS]}... ({shape})"


def origin(place: str, evidence: str, urls: Collection[str] = ()) -> dict[str, Any]:
    """Return the facts of a digest that is recorded now: its evidence, the place and the date."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    fetched = {"verified": True} if place in urls else {}
    return {"evidence": evidence, "digest_from": place, "recorded": today, **fetched}
