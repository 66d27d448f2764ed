"""`{commands}`: every command with its options, from click, so that the page says what the program does."""

import inspect
from collections.abc import Iterator

import click
from docutils import nodes
from plain_text import block, definitions, inline, paragraph
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fwsvm.cli import main


def every_command(
    group: click.Group = main, name: str = "fwsvm", parent: click.Context | None = None
) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield each command that runs by itself, with its context; groups are gone into."""
    here = click.Context(group, parent, name, **group.context_settings)
    for known in group.list_commands(here):
        command = group.get_command(here, known)
        if isinstance(command, click.Group):
            yield from every_command(command, known, here)
        elif command is not None:
            yield command, click.Context(command, here, known)


def described(text: str) -> list[nodes.Node]:
    r"""Return a command's help; what click leaves as it is (after \b) is a block of console lines."""
    found: list[nodes.Node] = []
    for part in inspect.cleandoc(text).split("\n\n"):
        if part.startswith("\b\n"):
            found.append(block(part.removeprefix("\b\n"), "text"))
        else:
            found.append(paragraph(part))
    return found


class Commands(SphinxDirective):
    """A section for each command: usage, help, options."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [self._section(command, context) for command, context in every_command()]

    def _section(self, command: click.Command, context: click.Context) -> nodes.section:
        name = context.command_path
        made = nodes.section("", nodes.title(name, "", nodes.literal(name, name)), ids=[nodes.make_id(name)])
        made["names"].append(name)
        made += block(f"{name} {' '.join(command.collect_usage_pieces(context))}")
        made += described(command.help or "")
        options = [
            (record[0], [nodes.paragraph("", "", *inline(record[1]))])
            for parameter in command.get_params(context)
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(context))
        ]
        made += definitions(options, name)
        self.state.document.note_implicit_target(made, made)
        return made


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
