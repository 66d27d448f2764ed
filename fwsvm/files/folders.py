"""Where fwsvm keeps what it can make or fetch again: ``FWSVM_CACHE``, or the system's cache folder."""

import os
from pathlib import Path

BUILDING = "fwsvm-building-"  # begins the name of a folder of parsed copies that a process is writing


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


def numba_folder() -> Path:
    """Return the folder of compiled code."""
    return cache_root() / "numba"


def code_folder() -> Path:
    """Return the folder of compiled code where ``NUMBA_CACHE_DIR`` may have moved it."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or numba_folder())
