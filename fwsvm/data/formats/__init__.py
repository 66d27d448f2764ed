"""Data files as labelled rows: `svmlight`, `tables` (CSV, KDD99, MiniBooNE) and `npy`, by way of parsed copies."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fwsvm.data import parsed_copies
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats import npy, svmlight, tables
from fwsvm.data.formats.text_files import FormatError
from fwsvm.data.parsed_copies import CopyWriter
from fwsvm.errors import DataError, UsageError, WriteError
from fwsvm.files.folders import file_digest, parsed_folder, require_file

READERS: dict[str, Callable[..., LabelledRows]] = {
    "svmlight": svmlight.read,
    "csv": tables.read,
    "npy": npy.read,
    "kdd99": tables.read_kdd99,
    "miniboone": tables.read_miniboone,
}
SUFFIXES = {".csv": "csv", ".tsv": "csv", ".npy": "npy"}  # other files are in LIBSVM's format
COMPRESSED = (".gz", ".bz2", ".xz", ".Z")  # as endings after a format's own


def loader_of(
    path: Path,
    *,
    zero_based: bool | None = None,
    label: str | None = None,
    columns: tuple[str, ...] = (),
    unlabelled: bool = False,
) -> dict[str, Any]:
    """Return how a file that is given by its path is read: by its suffix, else as svmlight.

    Parameters
    ----------
    path : Path
    zero_based : bool, optional
        Of files in LIBSVM's format, whether indices start at 0; without it that is seen from the file.
    label : str, optional
        Of CSV files, the column of the labels (`fwsvm.data.formats.tables.layout_of`).
    columns : tuple of str
        Of CSV files with a header, the features in their order; all columns but the label if empty.
    unlabelled : bool
        Whether rows may be without labels.
    """
    ending = path.with_suffix("").suffix if path.suffix in COMPRESSED else path.suffix
    kind = SUFFIXES.get(ending, "svmlight")
    if label is not None and kind != "csv":
        raise UsageError(f"{path}: a column of labels is for CSV files; call the file NAME.csv if it is one")
    if zero_based and kind != "svmlight":
        raise UsageError(f"{path}: zero-based indices are for files in LIBSVM's format, not in {kind}")
    loader: dict[str, Any] = {"format": kind}
    if kind == "csv":
        loader |= tables.layout_of(path, label, unlabelled=unlabelled)
        if columns and loader["header"]:
            loader["columns"] = [*columns]
        return loader
    if kind == "svmlight":
        loader["zero_based"] = zero_based
    return loader | {"unlabelled": True} if unlabelled else loader


def read(path: Path, loader: Mapping[str, Any], *, member: str = "", sha256: str = "") -> LabelledRows:
    """Return the rows of a file, with the digest of its bytes; the parsed copy is made if there is none.

    Parameters
    ----------
    path : Path
    loader : mapping
        ``format``, a name of `READERS`, and that reader's own options.
    member : str
        The file inside a zip archive to read, possibly with ``*``; empty for the file itself.
    sha256 : str
        The digest of the bytes, where it is known.

    Raises
    ------
    DataError
        The rows break the format, or the file changed while it was read.
    """
    require_file(path)
    options = {**loader, "member": member} if member else loader
    changed = path.stat().st_mtime_ns

    def parsed(writer: CopyWriter | None) -> LabelledRows:
        found = read_path(path, options, writer)
        if path.stat().st_mtime_ns != changed:
            raise DataError(f"{path} changed while it was read; give it when it is complete")
        return found

    sha256 = sha256 or file_digest(path)
    if loader["format"] == "npy":  # a copy would be the same file
        sha256 += f" {file_digest(npy.labels_path(path))}"
        return replace(parsed(None), sha256=hashlib.sha256(sha256.encode()).hexdigest())
    try:
        table = parsed_copies.load_or_make(sha256, options, parsed)
    except WriteError as error:
        table = parsed(None)
        table = replace(
            table, notices=(*table.notices, f"no parsed copy was kept in {parsed_folder()}: {error}")
        )
    return replace(table, sha256=sha256)


def read_path(path: Path, loader: Mapping[str, Any], writer: CopyWriter | None = None) -> LabelledRows:
    """Return the rows of a file without a parsed copy; with a writer the rows go to it."""
    options = dict(loader)
    reader = READERS[options.pop("format")]
    if writer and reader is svmlight.read:
        return reader(path, add=writer.add, **options)
    table = reader(path, **options)
    if writer:
        writer.add(table.X)
    return table


def faults(path: Path, loader: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return the lines of a file that break its format, as (line, why)."""
    if loader["format"] == "svmlight":
        loader = {**loader, "all_faults": True, "add": lambda _: None}
    try:
        read_path(path, loader)
    except FormatError as error:
        return error.faults
    return []
