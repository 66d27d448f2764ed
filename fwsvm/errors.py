"""Mistakes that a person can mend: one sentence saying what, where and what to do; never a traceback."""

from collections.abc import Iterable
from typing import Any

from fwsvm import exit_codes

SHOWN = 60  # characters of a wrong value that a message quotes
LIKENESS = 0.55  # of two words, so that `repeat` suggests `repetitions`; difflib's own 0.6 does not
MOST_WORDS = 300  # characters of another package's error that a message quotes


class FwsvmError(Exception):
    """Base of every error shown to the user as one line on stderr.

    ``exit_code`` is what the command line then returns.
    """

    exit_code = exit_codes.USAGE


class UsageError(FwsvmError):
    """A wrong option, parameter, name or configuration."""


class SettingError(UsageError):
    """A setting that makes no sense, under its name in Python (`fwsvm.settings.with_options` has the option)."""


class RangeError(FwsvmError):
    """Numbers that the precision of a run cannot hold, so that it has no result."""

    exit_code = exit_codes.FAILED


class DataError(FwsvmError):
    """A data file that is missing, damaged, not available, or not what it should be."""

    exit_code = exit_codes.DATA


class UnobtainableError(DataError):
    """A data set or file of the lock that neither the cache, nor the mirror, nor a server has."""


class ModelError(FwsvmError):
    """A model file that cannot be read or does not fit what is asked of it."""

    exit_code = exit_codes.DATA


class ResultsError(FwsvmError):
    """A results folder that cannot be read, written or continued."""


class WriteError(ResultsError):
    """Output that cannot be written for want of a folder, space or permission; what was written before stays whole."""

    exit_code = exit_codes.FAILED


class PluginWarning(UserWarning):
    """A plug-in, what another package adds, that could not be loaded and is left out: one sentence."""


class CodeWarning(UserWarning):
    """Kept machine code that cannot be used, or none that can be kept: one sentence."""


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "file"), counted(2000, "file")
    ('1 file', '2,000 files')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shortened(text: str, most: int = 60) -> str:
    """Return text cut to ``most`` characters, the last of them an ellipsis, for messages and labels.

    >>> shortened("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def listed(said: Iterable[str], between: str = ", ", most: int = 5) -> str:
    """Return the first ``most`` of several texts, and how many more there are.

    >>> listed("abcdefg")
    'a, b, c, d, e, 2 more'
    """
    texts = list(said)
    more = [f"{len(texts) - most} more"] if len(texts) > most else []
    return between.join([*texts[:most], *more])


def kind_and_words(error: BaseException) -> str:
    """Return the kind and the words of an error in one line, of which a long one is cut off.

    >>> kind_and_words(ValueError("too   wide"))
    'ValueError: too wide'
    """
    return shortened(" ".join(f"{type(error).__name__}: {error}".split()), MOST_WORDS)


def nearest(name: Any, known: Iterable[str], otherwise: str = "") -> str:
    """Return the question whether the nearest known name was meant; where none is near, ``otherwise``.

    >>> nearest("quikstart", ["quickstart", "web"]), nearest("x", ["web"], "it has web")
    ("did you mean 'quickstart'?", 'it has web')

    So is one that differs in case alone, and the only one that begins so, however long it is.

    >>> nearest("rel", ["relative", "gap"]), nearest("c", ["C", "coef0"])
    ("did you mean 'relative'?", "did you mean 'C'?")
    """
    from difflib import get_close_matches

    given = str(name)[:SHOWN]
    names = list(known)
    longer = [one for one in names if one.lower() == given.lower()] or [
        one for one in names if given and one.startswith(given)
    ]
    near = longer if len(longer) == 1 else get_close_matches(given, names, 1, LIKENESS)
    return f"did you mean {near[0]!r}?" if near else otherwise


def not_one_of(what: str, names: Iterable[str], given: Any) -> str:
    """Return the sentence that a value is none of the names allowed, and the nearest of them.

    >>> not_one_of("scale", ["none", "standard"], "standrad")
    "scale must be one of none, standard, not 'standrad'; did you mean 'standard'?"
    """
    known = list(names)
    hint = nearest(str(given).lower(), known)
    allowed = f"one of {', '.join(known)}" if len(known) > 1 else "".join(known)
    return f"{what} must be {allowed}, not {shown(given)}{hint and f'; {hint}'}"


def warn_user(said: str, category: type[Warning] = UserWarning) -> None:
    """Warn of something at the line of the user's program, not at one of this package."""
    import inspect
    import warnings

    level = 1
    frame = inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "fwsvm":
        level += 1
        frame = frame.f_back
    warnings.warn(said, category, stacklevel=level)


def shown(value: Any) -> str:
    """Return a value as a message shows it: the start of a long one, and of a collection its kind.

    >>> shown("one"), shown({}), len(shown("x" * 5000))
    ("'one'", 'a mapping', 60)
    """
    kinds: dict[type, str] = {dict: "a mapping", list: "a list"}
    return kinds.get(type(value)) or shortened(" ".join(repr(value).split()), SHOWN)
