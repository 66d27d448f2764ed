"""The one ``njit`` of the package, and functions that choose their implementation by type.

Numba stamps a cached function with the file of the function alone, so a change in another file it was
compiled from would go unnoticed and yield wrong numbers. The cache folder of a function is therefore named by a
digest of all sources that it may be compiled from: an edit of what they compute recompiles, an edit of words does not.
"""

import functools
import hashlib
from collections.abc import Callable
from typing import Any

from fwsvm.numerics import import_numba  # noqa: F401 - before anything else imports it

# isort: split
import numba
from numba import extending

from fwsvm.errors import UsageError
from fwsvm.numerics.carried_code import code_places
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


if numba.config.DISABLE_JIT:
    raise UsageError("NUMBA_DISABLE_JIT is set, but nothing here runs without being compiled: unset it")
_PLACES = (
    code_places()
)  # before the first function is decorated, for it may name the processor to compile for


def _digest_of(sources: tuple[str, ...]) -> str:
    """Return the name of the folders for the machine code of functions in these sources of the package."""
    return package_digest(*FOUNDATION, *sources, compiled=True)[:16]


def is_cache_empty() -> bool:
    """Whether no machine code of the methods is kept, as before the first run."""
    return not any(any((place / _digest_of(SOLVING)).rglob("*.nbc")) for place in _PLACES.read)


_FLAGS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
#: For functions called at every step: no reference counting, so they must not allocate arrays.
_A_STEP = {"_nrt": False}


class Inner:
    """A function for compiled code alone, without the wrapper that Python would call.

    The wrapper unpacks all arrays of all arguments: for a short function it takes longer to compile than the function.
    """

    def __init__(self, compiled: Any) -> None:
        self.py_func, self.compile = compiled.py_func, compiled.compile
        self._numba_type_ = compiled._numba_type_  # by which numba knows the function

    def __call__(self, *_arguments: Any) -> Any:
        """Refuse the call."""
        raise TypeError(f"{self.py_func.__name__} is for compiled code alone: it has no wrapper for Python")


def njit(
    function: Callable | None = None, *, each_step: bool = False, inner: bool | None = None, **flags: Any
) -> Any:
    """Compile a module-level function to machine code that is cached on disk and releases the interpreter lock.

    ``each_step`` is for functions that are called millions of times and allocate no arrays (the compiler refuses those
    that do): it turns reference counting off, which would take half of a short step. ``inner`` is for functions that
    compiled code alone calls, by default those of each step (`Inner`).
    """
    if function is None:
        return functools.partial(njit, each_step=each_step, inner=inner, **flags)
    inner = each_step if inner is None else inner
    if inner:
        flags = flags | {"no_cpython_wrapper": True}
    compiled = numba.njit(function, **(_FLAGS | (_A_STEP if each_step else {}) | flags))
    sources = READING if function.__module__.startswith("fwsvm.data") else SOLVING
    compiled._cache = SourceKeyedCache(function, _PLACES, _digest_of(sources))  # noqa: SLF001  (what `cache=True` does, with our own)
    return Inner(compiled) if inner else compiled


def compile_for(function: Any, *arguments: Any) -> None:
    """Compile a function for arguments like these, or load its machine code; nothing is called."""
    function.compile(tuple(map(numba.typeof, arguments)))


def overload(function: Callable, *, each_step: bool = False) -> Callable[[Callable], Callable]:
    """Decorate a function of types that returns what compiled code calls for ``function``.

    For ``each_step`` see `njit`. As numba's, but without the wrapper for callers in C that numba would compile for
    each combination of types.
    """
    return extending.overload(function, strict=False, jit_options=_FLAGS | (_A_STEP if each_step else {}))


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

    overload(dispatched, each_step=each_step)(resolve)
    dispatched.implements = implements  # type: ignore[attr-defined]
    return dispatched
