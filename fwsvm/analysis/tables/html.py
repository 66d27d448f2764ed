"""A table as HTML that reads well aloud, on a narrow screen and in print: one body for each block of lines."""

import html
import re
from collections.abc import Iterable, Sequence

from fwsvm.analysis.names import short_names
from fwsvm.analysis.tables.model import Table, TableEntry, TableRow
from fwsvm.errors import shortened

#: Heads of label columns that hold names of data sets.
DATASETS = ("data set", "problem")
LONG_NOTE = 160  # characters; longer ones are folded
HEAD = 40
LONG = 24  # characters of a data set's name
_TAG = re.compile(r"(<[^<>]*>)")


def html_table(table: Table) -> str:
    """Return an HTML fragment: table with caption, then its notes."""
    columns = [place for place, head in enumerate(table.label_heads) if head in DATASETS]
    names = short_names(row.labels[place] for row in table.rows for place in columns if row.labels[place])
    heads = (*table.label_heads, *table.heads)
    bodies = "".join(_body(block, table.heads, names, columns) for block in _blocks(table.rows))
    cells = "".join(
        f"<th scope=col>{abbreviated(head, shortened(head, HEAD))}</th>" if head else "<td></td>"
        for head in heads
    )
    notes = "".join(f"<li>{folded(note)}</li>" for note in table.notes)
    return (
        f"<div class=table><table><caption>{html.escape(table.title)}</caption>"
        f"<thead><tr>{cells}</tr></thead>{bodies}</table>"
        + (f"<ul class=notes>{notes}</ul>" if notes else "")
        + "</div>"
    )


def abbreviated(full: str, short: str) -> str:
    """Return a short name as HTML, with the full one for who points at it."""
    if full == short:
        return html.escape(full)
    return f'<span class=short title="{html.escape(full)}">{html.escape(short)}</span>'


def with_short_dataset_names(fragment: str, datasets: Iterable[str]) -> str:
    """Return an HTML fragment with long names of data sets shortened wherever they stand in its text."""
    names = {
        html.escape(full): abbreviated(full, short)
        for full, short in short_names(datasets).items()
        if len(full) > LONG
    }
    if not names:
        return fragment
    long = re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)))
    parts = _TAG.split(fragment)
    parts[::2] = [long.sub(lambda found: names[found[0]], text) for text in parts[::2]]
    return "".join(parts)


def folded(text: str, most: int = LONG_NOTE) -> str:
    """Return text as HTML, folded behind its beginning if it is long."""
    if len(text) <= most:
        return html.escape(text)
    beginning = text[: most // 2].rpartition(" ")[0] or text[: most // 2]
    return f"<details><summary>{html.escape(beginning)} …</summary>{html.escape(text)}</details>"


def _blocks(rows: Sequence[TableRow]) -> list[list[TableRow]]:
    blocks: list[list[TableRow]] = []
    for row in rows:
        if row.first or not blocks:
            blocks.append([])
        blocks[-1].append(row)
    return blocks


def _body(block: list[TableRow], heads: Sequence[str], names: dict[str, str], columns: list[int]) -> str:
    """Return the lines of a block; a label that the first line alone has is the head of all of them."""
    number = len(block[0].labels)
    common = [
        place for place in range(number) if len(block) > 1 and not any(r.labels[place] for r in block[1:])
    ]
    lines = []
    for line, row in enumerate(block):
        labels = ""
        for place, label in enumerate(row.labels):
            if place in common and line:
                continue
            scope = f"rowgroup rowspan={len(block)}" if place in common else "row"
            shown = abbreviated(label, names[label]) if place in columns and label else html.escape(label)
            labels += f"<th scope={scope}>{shown}</th>" if label else "<td></td>"
        entries = "".join(_entry(entry, head) for entry, head in zip(row.entries, heads, strict=True))
        lines.append(f"<tr>{labels}{entries}</tr>")
    return f"<tbody>{''.join(lines)}</tbody>"


def _entry(entry: TableEntry, head: str) -> str:
    shown = html.escape(entry.text)
    if entry.deviation:
        shown += f" <small>± {html.escape(entry.deviation)}</small>"
    if entry.best:
        shown = f"<strong>{shown}</strong>"
    return f'<td data-head="{html.escape(shortened(head, HEAD))}">{shown}{html.escape(entry.mark)}</td>'
