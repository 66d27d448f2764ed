"""Machine, processor, libraries and commit of this process."""

import contextlib
import functools
import platform
import subprocess
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import fwsvm


@dataclass(frozen=True)
class Environment:
    """The machine and the software; the fields are columns of a results row."""

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
    """Return the environment of this process, computed once."""
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
    words = ["git", "-C", str(top), "rev-parse", "--short=12", "HEAD"]
    try:
        asked = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError:  # the machine has no git, or none that may be run
        return ""
    return asked.stdout.strip()
