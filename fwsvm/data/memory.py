"""Memory estimates for reading and generating rows, checked before allocation; `DataError` if it is not available."""

from fwsvm._memory import require
from fwsvm.errors import DataError

FEWER = "take fewer rows (fwsvm subset), or give the process more memory"
ENTRY, ROW = 8 + 4, 3 * 8  # bytes of a stored number with its index; of a row's label and places
CHARACTER = 4  # bytes, in arrays of text


def for_text(name: str, lines: int, entries: int) -> None:
    """Refuse a text in LIBSVM's format whose rows do not fit."""
    require(ROW * lines + ENTRY * entries, f"{name}: reading {lines:,} lines", FEWER, DataError)


def for_fields(name: str, lines: int, numbers: int, words: int) -> None:
    """Refuse delimited text whose lines, so many numbers and words each, do not fit."""
    what = f"{name}: reading {lines:,} lines of {numbers + words:,} columns"
    require(lines * 8 * (numbers + 2 * words), what, FEWER, DataError)


def for_labels(name: str, rows: int, longest: int) -> None:
    """Refuse labels that are text, the longest of so many characters, which each row has room for."""
    what = f"{name}: keeping {rows:,} labels of up to {longest:,} characters"
    require(CHARACTER * rows * longest, what, "write shorter labels", DataError)


def for_drawn(name: str, rows: int, features: int, stored: int | None) -> None:
    """Refuse synthetic rows that do not fit, of which each stores so many numbers (None: all)."""
    row = 8 * features if stored is None else ENTRY * stored
    require(rows * (row + ROW) + 64 * features, name, "ask for fewer rows or features", DataError)


def for_wide(name: str, rows: int, features: int) -> None:
    """Refuse to bring dense rows to a number of features that does not fit."""
    what = f"{name}: bringing {rows:,} rows to {features:,} features"
    require(8 * rows * features, what, "declare fewer features", DataError)
