"""What people who know LIBSVM type, and the nearest of ours where there is no such command."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import click

from fwsvm.cli._groups import GroupedHelp, grouped
from fwsvm.errors import UsageError, shown
from fwsvm.settings import MODEL

#: Options of svm-train that ours have no alias for, and what to do instead.
HINTS = {
    "-s": "only C-SVC (-s 0) is supported, with the squared hinge; leave it out and choose C anew",
    "-d": "write --degree",
    "-r": "write --coef0",
    "-n": "nu-SVC and one-class SVMs are not supported",
    "-p": "regression is not supported",
    "-e": "write --tol, which bounds the relative duality gap",
    "-m": "write --cache-mb; -m is the method here",
    "-h": "leave it out: methods drop rows by themselves",
    "-v": "write `fwsvm cv --folds N`",
    "-w": "write --class-weight LABEL=W",
    "-b": "train and predict have --probability, cv has not",
}
#: LIBSVM's programs, and what else people call a command.
OTHER_NAMES = {
    "svm-train": "train", "svm-predict": "predict", "svm-scale": "scale", "checkdata.py": "check",
    "subset.py": "subset", "easy.py": "easy", "grid.py": "easy", "liblinear-train": "train",
    "crossval": "cv", "cross-validate": "cv", "fit": "train", "test": "predict", "classify": "predict",
    "tune": "easy", "search": "grid", "download": "data",
}  # fmt: skip
KERNELS = {"0": "linear", "1": "poly", "2": "rbf", "4": "precomputed"}
EXTRA_FILE = "Got unexpected extra argument"  # as click says it


class LibsvmCommand(GroupedHelp):
    """A command in the place of svm-train or svm-predict, which explains the options of these."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; of an option that is svm-train's, and of its second file, say what to do instead."""
        for option, value in pairwise([*args, ""]):
            if option in {"-m", "-h"} and value.isdigit():
                raise self._explained(option, ctx)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name[:2] not in HINTS:
                raise
            raise self._explained(error.option_name[:2], ctx) from None
        except click.UsageError as error:
            if self.name == "train" and error.message.startswith(EXTRA_FILE):
                raise click.UsageError(
                    "the second file of svm-train is the model: write --model FILE", ctx
                ) from None
            raise

    def _explained(self, option: str, ctx: click.Context) -> click.UsageError:
        return click.UsageError(f"{option} is LIBSVM's: {HINTS[option]}", ctx)


class KernelName(click.ParamType[str]):
    """The name of a kernel, or its number in LIBSVM."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        if str(value).isdigit() and value not in KERNELS:
            self.fail(
                f"LIBSVM's kernel {value} is not supported; the kernels are in `fwsvm kernels`", param, ctx
            )
        return KERNELS.get(value, str(value))


def probability_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option --probability, beside which -b 0 and -b 1 mean what they mean to svm-train."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        def known(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
            return value or ctx.meta.get("-b") == "1"

        def keep(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
            ctx.meta["-b"] = value

        command = grouped("--probability", is_flag=True, callback=known, group=MODEL, help=text)(command)
        return click.option("-b", type=click.Choice(["0", "1"]), hidden=True, is_eager=True, expose_value=False,
                            callback=keep, help="1 is --probability.")(command)  # fmt: skip

    return add


def libsvm_command(name: str) -> Callable[[Callable[..., Any]], LibsvmCommand]:
    """Return `click.command` for a command in the place of svm-train or svm-predict."""
    return click.command(name, cls=LibsvmCommand)


def no_such_command(name: str, known: Sequence[str]) -> UsageError:
    """Return the error that there is no such command, with the nearest or the one that does the same."""
    from difflib import get_close_matches

    near = [OTHER_NAMES.get(each, each) for each in get_close_matches(name, [*known, *OTHER_NAMES], 3)]
    hint = f"; did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
    return UsageError(f"no such command {shown(name)}{hint}")
