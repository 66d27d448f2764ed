"""Data files as labelled rows: a module for each format, `svmlight`, `delimited` (csv), `npy`, `kdd99`, `miniboone`.

`registry` names them; other packages add formats by entry points (group ``fwsvm.formats``, docs/adding/format.md).
`text_file` gives the decompressed bytes (`decompression`, `zip_archives`); `svmlight_parser` and `delimited_parser` are
compiled and share `decimal_numbers` and `interning`.
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
from fwsvm.data.fetching.digests import file_sha256
from fwsvm.data.formats.registry import FORMATS, format_of, loader_of
from fwsvm.errors import DataError, FwsvmError, kind_and_words
from fwsvm.files.folders import parsed_folder
from fwsvm.files.state import FileState, changed
from fwsvm.plugins import load_plugins

load_plugins("fwsvm.formats", "format", FORMATS)


def read(
    path: Path, sha256: str, loader: Mapping[str, Any], member: str = "", as_of: FileState | None = None
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the rows of a raw file and notices about it, from the parsed copy if there is one.

    Parameters
    ----------
    path, sha256 : Path, str
        The raw file and the digest (hex) of its bytes.
    loader : mapping
        ``format``, a name of `FORMATS`, and that reader's own options.
    member : str
        The file inside a zip archive to read, possibly with ``*``; empty for the file itself.
    as_of : FileState, optional
        That of the file before its digest was computed. Without it, the digest of a file that is read is computed again
        and compared with ``sha256``.

    Raises
    ------
    DataError
        The rows break the format, or the file changed while it was read.
    """
    if _is_streamed(path, loader, member):
        return _streamed(path, sha256, loader)[0]

    def rows() -> tuple[LabelledRows, tuple[str, ...]]:
        before = as_of or FileState.of(path)
        found = _read(path, loader, member)
        if as_of is None and file_sha256(path) != sha256:
            raise changed(path)
        before.refuse_change(path)
        return found

    if loader["format"] == "npy":  # which is what a parsed copy is
        return rows()
    return parsed_copies.table(sha256, {**loader, "member": member, **reader_of_plugin(loader)}, rows)


def read_file(path: Path, loader: Mapping[str, Any]) -> tuple[LabelledRows, str, tuple[str, ...]]:
    """Return the rows of a user's own file, the digest (hex) of its bytes, and notices, as `read` does.

    A large file in LIBSVM's format is read once for all of them.
    """
    if _is_streamed(path, loader, ""):
        (table, notices), sha256 = _streamed(path, None, loader)
        return table, sha256, notices
    as_of = FileState.of(path)
    sha256 = file_sha256(path)
    table, notices = read(path, sha256, loader, as_of=as_of)
    if loader["format"] == "npy":
        from fwsvm.data.formats.npy import labels_path

        sha256 = hashlib.sha256(f"{sha256} {file_sha256(labels_path(path))}".encode()).hexdigest()
    return table, sha256, notices


def comes_in_pieces(path: Path) -> bool:
    """Whether a file that is given by its path is so large that its rows should not be in memory together."""
    loader = loader_of(path)
    if loader["format"] == "npy":
        return path.stat().st_size >= _mapped.LARGE
    return _is_streamed(path, loader, "")


def in_pieces(
    path: Path, *, zero_based: bool | None = None
) -> Iterator[tuple[LabelledRows, tuple[str, ...]]]:
    """Yield the rows of a large file (`comes_in_pieces`), with or without labels, some at a time.

    With each come the notices of the file up to its end.
    """
    from fwsvm.data.formats import npy, svmlight_stream

    if loader_of(path)["format"] != "npy":
        yield from svmlight_stream.tables(path, zero_based=zero_based, unlabelled=True)
        return
    whole, notices = npy.read(path, unlabelled=True, checked=False)
    for some in blocks(whole.X):
        rows = np.asarray(in_memory(whole.X, some))
        npy.refuse(path, rows)
        yield LabelledRows(rows, whole.labels[some]), notices


