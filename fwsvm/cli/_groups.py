"""Options and commands in groups of the help."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from fwsvm.settings import GROUPS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
LONGEST_SUMMARY = 1000  # characters: click cuts off what is longer
FIRST_COLUMN = 28  # columns of an option's name, so that the groups are aligned
OTHERS = "Options"  # the group of what has none


class GroupedOption(click.Option):
    """An option that the help of a command lists in a group."""

    def __init__(self, *names: Any, group: str = OTHERS, **more: Any) -> None:
        super().__init__(*names, **more)
        self.group = group


def grouped(*names: str, group: str, **more: Any) -> Decorator:
    """Return `click.option` for an option of a group."""
    return click.option(*names, cls=GroupedOption, group=group, **more)


class GroupedHelp(click.Command):
    """A command whose help lists its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups, in their order."""
        for group in (*GROUPS, OTHERS):
            records = [
                record
                for one in self.get_params(ctx)
                if isinstance(one, click.Option)
                and getattr(one, "group", OTHERS) == group
                and (record := one.get_help_record(ctx))
            ]
            if records:
                with formatter.section(group):
                    formatter.write_dl([(f"{name:{FIRST_COLUMN}}", text) for name, text in records])


class Summaries(click.Group):
    """A group whose help says the first sentence of each command whole, where click cuts it to one line."""

    def sections(self, ctx: click.Context) -> Mapping[str, Sequence[str]]:
        """Return the names of the commands below their titles."""
        return {"Commands": self.list_commands(ctx)}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their summaries, which go on below where a line is too short."""
        widest = max(map(len, self.list_commands(ctx)))
        for title, names in self.sections(ctx).items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (f"{name:{widest}}", one.get_short_help_str(LONGEST_SUMMARY))
                        for name, one in commands
                        if one
                    ]
                )
