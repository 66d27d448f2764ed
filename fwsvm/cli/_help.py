"""Commands whose help has groups, and which answer what people type who know LIBSVM."""

from collections.abc import Callable
from typing import Any

import click

from fwsvm.settings import GROUPS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
FIRST_COLUMN = 28  # columns of an option's name, so that the groups are aligned
OTHERS = "Options"  # the group of an option that has none

#: Options of svm-train that ours have no alias for, and what to do instead.
HINTS = {
    "-s": "only C-SVC (-s 0) is supported, with the squared hinge; leave it out and choose C anew",
    "-n": "nu-SVC and one-class SVMs are not supported",
    "-p": "regression is not supported",
    "-e": "write --tol, which bounds the relative duality gap",
    "-v": "write `fwsvm cv --folds N`",
    "-w": "write --class-weight LABEL=W",
    "-b": "train and predict have --probability, cv has not",
    "--folds": "`fwsvm cv` has it",
}


class GroupedOption(click.Option):
    """An option that the help of a command lists in a group."""

    def __init__(self, *names: Any, group: str = OTHERS, **more: Any) -> None:
        super().__init__(*names, **more)
        self.group = group


def grouped(*names: str, group: str, **more: Any) -> Decorator:
    """Return `click.option` for an option of a group."""
    return click.option(*names, cls=GroupedOption, group=group, **more)


class LibsvmCommand(click.Command):
    """A command in the place of svm-train or svm-predict: it explains their options, and lists its own in groups."""

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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; -b 1 is --probability. For another option of svm-train, and its second file, say what to do."""
        has_probability = any("--probability" in one.opts for one in self.params)
        at = args.index("-b") if "-b" in args and has_probability else None
        if at is not None and args[at + 1 :][:1] in (["0"], ["1"]):
            args = [*args[:at], *["--probability"] * int(args[at + 1]), *args[at + 2 :]]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            if name.startswith("--") and name in HINTS:
                raise click.UsageError(f"no option {name} here: {HINTS[name]}", ctx) from None
            if name[:2] not in HINTS:
                raise
            raise click.UsageError(f"{name[:2]} is LIBSVM's: {HINTS[name[:2]]}", ctx) from None
        except click.UsageError as error:
            if self.name != "train" or not error.message.startswith("Got unexpected extra argument"):
                raise
            said = "the second file of svm-train is the model: write --model FILE"
            raise click.UsageError(said, ctx) from None
