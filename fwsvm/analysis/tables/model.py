"""A table before it is drawn: rows of entries, notes below, and the same numbers in tidy form."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One printed entry: texts of mean and deviation, a mark such as *, and whether no rival is better."""

    text: str
    deviation: str = ""
    mark: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    """One line; ``labels`` has one text per label column. ``first`` begins a new block."""

    labels: tuple[str, ...]
    entries: tuple[TableEntry, ...]
    first: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; ``tidy`` holds one record per entry with unrounded numbers, for CSV."""

    title: str
    label_heads: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()
    tidy: tuple[dict[str, object], ...] = field(default=(), repr=False)
