"""Data files as labelled rows: `svmlight`, `tables` (CSV, KDD99, MiniBooNE) and `npy`, by way of parsed copies."""

import hashlib
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fwsvm import _mapped
from fwsvm._mapped import blocks, in_memory
from fwsvm.data import parsed_copies
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats.registry import FORMATS, loader_of
from fwsvm.data.parsed_copies import CopyWriter, Parsed
from fwsvm.files.folders import parsed_folder
from fwsvm.files.state import FileState, changed, file_digest

STREAMED_FROM = 1 << 26  # bytes of a file in LIBSVM's format from which prediction reads its rows in pieces


def read(
    path: Path, sha256: str, loader: Mapping[str, Any], member: str = "", as_of: FileState | None = None
) -> Parsed:
    """Return the rows of a raw file and notices about it, from its parsed copy, which is made where there is none.

    Parameters
    ----------
    path, sha256 : Path, str
        The raw file and the digest (hex) of its bytes.
    loader : mapping
        ``format``, a name of `FORMATS`, and that reader's own options.
    member : str
        The file inside a zip archive to read, possibly with ``*``; empty for the file itself.
    as_of : FileState, optional
        That of the file before its digest was computed; without it the digest of a file that is parsed is compared.

    Raises
    ------
    DataError
        The rows break the format, or the file changed while it was read.
    """
    before = as_of or FileState.of(path)

    def parsed(writer: CopyWriter | None) -> Parsed:
        found = _read(path, loader, member, writer)
        if as_of is None and file_digest(path) != sha256:
            raise changed(path)
        before.refuse_change(path)
        return found

    if loader["format"] == "npy":  # a copy would be the same file
        return parsed(None)
    try:
        options = {**loader, "member": member}
        return parsed_copies.load_or_make(sha256, options, parsed)
    except OSError as error:
        lost = f"no parsed copy was kept in {parsed_folder()}: {error.strerror or error}"
    table, notices = parsed(None)
    return table, (*notices, lost)


def read_file(path: Path, loader: Mapping[str, Any]) -> tuple[LabelledRows, str, tuple[str, ...]]:
    """Return the rows of a user's own file, the digest (hex) of its bytes, and notices, as `read` does."""
    as_of = FileState.of(path)
    sha256 = file_digest(path)
    table, notices = read(path, sha256, loader, as_of=as_of)
    if loader["format"] == "npy":
        from fwsvm.data.formats.npy import labels_path

        sha256 = hashlib.sha256(f"{sha256} {file_digest(labels_path(path))}".encode()).hexdigest()
    return table, sha256, notices


def comes_in_pieces(path: Path) -> bool:
    """Whether a file that is given by its path is so large that its rows should not be in memory together."""
    large = {"npy": _mapped.LARGE, "svmlight": STREAMED_FROM}.get(loader_of(path, unlabelled=True)["format"])
    return large is not None and path.stat().st_size >= large


def in_pieces(path: Path, *, zero_based: bool | None = None) -> Iterator[Parsed]:
    """Yield the rows of a large file (`comes_in_pieces`), with or without labels, some at a time, and notices."""
    from fwsvm.data.formats import npy, svmlight

    if loader_of(path)["format"] != "npy":
        yield from svmlight.tables(path, zero_based=zero_based)
        return
    whole, notices = npy.read(path, unlabelled=True, checked=False)
    for some in blocks(whole.X):
        rows = np.asarray(in_memory(whole.X, some))
        npy.refuse(path, rows)
        yield LabelledRows(rows, whole.labels[some]), notices


def read_path(path: Path, loader: Mapping[str, Any], *, unlabelled: bool = False) -> Parsed:
    """Return the rows of a user's own file without a parsed copy; with ``unlabelled`` they may be without labels."""
    more = {"unlabelled": unlabelled} if loader["format"] in {"svmlight", "npy"} else {}
    return _read(path, {**loader, **more}, "", None)


def _read(path: Path, loader: Mapping[str, Any], member: str, writer: CopyWriter | None) -> Parsed:
    """Return rows and notices; with a writer the rows go to it."""
    options = dict(loader)
    found = FORMATS[options.pop("format")]
    reader = getattr(importlib.import_module(f"{__name__}.{found.module}"), found.function)
    if member:
        options["member"] = member
    if writer and found.module == "svmlight":
        return reader(path, begin=writer.begin_again, **options)
    table, notices = reader(path, **options)
    if writer:
        writer.add(table.X)
    return table, notices
