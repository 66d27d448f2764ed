"""Mistakes that a person can mend: one sentence saying what, where and what to do; never a traceback."""

from collections.abc import Iterable
from typing import Any

SHOWN = 60  # characters of a wrong value that a message quotes


class FwsvmError(Exception):
    """Base of every error shown to the user as one line on stderr.

    ``exit_code`` is what the command line then returns.
    """

    exit_code = 2


class UsageError(FwsvmError):
    """A wrong option, parameter, name or configuration."""


class RangeError(FwsvmError):
    """Numbers that the precision of a run cannot hold, so that it has no result."""

    exit_code = 4


class DataError(FwsvmError):
    """A data file that is missing, damaged, not to be had, or not what it should be."""

    exit_code = 3


class ModelError(FwsvmError):
    """A model file that cannot be read or does not fit what is asked of it."""

    exit_code = 3


class ResultsError(FwsvmError):
    """A results folder that cannot be read, written or continued."""


class WriteError(ResultsError):
    """Results that cannot be written for want of space or permission; what was written before stays whole."""

    exit_code = 4


class PluginWarning(UserWarning):
    """A plug-in, what another package adds, that could not be loaded and is left out: one sentence."""


class CodeWarning(UserWarning):
    """Kept machine code that cannot be used, or none that can be kept: one sentence."""


def clipped(text: str, most: int) -> str:
    """Return text cut off at ``most`` characters, with three dots.

    >>> clipped("abc", 3), clipped("abcdefg", 5)
    ('abc', 'ab...')
    """
    return text if len(text) <= most else text[: most - 3] + "..."


def did_you_mean(wrong: Any, known: Iterable[str], otherwise: str = "") -> str:
    """Return the question for the nearest known name; ``otherwise`` where none is near.

    >>> did_you_mean("swop", ["swap", "fw"]), did_you_mean("zzz", ["swap"], "there is swap alone")
    ("did you mean 'swap'?", 'there is swap alone')
    """
    from difflib import get_close_matches

    near = get_close_matches(str(wrong)[:SHOWN], known, 1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def shown(value: Any) -> str:
    """Return a value as a message shows it: the start of a long one, and of a collection its kind.

    >>> shown("one"), shown({}), len(shown("x" * 5000))
    ("'one'", 'a mapping', 65)
    """
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and value.bit_length() > 256:
        return "a number of very many digits"
    if isinstance(value, str):
        return repr(value) if len(value) <= SHOWN else f"{value[:SHOWN]!r}..."
    said = " ".join(repr(value).split())
    return said if len(said) <= SHOWN else f"{said[:SHOWN]}..."
