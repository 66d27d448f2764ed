"""Where to look for files, how long to wait, and whom to tell."""

import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fwsvm.data.fetching.download import ProgressBar, Timeouts
from fwsvm.data.lock.values import is_url
from fwsvm.errors import UsageError


@dataclass(frozen=True)
class FetchOptions:
    """Where to look for files, how long to wait, and whom to tell.

    ``mirror`` is a folder or URL that is tried first after the cache. ``say`` receives lines of progress, and ``bar``
    makes a progress bar for a file of a given name and size (bytes, or None), or returns None for no bar.
    """

    mirror: str | None = None
    offline: bool = False
    timeouts: Timeouts = field(default_factory=Timeouts)
    say: Callable[[str], None] = lambda _: None
    bar: Callable[[str, int | None], ProgressBar | None] = lambda _name, _size: None

    @classmethod
    def default(
        cls,
        mirror: str | Path | None = None,
        *,
        offline: bool = False,
        seconds: float | None = None,
        **more: object,
    ) -> "FetchOptions":
        """Return options with the given mirror and seconds for each file, by default those of the environment.

        ``FWSVM_MIRROR`` names the mirror, ``FWSVM_FETCH_SECONDS`` the seconds. `UsageError` if the mirror is a
        malformed URL or the seconds are not a positive number.
        """
        named = str(mirror) if mirror else os.environ.get("FWSVM_MIRROR") or None
        if named and "://" in named and not is_url(named):
            raise UsageError(f"mirror {named!r}: neither a folder nor a web address")
        timeouts = Timeouts(whole_seconds=seconds or _seconds())
        return cls(mirror=named, offline=offline, timeouts=timeouts, **more)  # type: ignore[arg-type]


def _seconds() -> float:
    """Return the seconds that the environment allows for each file, or the default."""
    said = os.environ.get("FWSVM_FETCH_SECONDS") or str(Timeouts.whole_seconds)
    try:
        seconds = float(said)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < threading.TIMEOUT_MAX:
        raise UsageError(f"FWSVM_FETCH_SECONDS must be a number of seconds above 0, not {said[:40]!r}")
    return seconds
