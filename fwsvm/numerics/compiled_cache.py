"""The disk cache of machine code, in folders named by a digest of the sources and the version.

Numba stamps a cached function with its own file alone, so a change in another file that it was compiled from would go
unnoticed and give wrong numbers. A folder named by a digest of all computing sources cannot hold stale code. Code
compiled for a plug-in's types lies in a folder of its own, named by the plug-in's sources.
"""

import functools
import hashlib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.serialize import dumps

from fwsvm.errors import CodeWarning
from fwsvm.files.folders import code_folder

PACKAGE = Path(__file__).parents[1]
# the version is a line of __init__.py
READING = ("__init__.py", "numerics", "data", "scaling", "_occurring.py")  # sources that read files
SOLVING = ("__init__.py", "numerics", "kernels", "problems", "solvers", "_mapped.py")


@functools.cache
def package_digest(*parts: str) -> str:
    """Return the sha256 (hex) of the sources in these files and folders of the package."""
    files = [file for part in parts for file in _sources_in(PACKAGE / part)]
    return _digest_of(files)


def _sources_in(path: Path) -> list[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _digest_of(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


@functools.cache
def plugin_digest(module: str) -> str:
    """Return the sha256 (hex) of the sources of an imported module's package, or of its folder; '' without a file."""
    for name in _packages_of(module):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and module != "__main__" and Path(file).suffix == ".py":
            is_package = Path(file).name == "__init__.py"
            return _digest_of(sorted(Path(file).parent.glob("**/*.py" if is_package else "*.py")))
    return ""


def _packages_of(module: str) -> list[str]:
    """Return the names of a module's packages, the outermost first, and its own."""
    names = module.split(".")
    return [".".join(names[:depth]) for depth in range(1, len(names) + 1)]


def source_folder(module: str) -> Path:
    """Return the folder for the machine code of functions in a module of the package."""
    sources = READING if module.startswith(("fwsvm.data", "fwsvm.scaling")) else SOLVING
    return code_folder() / package_digest(*sources)[:16]


def is_cache_empty() -> bool:
    """Return whether there is no machine code of the methods yet, as before the first run."""
    return not any(source_folder("fwsvm.solvers").rglob("*.nbc"))


class SourceKeyedCache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """Numba's cache of one function, in the folder of its sources.

    Types without a source file, such as classes made in a notebook, are compiled anew in each process.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        # numba's own would look for a folder beside the source
        self._name, self._py_func, self._impl = repr(function), function, _Form(function)
        self._folder = source_folder(function.__module__)
        self._file_name = f"{function.__module__}.{function.__qualname__}.{sys.implementation.cache_tag}"
        self.enable()

    @property
    def cache_path(self) -> str:
        """The folder that code is kept in."""
        return str(self._folder)

    def flush(self) -> None:
        """Forget what is kept."""
        _CacheFile(str(self._folder), self._file_name, source_stamp="").flush()

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        file = self._file_for(sig)
        if not self._enabled or file is None:
            return None
        data = file.load(self._index_key(sig, target_context.codegen()))
        return None if data is None else self._impl.rebuild(target_context, data)

    def _save_overload(self, sig: Any, data: Any) -> None:
        file = self._file_for(sig)
        if not self._enabled or file is None or not self._impl.check_cachable(data):
            return
        try:
            Path(file.folder).mkdir(parents=True, exist_ok=True)
            file.save(self._index_key(sig, data.codegen), self._impl.reduce(data))
        except OSError as error:  # no space, say: the function is compiled, and runs
            _warn_of_no_cache(file.folder, error.strerror or str(error))

    def _file_for(self, sig: Any) -> "_CacheFile | None":
        """Return the cache file for code of these types; None where a type has no source file."""
        modules = {self._py_func.__module__, *_modules_of(getattr(sig, "args", sig))}
        digests = [plugin_digest(module) for module in sorted(modules) if module.partition(".")[0] != "fwsvm"]
        if not all(digests):
            return None
        apart = hashlib.sha256("".join(digests).encode()).hexdigest()[:16]
        folder = self._folder / f"plug-in-{apart}" if digests else self._folder
        return _CacheFile(str(folder), self._file_name, source_stamp="")


def _modules_of(types: Iterable[Any]) -> Iterable[str]:
    """Yield the modules of the NamedTuples among numba types, and of those within."""
    for kind in types:
        home = getattr(kind, "instance_class", None)
        if home is not None:
            yield "__main__" if "<locals>" in home.__qualname__ else home.__module__
        yield from _modules_of(getattr(kind, "types", ()))


class _Form(CompileResultCacheImpl):  # type: ignore[misc]
    """How a compiled function is written and read; numba's also looks for a folder."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Source(inspect.getfile(function))


class _Source:
    """The source file that numba names in its warnings."""

    def __init__(self, file: str) -> None:
        self._py_file = file


class _CacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """The index and the data files of one function, which several processes may write at the same time.

    Numba numbers data files by the index that it has just read: two processes could give different code one number.
    A file named by its key can hold nothing else. A file that cannot be read is a miss.
    """

    @property
    def folder(self) -> str:
        """The folder of the index and the data files."""
        return str(self._cache_path)

    def load(self, key: Any) -> Any:
        """Return the machine code for a key, or None."""
        name = self._load_index().get(key)
        try:
            return None if name is None else self._load_data(name)
        except Exception:  # noqa: BLE001 - a damaged pickle may raise anything
            return None

    def save(self, key: Any, data: Any) -> None:
        """Write machine code, then an index with it; another process's entry may be lost, and is compiled anew."""
        name = f"{Path(self._index_name).stem}.{hashlib.sha256(dumps(key)).hexdigest()[:16]}.nbc"
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})

    def _load_index(self) -> dict[Any, str]:
        try:
            return dict(super()._load_index())
        except Exception:  # noqa: BLE001 - as in `load`
            return {}


@functools.cache
def _warn_of_no_cache(folder: str, why: str) -> None:
    """Warn once in a process that compiled code cannot be kept, which costs time alone."""
    warnings.warn(
        f"compiled code cannot be kept in {folder} ({why}): each process compiles anew",
        CodeWarning,
        stacklevel=2,
    )
