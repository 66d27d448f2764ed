"""Parsed copies of data files: ``.npy`` arrays without pickle, in a folder named by a digest of their inputs.

Arrays of at least `MAPPED_FROM` bytes are not read but mapped: the system reads the parts of them that are used, and
may forget these again, so rows may be more than memory. What is written to them stays in memory and reaches no file.

The inputs are the raw bytes' sha256, the reader's options and the code of the readers. A change to any of them gives
another name, so a stale copy is never read. The folder is renamed to its name once it is complete.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from fwsvm.data.dataset import LabelledRows
from fwsvm.files.folders import parsed_folder
from fwsvm.numerics.source_digest import FOUNDATION, READING, package_digest

MAPPED_FROM = 1 << 24  # bytes

Read = Callable[[], tuple[LabelledRows, tuple[str, ...]]]


def reader_version() -> str:
    """Return a digest (hex) of the code that parses files."""
    return package_digest(*FOUNDATION, *READING)


def folder(sha256: str, options: Mapping[str, Any]) -> Path:
    """Return the folder of the parsed copy of a file with that digest, read with these options."""
    key = json.dumps([sha256, dict(options), reader_version()], sort_keys=True)
    return parsed_folder() / hashlib.sha256(key.encode()).hexdigest()[:32]


def table(sha256: str, options: Mapping[str, Any], read: Read) -> tuple[LabelledRows, tuple[str, ...]]:
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


def _read_copy(place: Path) -> tuple[LabelledRows, tuple[str, ...]] | None:
    try:
        about = json.loads((place / "about.json").read_text("utf-8"))
        arrays = {name: _array(place / f"{name}.npy") for name in about["arrays"]}
    except (OSError, ValueError, KeyError, EOFError, TypeError):
        return None
    if any(list(a.shape) != about["arrays"][name] for name, a in arrays.items()):
        return None
    if "X" in arrays:
        X: np.ndarray | csr_array = arrays["X"]
    else:
        X = csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(about["shape"]))
        X.has_sorted_indices = True
        X.has_canonical_format = True
    return LabelledRows(X, arrays["labels"]), tuple(about["notices"])


def _array(path: Path) -> np.ndarray:
    mode: Literal["c"] | None = "c" if path.stat().st_size >= MAPPED_FROM else None
    return np.asarray(
        np.load(path, mmap_mode=mode, allow_pickle=False)
    )  # a plain array, as compiled code knows them


def _write_copy(place: Path, table: LabelledRows, notices: tuple[str, ...], sha256: str) -> None:
    arrays = {"labels": table.labels}
    if isinstance(table.X, csr_array):
        arrays |= {"data": table.X.data, "indices": table.X.indices, "indptr": table.X.indptr}
    else:
        arrays["X"] = table.X
    about = {
        "raw_sha256": sha256,
        "readers": reader_version(),
        "shape": list(table.X.shape),
        "arrays": {name: list(array.shape) for name, array in arrays.items()},
        "notices": list(notices),
    }
    place.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix="building-", dir=place.parent))
    try:
        for name, array in arrays.items():
            with (building / f"{name}.npy").open("wb") as file:
                np.save(file, array, allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
        (building / "about.json").write_text(json.dumps(about), "utf-8")
        shutil.rmtree(place, ignore_errors=True)  # only a copy that could not be read is still there
        with contextlib.suppress(OSError):  # another process may have finished the same copy first
            building.rename(place)
    finally:
        shutil.rmtree(building, ignore_errors=True)
