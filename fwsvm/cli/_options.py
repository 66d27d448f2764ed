"""Options: types, groups, those of LIBSVM's users, and options and checks that several commands share.

Options of training are the rows of settings.csv.
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from fwsvm.cli._lines import QUIET
from fwsvm.errors import UsageError, shown
from fwsvm.settings import Settings, options

# None of these asks whether a file may be read: its reader says so, with the exit code for data.
PATH = click.Path(path_type=Path, readable=False)
FILE = click.Path(path_type=Path, readable=False, dir_okay=False)
FOLDER = click.Path(path_type=Path, readable=False, file_okay=False)
#: A file, or the name of a data set or experiment.
FILE_OR_NAME = click.Path(readable=False)
FIRST_COLUMN = 28  # columns of an option's name, so that the groups are aligned

#: Groups of options, in the order of the help.
GROUPS = MODEL, STOP, DATA, OUTPUT, RESOURCES, PAPERS = (
    "Model",
    "Stop",
    "Data",
    "Output",
    "Resources",
    "Papers",
)
TITLES = {PAPERS: "The papers' protocols, and fine control"}
#: What click is told of an option, by its kind in settings.csv.
KINDS: dict[str, dict[str, Any]] = {
    "number": {"type": float},
    "whole": {"type": int},
    "many": {"multiple": True},
}

#: What LIBSVM writes by number.
KERNELS = {"0": "linear", "1": "poly", "2": "rbf", "4": "precomputed"}
#: Settings that --param has beside the parameters of the method and the kernel.
PARAMETERS = {"degree": int, "coef0": float}
#: Options of svm-train that mean something else here.
THEIRS = re.compile(r"(?:^| )(-h [01]|-t 3|-m \d+)(?: |$)")
#: Options that are not ours, and what to do instead.
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
                with formatter.section(TITLES.get(group, group)):
                    formatter.write_dl([(f"{name:{FIRST_COLUMN}}", text) for name, text in records])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse options; for those of LIBSVM's that are not ours say what to do."""
        try:
            if found := THEIRS.search(" ".join(args)):
                raise click.NoSuchOption(found[1])  # noqa: TRY301 - as one that nobody has
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            name = name if name.startswith("--") else name[:2]
            if name not in HINTS:
                raise
            whose = f"no option {name} here" if name.startswith("--") else f"{name} is LIBSVM's"
            raise click.UsageError(f"{whose}: {HINTS[name]}", ctx) from None
        except click.UsageError as error:
            if self.name != "train" or not error.message.startswith("Got unexpected extra argument"):
                raise
            said = "the second file of svm-train is the model: write --model FILE"
            raise click.UsageError(said, ctx) from None


def added(*options: Decorator) -> Decorator:
    """Return what adds several options to a command, in the order of its help."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def training_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each setting to a command, which gives their values to `settings_from`.

    An option without a group is LIBSVM's and not in the help: --param sets it, too.
    """
    for name, row in reversed(options().items()):
        command = grouped(
            *row["options"].split(),
            name,
            group=row["group"],
            hidden=not row["group"],
            help=row["help"],
            metavar=row["metavar"] or None,
            default=None,
            **KINDS.get(row["kind"], {}),
        )(command)
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
    """Return the option --probability, and -b 0 or -b 1 in its place, as in LIBSVM."""
    ours = grouped("--probability", is_flag=True, group=MODEL, help=text)
    theirs = grouped("-b", "probability", type=bool, default=False, hidden=True, group=MODEL, help=text)
    return added(ours, theirs)


#: Adds --quiet to a command; `fwsvm.cli._lines.is_quiet` says whether it was given.
quiet_option = grouped(
    "--quiet",
    "-q",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, value: value and context.meta.update({QUIET: True}),
    group=OUTPUT,
    help="Leave out all messages but warnings and errors.",
)


#: Adds the options of commands that train on rows: settings, data, output and cluster.
run_options = added(
    training_options,
    scale_option,
    label_option,
    zero_based_option,
    json_option,
    quiet_option,
    scheduler_option,
)


def settings_from(given: dict[str, Any]) -> tuple[Settings, dict[str, Any]]:
    """Return the settings of `training_options`, and the other options, which say how to load the data."""
    from fwsvm.kernels.kernel import family
    from fwsvm.parameters import converted
    from fwsvm.problems.precomputed import is_given, refuse_scaling
    from fwsvm.validation import make_settings

    how = {name: value for name, value in given.items() if name not in options()}
    given = {name: given[name] for name in options() if given[name] is not None}
    given["class_weight"] = _class_weight(given["class_weight"])
    given["kernel"] = kernel = KERNELS.get(given.get("kernel", ""), given.get("kernel"))
    own = family(kernel).own if kernel else {}
    words, given["parameters"], given["kernel_parameters"] = given["parameters"], {}, {}
    for name, sign, value in (text.partition("=") for text in words):
        if not sign:
            raise UsageError(f"--param takes NAME=VALUE, not {name!r}")
        if name in PARAMETERS:
            given[name] = converted(name, value, PARAMETERS[name])
        else:
            given["kernel_parameters" if name in own else "parameters"][name] = value
    settings = make_settings(given)
    refuse_scaling(settings.kernel, how["scale"])
    if is_given(settings.kernel):
        how["zero_based"] = True  # 0 is the row's number
    return settings, how


def _class_weight(words: Sequence[str]) -> str | dict[str, float] | None:
    """Return what the words LABEL=W, or the one word balanced, of --class-weight say; None without words.

    `UsageError` for a word of another form, a label given twice, or balanced beside other words.
    """
    from fwsvm.data.labels import weights_by_label
    from fwsvm.parameters import BALANCED

    if [*words] == [BALANCED]:
        return BALANCED
    labels = {word: word.rpartition("=")[0] for word in words}
    if wrong := [word for word, label in labels.items() if not label or re.search("=.*,", label)]:
        raise UsageError(
            f"--class-weight takes LABEL=W, or {BALANCED} alone, not {shown(wrong[0])}; repeat --class-weight for each "
            "class"
        )
    return weights_by_label(word.rpartition("=")[::2] for word in words) or None


def refuse_on_cluster(options: dict[str, Any], **more: object) -> None:
    """Refuse options that training on a cluster does not have."""
    for name, value in {**more, "label": options["label"]}.items():
        if value:
            raise UsageError(f"--{name} is for training on one machine; leave out --{name} or --scheduler")


def refuse_outputs(inputs: Iterable[str | Path | None], *outputs: tuple[str, Path | None]) -> None:
    """Raise `UsageError` for an output, by its option, that is an input or another output, or cannot be written."""
    # realpath, because Path.resolve raises for links that lead to themselves
    taken = {os.path.realpath(each) for each in inputs if each is not None}
    for option, output in outputs:
        if output is None:
            continue
        if str(output) == "-":
            raise UsageError("- is no file: leave it out, or write /dev/stdout")
        place = os.path.realpath(output)
        if place in taken:
            raise UsageError(
                f"{output} would be overwritten: it is also an input or another output; name another file"
            )
        taken.add(place)
        folder = output.absolute().parent
        if str(folder) == "/dev":
            continue
        why = "it is a folder" if output.is_dir() else ""
        try:
            tempfile.TemporaryFile(dir=folder).close()  # os.access knows nothing of /proc
        except FileNotFoundError:
            why = f"there is no folder {folder}"
        except OSError as error:
            why = f"{folder}: {error.strerror}"
        if why:
            raise UsageError(f"{output} cannot be written: {why}; name another file with {option}")
