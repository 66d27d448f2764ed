"""The one ``njit`` of the package, its disk cache, and functions that choose their implementation by type.

With `fwsvm.numerics.simd`, `machine` and `cholesky` this is all that touches numba's internals.
"""

import functools
import hashlib
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import binding
from numba import extending
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment
from numba.core.runtime import _nrt_python
from numba.core.serialize import dumps, loads
from numba.np.numpy_support import from_dtype, map_layout

from fwsvm.errors import CodeWarning, UsageError
from fwsvm.files.folders import code_folder

if numba.config.DISABLE_JIT:
    raise UsageError("NUMBA_DISABLE_JIT is set, but nothing here runs without being compiled: unset it")

PACKAGE = Path(__file__).parents[1]
# the version is a line of __init__.py
READING = ("__init__.py", "numerics", "data", "scaling.py", "_mapped.py")  # sources that read files
SOLVING = ("__init__.py", "numerics", "kernels", "problems", "solvers", "_mapped.py")


_usual_type_of = extending.typeof_impl.dispatch(np.ndarray)


@extending.typeof_impl.register(np.ndarray)
def _type_of(array: np.ndarray, context: Any) -> Any:
    """Return numba's type of an array; numba's own function imports numpy.ma, a twentieth of a start."""
    if type(array) is not np.ndarray or array.dtype.hasobject:
        return _usual_type_of(array, context)
    readonly = not array.flags.writeable
    return numba.types.Array(from_dtype(array.dtype), array.ndim, map_layout(array), readonly=readonly)


class _Interrupts(event.Listener):  # type: ignore[misc]
    """Raise after compiling the interrupt that came while llvmlite handed over an object: ctypes swallows it."""

    def __init__(self) -> None:
        self._usual: list[Callable] = []
        self._heard = False

    def on_start(self, _event) -> None:
        self._usual.append(sys.unraisablehook)
        sys.unraisablehook = self._hear

    def _hear(self, swallowed) -> None:
        if swallowed.exc_type is KeyboardInterrupt:
            self._heard = True
        else:
            self._usual[0](swallowed)

    def on_end(self, _event) -> None:
        sys.unraisablehook = self._usual.pop()
        if self._heard:
            self._heard = False
            raise KeyboardInterrupt


class _CompilerSeconds(threading.local, event.Listener):  # type: ignore[misc]
    """Count the seconds of each thread in numba's compiler, waiting for it and loading what it made included."""

    depth, seconds, started = 0, 0.0, 0.0

    def on_start(self, _event) -> None:
        if not self.depth:
            self.started = time.perf_counter()
        self.depth += 1

    def on_end(self, _event) -> None:
        self.depth -= 1
        if not self.depth:
            self.seconds += time.perf_counter() - self.started


_COMPILER = _CompilerSeconds()
event.register("numba:compiler_lock", _COMPILER)
event.register("numba:compile", _Interrupts())


def compile_seconds() -> float:
    """Return the seconds that this thread has spent on compiling and on loading compiled code."""
    return _COMPILER.seconds


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Code of a function, optimised once, with that of the functions it calls: numba does it three times over."""

    level = numba.config.OPT

    def _optimize_functions(self, module) -> None:
        module.data_layout = self._codegen._data_layout  # noqa: SLF001  (linking asks for it)

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager(opt=self.level)  # noqa: SLF001
        passes.run(self._final_module, builder)


class _InnerLibrary(_Library):
    """Code of an inner function, which is optimised and becomes machine code as part of its callers alone."""

    @property
    def codegen(self):
        """What sets the environment of a function that Python calls; there is none."""
        return self

    def set_env(self, *_) -> None:
        """Set no environment."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _Compiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, with a `_Library`."""

    library: type[_Library] = _Library

    def compile_extra(self, func):
        self.state.library = self.library(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


class _LeanLibrary(_Library):
    """Code whose loops are written as SIMD instructions, or are short: LLVM has nothing to vectorise or to unroll."""

    level = 1


class _LeanCompiler(_Compiler):
    """Numba's compiler, with a `_LeanLibrary`."""

    library = _LeanLibrary


class _InnerCompiler(_Compiler):
    """Numba's compiler, with an `_InnerLibrary`."""

    library = _InnerLibrary


_FLAGS = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "no_rewrites": True,  # no branches on None, no sums of whole arrays: their passes find nothing
    "pipeline_class": _Compiler,
}
#: For functions called at every step: no reference counting, so they must not allocate arrays.
_A_STEP = {"_nrt": False}
_INNER = {"no_cpython_wrapper": True, "pipeline_class": _InnerCompiler}


