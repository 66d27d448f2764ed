"""Lines of output, wrapped to the width of a terminal; whole where a program reads them."""

import math
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import click

from fwsvm.status import ending

QUIET = "fwsvm.quiet"  # where the context of a command keeps whether --quiet was given
#: What is said of a run that ended.
OUTCOME = {
    "test_accuracy": "{:.2%} right",
    "support_vectors": "{:,} SV",
    "train_seconds": "{:.3g} s",
    "relative_gap": "relative gap {:.1e}",
}
LABEL = 16  # columns of a line's label
WIDTH = 80  # columns of text that a program may read, too


def is_quiet() -> bool:
    """Return whether the present command was asked for results, warnings and errors only."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def echo(line: str, indent: int = 2, *, err: bool = False) -> None:
    """Write a line; on a narrow terminal wrap it, with the later lines indented.

    It goes above the lines of a progress display, which `click.echo` alone would be mixed with.
    """
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        columns = shutil.get_terminal_size().columns
        line = textwrap.fill(
            line, columns, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
        )
    click.echo(line, file=stream)


def note(line: str, indent: int = 2) -> None:
    """Write to the standard error what --quiet leaves out."""
    if not is_quiet():
        echo(line, indent, err=True)


def say(label: str, said: str) -> None:
    """Write a labelled line to the standard output, or to the standard error where the other carries JSON."""
    if not is_quiet():
        to_stderr = click.get_current_context().params.get("as_json", False)
        echo(f"{label:<{LABEL}}{said}".rstrip(), LABEL, err=to_stderr)


def tell(found: Iterable[object]) -> None:
    """Write warnings and notices to the standard error."""
    for each in found:
        echo(f"fwsvm: {each}", err=True)


def known_of(row: Mapping[str, Any], forms: Mapping[str, str]) -> str:
    """Return those columns of a row that have a number, each in its form.

    >>> known_of({"a": 1.0, "b": None}, {"a": "A {:.1f}", "b": "B {}", "c": "C {}"})
    'A 1.0'
    """
    return ", ".join(
        form.format(value)
        for name, form in forms.items()
        if (value := row.get(name)) is not None and not math.isnan(value)
    )


def outcome(row: Mapping[str, Any]) -> str:
    """Return how the run of a row ended, and what came of it."""
    how = ending(row["status"], row["stop"], row.get("relative_gap") or 0.0)
    return ", ".join(filter(None, [how, known_of(row, OUTCOME)]))


def print_facts(facts: Mapping[str, Any]) -> None:
    """Write facts as YAML, without what is empty."""
    import yaml

    text = yaml.safe_dump(_filled(facts), sort_keys=False, width=WIDTH - 20, allow_unicode=True)
    click.echo(text, nl=False)


def _filled(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_filled(each) for each in value]
    if isinstance(value, Mapping):
        return {name: _filled(each) for name, each in value.items() if each not in (None, "", (), [], {})}
    return value