def _is_streamed(path: Path, loader: Mapping[str, Any], member: str) -> bool:
    """Whether a file's rows go to their parsed copy as they are read, and are never in memory together."""
    from fwsvm.data.formats.svmlight_stream import is_large

    plain = loader["format"] == "svmlight" and not member and not set(loader) - {"format", "zero_based"}
    return plain and is_large(path)


def _streamed(
    path: Path, sha256: str | None, loader: Mapping[str, Any]
) -> tuple[tuple[LabelledRows, tuple[str, ...]], str]:
    """Return rows and notices by way of a parsed copy, without which they are read into memory; and the digest."""
    from fwsvm.data.formats import decompression, svmlight_stream
    from fwsvm.data.formats.text_file import HEAD_BYTES

    zero_based = loader.get("zero_based")
    with path.open("rb") as source:
        is_plain = decompression.detect(source.read(HEAD_BYTES)) is None
    how = parsed_copies.Streamed(
        lambda place: svmlight_stream.copy(path, place, zero_based=zero_based),
        {**loader, "member": ""},
        is_plain,
    )
    try:
        return parsed_copies.streamed(path, sha256, how, file_sha256)
    except OSError as error:
        lost = f"no parsed copy of {path} was kept in {parsed_folder()}: {error.strerror or error}"
    as_of = FileState.of(path)
    try:
        table, notices = _read(path, loader, "")
    except DataError as error:
        raise DataError(
            f"{error}; {lost}, and rows that do not fit in memory are read only from such a copy"
        ) from None
    found = file_sha256(path)
    if sha256 not in (None, found):
        raise changed(path)
    as_of.refuse_change(path)
    return (table, (*notices, lost)), found


def read_path(
    path: Path, *, zero_based: bool | None = None, unlabelled: bool = False
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the rows of a file that is given by its path, in the format that its suffix says, else svmlight.

    With ``unlabelled``, rows in svmlight and in ``.npy`` may be without labels.
    """
    loader = loader_of(path, zero_based=zero_based)
    if loader["format"] in {"svmlight", "npy"}:
        loader["unlabelled"] = unlabelled
    return _read(path, loader, "")


def reader_of_plugin(loader: Mapping[str, Any]) -> dict[str, str]:
    """Return what tells the rows of a plug-in's reader from those of another version of it; empty for our readers."""
    module = format_of(loader["format"]).module
    if module.startswith(f"{__name__}."):
        return {}
    from fwsvm.numerics.compiled_cache import plugin_digest

    importlib.import_module(module)
    return {"reader": plugin_digest(module)}


def _read(path: Path, loader: Mapping[str, Any], member: str) -> tuple[LabelledRows, tuple[str, ...]]:
    if member:
        from fwsvm.data.formats import zip_archives

        with zip_archives.extracted(path, member) as plain:
            try:
                table, notices = _read(plain, loader, "")
            except DataError as error:
                raise DataError(_of_member(str(error), plain, path, member)) from None
            return table, tuple(_of_member(notice, plain, path, member) for notice in notices)
    options = dict(loader)
    name = options.pop("format")
    module = format_of(name).module
    reader = importlib.import_module(module).read
    if module.startswith(f"{__name__}."):
        table, notices = reader(path, **options)
        return table, tuple(notices)
    try:
        table, notices = reader(path, **options)
        return _canonical(table), tuple(map(str, notices))
    except FwsvmError:
        raise
    except Exception as error:  # noqa: BLE001  (a stranger's code may raise anything)
        said = f"{path}: the reader of the format {name} ({module}) failed: {kind_and_words(error)}"
        raise DataError(said) from None


def _of_member(said: str, plain: Path, path: Path, member: str) -> str:
    """Return a sentence about the file that a member of an archive is unpacked to as one about the member."""
    return said.replace(str(plain), f"{path}: {member}")


def _canonical(table: LabelledRows) -> LabelledRows:
    """Return a plug-in's rows as all readers return theirs; ValueError where they cannot be."""
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
    if labels.dtype.kind in "biuf":
        labels = labels.astype(np.float64)
    elif labels.dtype.kind != "U":
        raise ValueError("labels are neither numbers nor text")
    return LabelledRows(X, labels)
