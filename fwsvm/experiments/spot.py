"""Values of a YAML file that remember where they stand, so that every mistake is named by file and line."""

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fwsvm.errors import UsageError

POWER = re.compile(r"(\d+)\^([+-]?\d+)")


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
                raise spot.wrong(f"unknown key {key!r} in {what}; {hint}")
        return dict(self.value)

    def items(self) -> "list[Spot]":
        """Return the members of a list; anything else is a list of one."""
        if isinstance(self.value, list):
            if not self.value:
                raise self.wrong("the list is empty")
            return self.value
        return [self]

    def text(self, what: str) -> str:
        """Return a name."""
        if isinstance(self.value, (dict, list)) or self.value is None or str(self.value) == "":
            raise self.wrong(f"{what} must be a name, not {self.shown}")
        return str(self.value)

    def one_of(self, allowed: Iterable[str], what: str) -> str:
        """Return one of the names allowed."""
        name, names = self.text(what), list(allowed)
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise self.wrong(f"{what} must be one of {', '.join(names)}, not {name!r}{hint}")
        return name

    def number(self, what: str, *, above: float = 0.0, below: float = math.inf) -> float:
        """Return a number strictly between the bounds; ``1e-6`` and ``2^-5`` are numbers too."""
        power = POWER.fullmatch(str(self.value))
        try:
            value = float(power[1]) ** int(power[2]) if power else float(self.value)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if isinstance(self.value, bool) or not above < value < below:
            bound = f"above {above:g}" + (f" and below {below:g}" if below < math.inf else "")
            raise self.wrong(f"{what} must be a number {bound}, not {self.shown}")
        return value

    def whole(self, what: str, *, least: int = 1) -> int:
        """Return a whole number."""
        value = self.number(what, above=least - 1)
        if value != int(value):
            raise self.wrong(f"{what} must be a whole number, not {self.shown}")
        return int(value)

    def truth(self, what: str) -> bool:
        """Return a yes or no."""
        if not isinstance(self.value, bool):
            raise self.wrong(f"{what} must be true or false, not {self.shown}")
        return self.value

    @property
    def shown(self) -> str:
        """The value as a message shows it."""
        if isinstance(self.value, dict):
            return "a mapping"
        return "a list" if isinstance(self.value, list) else repr(self.value)


def read(path: Path) -> Spot:
    """Return the content of a YAML file; `UsageError` with file and line where it is not YAML."""
    try:
        source = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: cannot be read: {reason}") from error
    try:
        loader = yaml.SafeLoader(source)
    except yaml.YAMLError as error:
        raise UsageError(f"{path}:1: not YAML: {str(error).splitlines()[0]}") from error
    try:
        node = loader.get_single_node()
        if node is None:
            raise UsageError(f"{path}:1: the file is empty")
        return _Reader(loader, str(path)).spot(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UsageError(
            f"{path}:{mark.line + 1 if mark else 1}: {error.problem or error.context}"
        ) from error
    except RecursionError:
        raise UsageError(f"{path}:1: nested too deeply for an experiment") from None
    except yaml.YAMLError as error:  # a character that YAML does not allow
        raise UsageError(f"{path}:1: not YAML: {str(error).splitlines()[0]}") from error
    finally:
        loader.dispose()


class _Reader:
    """Turns YAML's nodes into spots, each once, so that aliases cost nothing and cannot run in circles."""

    def __init__(self, loader: yaml.SafeLoader, file: str) -> None:
        self.loader, self.file = loader, file
        self.made: dict[int, Spot | None] = {}

    def spot(self, node: yaml.Node) -> Spot:
        line = node.start_mark.line + 1
        if id(node) not in self.made:
            self.made[id(node)] = None  # being made
            self.made[id(node)] = Spot(self._value(node), self.file, line)
        made = self.made[id(node)]
        if made is None:
            raise UsageError(f"{self.file}:{line}: this value contains itself")
        return made

    def _value(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.SequenceNode):
            return [self.spot(item) for item in node.value]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node)
        return self.loader.construct_object(node)

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Spot]:
        keys: set[str] = set()
        for key, _ in node.value:
            if key.value in keys:
                line = key.start_mark.line + 1
                raise UsageError(f"{self.file}:{line}: the key {key.value!r} stands here a second time")
            if not isinstance(key, yaml.ScalarNode):
                raise UsageError(f"{self.file}:{key.start_mark.line + 1}: a key must be a name")
            keys.add(key.value)
        self.loader.flatten_mapping(node)  # YAML's merge key, <<
        return {
            str(key.value): Spot(self.spot(value).value, self.file, key.start_mark.line + 1)
            for key, value in node.value
        }
