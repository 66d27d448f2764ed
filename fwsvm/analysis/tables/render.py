"""Rendering a table as text of 80 columns, Markdown, LaTeX (booktabs), HTML, or tidy CSV."""

import math
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace

from fwsvm.analysis.names import short_name
from fwsvm.analysis.tables.html import html_table
from fwsvm.analysis.tables.model import Table, TableEntry
from fwsvm.analysis.writing import csv_bytes, without_formula

WIDTH = 80
LABEL = 48  # the longest conclusion of a test; a longer label is shortened, and given in full below
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def terminal(table: Table, *, colour: bool = False) -> str:
    """Return the table in at most 80 columns.

    Deviations are left out, with a note, where they do not fit; if that is not enough, the columns are
    spread over several pieces one below the other. ``colour`` sets the best in bold; without it the best has
    a trailing ``<``.
    """
    table, names = _short_labels(table)
    lines = _aligned(table, colour=colour, deviations=True)
    notes = [*table.notes, *names]
    if _width(lines) > WIDTH and any(entry.deviation for row in table.rows for entry in row.entries):
        lines = _aligned(table, colour=colour, deviations=False)
        notes.append("standard deviations do not fit 80 columns; --format markdown, latex or csv shows them")
    if _width(lines) > WIDTH:
        lines = _fitted(table, colour=colour)
    if not colour and any(entry.best for row in table.rows for entry in row.entries):
        notes.append("< best of its rivals")
    wrapped = [part for note in notes for part in textwrap.wrap(note, WIDTH, subsequent_indent="  ")]
    return "\n".join([*textwrap.wrap(table.title, WIDTH), *lines, *wrapped])


def _short_labels(table: Table) -> tuple[Table, list[str]]:
    """Shorten long labels to numbered ones, to the numbers alone in notes; return notes that give them in full."""
    longest = LABEL if len(table.heads) <= 3 else LABEL - 20
    numbers: dict[str, int] = {}
    for label in (*table.heads, *(label for row in table.rows for label in row.labels)):
        if len(label) > longest:
            numbers.setdefault(label, len(numbers) + 1)
    short = {label: f"{_shorter(label, longest - 5)} [{number}]" for label, number in numbers.items()}
    rows = tuple(
        replace(row, labels=tuple(short.get(label, label) for label in row.labels)) for row in table.rows
    )
    heads = tuple(short.get(head, head) for head in table.heads)
    notes = table.notes
    for label in sorted(numbers, key=len, reverse=True):  # a label may be a part of another one
        notes = tuple(note.replace(label, f"[{numbers[label]}]") for note in notes)
    return replace(table, rows=rows, heads=heads, notes=notes), [
        f"[{number}] {label}" for label, number in numbers.items()
    ]


def _shorter(label: str, room: int) -> str:
    """Return a data set's short name, or the first words of a label that there is room for; a single word is cut."""
    known = short_name(label) if " " not in label else label
    if len(known) <= room:
        return known
    kept = textwrap.shorten(label, room, placeholder="", break_on_hyphens=False).rstrip(" ,;:")
    return kept or f"{label[: room - 1]}…"


def _fitted(table: Table, *, colour: bool) -> list[str]:
    """Return the lines of a table, split by columns into halves until each fits or has one column."""
    lines = _aligned(table, colour=colour, deviations=False)
    if _width(lines) <= WIDTH or len(table.heads) == 1:
        return lines
    half = (len(table.heads) + 1) // 2
    pieces = _columns(table, slice(0, half)), _columns(table, slice(half, None))
    return [line for piece in pieces for line in _fitted(piece, colour=colour)]


def _columns(table: Table, part: slice) -> Table:
    rows = tuple(replace(row, entries=row.entries[part]) for row in table.rows)
    return replace(table, heads=table.heads[part], rows=rows)


def _width(lines: list[str]) -> int:
    return max(len(line.replace(BOLD, "").replace(PLAIN, "")) for line in lines)


def _aligned(table: Table, *, colour: bool, deviations: bool) -> list[str]:
    def text(entry: TableEntry) -> str:
        deviation = f"±{entry.deviation}" if deviations and entry.deviation else ""
        return entry.text + deviation + entry.mark + ("<" if entry.best and not colour else "")

    grid = [(*row.labels, *map(text, row.entries)) for row in table.rows]
    heads = (*table.label_heads, *table.heads)
    widths = [max(len(line[i]) for line in [heads, *grid]) for i in range(len(heads))]
    n_labels = len(table.label_heads)

    def line(cells: Sequence[str], entries: Sequence[TableEntry] = ()) -> str:
        padded = [
            c.ljust(w) if i < n_labels else c.rjust(w)
            for i, (c, w) in enumerate(zip(cells, widths, strict=True))
        ]
        for i, entry in enumerate(entries, start=n_labels):
            if entry.best and colour:
                padded[i] = f"{BOLD}{padded[i]}{PLAIN}"
        return " ".join(padded).rstrip()

    rule = "─" * min(WIDTH, sum(widths) + len(widths) - 1)
    body = [line(cells, row.entries) for cells, row in zip(grid, table.rows, strict=True)]
    return [rule, line(heads), rule, *body, rule]


