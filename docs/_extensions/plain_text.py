"""Text of the code's own help and docstrings as nodes: words between backticks are code, nothing else is markup."""

import re

from docutils import nodes


def inline(text: str) -> list[nodes.Node]:
    """Return a text's nodes."""
    parts = re.split(r"``?([^`]+)``?", " ".join(text.split()))
    return [
        nodes.literal(part, part) if number % 2 else nodes.Text(part) for number, part in enumerate(parts) if part
    ]  # fmt: skip


def paragraph(text: str) -> nodes.paragraph:
    """Return a paragraph of it."""
    return nodes.paragraph("", "", *inline(text))


def block(text: str, language: str = "text") -> nodes.literal_block:
    """Return a block of code."""
    made = nodes.literal_block(text, text)
    made["language"] = language
    return made


def definitions(entries: list[tuple[str, list[nodes.Node]]], prefix: str = "") -> nodes.definition_list:
    """Return terms, each code, and what they mean; with a prefix each term is an anchor."""
    items = []
    for term, meaning in entries:
        head = nodes.term("", "", nodes.literal(term, term))
        if prefix:
            head["ids"].append(nodes.make_id(f"{prefix}-{term.split()[0].split('=')[0]}"))
        items.append(nodes.definition_list_item("", head, nodes.definition("", *meaning)))
    return nodes.definition_list("", *items)


def table(header: list[str], rows: list[list[list[nodes.Node]]]) -> nodes.container:
    """Return a table that scrolls by itself where the page is narrow; a cell is a list of inline nodes."""
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]
    head = nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *inline(name))) for name in header))
    body = [nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *cell)) for cell in row)) for row in rows]
    group += [nodes.thead("", head), nodes.tbody("", *body)]
    return nodes.container("", nodes.table("", group), classes=["wide"])
