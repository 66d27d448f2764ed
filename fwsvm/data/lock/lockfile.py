"""Where ``datasets.lock`` and the user's overlay are, and reading both as one lock.

An entry has alternative sources; a source has its own files, and a file its own URLs, size and digests, by which
every byte is verified. In a checkout the lock is at the top of the repository, elsewhere in the package. Data sets and
digests that a user adds are in an overlay in the cache folder, which takes precedence. Other packages add their own
locks by entry points (group ``fwsvm.datasets``, docs/adding/data-set.md).
"""

import functools
from dataclasses import replace
from pathlib import Path

from fwsvm import bounded_yaml
from fwsvm.data.lock import parsing
from fwsvm.data.lock.entry import Lock
from fwsvm.data.lock.values import LockValue
from fwsvm.errors import DataError
from fwsvm.files.folders import data_folder
from fwsvm.plugins import load_plugins


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
    _load_plugins()
    return _present()


def add_lock(path: Path) -> None:
    """Add the data sets of another package's lock; files that it says are shipped lie beside it.

    Raises
    ------
    DataError
        The lock cannot be read; or it is wrong, which is said with line and key.
    ValueError
        A data set of one of its names is there already.
    """
    known = _present()
    for entry in parsing.parse_lock(load(path)).entries.values():
        if taken := next((word for word in (entry.name, *entry.also) if known.find(word)), None):
            raise ValueError(f"a data set named {taken!r} is there already")
    _LOCKS[str(path)] = path


_LOCKS: dict[str, Path] = {}  # of plug-ins


@functools.cache
def _load_plugins() -> None:
    load_plugins("fwsvm.datasets", "data set", _LOCKS)


def _present() -> Lock:
    paths = [lock_path(), *_LOCKS.values()] + ([overlay_path()] if overlay_path().is_file() else [])
    try:
        stamps = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths)
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read: {error.strerror}") from None
    return _read(stamps, len(_LOCKS))


@functools.lru_cache(maxsize=4)
def _read(stamps: tuple[tuple[Path, int, int], ...], plugins: int) -> Lock:
    package, *more = (load(path) for path, _, _ in stamps)
    found = parsing.parse_lock(package, next(iter(more[plugins:]), None), others=more[:plugins])
    entries, meanings = dict(found.entries), {}
    for lock in more[:plugins]:
        theirs = parsing.parse_lock(lock)
        for name in theirs.entries.keys() & entries.keys() - found.overlay.keys():
            meanings[name] = theirs.evidence
            sources = (replace(each, home=str(Path(lock.file).parent)) for each in entries[name].sources)
            entries[name] = replace(entries[name], sources=tuple(sources))
    return replace(found, entries=entries, meanings=meanings)


def load(path: Path) -> LockValue:
    """Return the content of a lock or an overlay; `DataError` with file and line if it is not YAML."""
    try:
        return LockValue(bounded_yaml.read(path, DataError, typed_keys=True), str(path))
    except DataError as error:
        raise DataError(f"{error}: not a readable lock") from None
