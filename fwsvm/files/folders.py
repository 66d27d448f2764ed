"""Where fwsvm keeps what it can make or fetch again, ``FWSVM_CACHE`` or the system's cache folder; digests of files."""

import hashlib
import os
from pathlib import Path

from fwsvm.errors import DataError


def cache_root() -> Path:
    """Return the root of ``data/``, ``parsed/`` and ``numba/``."""
    named = os.environ.get("FWSVM_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("fwsvm"))


def data_folder() -> Path:
    """Return the folder of raw data files, each as it came."""
    return cache_root() / "data"


def parsed_folder() -> Path:
    """Return the folder of parsed copies, keyed by raw digest and loader version."""
    return cache_root() / "parsed"


def code_folder() -> Path:
    """Return the folder of compiled code where ``NUMBA_CACHE_DIR`` may have moved it."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or cache_root() / "numba")


def require_file(path: Path) -> None:
    """Raise `DataError` where no file stands at a path that can be read more than once."""
    if path.is_dir():
        raise DataError(f"{path} is a directory; give a data file")
    if not path.exists():
        raise DataError(f"{path}: no such file")
    if not path.is_file():
        raise DataError(f"{path}: not a regular file; write the rows to a file first, and give its name")


def file_digest(path: Path, kind: str = "sha256") -> str:
    """Return a digest (hex) of a file, of a kind that hashlib knows."""
    require_file(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()
