"""YAML values with their file and line, and typed access to them; errors name both."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwsvm import bounded_yaml
from fwsvm.errors import UsageError, nearest, not_one_of, shown

POWER = re.compile(r"([0-9]{1,20})\^([+-]?[0-9]{1,5})")
MAX_NAME = 1000  # characters of a name or a path
LARGEST_WHOLE = 2**53  # to which every whole number is a double


@dataclass(frozen=True)
class LocatedValue:
    """A scalar, a list of located values, or a mapping of names to them, with file and line."""

    value: Any
    file: str
    line: int
    source: str = ""  # a scalar as it stands in the file

    def error(self, said: str) -> UsageError:
        """Return an error that names the file and line of this value."""
        return UsageError(f"{self.file}:{self.line}: {said}")

    def mapping(self, known: Iterable[str] | None, what: str) -> "dict[str, LocatedValue]":
        """Return the mapping; an unknown key is refused with the nearest known one (None: all are known)."""
        if not isinstance(self.value, dict):
            raise self.error(f"{what} must be a mapping of keys to values, not {self.quoted}")
        names = list(self.value if known is None else known)
        for key, located in self.value.items():
            if key not in names:
                hint = nearest(key, names, f"known: {', '.join(names)}")
                raise located.error(f"unknown key {shown(key)} in {what}; {hint}")
        return dict(self.value)

    def items(self, most: int) -> "list[LocatedValue]":
        """Return the members of a list, at most ``most``; any other value is a list of one."""
        if isinstance(self.value, list):
            if not self.value:
                raise self.error("the list is empty")
            if len(self.value) > most:
                raise self.error(f"the list has {len(self.value):,} entries; at most {most:,} are allowed")
            return self.value
        return [self]

    def text(self, what: str) -> str:
        """Return a name."""
        scalar = not isinstance(self.value, (dict, list)) and self.value is not None
        name = self.source or str(self.value) if scalar else ""  # 003 is no number here, and off no truth
        if not name.isprintable() or not 0 < len(name) <= MAX_NAME:
            raise self.error(f"{what} must be a name, not {self.quoted}")
        return name

    def one_of(self, allowed: Iterable[str], what: str) -> str:
        """Return one of the names allowed."""
        name, names = self.text(what), list(allowed)
        if name not in names:
            raise self.error(not_one_of(what, names, name))
        return name

    def number(self, what: str, *, above: float = 0.0, below: float = math.inf) -> float:
        """Return a number strictly between the bounds; ``1e-6`` and ``2^-5`` are numbers too."""
        value = self._as_float()
        if not above < value < below:
            bound = f"above {above:g}" + (f" and below {below:g}" if below < math.inf else "")
            raise self.error(f"{what} must be a number {bound}, not {self.quoted}")
        return value

    def integer(self, what: str, *, least: int = 1, most: int | None = None) -> int:
        """Return a whole number within the bounds; with ``most``, ``what`` is a plural noun."""
        value = self.value if type(self.value) is int else self._as_float()
        if not (least <= value <= LARGEST_WHOLE and value == int(value)):
            bound = f"from {least} to {most or LARGEST_WHOLE}"
            raise self.error(f"{what} must be a whole number {bound}, not {self.quoted}")
        if most is not None and value > most:
            raise self.error(f"{int(value):,} {what} are too many; at most {most:,} are allowed")
        return int(value)

    def _as_float(self) -> float:
        """Return the number that stands here, NaN if none does; it may be infinite."""
        if not isinstance(self.value, (int, float, str)) or isinstance(self.value, bool):
            return math.nan
        power = POWER.fullmatch(str(self.value))
        try:
            return float(power[1]) ** int(power[2]) if power else float(self.value)
        except (ValueError, ArithmeticError):
            return math.nan

    def boolean(self, what: str) -> bool:
        """Return a yes or no."""
        if not isinstance(self.value, bool):
            raise self.error(f"{what} must be true or false, not {self.quoted}")
        return self.value

    @property
    def quoted(self) -> str:
        """The value as messages quote it: as it stands in the file, not as Python has it."""
        if self.value is None:
            return "nothing"
        return self.source if isinstance(self.value, bool) else shown(self.value)


def read_yaml(path: Path) -> LocatedValue:
    """Return the content of a YAML file; `UsageError` with file and line if it is not YAML, or too large."""
    return _located(bounded_yaml.read(path), str(path))


def _located(node: bounded_yaml.Node, file: str) -> LocatedValue:
    value = node.value
    if isinstance(value, dict):
        value = {key: _located(member, file) for key, member in value.items()}
    elif isinstance(value, list):
        value = [_located(member, file) for member in value]
    return LocatedValue(value, file, node.line, node.source)
