"""Where ``datasets.lock`` and the user's overlay are, and reading both as one lock.

An entry has alternative sources; a source has its own files, and a file its own URLs, size and digests, by which
every byte is verified. In a checkout the lock is at the top of the repository, elsewhere in the package. Data sets and
digests that a user adds are in an overlay in the cache folder, which takes precedence.
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fwsvm import bounded_yaml
from fwsvm.data.lock import parsing
from fwsvm.data.lock.entry import Lock
from fwsvm.data.lock.values import LockValue, as_node
from fwsvm.errors import DataError
from fwsvm.files.folders import data_folder


def in_checkout() -> bool:
    """Whether the package runs from a checkout, with the lock at its top."""
    top = Path(__file__).parents[3]
    return (top / "datasets.lock").is_file() and (top / "pyproject.toml").is_file()


def lock_path() -> Path:
    """Return the lock that belongs to this copy of the package."""
    return (
        Path(__file__).parents[3] / "datasets.lock"
        if in_checkout()
        else Path(__file__).parents[1] / "datasets.lock"
    )


def overlay_path() -> Path:
    """Return the file in the cache that holds what the user added or locked."""
    return data_folder() / "datasets.lock"


def read() -> Lock:
    """Return the package's lock, updated with the overlay's entries and digests.

    `DataError` says which of the two is broken, and where.
    """
    paths = [lock_path()] + ([overlay_path()] if overlay_path().is_file() else [])
    try:
        stamps = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths)
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read: {error.strerror}") from None
    return _read(stamps)


@functools.lru_cache(maxsize=4)
def _read(stamps: tuple[tuple[Path, int, int], ...]) -> Lock:
    return parsing.parse_lock(*(load(path) for path, _, _ in stamps))


def load(path: Path) -> LockValue:
    """Return the content of a lock or an overlay; `DataError` with file and line if it is not YAML."""
    try:
        return LockValue(bounded_yaml.read(path, DataError, typed_keys=True), str(path))
    except DataError as error:
        raise DataError(f"{error}: not a readable lock") from None


def parse(raw: Mapping[str, Any], where: str = "datasets.lock") -> Lock:
    """Return the lock of plain values, such as a parsed YAML document."""
    return parsing.parse_lock(LockValue(as_node(dict(raw)), where))
