"""``datasets.lock``: what each data set is, where its files come from, and the digests that prove them.

The lock is YAML. An entry has alternative sources; a source has its own files, and a file its own URLs, size
and digests, so that no byte is ever trusted by its name. In a checkout the file lies at the top of the
repository, elsewhere it is part of the package. What a user adds or locks goes to an overlay in the cache folder,
which is laid over it.
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fwsvm import bounded_yaml
from fwsvm.data import lockparse
from fwsvm.data.entry import Lock
from fwsvm.data.lockvalue import Value, placed
from fwsvm.errors import DataError
from fwsvm.files.folders import data_folder


def in_checkout() -> bool:
    """Whether the package runs from a checkout, with the lock at its top."""
    top = Path(__file__).parents[2]
    return (top / "datasets.lock").is_file() and (top / "pyproject.toml").is_file()


def lock_path() -> Path:
    """Return the lock that belongs to this copy of the package."""
    return (
        Path(__file__).parents[2] / "datasets.lock"
        if in_checkout()
        else Path(__file__).parent / "datasets.lock"
    )


def overlay_path() -> Path:
    """Return the file in the cache that holds what the user added or locked."""
    return data_folder() / "datasets.lock"


def read() -> Lock:
    """Return the package's lock with the overlay's entries and digests laid over it.

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
    return lockparse.lock(*(load(path) for path, _, _ in stamps))


def load(path: Path) -> Value:
    """Return what a lock or an overlay says; `DataError` says where it is no YAML."""
    try:
        return Value(bounded_yaml.read(path, DataError, typed_keys=True), str(path))
    except DataError as error:
        raise DataError(f"{error}: not a readable lock") from None


def parse(raw: Mapping[str, Any], where: str = "datasets.lock") -> Lock:
    """Return the entries of a lock that is at hand as plain values."""
    return lockparse.lock(Value(placed(dict(raw)), where))
