"""Laws of all commands: numbers are finite, and what nobody foresaw is one sentence and a log."""

from collections.abc import Iterator

import click
import pytest

from fwsvm.cli import main
from tests.cli.running import done


def commands(group: click.Group, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the words and the command of each command below a group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        elif command is not None:
            yield (*words, name), command


def number_options() -> Iterator[tuple[str, ...]]:
    """Yield the words of each option that takes numbers which are not whole."""
    for words, command in commands(main, ()):
        for option in command.params:
            types = option.type.types if isinstance(option.type, click.Tuple) else [option.type]
            if any(isinstance(kind, type(click.FLOAT)) for kind in types):
                yield (*words, option.opts[0], *["nan"] * option.nargs)


@pytest.mark.parametrize("words", [*number_options()], ids=" ".join)
def test_no_number_option_takes_what_is_not_finite(words):
    for value in ("nan", "-inf", "1e400"):
        said = done(*(value if word == "nan" else word for word in words), code=2).stderr
        assert "is not a finite number" in said or "is not in the range" in said
