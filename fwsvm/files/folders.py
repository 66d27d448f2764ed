"""Where fwsvm keeps what it can make or fetch again: ``FWSVM_CACHE``, or the system's cache folder."""

import os
from pathlib import Path
from typing import NamedTuple

FACTS = "machine-code.json"  # in a folder of machine code that `fwsvm warmup --to` made: what for
BUILDING = "fwsvm-building-"  # begins the name of a folder of parsed copies that a process is writing


class Places(NamedTuple):
    """Folders that are looked in, one after another, and the one that more is written to; None where none can be."""

    read: tuple[Path, ...]
    write: Path | None


def cache_root() -> Path:
    """Return the root of ``data/``, ``parsed/`` and ``numba/``."""
    named = os.environ.get("FWSVM_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    return own_root()


def own_root() -> Path:
    """Return the root in the system's cache folder of this user."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("fwsvm"))


def data_folder() -> Path:
    """Return the folder of raw data files, each as it came."""
    return cache_root() / "data"


def parsed_folder() -> Path:
    """Return the folder of parsed copies, keyed by raw digest and loader version."""
    return cache_root() / "parsed"


def numba_folder() -> Path:
    """Return the folder of compiled code, and of digests of sources."""
    return cache_root() / "numba"


def code_folder() -> Path:
    """Return the folder of compiled code where ``NUMBA_CACHE_DIR`` may have moved it."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or numba_folder())


def is_carried(folder: Path) -> bool:
    """Whether `fwsvm warmup --to` made this folder of machine code: runs only read it."""
    return os.path.lexists(folder / FACTS)


def places(named: Path) -> Places:
    """Return where to look for compiled code or digests, and where to keep more.

    Where the ``named`` folder is only to be read, more is kept in the user's own cache, which is then looked in too.
    """
    if _may_write(named):
        return Places((named,), named)
    own = own_root() / "numba"
    return Places(tuple(dict.fromkeys((named, own))), own if _may_write(own) else None)


def _may_write(folder: Path) -> bool:
    """Whether files may be written to a folder, which is made if need be."""
    if is_carried(folder):
        return False
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK | os.X_OK)
