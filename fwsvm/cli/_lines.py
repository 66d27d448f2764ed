"""Lines of output, wrapped to the width of a terminal; whole where a program reads them."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

QUIET = "fwsvm.quiet"  # where the context of a command keeps whether --quiet was given
WIDTH = 80  # columns of text that a program may read, too
WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


def is_quiet() -> bool:
    """Return whether the present command was asked for results, warnings and errors only."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def has_cursor() -> bool:
    """Return whether the terminal, if there is one, can do more than write one line after the other."""
    return os.environ.get("TERM", "").lower() not in {"dumb", "unknown"}


def echo(line: str, indent: int, *, err: bool = False) -> None:
    """Write a line; on a narrow terminal wrap it, with the later lines indented.

    It goes above the lines of a progress display, which `click.echo` alone would be mixed with.
    """
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        columns = shutil.get_terminal_size().columns
        line = textwrap.fill(line, columns, subsequent_indent=" " * indent, **WHOLE_WORDS)
    click.echo(line, file=stream)


def note(line: str, indent: int = 2) -> None:
    """Write to the standard error what --quiet leaves out."""
    if not is_quiet():
        echo(line, indent, err=True)


def tell(found: Iterable[object]) -> None:
    """Write warnings and notices to the standard error."""
    for each in found:
        echo(f"fwsvm: {each}", 2, err=True)


def wrap(text: str, first: str, later: str | None = None) -> list[str]:
    """Return text as lines of at most 80 columns, the first one after ``first``."""
    rest = " " * len(first) if later is None else later
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, **WHOLE_WORDS)


def align(rows: Iterable[Sequence[str]], *, left: Sequence[int] = (0, 1), between: str = "  ") -> list[str]:
    """Return rows of texts as lines, each column as wide as its widest text; those not in ``left`` to the right."""
    rows = [*rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        between.join(
            f"{text:{'<' if place in left else '>'}{width}}"
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def as_yaml(facts: Mapping[str, Any]) -> str:
    """Return facts as YAML for people, without what is empty."""
    import yaml

    return yaml.safe_dump(_filled(facts), sort_keys=False, width=WIDTH - 2, allow_unicode=True).rstrip()


def _filled(value: Any) -> Any:
    if isinstance(value, list | tuple):
        is_words = all(isinstance(each, str) and " " not in each for each in value)
        return ", ".join(value) if is_words else [_filled(each) for each in value]
    if isinstance(value, Mapping):
        return {name: _filled(each) for name, each in value.items() if each not in (None, "", (), [], {})}
    return value
