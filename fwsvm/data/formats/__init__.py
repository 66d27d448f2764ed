"""Data files as labelled rows: a module for each format, `svmlight`, `delimited` (csv), `kdd99`, `miniboone`.

`text_file` gives the decompressed bytes (`decompression`, `zip_archives`); `svmlight_parser` and `delimited_parser` are
compiled and share `decimal_numbers` and `interning`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fwsvm.data import parsed_copies
from fwsvm.data.dataset import LabelledRows


def read(
    path: Path, sha256: str, loader: Mapping[str, Any], member: str = ""
) -> tuple[LabelledRows, tuple[str, ...]]:
    """Return the rows of a raw file and notices about it, from the parsed copy if there is one.

    Parameters
    ----------
    path, sha256 : Path, str
        The raw file and the digest (hex) of its bytes.
    loader : mapping
        ``format`` (``svmlight``, ``csv``, ``kdd99``, ``miniboone``) and that reader's own options.
    member : str
        The file inside a zip archive to read, possibly with ``*``; empty for the file itself.
    """
    return parsed_copies.table(sha256, {**loader, "member": member}, lambda: _read(path, loader, member))


def _read(path: Path, loader: Mapping[str, Any], member: str) -> tuple[LabelledRows, tuple[str, ...]]:
    options = dict(loader)
    kind = options.pop("format")
    if member:
        from fwsvm.data.formats import zip_archives

        with zip_archives.extracted(path, member) as plain:
            return _read(plain, loader, "")
    if kind == "svmlight":
        from fwsvm.data.formats import svmlight

        table, notices = svmlight.read(path, **options)
    elif kind == "csv":
        from fwsvm.data.formats import delimited

        table, notices = delimited.read(path, **options)
    elif kind == "kdd99":
        from fwsvm.data.formats import kdd99

        table, notices = kdd99.read(path)
    else:
        from fwsvm.data.formats import miniboone

        table, notices = miniboone.read(path)
    return table, tuple(notices)
