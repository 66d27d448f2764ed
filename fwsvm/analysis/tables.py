"""A table of results and its four forms: terminal, Markdown, LaTeX and CSV."""

import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pandas as pd

WIDTH = 80


class Entry(NamedTuple):
    """One entry: the texts of mean and deviation, a mark such as *, whether no rival is better, the full number."""

    text: str
    deviation: str = ""
    mark: str = ""
    best: bool = False
    value: float = math.nan

    def shown(self, escape: Callable[[str], str], best: str, between: str) -> str:
        """Return the entry as escaped text in the form ``best`` where it is; ``between`` precedes the deviation."""
        text = escape(self.text + between + self.deviation if between and self.deviation else self.text)
        return (best.format(text) if self.best else text) + escape(self.mark)


class Row(NamedTuple):
    """One line with a text for each label column; one whose first label is empty belongs to the line above."""

    labels: tuple[str, ...]
    entries: tuple[Entry, ...]


class Table(NamedTuple):
    """A titled table with notes below."""

    title: str
    label_heads: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def lines(self, escape: Callable[[str], str], best: str, between: str = " ± ") -> Iterator[list[str]]:
        """Yield the heads, then each row, as escaped texts."""
        yield [*map(escape, (*self.label_heads, *self.heads))]
        for row in self.rows:
            yield [*map(escape, row.labels), *(each.shown(escape, best, between) for each in row.entries)]


def render(tables: Sequence[Table], form: str, *, width: int = WIDTH) -> str:
    """Return all tables in one form, on a terminal of that many columns."""
    if form == "csv":
        return _csv(tables)
    forms = {"terminal": lambda table: _terminal(table, width), "markdown": _markdown, "latex": _latex}
    return "\n\n".join(map(forms[form], tables)) + "\n"


def _terminal(table: Table, width: int) -> str:
    """Return the table within a width: without deviations, then in several pieces, where it is too wide."""
    from rich.cells import cell_len

    entries = [entry for row in table.rows for entry in row.entries]
    notes = list(table.notes)
    labels = [*range(len(table.label_heads))]
    for between in ("±", ""):
        lines = [*table.lines(str, "{}<", between)]
        widths = [max(map(cell_len, column)) + 1 for column in zip(*lines, strict=True)]
        pieces: list[list[int]] = []
        for place in range(len(labels), len(widths)):
            if not pieces or sum(widths[each] for each in (*pieces[-1], place)) > width + 1:
                pieces.append([*labels])
            pieces[-1].append(place)
        if len(pieces) == 1 or not any(entry.deviation for entry in entries):
            break
    if not between:
        notes.append("standard deviations do not fit here; --format markdown, latex or csv shows them")
    if any(entry.best for entry in entries):
        notes.append("< best of its rivals")
    drawn = textwrap.wrap(table.title, width)
    for piece in pieces:
        for number, line in enumerate(lines):
            rooms = [" " * (widths[place] - 1 - cell_len(line[place])) for place in piece]
            texts = (
                line[place] + room if place in labels else room + line[place]
                for place, room in zip(piece, rooms, strict=True)
            )
            drawn.append(" ".join(texts).rstrip())
            if number == 0:
                drawn.append("─" * (sum(widths[place] for place in piece) - 1))
    for note in notes:
        drawn += textwrap.wrap(note, width, subsequent_indent="  ")
    return "\n".join(drawn)


def markdown_text(text: str) -> str:
    """Return text that Markdown takes for neither HTML, link, code, mathematics nor the end of a cell."""
    return re.sub(r"[\\|`*$\[\]]|<(?=[A-Za-z/!?])", r"\\\g<0>", text)


def _markdown(table: Table) -> str:
    lines = [f"| {' | '.join(line)} |" for line in table.lines(markdown_text, "**{}**")]
    lines.insert(1, f"|{' :-- |' * len(table.label_heads)}{' --: |' * len(table.heads)}")
    notes = [f"- {markdown_text(note)}" for note in table.notes]
    return "\n".join([f"**{markdown_text(table.title)}**", "", *lines, "", *notes]).rstrip()


_LATEX = str.maketrans(
    {mark: rf"\{mark}" for mark in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "†": r"\textdagger{}",
        "¶": r"\P{}",
        "§": r"\S{}",
        "‡": r"\textdaggerdbl{}",
        "—": "---",
        "…": r"\dots{}",
        "<": r"$<$",
        ">": r"$>$",
        "≥": r"$\ge$",
        "≤": r"$\le$",
    }
)


def latex_text(text: str) -> str:
    """Return text with every character that LaTeX would read as a command escaped."""
    return text.translate(_LATEX)


def _latex(table: Table) -> str:
    """Return a ``table`` environment for booktabs with caption and label, the best in bold, notes below."""
    head, *lines = (" & ".join(line) + r" \\" for line in table.lines(latex_text, r"\textbf{{{}}}"))
    if not all(row.labels[0] for row in table.rows):  # room between lines that belong together
        lines = [
            r"\addlinespace" + "\n" + line if place and row.labels[0] else line
            for place, (row, line) in enumerate(zip(table.rows, lines, strict=True))
        ]
    label = re.sub(r"[^a-z0-9]+", "-", table.title.lower()).strip("-")
    body = "\n".join(lines)
    notes = latex_text(" ".join(f"{note}." for note in table.notes))
    below = "\n\\par\\smallskip\\footnotesize " + notes if notes else ""
    return rf"""% \usepackage{{booktabs}}
\begin{{table}}
\centering
\caption{{{latex_text(table.title)}}}
\label{{tab:{label}}}
\begin{{tabular}}{{{"l" * len(table.label_heads)}{"r" * len(table.heads)}}}
\toprule
{head}
\midrule
{body}
\bottomrule
\end{{tabular}}{below}
\end{{table}}"""


def _csv(tables: Sequence[Table]) -> str:
    """Return all tables as one CSV file: numbers in full, and deviations as printed in columns of their own."""
    records: list[dict[str, object]] = []
    for table in tables:
        above = [""] * len(table.label_heads)
        for row in table.rows:
            above = (
                [*row.labels]
                if row.labels[0]
                else [own or last for own, last in zip(row.labels, above, strict=True)]
            )
            names = (head or f"line {place}" for place, head in enumerate(table.label_heads))
            record: dict[str, object] = {"table": table.title, **dict(zip(names, above, strict=True))}
            for head, entry in zip(table.heads, row.entries, strict=True):
                record[head] = entry.text if math.isnan(entry.value) else repr(float(entry.value))
                if entry.deviation:
                    record[f"{head} sd"] = entry.deviation
            records.append(record)
    return pd.DataFrame(records).to_csv(index=False, lineterminator="\n")
