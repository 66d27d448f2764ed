"""Options that several commands share; those of training are made from the table `fwsvm.settings.Settings`."""

import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

import click

from fwsvm.cli import _names
from fwsvm.cli._groups import grouped
from fwsvm.cli._libsvm_words import KernelName
from fwsvm.cli._lines import QUIET
from fwsvm.cli._types import FiniteFloat, NearestChoice
from fwsvm.errors import UsageError
from fwsvm.settings import DATA, OUTPUT, RESOURCES, SPELLED, Settings, option_names


def training_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each setting to a command, which gives their values to `settings_from`."""
    types = typing.get_type_hints(Settings)
    for setting in reversed(fields(Settings)):
        about = setting.metadata
        more: dict[str, Any] = {"group": about["group"], "help": about["help"], "metavar": about["metavar"]}
        names = list(option_names(setting))
        kinds = typing.get_args(types[setting.name]) or (types[setting.name],)
        if setting.name in COMPLETED:
            more["shell_complete"] = COMPLETED[setting.name]
        if setting.name == "kernel":
            more["type"] = KernelName()
        elif any(typing.get_origin(kind) is Mapping for kind in (types[setting.name], *kinds)):
            more["multiple"] = True
        elif bool in kinds:
            names[0] += f"/--no-{names[0].lstrip('-')}"
        elif float in kinds:
            more["type"] = FiniteFloat()
        elif int in kinds:
            more["type"] = int if about["least"] is None else click.IntRange(min=about["least"])
        if setting.default not in {None, MISSING}:
            more |= {"default": setting.default, "show_default": setting.default not in {True, "default"}}
        command = grouped(*names, setting.name, **more)(command)
    return command


COMPLETED = {"method": _names.methods, "kernel": _names.kernels}
#: Of the commands that train; passed on to `fwsvm.data.load`.
scale_option = grouped(
    "--scale", type=NearestChoice(["none", "[0,1]", "[-1,1]"]), metavar="HOW", group=DATA,
    help="Scale to [0,1], [-1,1] or none [default: none].",
)  # fmt: skip
zero_based_option = grouped(
    "--zero-based",
    is_flag=True,
    default=None,
    group=DATA,
    help="Features count from 0 [default: as seen].",
)
label_option = grouped(
    "--label",
    metavar="COLUMN",
    group=DATA,
    help="Column of labels in CSV, by name or number.",
)
offline_option = grouped("--offline", is_flag=True, group=DATA, help="Ask no server for data.")
json_option = grouped(
    "--json", "as_json", is_flag=True, group=OUTPUT, help="Write one JSON object to stdout."
)
scheduler_option = grouped(
    "--scheduler", metavar="ADDRESS", group=RESOURCES, help="Train on this Dask cluster."
)


def quiet_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --quiet to a command; `fwsvm.cli._lines.is_quiet` says whether it was given."""

    def keep(context: click.Context, _: click.Parameter, value: bool) -> None:
        context.meta[QUIET] = value

    said = "Print results, warnings and errors only."
    add = grouped("--quiet", "-q", is_flag=True, expose_value=False, callback=keep, group=OUTPUT, help=said)
    return add(command)


def settings_from(options: dict[str, Any]) -> Settings:
    """Return the settings of the options."""
    from fwsvm.data.labels import weights_from_words
    from fwsvm.solvers.resolve import refuse_what_does_nothing

    options["class_weight"] = weights_from_words("--class-weight", options["class_weight"])
    for name in ("parameters", "kernel_parameters"):
        pairs = [text.partition("=") for text in options[name]]
        for key, sign, _ in pairs:
            if not sign:
                raise UsageError(f"--{SPELLED[name]} takes NAME=VALUE, not {key!r}")
        options[name] = {key: value for key, _, value in pairs}
    settings = Settings(**options)
    refuse_what_does_nothing(settings)
    return settings


def refuse_on_cluster(given: dict[str, object]) -> None:
    """Refuse options that training on a cluster does not have."""
    for option, value in given.items():
        if value:
            raise UsageError(f"{option} is for training on one machine; leave out {option} or --scheduler")
