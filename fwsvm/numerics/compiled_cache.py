"""The disk cache of machine code: one folder a digest of sources, and folders apart for code from plug-ins.

A plug-in's solver is compiled into the engines of this package. Cached among their machine code it would be stale when
the plug-in's file changes, and numba could not read that index once the plug-in is uninstalled. So machine code for
types from outside the package has a folder of its own, named by a digest of the sources that the types come from.
"""

import functools
import hashlib
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.serialize import dumps

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


class SourceKeyedCache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """Numba's cache of one function, in a folder named by a digest of its sources.

    Machine code for a plug-in's types has a folder of its own. Types without a source file, such as classes made in a
    function or a notebook, are compiled anew in each process.
    """

    _setting = threading.RLock()

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        with self._setting:
            before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
            try:
                super().__init__(function)
            finally:
                numba.config.CACHE_DIR = before
        # The folder's digest replaces numba's stamp, the bytes of one file, and its key, the number of a line.
        self._cache_file = _CacheFile(
            cache_path=self._cache_path,
            filename_base=f"{function.__module__}.{function.__qualname__}.{sys.implementation.cache_tag}",
            source_stamp="",
        )
        self._folder = folder
        self._apart: dict[str, FunctionCache] = {}

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for a signature, or None."""
        cache = self._cache_for(sig)
        if cache is self:
            return super().load_overload(sig, target_context)
        return cache.load_overload(sig, target_context) if cache is not None else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function."""
        cache = self._cache_for(sig)
        if cache is self:
            super().save_overload(sig, data)
        elif cache is not None:
            cache.save_overload(sig, data)

    def _cache_for(self, sig: Any) -> Any:
        modules = external_modules(self._py_func, getattr(sig, "args", sig))
        if not modules:
            return self
        digests = [sources_digest(module) for module in modules]
        if not all(digests):
            return None
        name = "outside-" + hashlib.sha256("".join(digests).encode()).hexdigest()[:16]
        with self._setting:
            if name not in self._apart:
                self._apart[name] = _Outside(self._py_func, self._folder / name)
            return self._apart[name]


class _CacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """The index and the data files of one function, which several processes may write at the same time.

    Numba numbers data files by the index that it has just read, and writes the index first: two processes that compile
    one function for different types could give theirs the same number, and the index of one would lead to the machine
    code of the other. A file named by what it is for can hold nothing else.
    """

    def save(self, key: Any, data: Any) -> None:
        """Write machine code, then an index with it; another process's entry may be lost, and is compiled anew."""
        name = f"{Path(self._index_name).stem}.{hashlib.sha256(dumps(key)).hexdigest()[:16]}.nbc"
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})


class _Outside(SourceKeyedCache):
    """The cache of one function for types of one plug-in."""

    def _cache_for(self, sig: Any) -> Any:  # noqa: ARG002
        return self
