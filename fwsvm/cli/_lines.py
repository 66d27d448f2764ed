"""Output lines, wrapped to the width of a terminal; whole if a program reads them."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable

import click

QUIET = "fwsvm.quiet"  # where the context of a command keeps whether --quiet was given


def is_quiet() -> bool:
    """Return whether the present command was asked for results, warnings and errors only."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def has_cursor() -> bool:
    """Return whether the terminal, if there is one, can do more than write one line after the other."""
    return os.environ.get("TERM", "").lower() not in {"dumb", "unknown"}


def echo(line: str, indent: int, *, err: bool = False) -> None:
    """Write a line; on a narrow terminal wrap it, with the later lines indented.

    It goes above the lines of a display that is shown: those of `click.echo` by itself would be mixed with them.
    """
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        line = textwrap.fill(
            line, shutil.get_terminal_size().columns, subsequent_indent=" " * indent,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    click.echo(line, file=stream)


def note(line: str, indent: int = 2) -> None:
    """Write to the standard error what --quiet leaves out."""
    if not is_quiet():
        echo(line, indent, err=True)


def tell(found: Iterable[object]) -> None:
    """Write what there is to say beside a result, as `echo` does, to the standard error."""
    for each in found:
        echo(f"fwsvm: {each}", 2, err=True)
