"""Parsed copies of data files: ``.npy`` arrays without pickle, in a folder named by a digest of their inputs.

Arrays of at least `MAPPED_FROM` bytes are not read but mapped: the system reads the parts of them that are used, and
may forget these again, so rows may be more than memory (of large ones `fwsvm._mapped` has it do so). They are not to be
written to: what is written reaches no file, and may be forgotten.

A copy is made of rows in memory (`table`), or by a reader that writes its arrays piece by piece (`streamed`), for which
the file is read once.

The inputs are the raw bytes' sha256, the reader's options and the code of the readers. A change to any of them gives
another name, so a stale copy is never read. The folder is renamed to its name once it is complete.
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from fwsvm._mapped import RowMatrix, never_written
from fwsvm.data.dataset import LabelledRows
from fwsvm.files.folders import BUILDING, parsed_folder
from fwsvm.files.state import FileState, changed
from fwsvm.numerics.compiled_cache import READING, package_digest

MAPPED_FROM = 1 << 24  # bytes
DIGEST = re.compile("[0-9a-f]{32}")  # the name of a finished copy

Parsed = tuple[LabelledRows, tuple[str, ...]]
Read = Callable[[], Parsed]


def reader_version() -> str:
    """Return a digest (hex) of the code that parses files."""
    return package_digest(*READING)


def folder(sha256: str, options: Mapping[str, Any]) -> Path:
    """Return the folder of the parsed copy of a file with that digest, read with these options."""
    key = json.dumps([sha256, dict(options), reader_version()], sort_keys=True)
    return parsed_folder() / hashlib.sha256(key.encode()).hexdigest()[:32]


def table(sha256: str, options: Mapping[str, Any], read: Read) -> Parsed:
    """Return the parsed copy, which is written from the result of ``read()`` where there is none.

    A copy that cannot be read is rebuilt; if it cannot be written (full disk, read-only cache), a notice says so.
    """
    place = folder(sha256, options)
    kept = _read_copy(place)
    if kept is not None:
        return kept
    result, notices = read()
    try:
        _write_copy(place, result, notices, sha256)
    except OSError as error:
        notices = (*notices, f"no parsed copy was kept in {place.parent}: {error.strerror or error}")
        return result, notices
    return _read_copy(place) or (result, notices)


def _read_copy(place: Path) -> Parsed | None:
    try:
        about = json.loads((place / "about.json").read_text("utf-8"))
        arrays = {name: _array(place / f"{name}.npy") for name in about["arrays"]}
    except (OSError, ValueError, KeyError, EOFError, TypeError):
        return None
    if any(list(a.shape) != about["arrays"][name] for name, a in arrays.items()):
        return None
    if "X" in arrays:
        X: RowMatrix = arrays["X"].reshape(about["shape"])
    else:
        X = csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(about["shape"]))
        X.has_sorted_indices = True
        X.has_canonical_format = True
    return LabelledRows(X, arrays["labels"], zero_based=about["zero_based"]), tuple(about["notices"])


def _array(path: Path) -> np.ndarray:
    mode: Literal["c"] | None = "c" if path.stat().st_size >= MAPPED_FROM else None
    # plain, as compiled code knows arrays
    found = np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False))
    return never_written(found)


def _write_copy(place: Path, table: LabelledRows, notices: tuple[str, ...], sha256: str) -> None:
    arrays = {"labels": table.labels}
    if isinstance(table.X, csr_array):
        arrays |= {"data": table.X.data, "indices": table.X.indices, "indptr": table.X.indptr}
    else:
        arrays["X"] = table.X
    with _building(place.parent) as building:
        for name, array in arrays.items():
            with (building / f"{name}.npy").open("wb") as file:
                np.save(file, array, allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
        _finish(building, place, tuple(table.X.shape), notices, sha256, zero_based=table.zero_based)


@contextlib.contextmanager
def _building(parent: Path) -> Iterator[Path]:
    """Give a folder for a copy that is being made; what is left of it in the end is removed."""
    parent.mkdir(parents=True, exist_ok=True)
    building = parent / f"{BUILDING}{secrets.token_hex(8)}"
    building.mkdir()  # who may read it is what the umask says, where tempfile's folders are of one user alone
    try:
        yield building
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _finish(
    building: Path,
    place: Path,
    shape: tuple[int, ...],
    notices: tuple[str, ...],
    sha256: str,
    size: int | None = None,
    zero_based: bool | None = None,
) -> None:
    """Say what the arrays of a folder are, and of a file of how many bytes, and give it its name."""
    about = {
        "raw_sha256": sha256,
        "readers": reader_version(),
        "shape": list(shape),
        "arrays": {
            file.stem: list(np.load(file, mmap_mode="r").shape) for file in sorted(building.glob("*.npy"))
        },
        "notices": list(notices),
        "zero_based": zero_based,
    }
    (building / "about.json").write_text(json.dumps(about), "utf-8")
    if size is not None:
        (building / _mark(size)).touch()
    try:
        building.rename(place)
    except OSError:
        if _read_copy(place) is not None:  # another process finished the same copy first
            return
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):
            building.rename(place)


class Streamed(NamedTuple):
    """What `streamed` is to know of a reader that writes its arrays itself.

    Attributes
    ----------
    write : callable (folder) -> (shape, notices, sha256 of the text, whether indices start at 0)
    options : mapping, the reader's
    is_plain : bool, whether the text's digest is the file's
    """

    write: Callable[[Path], tuple[tuple[int, ...], tuple[str, ...], str, bool]]
    options: Mapping[str, Any]
    is_plain: bool


def streamed(
    path: Path, sha256: str | None, how: Streamed, digest: Callable[[Path], str]
) -> tuple[Parsed, str]:
    """Return the parsed copy of a large file, and the file's sha256 (hex).

    The file is read once: where no copy of a file of its size is known, its digest is computed as it is parsed.

    Raises
    ------
    OSError
        The copy cannot be written: a full disk, a cache that is only to be read.
    DataError
        The file changed while it was read.
    """
    as_of, expected = FileState.of(path), sha256
    size = as_of.bytes
    if sha256 is None and not (how.is_plain and not _known(size)):
        sha256 = digest(path)
    if sha256 is not None and (kept := _read_copy(folder(sha256, how.options))) is not None:
        return kept, sha256
    with _building(parsed_folder()) as building:
        shape, notices, of_text, zero_based = how.write(building)
        # a digest that was given is of the file as it was before this function saw it
        if expected is not None and (of_text if how.is_plain else digest(path)) != expected:
            raise changed(path)
        as_of.refuse_change(path)
        sha256 = sha256 or of_text
        place = folder(sha256, how.options)
        _finish(building, place, shape, notices, sha256, size, zero_based)
    kept = _read_copy(place)
    if kept is None:
        raise OSError(f"the parsed copy {place} cannot be read")
    return kept, sha256


def derived(key: str, options: Mapping[str, Any], write: Callable[[Path], tuple[int, ...]]) -> Parsed:
    """Return the copy of rows that others are made of, which ``write(folder)`` makes where there is none.

    Raises
    ------
    OSError
        The copy cannot be written.
    """
    place = folder(key, options)
    if (kept := _read_copy(place)) is None:
        with _building(place.parent) as building:
            _finish(building, place, write(building), (), key)
        kept = _read_copy(place)
    if kept is None:
        raise OSError(f"the copy {place} cannot be read")
    return kept


def _known(size: int) -> bool:
    """Whether there may be a copy of a file of so many bytes."""
    return any(parsed_folder().glob(f"*/{_mark(size)}"))


def _mark(size: int) -> str:
    """Return the name of an empty file that says of how many bytes the file of a copy is."""
    return f"of-{size}-bytes"
