"""Memory that this process may still take, refusal of work that needs more, and the peak that it took.

Whoever knows a piece of work estimates it before anything is allocated, and asks `require`: `fwsvm.data` for reading,
`fwsvm.scaling`, `fwsvm.solvers.memory` for training, `fwsvm.problems.machines` for predicting.
"""

import contextlib
import functools
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from fwsvm.errors import FwsvmError, UsageError

MIB = 1 << 20
SHARE = 0.9  # of what is available: an estimate is not exact, and Python needs some for itself
UNASKED = 1 << 24  # bytes: to ask what is available takes as long as many a small problem's start
UNKNOWN = 2 << 30  # what is taken to be available where the system does not say

PROCESS, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def require(
    needed: int, what: str, remedy: str, error: type[FwsvmError] = UsageError, *, held: int = 0
) -> None:
    """Refuse work that needs more than `SHARE` of the memory available.

    Parameters
    ----------
    needed : int, bytes
    what : str, the work, as the subject of the sentence
    remedy : str, what to do instead
    error : type, of the refusal
    held : int, bytes of what is needed that this process has taken before

    Raises
    ------
    FwsvmError
        Of the type ``error``: it says the need, what is available and the remedy.
    """
    if needed - held <= UNASKED:
        return
    available = available_bytes()
    if needed - held > SHARE * available:
        raise error(
            f"{what} would take {said(needed)} of memory; {said(available)} are available, of which fwsvm takes "
            f"{SHARE:.0%} at most; {remedy}"
        )


def default_cache_mib() -> int:
    """Return the default budget for kernel columns: half of what is available, a power of two so that it is steady."""
    return shared_cache_mib(max(128, _available_in(int(time.monotonic())) // MIB), 2)


def shared_cache_mib(whole: int, runs: int) -> int:
    """Return a run's part of cache memory in MiB, rounded down to a power of two so that it is reproducible."""
    return 1 << (max(1, whole // runs).bit_length() - 1)


@functools.lru_cache(maxsize=1)
def _available_in(_second: int) -> int:
    """Return the memory available, read once a second: that takes as long as training a small machine."""
    return available_bytes()


def ran_out(error: MemoryError) -> str:
    """Say in a sentence that memory ran out, where it was not refused before."""
    wanted = f" ({str(error).rstrip('.')})" if str(error) else ""
    return (
        f"memory ran out{wanted}; {said(available_bytes())} are available now; take fewer rows (fwsvm subset), lower "
        "--cache-mb, or give the process more memory"
    )


def said(count: int) -> str:
    """Return bytes as people read them.

    >>> said(3 << 20), said(20 << 30)
    ('3 MiB', '20,480 MiB')
    """
    return f"{-(-count // MIB):,} MiB"


def available_bytes() -> int:
    """Return the memory that can be had without swapping, within the limits of this process and of its cgroups.

    The least of what the machine has free (2 GiB where the system does not say), what is left below the limits on the
    address space and the data of this process, and what is left to its cgroups, caches of files not counted.
    """
    return max(0, min([_free(), *_below_limits(), *_left_to_groups()]))


def _free() -> int:
    for line in _lines(PROCESS / "meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return UNKNOWN


def _below_limits() -> Iterator[int]:
    """Yield what is left below the process's own limits, which are on addresses taken, used or not."""
    if sys.platform == "win32":  # which has no such limits
        return
    import resource

    for limit, taken in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):
        most = resource.getrlimit(limit)[0]
        if most == resource.RLIM_INFINITY:
            continue
        for line in _lines(PROCESS / "self" / "status"):
            if line.startswith(taken):
                yield most - int(line.split()[1]) * 1024


def _left_to_groups() -> Iterator[int]:
    """Yield what is left to each of the process's cgroups that has a limit, of version 2 and of version 1."""
    for line in _lines(PROCESS / "self" / "cgroup"):
        _, controllers, name = line.strip().split(":", 2)
        if not controllers:
            root, most, taken, unused = (
                GROUPS,
                "memory.max",
                "memory.current",
                ("inactive_file", "active_file"),
            )
        elif "memory" in controllers.split(","):
            root, most = GROUPS / "memory", "memory.limit_in_bytes"
            taken, unused = "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")
        else:
            continue
        # a container sees its own group at the root, where the path that it is told does not exist
        group = root / name.strip("/") if (root / name.strip("/") / most).exists() else root
        while group == root or root in group.parents:
            yield from _left(group, most, taken, unused)
            group = group.parent


def _left(group: Path, most: str, taken: str, unused: tuple[str, str]) -> Iterator[int]:
    with contextlib.suppress(OSError, ValueError):  # no such limit ("max"), or not to be read
        limit = int((group / most).read_text("ascii"))
        held = int((group / taken).read_text("ascii"))
        for line in _lines(group / "memory.stat"):
            if line.split()[0] in unused:
                held -= int(line.split()[1])
        yield limit - held


def _lines(path: Path) -> list[str]:
    """Return the lines of a system's file, none where it cannot be read."""
    try:
        return path.read_text("ascii", "replace").splitlines()
    except OSError:
        return []


def reset_peak_memory() -> None:
    """Let `peak_memory_mib` count from now on, if the system allows it (Linux)."""
    with contextlib.suppress(OSError):
        (PROCESS / "self" / "clear_refs").write_text("5", "ascii")


def peak_memory_mib() -> float:
    """Return the most memory this process held, in MiB; NaN where the system does not tell.

    Counted since `reset_peak_memory` on Linux, else since the process started.
    """
    with contextlib.suppress(OSError):
        for line in (PROCESS / "self" / "status").read_text("ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    if sys.platform == "win32":
        return float("nan")
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / MIB if sys.platform == "darwin" else most / 1024