def markdown(table: Table) -> str:
    """Return a GitHub-flavoured Markdown table, the best in bold."""

    def text(entry: TableEntry) -> str:
        shown = entry.text + (f" ± {entry.deviation}" if entry.deviation else "")
        shown, mark = shown.replace("|", "\\|"), entry.mark.replace("*", "\\*")
        return (f"**{shown}**" if entry.best else shown) + mark

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    ruler = [":--"] * len(table.label_heads) + ["--:"] * len(table.heads)
    body = [line([*map(markdown_text, row.labels), *map(text, row.entries)]) for row in table.rows]
    notes = [
        f"- {f'{chr(92)}{note}' if note.startswith('* ') else note}"
        for note in map(without_tags, table.notes)
    ]
    heads = [markdown_text(head) for head in (*table.label_heads, *table.heads)]
    return "\n".join(
        [f"**{without_tags(table.title)}**", "", line(heads), line(ruler), *body, "", *notes]
    ).rstrip()


def without_tags(text: str) -> str:
    """Return text in which Markdown finds no HTML."""
    return re.sub("<(?=[A-Za-z/!?])", r"\\<", text)


def markdown_text(text: str) -> str:
    """Return a name as a cell of a Markdown table: neither HTML, link, code, mathematics nor the cell's end."""
    return without_tags(re.sub(r"[\\|`*$\[\]]", r"\\\g<0>", text))


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$",
    "†": r"\textdagger{}", "¶": r"\P{}", "§": r"\S{}",
    "‡": r"\textdaggerdbl{}", "—": "---", "<": r"$<$", ">": r"$>$", "≥": r"$\ge$", "≤": r"$\le$",
}  # fmt: skip


def latex_text(text: str) -> str:
    """Return text with every character that LaTeX would read as a command escaped."""
    return "".join(_LATEX.get(character, character) for character in text)


def latex(table: Table) -> str:
    """Return a ``table`` environment for booktabs, the best in bold, notes below."""

    def text(entry: TableEntry) -> str:
        shown = latex_text(entry.text) + (rf" $\pm$ {latex_text(entry.deviation)}" if entry.deviation else "")
        mark = f"$^{{{latex_text(entry.mark)}}}$" if entry.mark == "*" else latex_text(entry.mark)
        return (rf"\textbf{{{shown}}}" if entry.best else shown) + mark

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + r" \\"

    body = []
    for number, row in enumerate(table.rows):
        if row.first and number and not table.rows[number - 1].first:
            body.append(r"\addlinespace")
        body.append(line([*map(latex_text, row.labels), *map(text, row.entries)]))
    spec = "l" * len(table.label_heads) + "r" * len(table.heads)
    heads = line([latex_text(head) for head in (*table.label_heads, *table.heads)])
    notes = (
        [rf"\par\smallskip\footnotesize {latex_text(' '.join(f'{n}.' for n in table.notes))}"]
        if table.notes
        else []
    )
    return "\n".join(
        ["% \\usepackage{booktabs}", r"\begin{table}", r"\centering",
         rf"\caption{{{latex_text(table.title)}}}", rf"\begin{{tabular}}{{{spec}}}", r"\toprule", heads,
         r"\midrule", *body, r"\bottomrule", r"\end{tabular}",
         *notes, r"\end{table}"]
    )  # fmt: skip


def tidy_csv(tables: Sequence[Table]) -> str:
    """Return all entries as one CSV: a line per entry, full precision, an empty field for no number."""
    records = [{"table": table.title, **record} for table in tables for record in table.tidy]
    fields = list(dict.fromkeys(name for record in records for name in record))
    values = [[record.get(name, "") for name in fields] for record in records]
    return csv_bytes([fields, *([_or_empty(value) for value in line] for line in values)]).decode()


def _or_empty(value: object) -> object:
    return "" if isinstance(value, float) and math.isnan(value) else without_formula(value)


TABLE_FORMATS: dict[str, Callable[[Table], str]] = {
    "terminal": terminal,
    "markdown": markdown,
    "latex": latex,
    "html": html_table,
}


def render(tables: Sequence[Table], form: str, *, colour: bool = False) -> str:
    """Return all tables in one form: terminal, markdown, latex, html or csv."""
    if form == "csv":
        return tidy_csv(tables)
    if form == "terminal":
        return "\n\n".join(terminal(table, colour=colour) for table in tables) + "\n"
    return "\n\n".join(TABLE_FORMATS[form](table) for table in tables) + "\n"
