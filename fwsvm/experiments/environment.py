"""Where a run took place: machine, processor, libraries, commit; and the memory it took."""

import contextlib
import functools
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import fwsvm

MIB = 1024 * 1024


@dataclass(frozen=True)
class Environment:
    """What a results row says of the machine and the software; the fields are columns."""

    machine: str
    cpu: str
    blas: str
    python: str
    numpy: str
    numba: str
    fwsvm: str
    commit: str

    def as_columns(self) -> dict[str, str]:
        """Return the fields under the names of their columns."""
        return asdict(self)


@functools.cache
def environment() -> Environment:
    """Return this process's environment, found out once."""
    return Environment(
        machine=platform.node(),
        cpu=_cpu(),
        blas=_blas(),
        python=platform.python_version(),
        numpy=version("numpy"),
        numba=version("numba"),
        fwsvm=fwsvm.__version__,
        commit=_commit(),
    )


def _cpu() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith(("model name", "Model")):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _blas() -> str:
    import numpy as np
    import threadpoolctl

    np.dot(np.ones(2), np.ones(2))  # some libraries are loaded when they are first used
    libraries = [entry for entry in threadpoolctl.threadpool_info() if entry["user_api"] == "blas"]
    if not libraries:
        return ""
    numpys = min(libraries, key=lambda entry: ("numpy" not in entry["filepath"], entry["filepath"]))
    return f"{numpys['internal_api']} {numpys['version'] or ''}".strip()


def _commit() -> str:
    top = Path(__file__).parents[2]
    if not (top / ".git").exists():
        return ""
    asked = subprocess.run(
        ["git", "-C", str(top), "rev-parse", "--short=12", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip()


def forget_peak_memory() -> None:
    """Let `peak_memory_mib` count from here, where the system allows it (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")


def peak_memory_mib() -> float:
    """Return the most memory this process held, in MiB; NaN where the system does not tell.

    Counted since `forget_peak_memory` on Linux, else since the process started.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text("ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    if sys.platform == "win32":
        return float("nan")
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / MIB if sys.platform == "darwin" else most / 1024
