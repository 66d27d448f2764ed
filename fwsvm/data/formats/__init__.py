"""Data files as labelled rows: `svmlight`, `tables` (CSV, KDD99, MiniBooNE) and `npy`, by way of parsed copies.

`registry` names the formats; other packages add some by entry points (group ``fwsvm.formats``, docs/adding/format.md).
"""

import hashlib
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from fwsvm import _mapped
from fwsvm._mapped import blocks, in_memory
from fwsvm._stretches import all_finite
from fwsvm.data import parsed_copies
from fwsvm.data.dataset import LabelledRows
from fwsvm.data.formats.registry import FORMATS, format_of, loader_of
from fwsvm.data.parsed_copies import CopyWriter, Parsed
from fwsvm.errors import DataError, FwsvmError, kind_and_words
from fwsvm.files.folders import parsed_folder
from fwsvm.files.state import FileState, changed, file_sha256
from fwsvm.plugins import load_plugins

STREAMED_FROM = 1 << 26  # bytes of a file in LIBSVM's format from which prediction reads its rows in pieces

load_plugins("fwsvm.formats", "format", FORMATS)


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
        if as_of is None and file_sha256(path) != sha256:
            raise changed(path)
        before.refuse_change(path)
        return found

    if loader["format"] == "npy":  # a copy would be the same file
        return parsed(None)
    try:
        options = {**loader, "member": member, **reader_of_plugin(loader)}
        return parsed_copies.load_or_make(sha256, options, parsed)
    except OSError as error:
        lost = f"no parsed copy was kept in {parsed_folder()}: {error.strerror or error}"
    table, notices = parsed(None)
    return table, (*notices, lost)


def read_file(path: Path, loader: Mapping[str, Any]) -> tuple[LabelledRows, str, tuple[str, ...]]:
    """Return the rows of a user's own file, the digest (hex) of its bytes, and notices, as `read` does."""
    as_of = FileState.of(path)
    sha256 = file_sha256(path)
    table, notices = read(path, sha256, loader, as_of=as_of)
    if loader["format"] == "npy":
        from fwsvm.data.formats.npy import labels_path

        sha256 = hashlib.sha256(f"{sha256} {file_sha256(labels_path(path))}".encode()).hexdigest()
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


def reader_of_plugin(loader: Mapping[str, Any]) -> dict[str, str]:
    """Return what tells the rows of a plug-in's reader from those of another version of it; empty for our readers."""
    module = format_of(loader["format"]).module
    if module.startswith(f"{__name__}."):
        return {}
    from fwsvm.numerics.compiled_cache import plugin_digest

    importlib.import_module(module)
    return {"reader": plugin_digest(module)}


def _read(path: Path, loader: Mapping[str, Any], member: str, writer: CopyWriter | None) -> Parsed:
    """Return rows and notices; with a writer the rows go to it."""
    options = dict(loader)
    found = format_of(options.pop("format"))
    reader = getattr(importlib.import_module(found.module), found.function)
    is_ours = found.module.startswith(f"{__name__}.")
    if member:
        if not is_ours:
            raise DataError(
                f"{path}: the format {loader['format']} is not read from archives; unpack {member} first"
            )
        options["member"] = member
    if writer and loader["format"] == "svmlight":
        return reader(path, begin=writer.begin_again, **options)
    table, notices = reader(path, **options) if is_ours else _of_plugin(reader, found.module, path, options)
    if writer:
        writer.add(table.X)
    return table, notices


def _of_plugin(reader: Any, module: str, path: Path, options: Mapping[str, Any]) -> Parsed:
    """Return what the reader of another package returns, as all readers return it."""
    try:
        table, notices = reader(path, **options)
        return _canonical(table), tuple(map(str, notices))
    except FwsvmError:
        raise
    except Exception as error:  # noqa: BLE001  (a stranger's code may raise anything)
        raise DataError(f"{path}: the reader {module} failed: {kind_and_words(error)}") from None


def _canonical(table: LabelledRows) -> LabelledRows:
    """Return a plug-in's rows as float64, C-contiguous or CSR, with labels as `LabelledRows` has them."""
    X, labels = table.X, np.asarray(table.labels)
    if issparse(X):
        X = csr_array(X, dtype=np.float64)
        X.sum_duplicates()
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
    if X.ndim != 2 or not X.shape[0] or labels.shape != (X.shape[0],):
        raise ValueError(f"rows of shape {X.shape} and labels of shape {labels.shape}")
    if not all_finite(X):
        raise ValueError("a value is not a finite number")
    if labels.dtype.kind not in "biufU":
        raise ValueError("labels are neither numbers nor text")
    return LabelledRows(X, labels if labels.dtype.kind == "U" else labels.astype(np.float64))
