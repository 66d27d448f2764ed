"""Memory that this process may still take, refusal of work that needs more, and the peak that it took.

Who knows a piece of work estimates it before anything is allocated, and asks `require`: `fwsvm.data` for reading,
`fwsvm.solvers.fit` for training.
"""

import contextlib
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

from fwsvm.errors import FwsvmError, SettingError

KIB = 1 << 10
MIB = 1 << 20
SHARE = 0.9  # of what is available: an estimate is not exact, and Python needs some for itself
UNASKED = 1 << 29  # bytes: to ask what is available takes as long as many a small problem's start
UNKNOWN = 2 << 30  # what is taken to be available where the system does not say

RAN_OUT = "memory ran out; take fewer rows (fwsvm subset), lower cache_mib, or give the process more memory"
PROCESS = Path("/proc")
GROUPS = Path("/sys/fs/cgroup")


def require(needed: int, what: str, remedy: str, error: type[FwsvmError] = SettingError) -> None:
    """Refuse work that needs more than `SHARE` of the memory available.

    Parameters
    ----------
    needed : int, bytes
    what : str, the work, as the subject of the sentence
    remedy : str, what to do instead
    error : type, of the refusal

    Raises
    ------
    FwsvmError
        Of the type ``error``: it says the need, what is available and the remedy.
    """
    if needed > UNASKED and needed > SHARE * (available := available_bytes()):
        raise error(
            f"{what} would take {said(needed)} of memory; {said(available)} are available, of which fwsvm takes "
            f"{SHARE:.0%} at most; {remedy}"
        )


@functools.cache
def default_cache_mib() -> int:
    """Return the default budget for kernel columns: a third of the computer's memory, down to a power of two.

    It depends on the computer and its limits alone, so that runs can be repeated to the last bit.
    """
    total = min(limit for limit, _ in _limits())
    return shared_cache_mib(max(128, total // MIB), 3)


def shared_cache_mib(whole: int, runs: int) -> int:
    """Return a run's part of cache memory in MiB, rounded down to a power of two so that it is reproducible."""
    return 1 << (max(1, whole // runs).bit_length() - 1)


def said(count: int) -> str:
    """Return bytes as people read them.

    >>> said(3 << 20), said(20 << 30)
    ('3 MiB', '20,480 MiB')
    """
    return f"{-(-count // MIB):,} MiB"


def available_bytes() -> int:
    """Return the memory that can be had without swapping, within the limits of this process and of its cgroups."""
    return max(0, min(limit - taken for limit, taken in _limits()))


def _limits() -> Iterator[tuple[int, int]]:
    """Yield the computer's memory and each limit on this process's, in bytes, and what is taken; no caches of files."""
    total = _field(PROCESS / "meminfo", "MemTotal:", UNKNOWN)
    yield total, total - _field(PROCESS / "meminfo", "MemAvailable:", UNKNOWN)
    if sys.platform != "win32":
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            yield most, _field(PROCESS / "self/status", "VmSize:", 0)
    with contextlib.suppress(OSError, IndexError):  # no cgroups here
        line = (PROCESS / "self/cgroup").read_text("ascii").splitlines()[-1]
        own = GROUPS / line.split(":", 2)[2].strip("/")
        for group in (own, *own.parents):  # in a container it is at the root instead
            with contextlib.suppress(OSError, ValueError):  # no such limit ("max"), or not to be read
                limit = int((group / "memory.max").read_text("ascii"))
                files = sum(_field(group / "memory.stat", f"{kind}active_file", 0) for kind in ("", "in"))
                yield limit, int((group / "memory.current").read_text("ascii")) - files // KIB


def _field(path: Path, name: str, otherwise: int) -> int:
    """Return the bytes that a line of a system's file says in KiB; ``otherwise`` where there is no such line."""
    with contextlib.suppress(OSError):
        for line in path.read_text("ascii", "replace").splitlines():
            if line.split()[:1] == [name]:
                return KIB * int(line.split()[1])
    return otherwise


def reset_peak_memory() -> None:
    """Let `peak_memory_mib` count from now on, if the system allows it (Linux)."""
    with contextlib.suppress(OSError):
        (PROCESS / "self/clear_refs").write_text("5", "ascii")


def peak_memory_mib() -> float:
    """Return the most memory this process held, in MiB; NaN where the system does not tell.

    Counted since `reset_peak_memory` on Linux, else since the process started.
    """
    peak = _field(PROCESS / "self/status", "VmHWM:", 0)
    if sys.platform == "darwin":
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MIB if peak else float("nan")
