"""Parsed copies of text files: plain ``.npy`` arrays without pickle, used only where they are known to match.

A copy's folder is named by what decides its content: the raw bytes' sha256, the reader's options and the
digest of what the readers compute. A change to any of them is another name, so a stale copy is never read. The
folder appears under that name complete or not at all.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fwsvm.data.dataset import Table
from fwsvm.files.folders import parsed_folder
from fwsvm.numerics.source_digest import FOUNDATION, READING, package_digest

Read = Callable[[], tuple[Table, tuple[str, ...]]]


def reader_version() -> str:
    """Return a digest (hex) of what turns bytes into arrays."""
    return package_digest(*FOUNDATION, *READING)


def folder(sha256: str, options: Mapping[str, Any]) -> Path:
    """Return where the parsed copy of the file with that digest, read with these options, belongs."""
    key = json.dumps([sha256, dict(options), reader_version()], sort_keys=True)
    return parsed_folder() / hashlib.sha256(key.encode()).hexdigest()[:32]


def table(sha256: str, options: Mapping[str, Any], read: Read) -> tuple[Table, tuple[str, ...]]:
    """Return the parsed copy, or what ``read()`` returns, which is then kept.

    A copy that cannot be read is rebuilt; one that cannot be written (full disk, read-only cache) costs only
    the next reader's time, and is named in a notice.
    """
    place = folder(sha256, options)
    kept = _load(place)
    if kept is not None:
        return kept
    result, notices = read()
    try:
        _save(place, result, notices, sha256)
    except OSError as error:
        notices = (*notices, f"no parsed copy was kept in {place.parent}: {error.strerror or error}")
    return result, notices


def _load(place: Path) -> tuple[Table, tuple[str, ...]] | None:
    try:
        about = json.loads((place / "about.json").read_text("utf-8"))
        arrays = {name: np.load(place / f"{name}.npy", allow_pickle=False) for name in about["arrays"]}
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
    return Table(X, arrays["labels"]), tuple(about["notices"])


def _save(place: Path, table: Table, notices: tuple[str, ...], sha256: str) -> None:
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