class Compiled:
    """A function that is compiled, whose dispatcher numba makes when it is first needed: half a millisecond each.

    An inner function is for compiled code alone. It has no wrapper that Python could call: that would unpack all arrays
    of all arguments, which takes longer to compile than a short function.
    """

    def __init__(self, function: Callable, flags: dict[str, Any], *, inner: bool) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self._flags, self._inner = function, flags, inner

    @functools.cached_property
    def _dispatcher(self) -> Any:
        with global_compiler_lock:  # it counts as compiling
            compiled = numba.njit(self.py_func, **self._flags)
            if not self._inner:
                compiled._cache = _Cache(self.py_func)  # noqa: SLF001  (what `cache=True` does, with our own)
        return compiled

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return self._dispatcher(*arguments)


def njit(
    function: Callable | None = None, *, each_step: bool = False, inner: bool | None = None, **flags: Any
) -> Any:
    """Compile a module-level function to machine code that is cached on disk and releases the interpreter lock.

    ``each_step`` is for functions that are called millions of times and allocate no arrays (the compiler refuses those
    that do): it turns reference counting off, which would take half of a short step. ``inner`` is for functions that
    compiled code alone calls, by default those of each step (`Compiled`).
    """
    if function is None:
        return functools.partial(njit, each_step=each_step, inner=inner, **flags)
    inner = each_step if inner is None else inner
    flags = _FLAGS | (_A_STEP if each_step else {}) | (_INNER if inner else {}) | flags
    if "inline" in flags:  # numba looks at the dispatcher when it inlines
        return numba.njit(function, **flags)
    return Compiled(function, flags, inner=inner)


#: Decorators for functions of each step, and for those that LLVM is to copy into their callers.
njit_step, njit_inlined_step = njit(each_step=True), njit(each_step=True, forceinline=True)
#: Decorator for functions that Python calls and that take less time to compile: they allocate no arrays, too.
njit_lean = njit(each_step=True, inner=False, pipeline_class=_LeanCompiler)
#: Decorators for functions whose source numba copies into their callers, and for those that only compiled code calls.
njit_inline, njit_inner = njit(inline="always"), njit(inner=True)


def overload(function: Callable, *, each_step: bool = True) -> Callable[[Callable], Callable]:
    """Decorate a function of types that returns what compiled code calls for ``function``.

    For ``each_step`` see `njit`. As numba's, but compiled as an inner function.
    """
    flags = _FLAGS | _INNER | (_A_STEP if each_step else {})
    return extending.overload(function, strict=False, jit_options=flags)


def generic(function: Callable | None = None, *, is_default: bool = False, each_step: bool = True) -> Any:
    """Make ``function`` choose its implementation by the type of its first argument, a NamedTuple.

    Types without an implementation of their own get ``function`` itself where it ``is_default``, else a TypeError. For
    ``each_step`` see `njit`.

    Compiled callers are resolved when they are compiled, plain Python callers when they call. Implementations are
    added by ``@function.implements(Type)``.
    """
    if function is None:
        return functools.partial(generic, is_default=is_default, each_step=each_step)

    def missing(first: Any, *_rest: Any) -> Any:
        raise TypeError(f"{function.__name__} has no implementation for {type(first).__name__}")

    dispatched = functools.singledispatch(function if is_default else functools.wraps(function)(missing))

    def implements(kind: type) -> Callable[[Callable], Callable]:
        return lambda implementation: dispatched.register(kind, implementation)

    def resolve(first: Any, *_rest: Any) -> Callable | None:
        kind = getattr(first, "instance_class", object)
        implementation = dispatched.dispatch(kind)
        return None if implementation is missing else implementation

    overload(dispatched, each_step=each_step)(resolve)
    dispatched.implements = implements  # type: ignore[attr-defined]
    return dispatched


def record(**fields: tuple[str, ...]) -> np.dtype:
    """Return the type of a record of numbers: by the names of their types, the names of its fields in order."""
    return np.dtype([(name, kind) for kind, names in fields.items() for name in names])


# ---------------------------------------------------------------- the disk cache


