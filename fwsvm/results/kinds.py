"""What a field of a results table may hold, and how it is read: strictly, in one spelling, within bounds."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from fwsvm.errors import shown

#: A number in decimal digits of ASCII; float() also takes ``1_0``, digits of other scripts and spaces around.
_NUMERAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_MOST_DIGITS = 64
_IDENTITY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
#: Control characters, line ends, lone surrogates and marks that turn the direction of writing.
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_TRUTHS = {"": False, "true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

NAMED = 5  # of many things that a message names


class Kind(Protocol):
    """What the fields of a column may hold."""

    def read(self, name: str, field: str) -> object:
        """Return the value of a field of the column ``name``.

        Raises
        ------
        ValueError
            The field holds something else; the message says what it is and what is known.
        """


@dataclass(frozen=True, slots=True)
class Text:
    """A name or a sentence: at most ``most`` characters, none of which moves a cursor or ends a line."""

    most: int = 4096

    def read(self, name: str, field: str) -> str:
        """Return the field as it stands."""
        if len(field) > self.most:
            raise ValueError(f"{name} has {len(field):,} characters, which is more than {self.most:,}")
        if found := _UNFIT.search(field):
            raise ValueError(f"{name} is {shown(field)}, which has the control character {found[0]!a}")
        return field

    def fitted(self, field: str) -> str:
        """Return text as a field that `read` takes: control characters by their codes, too long an end cut off."""
        plain = _UNFIT.sub(lambda found: ascii(found[0])[1:-1], field)
        return plain if len(plain) <= self.most else f"{plain[: self.most - 1]}…"


@dataclass(frozen=True, slots=True)
class Identity:
    """A run's identity: also the name of a file, so neither a path nor empty."""

    def read(self, name: str, field: str) -> str:
        """Return the field as it stands."""
        if not _IDENTITY.fullmatch(field):
            raise ValueError(
                f"{name} is {shown(field)}, which is not 1 to 128 letters, digits, '-', '_' and '.'"
            )
        return field


@dataclass(frozen=True, slots=True)
class Word:
    """One of a list of words; ``filled`` if it may not be empty."""

    known: tuple[str, ...]
    filled: bool = False

    def read(self, name: str, field: str) -> str:
        """Return the field as it stands."""
        if field in self.known or (not field and not self.filled):
            return field
        raise ValueError(f"unknown {name} {shown(field)}; known are {', '.join(self.known)}")


@dataclass(frozen=True, slots=True)
class Truth:
    """True or false; empty is false."""

    def read(self, name: str, field: str) -> bool:
        """Return the truth of a field."""
        value = _TRUTHS.get(field.lower())
        if value is None:
            raise ValueError(f"{name} is {shown(field)}, which is neither true nor false")
        return value


@dataclass(frozen=True, slots=True)
class Number:
    """A number from ``least`` to ``most``; where both are infinite, inf, -inf and nan are numbers, too.

    An empty field is NaN.
    """

    least: float = -math.inf
    most: float = math.inf

    def read(self, name: str, field: str) -> float:
        """Return the number that a field holds."""
        if not field:
            return math.nan
        if len(field) <= _MOST_DIGITS and _NUMERAL.fullmatch(field):
            value = float(field)
            if self.least <= value <= self.most and math.isfinite(value):
                return value
        elif field in _NOT_FINITE and not self._bounded:
            return _NOT_FINITE[field]
        raise ValueError(f"{name} is {shown(field)}, which is not a number{self._range}")

    @property
    def _bounded(self) -> bool:
        return not (math.isinf(self.least) and math.isinf(self.most))

    @property
    def _range(self) -> str:
        return f" from {self.least:g} to {self.most:g}" if self._bounded else " of double precision"


def shortened(text: str, most: int = 60) -> str:
    """Return text cut to ``most`` characters, for messages and labels that have room for a name."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def listed(said: Iterable[str], between: str = ", ", most: int = NAMED) -> str:
    """Return the first ``most`` of texts in a row, and how many more there are."""
    texts = list(said)
    more = [f"{len(texts) - most} more"] if len(texts) > most else []
    return between.join([*texts[:most], *more])
