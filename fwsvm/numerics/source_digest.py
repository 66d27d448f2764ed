"""What a source file computes, as a digest: its syntax tree without comments, docstrings and positions.

Run identities and folders of compiled code are named by it, so an edited word changes neither and an edited operator
changes both.
"""

import ast
import contextlib
import functools
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fwsvm.errors import WriteError
from fwsvm.files.atomic import replacing
from fwsvm.files.folders import numba_folder

PACKAGE = Path(__file__).parents[1]
#: What all compiled code rests on.
FOUNDATION = ("numerics",)
#: What reads numbers, and what computes with them: neither is compiled into the other.
READING, SOLVING = ("data", "scaling.py", "_occurring.py"), ("kernels", "problems", "solvers")
#: What says how runs ended: it is compiled into nothing.
JUDGING = ("promises.py", "status.py")

_VERSION = b"1"  # of `source_digest`: another version may find another digest of the same bytes
#: Fields of a syntax tree that say how a source is written, not what it computes.
_SPELLING = {"kind", "type_comment", "type_ignores"}


@functools.cache
def package_digest(*parts: str) -> str:
    """Return the sha256 (hex) of names and `source_digest` of the sources in these files and folders of the package.

    Parsing them takes a quarter of a second, so a file in the cache remembers what was found for the same bytes.
    """
    places = [PACKAGE / part for part in parts]
    files = [
        file for place in places for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
    ]
    named = [(file.relative_to(PACKAGE).as_posix(), file.read_bytes()) for file in files]
    raw = hashlib.sha256(_VERSION)
    for name, source in named:
        raw.update(f"{name} {len(source)}\n".encode() + source)
    known = numba_folder() / "sources" / raw.hexdigest()
    with contextlib.suppress(OSError, ValueError):
        found = known.read_text("ascii")
        if re.fullmatch("[0-9a-f]{64}", found):
            return found
    lines = "".join(f"{name} {source_digest(source)}\n" for name, source in named)
    digest = hashlib.sha256(lines.encode()).hexdigest()
    with contextlib.suppress(WriteError, OSError):  # a cache that cannot be written costs time only
        known.parent.mkdir(parents=True, exist_ok=True)
        with replacing(known, WriteError) as stream:
            stream.write(digest)
    return digest


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
    return hashlib.sha256("".join(_words(tree)).encode("utf-8", "surrogatepass")).hexdigest()


def _words(node: Any) -> Iterator[str]:
    """Yield a syntax tree as text, from the root down; a part ends where its bracket does."""
    if isinstance(node, ast.AST):
        yield f"{type(node).__name__}("
        for name, value in ast.iter_fields(node):
            if name not in _SPELLING and value is not None and value != []:
                yield f"{name}="
                yield from _words(value)
        yield ")"
    elif isinstance(node, list):
        yield "["
        for part in node:
            if not _is_text(part):
                yield from _words(part)
        yield "]"
    else:
        yield f"{type(node).__name__} {node!r},"


def _is_text(statement: Any) -> bool:
    """Whether a statement is a docstring or another text on its own."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
