"""The one ``njit`` of the package, and functions that choose their implementation by type."""

import contextlib
import functools
import gc
import importlib
import threading
from collections.abc import Callable
from typing import Any


def _import_numba() -> None:
    with contextlib.suppress(Exception):  # the import below raises it
        importlib.import_module("numba")


# CPython maps a new chunk of 16 KiB for the frames of deep calls, and numba's import crosses a chunk's end thousands of
# times when it starts from within other imports. A new thread starts with an empty chunk: a tenth of a second less.
_importing = threading.Thread(target=_import_numba, name="import numba")
_importing.start()
_importing.join()

import numba  # noqa: E402
from numba import extending  # noqa: E402
from numba.core import event  # noqa: E402

from fwsvm.errors import UsageError  # noqa: E402
from fwsvm.numerics.compiled_cache import SourceKeyedCache  # noqa: E402

if numba.config.DISABLE_JIT:
    raise UsageError("NUMBA_DISABLE_JIT is set, but nothing here runs without being compiled: unset it")


class _FewCollections(event.Listener):  # type: ignore[misc]  # numba has no types
    """Collect garbage rarely while numba compiles: it makes millions of objects, and few of them are garbage."""

    def __init__(self) -> None:
        self._usual: list[tuple[int, int, int]] = []

    def on_start(self, _event: Any) -> None:
        self._usual.append(gc.get_threshold())
        gc.set_threshold(50_000, 20, 100)

    def on_end(self, _event: Any) -> None:
        gc.set_threshold(*self._usual.pop())


event.register("numba:compile", _FewCollections())

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
    compiled._cache = SourceKeyedCache(function)  # noqa: SLF001  (what `cache=True` does, with our own)
    return Inner(compiled) if inner else compiled


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
