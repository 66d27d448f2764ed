"""Typed access to the values of ``datasets.lock``; errors name file, line, key and value."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fwsvm.bounded_yaml import Node
from fwsvm.errors import DataError, shown

#: Names of data sets, sources and files, which become names of folders and files in the cache.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
URL = re.compile(r"https?://[!-~]+")
LARGEST_COUNT = 2**63 - 1
QUOTED_KEY = 100  # characters of one key of a place


@dataclass(frozen=True)
class LockValue:
    """A YAML value, its file, and the keys that lead to it."""

    node: Node
    file: str
    keys: tuple[str, ...] = ()

    def error(self, said: str) -> DataError:
        """Return an error that names this value's file, line and keys."""
        line = f":{self.node.line}" if self.node.line else ""
        return DataError(": ".join((f"{self.file}{line}", *self.keys, said)))

    def mapping(self, known: Iterable[str] | None = None) -> "dict[str, LockValue]":
        """Return the mapping of keys to values; an unknown key is refused (None: all are known)."""
        found = self.node.value
        if not isinstance(found, dict):
            raise self.error(f"must be a mapping of keys to values, not {shown(found)}")
        values: dict[str, LockValue] = {}
        for key, node in found.items():
            if known is not None and key not in known:
                raise self._at(key, node).error(
                    f"unknown key {shown(key)}; known: {', '.join(sorted(known))}"
                )
            if not isinstance(key, str):
                raise self.error(f"a key must be a name, not {shown(key)}")
            values[key] = self._at(key, node)
        return values

    def pairs(self) -> "list[tuple[Any, LockValue]]":
        """Return the pairs of a mapping whose keys are names or numbers."""
        found = self.node.value
        if not isinstance(found, dict) or not found:
            raise self.error(f"must be a mapping of keys to values, not {shown(found)}")
        pairs = [(key, self._at(key, node)) for key, node in found.items()]
        for key, value in pairs:
            if isinstance(key, bool) or not isinstance(key, (str, int, float)):
                raise value.error(f"a key must be a name or a number, not {shown(key)}")
        return pairs

    def items(self) -> "list[LockValue]":
        """Return the members of a list."""
        found = self.node.value
        if not isinstance(found, list):
            raise self.error(f"must be a list, not {shown(found)}")
        return [LockValue(node, self.file, self.keys) for node in found]

    def _at(self, key: object, node: Node) -> "LockValue":
        word = str(key)[:QUOTED_KEY]
        return LockValue(node, self.file, (*self.keys, word if word.isprintable() else ascii(word)))

    def text(self) -> str:
        """Return a text that is not empty, its blanks made single."""
        found = self.node.value
        if not isinstance(found, str) or not found.strip():
            raise self.error(f"must be a text, not {shown(found)}")
        return " ".join(found.split())

    def name(self, what: str) -> str:
        """Return a name that may be that of a file."""
        if not isinstance(self.node.value, str) or not NAME.fullmatch(self.node.value):
            raise self.error(f"{shown(self.node.value)} is not a plain {what} name")
        return self.node.value

    def one_of(self, allowed: Iterable[str]) -> str:
        """Return one of the words allowed."""
        found, words = self.node.value, list(allowed)
        if not isinstance(found, str) or found not in words:
            raise self.error(f"one of {', '.join(words)}, not {shown(found)}")
        return found

    def count(self, most: int = LARGEST_COUNT) -> int:
        """Return a positive whole number."""
        found = self.node.value
        if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= most:
            bound = "" if most == LARGEST_COUNT else f" up to {most:,}"
            raise self.error(f"must be a positive whole number{bound}, not {shown(found)}")
        return found

    def boolean(self) -> bool:
        """Return a yes or no."""
        if not isinstance(self.node.value, bool):
            raise self.error(f"true or false, not {shown(self.node.value)}")
        return self.node.value

    def column(self) -> int | str:
        """Return a column of a table: its place or its name."""
        found = self.node.value
        if isinstance(found, bool) or not isinstance(found, (int, str)):
            raise self.error(f"must be a column's place or name, not {shown(found)}")
        return found

    def label(self) -> int | float | str:
        """Return a label or a symbol of a table: a number or a text."""
        found = self.node.value
        if isinstance(found, bool) or not isinstance(found, (int, float, str)):
            raise self.error(f"must be a number or a text, not {shown(found)}")
        if isinstance(found, float) and not math.isfinite(found):
            raise self.error(f"must be a finite number or a text, not {found!r}")
        return found

    def digest(self, length: int, unpinned: str) -> str | None:
        """Return a digest in hexadecimal digits, or None where none is known."""
        found = self.node.value
        if found == unpinned:
            return None
        if not isinstance(found, str) or not re.fullmatch(rf"[0-9a-f]{{{length}}}", found):
            raise self.error(f"{length} lower-case hexadecimal digits, or {unpinned}, not {shown(found)}")
        return found

    def addresses(self, unknown: str) -> tuple[str, ...]:
        """Return a list of URLs, empty if the value is the word for unknown."""
        if self.node.value == unknown:
            return ()
        said = f"must be a list of http(s) addresses, or {unknown}"
        if not isinstance(self.node.value, list):
            raise self.error(f"{said}, not {shown(self.node.value)}")
        for item in self.items():
            if not is_url(item.node.value):
                raise item.error(f"{said}, not {shown(item.node.value)}")
        return tuple(item.node.value for item in self.items())


def is_url(text: object) -> bool:
    """Whether a value is an address of the web with a host.

    >>> is_url("https://example.org/a"), is_url("http://[::1"), is_url("ftp://example.org/a")
    (True, False, False)
    """
    if not isinstance(text, str) or not URL.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
