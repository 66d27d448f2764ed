"""A model file's header: one keyword and its values a line, up to the line that opens the body."""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from fwsvm.errors import ModelError, shown
from fwsvm.problems.model_files._lines import Lines
from fwsvm.problems.model_files._numbers import LARGEST, finite_number, whole


class HeaderField(NamedTuple):
    """The values of a keyword and where they stand."""

    values: list[str]
    line: int


class Header:
    """The entries of a header by keyword, each at most once, and the word that ended it."""

    def __init__(self, lines: Lines, entries: Mapping[str, HeaderField], end: str) -> None:
        self.lines = lines
        self.entries = entries
        self.end = end

    def __contains__(self, keyword: str) -> bool:
        return keyword in self.entries

    def only(self, keywords: AbstractSet[str]) -> None:
        """Raise `ModelError` for a keyword that does not belong here."""
        for keyword, entry in self.entries.items():
            if keyword not in keywords:
                raise self.lines.refusal(f"{keyword} does not belong in this kind of model", entry.line)

    def refusal(self, keyword: str, why: str) -> ModelError:
        """Return the error about a keyword's values."""
        return self.lines.refusal(f"{keyword} {why}", self.entries[keyword].line)

    def word(self, keyword: str) -> str:
        """Return the one value of a keyword."""
        return self._values(keyword, 1)[0]

    def whole(self, keyword: str, low: int, high: int = LARGEST) -> int:
        """Return a keyword's whole number, which must be within the bounds."""
        (value,) = self.wholes(keyword, 1)
        if not low <= value <= high:
            raise self.refusal(keyword, f"must be {low} to {high}, not {value}")
        return value

    def number(self, keyword: str) -> float:
        """Return a keyword's finite number."""
        return self.numbers(keyword, 1)[0]

    def wholes(self, keyword: str, count: int) -> list[int]:
        """Return a keyword's ``count`` whole numbers that fit an int."""
        return self._each(keyword, count, whole, "a whole number of 32 bits")

    def numbers(self, keyword: str, count: int) -> list[float]:
        """Return a keyword's ``count`` finite numbers."""
        return self._each(keyword, count, finite_number, "a finite number")

    def _each(self, keyword: str, count: int, parse: Callable[[str], Any], what: str) -> list[Any]:
        values = []
        for text in self._values(keyword, count):
            value = parse(text)
            if value is None:
                raise self.refusal(keyword, f"has {shown(text)}, which is not {what}")
            values.append(value)
        return values

    def _values(self, keyword: str, count: int) -> list[str]:
        if keyword not in self.entries:
            raise self.lines.refusal(f"the header ends without {keyword}")
        values = self.entries[keyword].values
        if len(values) != count:
            raise self.refusal(
                keyword, f"must have {count} {'value' if count == 1 else 'values'}, not {len(values)}"
            )
        return values


def read_header(
    lines: Lines, rest: Iterator[str], keywords: AbstractSet[str], ends: AbstractSet[str]
) -> Header:
    """Return the entries up to the line that is one of the words ``ends``; ``rest`` then stands after it."""
    entries: dict[str, HeaderField] = {}
    for line in rest:
        keyword, *values = line.split() or [""]
        if keyword in ends and not values:
            return Header(lines, entries, keyword)
        if keyword not in keywords:
            raise lines.refusal(f"{shown(keyword)} is no keyword of a model file's header")
        if keyword in entries:
            raise lines.refusal(f"{keyword} is already given in line {entries[keyword].line}")
        entries[keyword] = HeaderField(values, lines.number)
    raise lines.refusal(
        f"the file ends before the header does; the header must end with a line {' or '.join(sorted(ends))}"
    )
