"""Options: types, groups, those of LIBSVM's users, and options and checks that several commands share.

Options of training come from `fwsvm.settings.Settings`.
"""

import os
import tempfile
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import click

from fwsvm.cli._lines import QUIET
from fwsvm.errors import UsageError
from fwsvm.settings import DATA, GROUPS, MODEL, OUTPUT, RESOURCES, Settings, option_names

# None of these asks whether a file may be read: its reader says so, with the exit code for data.
PATH = click.Path(path_type=Path, readable=False)
FILE = click.Path(path_type=Path, readable=False, dir_okay=False)
FOLDER = click.Path(path_type=Path, readable=False, file_okay=False)
#: A file, or the name of a data set or experiment.
FILE_OR_NAME = click.Path(readable=False)
FIRST_COLUMN = 28  # columns of an option's name, so that the groups are aligned

#: What LIBSVM writes by number or letter, and scikit-learn by name.
KERNELS = {"0": "linear", "1": "poly", "2": "rbf", "4": "precomputed"}
PARAMETERS = {"-d": "degree", "-r": "coef0", "--degree": "degree", "--coef0": "coef0"}
#: Options of svm-train that ours have no alias for, and what to do instead.
HINTS = {
    "-h": "fwsvm has no shrinking; leave it out",
    "-m": "write --cache-mb; -m is --method here",
    "-t": "the sigmoid kernel is not supported",
    "-s": "only C-SVC (-s 0) is supported, with the squared hinge; leave it out and choose C anew",
    "-n": "nu-SVC and one-class SVMs are not supported",
    "-p": "regression is not supported",
    "-e": "write --tol, which bounds the relative duality gap",
    "-v": "write `fwsvm cv --folds N`",
    "-w": "write --class-weight LABEL=W",
    "-b": "train and predict have --probability, cv has not",
    "--folds": "`fwsvm cv` has it",
}
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class GroupedOption(click.Option):
    """An option that the help of a command lists in a group."""

    def __init__(self, *names: Any, group: str, **more: Any) -> None:
        super().__init__(*names, **more)
        self.group = group


def grouped(*names: str, group: str, **more: Any) -> Decorator:
    """Return `click.option` for an option of a group."""
    return click.option(*names, cls=GroupedOption, group=group, **more)


class LibsvmCommand(click.Command):
    """A command in the place of svm-train or svm-predict: it explains their options, and lists its own in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups, in their order; the option --help is of the output."""
        for group in GROUPS:
            every = (one for one in self.get_params(ctx) if isinstance(one, click.Option))
            some = [one for one in every if getattr(one, "group", OUTPUT) == group]
            if records := [record for one in some if (record := one.get_help_record(ctx))]:
                with formatter.section(group):
                    formatter.write_dl([(f"{name:{FIRST_COLUMN}}", text) for name, text in records])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse options, those of LIBSVM's that are unambiguous too; for its others say what to do."""
        try:
            return super().parse_args(ctx, self._translated(args))
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

    def _translated(self, args: list[str]) -> list[str]:
        """Return the arguments with -b, -d, -r, --degree and --coef0 in our words."""
        known = {name for one in self.params for name in one.opts}
        found: list[str] = []
        left = list(args)
        while left:
            word, value = left.pop(0), left[0] if left else ""
            is_switch = value in {"0", "1"}
            if word == "-b" and is_switch and "--probability" in known:
                found += ["--probability"] * int(left.pop(0))
            elif word in PARAMETERS and value and "--param" in known:
                found += ["--param", f"{PARAMETERS[word]}={left.pop(0)}"]
            elif (
                (word == "-h" and is_switch)
                or (word == "-m" and value.isdecimal())
                or (word, value) == ("-t", "3")
            ):
                raise click.NoSuchOption(word)
            else:
                found.append(word)
        return found


