"""Values of a YAML file that remember where they stand, so that every mistake is named by file and line."""

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwsvm import bounded_yaml
from fwsvm.errors import UsageError, shown

POWER = re.compile(r"([0-9]{1,20})\^([+-]?[0-9]{1,5})")
LONGEST_NAME = 1000  # characters of a name or a path
LARGEST = 2**53  # to which every whole number is a double


@dataclass(frozen=True)
class Spot:
    """A value and its place: a scalar, a list of spots, or a mapping of names to spots."""

    value: Any
    file: str
    line: int

    def wrong(self, said: str) -> UsageError:
        """Return the error that says what is wrong here."""
        return UsageError(f"{self.file}:{self.line}: {said}")

    def mapping(self, known: Iterable[str] | None, what: str) -> "dict[str, Spot]":
        """Return the mapping; an unknown key is refused with the nearest known one (None: all are known)."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"{what} must be a mapping of keys to values, not {self.shown}")
        names = list(self.value if known is None else known)
        for key, spot in self.value.items():
            if key not in names:
                near = difflib.get_close_matches(key, names, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
                raise spot.wrong(f"unknown key {shown(key)} in {what}; {hint}")
        return dict(self.value)

    def items(self, most: int) -> "list[Spot]":
        """Return the members of a list, so many at most; anything else is a list of one."""
        if isinstance(self.value, list):
            if not self.value:
                raise self.wrong("the list is empty")
            if len(self.value) > most:
                raise self.wrong(f"a list of {len(self.value):,}; {most:,} are the most")
            return self.value
        return [self]

    def text(self, what: str) -> str:
        """Return a name."""
        name = "" if isinstance(self.value, (dict, list)) or self.value is None else str(self.value)
        if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            raise self.wrong(f"{what} must be a name, not {self.shown}")
        return name

    def one_of(self, allowed: Iterable[str], what: str) -> str:
        """Return one of the names allowed."""
        name, names = self.text(what), list(allowed)
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise self.wrong(f"{what} must be one of {', '.join(names)}, not {shown(name)}{hint}")
        return name

    def number(self, what: str, *, above: float = 0.0, below: float = math.inf) -> float:
        """Return a number strictly between the bounds; ``1e-6`` and ``2^-5`` are numbers too."""
        value = math.nan
        if isinstance(self.value, (int, float, str)) and not isinstance(self.value, bool):
            power = POWER.fullmatch(str(self.value))
            try:
                value = float(power[1]) ** int(power[2]) if power else float(self.value)
            except (ValueError, ArithmeticError):
                value = math.nan
        if not above < value < below:
            bound = f"above {above:g}" + (f" and below {below:g}" if below < math.inf else "")
            raise self.wrong(f"{what} must be a number {bound}, not {self.shown}")
        return value

    def whole(self, what: str, *, least: int = 1, most: int | None = None) -> int:
        """Return a whole number within the bounds; with ``most`` it counts what is named in the plural."""
        value = self.number(what, above=least - 1, below=LARGEST + 1)
        if value != int(value):
            raise self.wrong(f"{what} must be a whole number, not {self.shown}")
        if most is not None and value > most:
            raise self.wrong(f"{int(value):,} {what} are too many; {most:,} are enough")
        return int(value)

    def truth(self, what: str) -> bool:
        """Return a yes or no."""
        if not isinstance(self.value, bool):
            raise self.wrong(f"{what} must be true or false, not {self.shown}")
        return self.value

    @property
    def shown(self) -> str:
        """The value as a message shows it."""
        return shown(self.value)


def read(path: Path) -> Spot:
    """Return the content of a YAML file; `UsageError` with file and line where it is not YAML, or too much of it."""
    return _spot(bounded_yaml.read(path), str(path))


def _spot(node: bounded_yaml.Node, file: str) -> Spot:
    value = node.value
    if isinstance(value, dict):
        value = {key: _spot(member, file) for key, member in value.items()}
    elif isinstance(value, list):
        value = [_spot(member, file) for member in value]
    return Spot(value, file, node.line)
