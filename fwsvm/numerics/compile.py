"""The one ``njit`` of the package, and functions that choose their implementation by type.

Numba stamps a cached function with the file of the function alone, so a change in another file it was
compiled from would go unnoticed and yield wrong numbers. The cache folder of a function is therefore named by a
digest of all sources that it may be compiled from: an edit of what they compute recompiles, an edit of words does not.
"""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.extending import overload

from fwsvm.errors import UsageError
from fwsvm.files.folders import code_folder
from fwsvm.numerics.compiled_cache import SourceKeyedCache, is_external, sources_digest
from fwsvm.numerics.source_digest import FOUNDATION, JUDGING, READING, SOLVING, package_digest


@functools.cache
def code_digest(*modules: str) -> str:
    """Return the sha256 (hex) of what the package's computing sources compute, which decides the numbers of a run.

    Of these and the sources of those ``modules`` that are outside the package, as of a plug-in's method or kernel.
    """
    digest = package_digest(*FOUNDATION, *READING, *SOLVING, *JUDGING)
    for module in dict.fromkeys(filter(is_external, modules)):
        digest = hashlib.sha256((digest + sources_digest(module)).encode()).hexdigest()
    return digest


def _cache_folder(function: Callable) -> Path:
    """Return the folder for the machine code of a function of this package."""
    reads = function.__module__.startswith("fwsvm.data")
    return code_folder() / package_digest(*FOUNDATION, *(READING if reads else SOLVING), compiled=True)[:16]


if numba.config.DISABLE_JIT:
    raise UsageError("NUMBA_DISABLE_JIT is set, but nothing here runs without being compiled: unset it")


_FLAGS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
#: For functions called at every step: no reference counting, so they must not allocate arrays.
_A_STEP = {"_nrt": False}


def njit(function: Callable | None = None, *, each_step: bool = False, **flags: Any) -> Any:
    """Compile a module-level function to machine code that is cached on disk and releases the interpreter lock.

    ``each_step`` is for functions that are called millions of times and allocate no arrays (the compiler refuses those
    that do): it turns reference counting off, which would take half of a short step.
    """
    if function is None:
        return functools.partial(njit, each_step=each_step, **flags)
    compiled = numba.njit(function, **(_FLAGS | (_A_STEP if each_step else {}) | flags))
    compiled._cache = SourceKeyedCache(function, _cache_folder(function))  # noqa: SLF001  (what `cache=True` does, with our own)
    return compiled


def generic(
    function: Callable | None = None, *, default: Callable | None = None, each_step: bool = False
) -> Any:
    """Make ``function`` choose its implementation by the type of its first argument, a NamedTuple.

    Types without an implementation of their own get ``default``, or a TypeError. For ``each_step`` see `njit`.

    Compiled callers are resolved when they are compiled, plain Python callers when they call. Implementations are
    added by ``@function.implements(Type)``.
    """
    if function is None:
        return functools.partial(generic, default=default, each_step=each_step)

    def missing(first: Any, *_rest: Any) -> Any:
        raise TypeError(f"{function.__name__} has no implementation for {type(first).__name__}")

    dispatched = functools.singledispatch(functools.wraps(function)(default or missing))

    def implements(kind: type) -> Callable[[Callable], Callable]:
        def add(implementation: Callable) -> Callable:
            dispatched.register(kind, implementation)
            return implementation

        return add

    def resolve(first: Any, *_rest: Any) -> Callable | None:
        kind = getattr(first, "instance_class", object)
        implementation = dispatched.dispatch(kind)
        return default if implementation is dispatched.dispatch(object) else implementation

    overload(dispatched, strict=False, jit_options=_FLAGS | (_A_STEP if each_step else {}))(resolve)
    dispatched.implements = implements  # type: ignore[attr-defined]
    return dispatched
