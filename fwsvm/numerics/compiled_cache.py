"""The disk cache of machine code: one folder a digest of sources, and folders apart for code from plug-ins.

A plug-in's solver is compiled into the engines of this package. Cached among their machine code it would be stale when
the plug-in's file changes, and numba could not read that index once the plug-in is uninstalled. So machine code for
types from outside the package has a folder of its own, named by a digest of the sources that the types come from.
"""

import functools
import hashlib
import inspect
import pickle
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.serialize import dumps

from fwsvm.errors import SHOWN, CodeWarning, clipped
from fwsvm.files.folders import Places
from fwsvm.numerics.source_digest import source_digest

PACKAGE = __name__.partition(".")[0]


def is_external(module: str) -> bool:
    """Return whether a module is none of this package."""
    return module.partition(".")[0] != PACKAGE


def sources(module: str) -> list[Path]:
    """Return the files that an imported module may be computed from; none where it has no file, or is a script.

    These are all files of its outermost package, or of its folder where it is in no package.
    """
    names = module.split(".")
    for depth in range(1, len(names) + 1):
        file = getattr(sys.modules.get(".".join(names[:depth])), "__file__", None)
        if file is not None and module != "__main__" and Path(file).suffix == ".py":
            folder = Path(file).parent
            package = Path(file).name == "__init__.py"
            return sorted(folder.rglob("*.py") if package else folder.glob("*.py"))
    return []


@functools.cache
def sources_digest(module: str) -> str:
    """Return the sha256 (hex) of what a module's `sources` compute as they are now, or '' if it has none."""
    files = sources(module)
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name} {source_digest(file.read_bytes())}\n".encode())
    return digest.hexdigest() if files else ""


def external_modules(function: Callable[..., Any], types: Iterable[Any]) -> tuple[str, ...]:
    """Return the modules from outside that a compiled function and its argument types come from, sorted."""
    found = {function.__module__, *_homes(types)}
    return tuple(sorted(module for module in found if is_external(module)))


def _homes(types: Iterable[Any]) -> Iterable[str]:
    for kind in types:
        home = getattr(kind, "instance_class", None)
        if home is not None:
            yield "__main__" if "<locals>" in home.__qualname__ else home.__module__
        yield from _homes(getattr(kind, "types", ()))


#: What reading a damaged pickle raises.
_DAMAGED = (
    pickle.UnpicklingError, EOFError, AttributeError, ImportError, LookupError, TypeError, ValueError,
    OSError, MemoryError,
)  # fmt: skip


class SourceKeyedCache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """Numba's cache of one function, in folders named by a digest of its sources.

    Where a folder of code lies, and where the package does, is no part of a name: code can be carried elsewhere.
    Machine code for a plug-in's types has a folder of its own. Types without a source file, such as classes made in a
    function or a notebook, are compiled anew in each process.
    """

    def __init__(self, function: Callable[..., Any], places: Places, digest: str) -> None:
        # numba's own would look for a folder by the path of the package
        self._name, self._py_func = repr(function), function
        self._impl = _Form(function)
        self._places, self._digest = places, digest
        self._file_name = f"{function.__module__}.{function.__qualname__}.{sys.implementation.cache_tag}"
        self.enable()

    @property
    def cache_path(self) -> str:
        """The folder that code is kept in, or the first that is looked in."""
        return str((self._places.write or self._places.read[0]) / self._digest)

    def flush(self) -> None:
        """Forget what is kept."""
        if self._places.write is not None:
            self._file(self._places.write / self._digest).flush()

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        folder = self._folder(sig)
        if not self._enabled or folder is None:
            return None
        key = self._index_key(sig, target_context.codegen())
        for place in self._places.read:
            data = self._file(place / folder).load(key)
            if data is not None:
                return self._impl.rebuild(target_context, data)
        return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        folder = self._folder(sig)
        if not self._enabled or folder is None or not self._impl.check_cachable(data):
            return
        if self._places.write is None:
            _warn_once(f"{self._places.read[-1]} cannot be written to", "each process compiles anew")
            return
        where = self._places.write / folder
        try:
            where.mkdir(parents=True, exist_ok=True)
            self._file(where).save(self._index_key(sig, data.codegen), self._impl.reduce(data))
        except OSError as error:  # no space, say: the function is compiled, and runs
            _warn_once(
                f"{where} cannot be written to: {error.strerror or error}",
                "what is not kept is compiled anew",
            )

    def _file(self, folder: Path) -> "_CacheFile":
        return _CacheFile(
            str(folder), self._file_name, source_stamp=""
        )  # the folder's name has what a stamp says

    def _folder(self, sig: Any) -> Path | None:
        """Return the folder within each place for code of these types; None for types that nothing is kept of."""
        modules = external_modules(self._py_func, getattr(sig, "args", sig))
        digests = [sources_digest(module) for module in modules]
        if not all(digests):
            return None
        apart = "outside-" + hashlib.sha256("".join(digests).encode()).hexdigest()[:16]
        return Path(self._digest, apart) if modules else Path(self._digest)


class _Form(CompileResultCacheImpl):  # type: ignore[misc]
    """How a compiled function is written and read; numba's also looks for a folder."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = SimpleNamespace(_py_file=inspect.getfile(function))  # for numba's warnings


class _CacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """The index and the data files of one function, which several processes may write at the same time.

    Numba numbers data files by the index that it has just read, and writes the index first: two processes that compile
    one function for different types could give theirs the same number, and the index of one would lead to the machine
    code of the other. A file named by what it is for can hold nothing else. A warning names damaged files, and what was
    in them is compiled anew.
    """

    def load(self, key: Any) -> Any:
        """Return the machine code for a key, or None."""
        name = self._load_index().get(key)
        if name is None:
            return None
        try:
            return self._load_data(name)
        except (FileNotFoundError, NotADirectoryError):  # the index still has it
            return None
        except _DAMAGED as error:
            _warn_of_damage(self._data_path(name), error)
            return None

    def save(self, key: Any, data: Any) -> None:
        """Write machine code, then an index with it; another process's entry may be lost, and is compiled anew."""
        name = f"{Path(self._index_name).stem}.{hashlib.sha256(dumps(key)).hexdigest()[:16]}.nbc"
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})

    def _load_index(self) -> dict[Any, str]:
        try:
            return dict(super()._load_index())
        except NotADirectoryError:  # nothing can be kept there: who saves says so
            return {}
        except _DAMAGED as error:
            _warn_of_damage(self._index_path, error)
            return {}


def _warn_of_damage(path: str, error: BaseException) -> None:
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    _warn_once(f"{path} is damaged ({clipped(said, SHOWN)})", "its functions are compiled anew")


@functools.cache
def _warn_once(what: str, so: str) -> None:
    """Warn of a thing that costs time alone, once in a process."""
    warnings.warn(f"compiled code: {what}; {so}", CodeWarning, stacklevel=3)
