"""What a source file computes, as a digest: its syntax tree without comments, docstrings and positions.

Run identities and folders of compiled code are named by it, so an edited word changes neither and an edited operator
changes both.
"""

import ast
import contextlib
import functools
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from fwsvm.errors import WriteError
from fwsvm.files.atomic import write_whole
from fwsvm.files.folders import numba_folder, places

PACKAGE = Path(__file__).parents[1]
#: What all compiled code rests on.
FOUNDATION = ("numerics",)
#: What reads numbers, and what computes with them: neither is compiled into the other.
READING, SOLVING = (
    ("data", "scaling", "_occurring.py"),
    ("kernels", "problems", "solvers", "_mapped.py", "_stretches.py"),
)
#: What says how runs ended: it is compiled into nothing.
JUDGING = ("promises.py", "status.py")

_VERSION = b"1"  # of `source_digest`: another version may find another digest of the same bytes
_COMPILING = (b"numerics.compile import", b".implements(")
#: Fields of a syntax tree that say how a source is written, not what it computes.
_SPELLING = {"kind", "type_comment", "type_ignores"}


@functools.cache
def package_digest(*parts: str, compiled: bool = False) -> str:
    """Return the sha256 (hex) of names and `source_digest` of the sources in these files and folders of the package.

    With ``compiled`` only of those that machine code is made from (`compiled_sources`).

    Parsing them takes a quarter of a second, so a file in the cache remembers what was found for the same bytes.
    """
    files = [
        file
        for part in (PACKAGE / each for each in parts)
        for file in (sorted(part.rglob("*.py")) if part.is_dir() else [part])
    ]
    named = [(file.relative_to(PACKAGE).as_posix(), file.read_bytes()) for file in files]
    raw = hashlib.sha256(_VERSION + (b" compiled" if compiled else b""))
    for name, source in named:
        raw.update(f"{name} {len(source)}\n".encode() + source)
    kept = places(numba_folder())
    for place in kept.read:
        with contextlib.suppress(OSError, ValueError):
            found = (place / "sources" / raw.hexdigest()).read_text("ascii")
            if re.fullmatch("[0-9a-f]{64}", found):
                return found
    computing = compiled_sources(dict(named)) if compiled else {name for name, _ in named}
    lines = "".join(f"{name} {source_digest(source)}\n" for name, source in named if name in computing)
    digest = hashlib.sha256(lines.encode()).hexdigest()
    if kept.write is not None:
        with contextlib.suppress(WriteError):  # a cache that cannot be written costs time only
            write_whole(kept.write / "sources" / raw.hexdigest(), digest.encode("ascii"), WriteError)
    return digest


def compiled_sources(sources: Mapping[str, bytes]) -> set[str]:
    """Return which of these sources, by their paths in the package, machine code may be made from.

    Those that compile a function or add an implementation to a generic one, and all that they import, and so on:
    values of the modules that a compiled function names are constants in its machine code.
    """
    found: set[str] = set()
    waiting = [name for name, source in sources.items() if any(word in source for word in _COMPILING)]
    while waiting:
        if (name := waiting.pop()) in sources and name not in found:
            found.add(name)
            waiting += _imported(sources[name], sources)
    return found


def _imported(source: bytes, sources: Collection[str]) -> Iterator[str]:
    """Yield the files among ``sources`` that a source takes modules or names from."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:  # a module of that name, or a name in the module
                yield from _file(f"{node.module}.{alias.name}", sources) or _file(node.module, sources)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _file(alias.name, sources)


def _file(module: str, sources: Collection[str]) -> list[str]:
    """Return the file of a module of the package, if it is among ``sources``."""
    path = module.removeprefix(f"{PACKAGE.name}.").replace(".", "/")
    return [file for file in (f"{path}.py", f"{path}/__init__.py") if file in sources][:1]


@functools.lru_cache(maxsize=1024)
def source_digest(source: bytes) -> str:
    """Return the sha256 (hex) of what a Python source computes; of its bytes where it is not valid Python.

    Python versions agree on it: fields that are empty, as new ones are in old sources, do not count.

    >>> source_digest(b'x = 1  # one') == source_digest(b'# some words' + bytes([10]) + b'x = (1)')
    True
    >>> source_digest(b'x = 1') == source_digest(b'x = 2')
    False
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return hashlib.sha256(source).hexdigest()
    words: list[str] = []
    _write(tree, words)
    return hashlib.sha256("".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def _write(node: Any, words: list[str]) -> None:
    """Append a syntax tree as text, from the root down; a part ends where its bracket does."""
    if isinstance(node, ast.AST):
        words.append(f"{type(node).__name__}(")
        for name in node._fields:
            value = getattr(node, name, None)
            if name not in _SPELLING and value is not None and value != []:
                words.append(f"{name}=")
                _write(value, words)
        words.append(")")
    elif isinstance(node, list):
        words.append("[")
        for part in node:
            if not _is_text(part):
                _write(part, words)
        words.append("]")
    else:
        words.append(f"{type(node).__name__} {node!r},")


def _is_text(statement: Any) -> bool:
    """Whether a statement is a docstring or another text on its own."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