def training_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each setting to a command, which gives their values to `settings_from`."""
    types = typing.get_type_hints(Settings)
    for setting in reversed(fields(Settings)):
        about, names = setting.metadata, list(option_names(setting))
        if not about["group"]:  # --param sets it, too
            continue
        more: dict[str, Any] = {name: about[name] for name in ("group", "help", "metavar")}
        kinds = typing.get_args(types[setting.name]) or (types[setting.name],)
        if any(typing.get_origin(kind) is Mapping for kind in (types[setting.name], *kinds)):
            more["multiple"] = True
        elif bool in kinds:
            names[0] += f"/--no-{names[0].lstrip('-')}"
        else:
            more["type"] = next((kind for kind in (float, int) if kind in kinds), None)
        if setting.default not in {None, MISSING}:
            more |= {"default": setting.default, "show_default": setting.default not in {True, "default"}}
        command = grouped(*names, setting.name, **more)(command)
    return command


data_argument = click.argument("data", type=FILE_OR_NAME)
scale_option = grouped(
    "--scale",
    type=click.Choice(["none", "[0,1]", "[-1,1]"]),
    metavar="HOW",
    group=DATA,
    help="Scale to [0,1], [-1,1] or none (default).",
)
zero_based_option = grouped(
    "--zero-based/--one-based",
    default=None,
    group=DATA,
    help="Features count from 0 or 1 [default: as seen].",
)
label_option = grouped(
    "--label", metavar="COLUMN", group=DATA, help="Column of labels in CSV, by name or number."
)
offline_option = grouped("--offline", is_flag=True, group=DATA, help="Ask no server for data.")
json_option = grouped(
    "--json", "as_json", is_flag=True, group=OUTPUT, help="Write one JSON object to stdout."
)
scheduler_option = grouped(
    "--scheduler", metavar="ADDRESS", group=RESOURCES, help="Train on this Dask cluster, which sees DATA."
)


def probability_option(text: str) -> Decorator:
    """Return the option --probability."""
    return grouped("--probability", is_flag=True, group=MODEL, help=text)


#: Adds --quiet to a command; `fwsvm.cli._lines.is_quiet` says whether it was given.
quiet_option = grouped(
    "--quiet",
    "-q",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, value: context.meta.update({QUIET: value}),
    group=OUTPUT,
    help="Leave out all messages but warnings and errors.",
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of commands that train on rows: settings, data, output and cluster."""
    for option in (
        scheduler_option,
        quiet_option,
        json_option,
        zero_based_option,
        label_option,
        scale_option,
        training_options,
    ):
        command = option(command)
    return command


def settings_from(options: dict[str, Any]) -> tuple[Settings, dict[str, Any]]:
    """Return the settings of `training_options`, and the other options, which say how to load the data."""
    from fwsvm.data.labels import weights_from_words
    from fwsvm.kernels.kernel import family
    from fwsvm.parameters import converted
    from fwsvm.problems.precomputed import is_given, refuse_scaling
    from fwsvm.solvers.resolve import refuse_what_does_nothing

    given = {each.name: options.pop(each.name) for each in fields(Settings) if each.name in options}
    given["class_weight"] = weights_from_words("--class-weight", given["class_weight"])
    given["kernel"] = kernel = KERNELS.get(given["kernel"], given["kernel"])
    own = family(kernel).own if kernel else {}
    words, given["parameters"], given["kernel_parameters"] = given["parameters"], {}, {}
    for name, sign, value in (text.partition("=") for text in words):
        if not sign:
            raise UsageError(f"--param takes NAME=VALUE, not {name!r}")
        if name in PARAMETERS.values():
            given[name] = converted(name, value, type(getattr(Settings(), name)))
        else:
            given["kernel_parameters" if name in own else "parameters"][name] = value
    settings = Settings(**given)
    refuse_what_does_nothing(settings)
    refuse_scaling(settings.kernel, options["scale"])
    if is_given(settings.kernel):
        options["zero_based"] = True  # 0 is the row's number
    return settings, options


def refuse_on_cluster(options: dict[str, Any], **more: object) -> None:
    """Refuse options that training on a cluster does not have."""
    for name, value in {**more, "label": options["label"]}.items():
        if value:
            raise UsageError(f"--{name} is for training on one machine; leave out --{name} or --scheduler")


def refuse_overwriting(inputs: Iterable[str | Path | None], outputs: Iterable[Path | None]) -> None:
    """Raise `UsageError` for an output that is also an input or another output, which would be overwritten."""
    # realpath, because Path.resolve raises for links that lead to themselves
    taken = {os.path.realpath(each) for each in inputs if each is not None}
    for output in outputs:
        if output is None:
            continue
        if str(output) == "-":
            raise UsageError("- is no file: leave it out, or write /dev/stdout")
        if os.path.realpath(output) in taken:
            raise UsageError(
                f"{output} would be overwritten: it is also an input or another output; name another file"
            )
        taken.add(os.path.realpath(output))


def refuse_no_folder(output: Path | None, option: str) -> None:
    """Raise `UsageError` for an output file that cannot be made, before anything is computed for it."""
    if output is None or str(output).startswith("/dev/"):
        return
    folder = output.absolute().parent
    why = "it is a folder" if output.is_dir() else "" if folder.is_dir() else f"there is no folder {folder}"
    if not why:
        try:
            tempfile.TemporaryFile(dir=folder).close()  # os.access knows nothing of /proc
        except OSError:
            why = f"no permission to write in {folder}"
    if why:
        raise UsageError(f"{output} cannot be written: {why}; name another file with {option}")
