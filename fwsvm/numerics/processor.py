"""What machine code is made for: this machine's processor, or a level that many processors have.

The levels are those of the x86-64 psABI: sets of instructions, named by compilers alike. The vectors of
`fwsvm.numerics.simd` are of eight numbers for any of them; LLVM puts one into as many registers as the
processor that is named needs for it.
"""

from typing import NamedTuple

import numba
from llvmlite import binding
from numba.core.codegen import get_host_cpu_features
from numba.core.registry import cpu_target

NATIVE = "native"
_V2 = {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"}
_V3 = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}
_V4 = _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
#: LLVM's names of what a level has beyond the first x86-64 processors (https://gitlab.com/x86-psABIs/x86-64-ABI).
LEVELS = {"x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}


class Target(NamedTuple):
    """What numba makes machine code for: by this its caches tell code of one processor from that of another."""

    system: str
    processor: str
    features: str


def target() -> Target:
    """Return what numba makes machine code for in this process."""
    return Target(*cpu_target.target_context.codegen().magic_tuple())


def native_target() -> Target:
    """Return the target of this machine's processor, whatever this process compiles for."""
    return Target(binding.get_process_triple(), binding.get_host_cpu_name(), get_host_cpu_features())


def level_target(level: str) -> Target:
    """Return the target of a level on this system; the level alone says which instructions there are."""
    return Target(binding.get_process_triple(), level, "")


def lacking(level: str) -> str | None:
    """Say in a clause why this processor cannot run code of a level; None if it can."""
    if not binding.get_process_triple().startswith("x86_64"):
        return f"the processor here is no x86-64 ({binding.get_process_triple()})"
    here = binding.get_host_cpu_features()
    missing = sorted(name for name in LEVELS[level] if not here.get(name))
    return (
        f"the processor here ({binding.get_host_cpu_name()}) lacks {', '.join(missing)}" if missing else None
    )


def make_for(level: str) -> str | None:
    """Let numba make machine code for a level, of functions outside fwsvm too; say in a clause why it cannot.

    Numba settles what it compiles for when a function is first decorated, so that must not have happened before.
    """
    asked, before = numba.config.CPU_NAME, numba.config.CPU_FEATURES
    if asked not in {None, level}:
        return f"NUMBA_CPU_NAME asks for {asked}"
    numba.config.CPU_NAME, numba.config.CPU_FEATURES = level, ""
    if target() == level_target(level):
        return None
    numba.config.CPU_NAME, numba.config.CPU_FEATURES = asked, before
    return "numba already compiles for another processor, because it was used before fwsvm"
