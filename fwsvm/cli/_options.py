"""Types of options, and options that several commands share; those of training come from `fwsvm.settings.Settings`."""

import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import click

from fwsvm.cli._help import Decorator, grouped
from fwsvm.cli._lines import QUIET
from fwsvm.errors import UsageError
from fwsvm.settings import DATA, MODEL, OUTPUT, RESOURCES, Settings, option_names

# None of these asks whether a file may be read: its reader says so, with the exit code for data.
PATH = click.Path(path_type=Path, readable=False)
FILE = click.Path(path_type=Path, readable=False, dir_okay=False)
FOLDER = click.Path(path_type=Path, readable=False, file_okay=False)
KERNELS = {"0": "linear", "1": "poly", "2": "rbf", "4": "precomputed"}  # by their numbers in LIBSVM


#: A file, or the name of a data set or experiment.
FILE_OR_NAME = click.Path(readable=False)


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
        elif float in kinds:
            more["type"] = float
        elif int in kinds:
            more["type"] = int
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
    "--scheduler", metavar="ADDRESS", group=RESOURCES, help="Train on this Dask cluster."
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
    help="Print results, warnings and errors only.",
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
    from fwsvm.problems.precomputed import is_given, refuse_scaling
    from fwsvm.solvers.resolve import refuse_what_does_nothing

    given = {each.name: options.pop(each.name) for each in fields(Settings) if each.name in options}
    given["class_weight"] = weights_from_words("--class-weight", given["class_weight"])
    given["kernel"] = kernel = KERNELS.get(given["kernel"], given["kernel"])
    own = family(kernel).own if kernel else {}
    params: dict[bool, dict[str, str]] = {False: {}, True: {}}  # of the method, of the kernel
    for name, sign, value in (text.partition("=") for text in given["parameters"]):
        if not sign:
            raise UsageError(f"--param takes NAME=VALUE, not {name!r}")
        params[name in own][name] = value
    settings = Settings(**given | {"parameters": params[False], "kernel_parameters": params[True]})
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
