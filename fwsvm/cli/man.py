"""``fwsvm man``: manual pages, made from the help."""

import inspect
import os
from collections.abc import Iterator
from pathlib import Path

import click

from fwsvm.cli import _types
from fwsvm.errors import UsageError, shown


@click.command("man")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option("--install", is_flag=True, help="Write all pages where `man` looks for the user's own.")
@click.option("--out", type=_types.FOLDER, help="Write all pages to this folder.")
def command(words: tuple[str, ...], install: bool, out: Path | None) -> None:
    """Print the manual page of COMMAND, or of fwsvm itself, for `man`.

    \b
    fwsvm man train | man -l -
    fwsvm man --install
    """  # noqa: D301
    from fwsvm.cli import main
    from fwsvm.files.atomic import write_whole

    found = {context.command_path: context for context in _contexts(main, None, "fwsvm")}
    if out is None and not install:
        path = " ".join(["fwsvm", *words])
        if path not in found:
            raise UsageError(f"there is no command {shown(path)}; `fwsvm --help` lists them")
        click.echo(page(found[path]), nl=False)
        return
    folder = out or Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "man" / "man1"
    for path, context in found.items():
        write_whole(folder / f"{path.replace(' ', '-')}.1", page(context).encode())
    click.echo(f"wrote {len(found)} pages to {folder}")


def _contexts(known: click.Command, parent: click.Context | None, name: str) -> Iterator[click.Context]:
    context = click.Context(known, parent, name, **known.context_settings)
    yield context
    if isinstance(known, click.Group):
        for inside in known.list_commands(context):
            command = known.get_command(context, inside)
            if command is not None:
                yield from _contexts(command, context, inside)


def page(context: click.Context) -> str:
    """Return the manual page of a command in the macros of man(7)."""
    from fwsvm import __version__

    command, path = context.command, context.command_path
    title = path.replace(" ", "-")
    lines = [
        f'.TH "{title.upper()}" "1" "" "fwsvm {__version__}" "fwsvm"', ".SH NAME",
        f"{_escaped(title)} \\- {_escaped(command.get_short_help_str(200).rstrip('.'))}",
        ".SH SYNOPSIS", f".B {_escaped(path)}", _escaped(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION", *_paragraphs(command.help or ""),
    ]  # fmt: skip
    options = [
        found
        for one in command.get_params(context)
        if isinstance(one, click.Option) and (found := one.get_help_record(context))
    ]
    if options:
        lines.append(".SH OPTIONS")
        for names, said in options:
            lines += [".TP", f".B {_escaped(names)}", _escaped(said)]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for inside in command.list_commands(context):
            one = command.get_command(context, inside)
            if one is not None:
                lines += [
                    ".TP",
                    f".BR {_escaped(f'{title}-{inside}')} (1)",
                    _escaped(one.get_short_help_str(200)),
                ]
    return "\n".join(lines) + "\n"


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text; what click leaves as it is stays so."""
    lines: list[str] = []
    for part in inspect.cleandoc(text).split("\n\n"):
        if part.startswith("\b\n"):
            lines += [".PP", ".nf", *map(_escaped, part.removeprefix("\b\n").splitlines()), ".fi"]
        else:
            lines += [".PP", _escaped(" ".join(part.split()))]
    return lines


def _escaped(text: str) -> str:
    r"""Return text as roff prints it: backslashes, hyphens, and a dot or quote at its start.

    >>> print(_escaped(".x -y \\ z"))
    \&.x \-y \e z
    """
    text = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text
