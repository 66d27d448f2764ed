"""A table of results and its four forms: terminal, Markdown, LaTeX and CSV."""

import io
import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

WIDTH = 80


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: the texts of mean and deviation, a mark such as *, whether no rival is better, the full number."""

    text: str
    deviation: str = ""
    mark: str = ""
    best: bool = False
    value: float = math.nan


@dataclass(frozen=True, slots=True)
class Row:
    """One line with a text for each label column; ``first`` begins a new block of lines."""

    labels: tuple[str, ...]
    entries: tuple[Entry, ...]
    first: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table with notes below."""

    title: str
    label_heads: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def blocks(self) -> Iterator[list[Row]]:
        """Yield the lines that belong together."""
        block: list[Row] = []
        for row in self.rows:
            if row.first and block:
                yield block
                block = []
            block.append(row)
        if block:
            yield block


def render(tables: Sequence[Table], form: str, *, width: int = WIDTH, colour: bool = False) -> str:
    """Return all tables in one form; ``width`` and ``colour`` (bold for the best) are those of a terminal."""
    if form == "csv":
        return _csv(tables)
    if form == "terminal":
        return "\n\n".join(_terminal(table, width, colour=colour) for table in tables) + "\n"
    return "\n\n".join({"markdown": _markdown, "latex": _latex}[form](table) for table in tables) + "\n"


def _terminal(table: Table, width: int, *, colour: bool) -> str:
    """Return the table within a width: without deviations, then in several pieces, where it is too wide."""

    def texts(*, deviations: bool) -> list[list[str]]:
        return [
            [
                f"{e.text}{f'±{e.deviation}' if deviations and e.deviation else ''}{e.mark}"
                f"{'<' if e.best and not colour else ''}"
                for e in row.entries
            ]
            for row in table.rows
        ]

    notes, entries = list(table.notes), texts(deviations=True)
    pieces = _pieces(table, entries, width)
    if len(pieces) > 1 and any(entry.deviation for row in table.rows for entry in row.entries):
        entries = texts(deviations=False)
        pieces = _pieces(table, entries, width)
        notes.append("standard deviations do not fit here; --format markdown, latex or csv shows them")
    if not colour and any(entry.best for row in table.rows for entry in row.entries):
        notes.append("< best of its rivals")
    drawn = [_drawn(table, entries, piece, colour=colour) for piece in pieces]
    below = [part for note in notes for part in textwrap.wrap(note, width, subsequent_indent="  ")]
    return "\n".join([*textwrap.wrap(table.title, width), *drawn, *below])


def _pieces(table: Table, entries: list[list[str]], width: int) -> list[list[int]]:
    """Return which columns stand side by side within a width, one at least."""
    from rich.cells import cell_len

    labels = zip(table.label_heads, *(row.labels for row in table.rows), strict=True)
    taken = sum(max(map(cell_len, column)) + 1 for column in labels)
    pieces: list[list[int]] = []
    room = 0
    for place, column in enumerate(zip(table.heads, *entries, strict=True)):
        needed = max(map(cell_len, column)) + 1
        if needed > room + 1 or not pieces:
            pieces.append([])
            room = width - taken
        pieces[-1].append(place)
        room -= needed
    return pieces


def _drawn(table: Table, entries: list[list[str]], columns: list[int], *, colour: bool) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=box.SIMPLE_HEAD, padding=0, show_edge=False, header_style="")
    for head in table.label_heads:
        grid.add_column(Text(head), no_wrap=True)
    for place in columns:
        grid.add_column(Text(table.heads[place]), justify="right", no_wrap=True)
    for row, texts in zip(table.rows, entries, strict=True):
        shown = [Text(texts[place], "bold" if row.entries[place].best else "") for place in columns]
        grid.add_row(*map(Text, row.labels), *shown)
    stream = io.StringIO()
    Console(
        file=stream, width=10_000, color_system="standard" if colour else None, force_terminal=colour
    ).print(grid)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def markdown_text(text: str) -> str:
    """Return text that Markdown takes for neither HTML, link, code, mathematics nor the end of a cell."""
    return re.sub(r"[\\|`*$\[\]]|<(?=[A-Za-z/!?])", r"\\\g<0>", text)


def _markdown(table: Table) -> str:
    def text(entry: Entry) -> str:
        shown = markdown_text(entry.text + (f" ± {entry.deviation}" if entry.deviation else ""))
        return (f"**{shown}**" if entry.best else shown) + markdown_text(entry.mark)

    heads = map(markdown_text, (*table.label_heads, *table.heads))
    ruler = [":--"] * len(table.label_heads) + ["--:"] * len(table.heads)
    rows = [[*map(markdown_text, row.labels), *map(text, row.entries)] for row in table.rows]
    lines = [f"| {' | '.join(line)} |" for line in (heads, ruler, *rows)]
    notes = [f"- {markdown_text(note)}" for note in table.notes]
    return "\n".join([f"**{markdown_text(table.title)}**", "", *lines, "", *notes]).rstrip()


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
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


def latex_text(text: str) -> str:
    """Return text with every character that LaTeX would read as a command escaped."""
    return "".join(_LATEX.get(character, character) for character in text)


def _latex(table: Table) -> str:
    """Return a ``table`` environment for booktabs with caption and label, the best in bold, notes below."""

    def text(entry: Entry) -> str:
        shown = latex_text(entry.text) + (rf" $\pm$ {latex_text(entry.deviation)}" if entry.deviation else "")
        return (rf"\textbf{{{shown}}}" if entry.best else shown) + latex_text(entry.mark)

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + r" \\"

    body: list[str] = []
    for block in table.blocks():
        body += [r"\addlinespace"] * (bool(body) and len(block) > 1)
        body += [line([*map(latex_text, row.labels), *map(text, row.entries)]) for row in block]
    label = re.sub(r"[^a-z0-9]+", "-", table.title.lower()).strip("-")
    notes = latex_text(" ".join(f"{note}." for note in table.notes))
    return "\n".join(
        [
            "% \\usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(table.title)}}}",
            rf"\label{{tab:{label}}}",
            rf"\begin{{tabular}}{{{'l' * len(table.label_heads)}{'r' * len(table.heads)}}}",
            r"\toprule",
            line([latex_text(head) for head in (*table.label_heads, *table.heads)]),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *([rf"\par\smallskip\footnotesize {notes}"] if notes else []),
            r"\end{table}",
        ]
    )


def _csv(tables: Sequence[Table]) -> str:
    """Return all tables as one CSV file: numbers in full, and deviations as printed in columns of their own."""
    records: list[dict[str, object]] = []
    for table in tables:
        names = [head or f"line {place}" for place, head in enumerate(table.label_heads)]
        for block in table.blocks():
            for row in block:
                labels = [own or above for own, above in zip(row.labels, block[0].labels, strict=True)]
                record: dict[str, object] = {"table": table.title, **dict(zip(names, labels, strict=True))}
                for head, entry in zip(table.heads, row.entries, strict=True):
                    record[head] = entry.text if math.isnan(entry.value) else repr(float(entry.value))
                    if entry.deviation:
                        record[f"{head} sd"] = entry.deviation
                records.append(record)
    return pd.DataFrame(records).to_csv(index=False, lineterminator="\n")