def _digest_of(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


@functools.cache
def package_digest(*parts: str) -> str:
    """Return the sha256 (hex) of the sources in these files and folders of the package."""
    paths = [PACKAGE / part for part in parts]
    return _digest_of(file for path in paths for file in (sorted(path.rglob("*.py")) or [path]))


@functools.cache
def _plugin_digest(module: str) -> str:
    """Return the sha256 (hex) of the sources beside an imported module's; '' without a file."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or module == "__main__":
        return ""
    outermost = Path(getattr(sys.modules.get(module.partition(".")[0]), "__file__", None) or file)
    is_package = outermost.name == "__init__.py"
    return _digest_of(sorted(outermost.parent.glob("**/*.py" if is_package else "*.py")))


def _source_folder(module: str) -> Path:
    """Return the folder for the machine code of functions in a module of the package."""
    sources = READING if module.startswith(("fwsvm.data", "fwsvm.scaling")) else SOLVING
    return code_folder() / package_digest(*sources)[:16]


def is_cache_empty() -> bool:
    """Return whether there is no machine code of the methods yet, as before the first run."""
    return not any(_source_folder("fwsvm.solvers").glob("*.nbc"))


class _Cache:
    """The machine code of one function on disk: a file for each combination of types, as numba writes it.

    Numba stamps a cached function with its own file alone, so a change in another file that it was compiled from would
    go unnoticed and give wrong numbers. A folder named by a digest of all computing sources cannot hold stale code.
    Files for a plug-in's types are named by its sources, too; types without a source file, such as classes made in a
    notebook, are compiled anew in each process.
    """

    def __init__(self, function: Callable) -> None:
        self._module, self._name = function.__module__, f"{function.__module__}.{function.__qualname__}"
        self.cache_path = str(_source_folder(function.__module__))

    def load_overload(self, sig, target):
        """Return the compiled function of a signature, or None; a damaged file is a miss."""
        _add_runtime_symbols()
        file = self._file(sig, target.codegen())
        try:
            return file and CompileResult._rebuild(target, *loads(file.read_bytes()))  # noqa: SLF001
        except Exception:  # noqa: BLE001 - a damaged file may raise anything
            return None

    def save_overload(self, sig, made) -> None:
        """Keep a compiled function, if there is space: it runs without, too."""
        file = self._file(sig, made.codegen)
        if file is None or made.library.has_dynamic_globals:
            return
        part = file.with_suffix(f".{os.getpid()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            *parts, inner = made._reduce()  # noqa: SLF001
            part.write_bytes(dumps((*parts, tuple(map(_apart, inner)))))
            part.replace(file)
        except OSError as error:
            _warn_of_no_cache(str(file.parent), error.strerror or str(error))

    def _file(self, sig: Any, codegen: Any) -> Path | None:
        """Return the file for code of these types on this processor; None where a type has no source file."""
        modules = [self._module, *_modules_of(getattr(sig, "args", sig))]
        digests = [_plugin_digest(name) for name in modules if name.partition(".")[0] != "fwsvm"]
        if not all(digests):
            return None
        key = repr((sys.version, numba.__version__, sig, modules, digests, codegen.magic_tuple()))
        return Path(self.cache_path) / f"{self._name}.{hashlib.sha256(key.encode()).hexdigest()[:24]}.nbc"


@functools.cache
def _add_runtime_symbols() -> None:
    """Let loaded code find numba's runtime, which is all it needs; what compiling needs takes half a second."""
    for name, place in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", place)


def _apart(environment: Environment) -> Environment:
    """Return the environment of an inner function without its module, which loading would import.

    Numba's own are slow to import, and only object mode reads the globals of a module.
    """
    found = Environment({"__name__": __name__})
    found.consts[:], found.env_name = environment.consts, environment.env_name
    return found


def _modules_of(types: Iterable[Any]) -> Iterator[str]:
    """Yield the modules of the NamedTuples among numba types, and of those within."""
    for kind in types:
        home = getattr(kind, "instance_class", None)
        if home is not None:
            yield "__main__" if "<locals>" in home.__qualname__ else home.__module__
        yield from _modules_of(getattr(kind, "types", ()))


@functools.cache
def _warn_of_no_cache(folder: str, why: str) -> None:
    """Warn once in a process that compiled code cannot be kept, which costs time alone."""
    warnings.warn(
        f"compiled code cannot be kept in {folder} ({why}): each process compiles anew",
        CodeWarning,
        stacklevel=2,
    )
