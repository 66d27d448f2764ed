"""Options of the commands that train."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from fwsvm.cli import _names
from fwsvm.cli._types import FiniteFloat, NearestChoice
from fwsvm.errors import UsageError

if TYPE_CHECKING:
    from fwsvm.solvers.settings import Settings

_OPTIONS = (
    click.option("--method", "-m", default="auto", show_default=True, shell_complete=_names.methods,
                 help="One of `fwsvm methods`."),
    click.option("--param", "parameters", metavar="NAME=VALUE", multiple=True,
                 help="A parameter of the method's own, see `fwsvm methods NAME`; may be repeated."),
    click.option("-C", "C", type=FiniteFloat(), help="Penalty of errors [default: 1]."),
    click.option("--lambda", "lambda_", type=FiniteFloat(),
                 help="Instead of C: lambda = 1 / (C m), with m training rows."),
    click.option("--class-weight", "class_weight", metavar="LABEL=W", multiple=True,
                 help="Multiply C for the rows of a class by W; may be repeated. balanced: all classes count alike."),
    click.option("--kernel", shell_complete=_names.kernels, help="One of `fwsvm kernels` [default: the method's]."),
    click.option("--kernel-param", "kernel_parameters", metavar="NAME=VALUE", multiple=True,
                 help="A parameter that only this kernel has, see `fwsvm kernels`; may be repeated."),
    click.option("--gamma", type=FiniteFloat(),
                 help="Kernel parameter: exp(-gamma |x-z|^2) for rbf; a larger gamma is narrower."),
    click.option("--sigma2", type=FiniteFloat(), help="Instead of gamma: gamma = 1 / (2 sigma2)."),
    click.option("--width-rule",
                 help="Default width from the mean squared distance D: paper 1/(2D), readme 1/D, libcvm 2/D "
                 "of 5,000 rows [default: paper; libcvm under --protocol libcvm and fw-svms]."),
    click.option("--degree", type=int, default=3, show_default=True, help="Of the poly kernel."),
    click.option("--coef0", type=FiniteFloat(), default=1.0, show_default=True, help="Of the poly kernel."),
    click.option("--stop",
                 help="relative, gap or meb (kernel methods on the simplex); relative, gap or eps (linear); relative "
                 "or eps (wolfe, scs) [default: relative; meb under the papers' protocols]. `fwsvm methods NAME` says "
                 "what each bounds."),
    click.option("--tol", "tolerance", type=FiniteFloat(),
                 help="Tolerance of the stopping rule [default: 1e-3; 1e-6 for meb under the papers' protocols]."),
    click.option("--search",
                 help="Kernel methods on the simplex: look at all rows for the next vertex (full) or at 59 random ones "
                 "(sampled) [default: the protocol's; full under default]."),
    click.option("--protocol", default="default", show_default=True,
                 help="default, paper (sampled search, MEB rule at 1e-6), libcvm, or fw-svms (what the authors of "
                 "003 ran)."),
    click.option("--retries", type=int, metavar="N",
                 help="Sampled search: stop after so many samples without a violator [default: the protocol's, 7; 1 "
                 "under fw-svms]."),
    click.option("--first-level", type=FiniteFloat(), metavar="TOL",
                 help="Start at this tolerance and halve it down to --tol [default: the protocol's: 0.1 for libcvm, "
                 "0.005 for fw-svms, else none]."),
    click.option("--candidates",
                 help="What cvm samples from: uniform (all rows), outside (rows outside the core set), or balanced "
                 "(those rows, class by class in turn) [default: the protocol's: balanced for fw-svms, else uniform]."),
    click.option("--gradient",
                 help="Sampled search: computed (recompute q of each candidate), kept (keep q of all rows), or "
                 "cheaper (computed until kept costs less) [default: cheaper]."),
    click.option("--time-limit", type=FiniteFloat(), metavar="SECONDS",
                 help="Stop after this time; with too many rows for it, auto returns a model trained on a sample."),
    click.option("--max-iterations", type=int, metavar="N", help="Stop after so many iterations."),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of all random numbers."),
    click.option("--threads", type=int, help="Threads to use [default: all there are]."),
    click.option("--cache-mb", "cache_mib", type=int, help="Memory for kernel columns [default: from what is free]."),
    click.option("--final-gap/--no-final-gap", default=True, show_default=True,
                 help="Recompute objective and gap from scratch when the run ends."),
)  # fmt: skip


def training_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command; it gets them as keyword arguments, to be given to `settings_from`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


#: Of the commands that train; passed on to `fwsvm.data.load`.
scale_option = click.option(
    "--scale",
    type=NearestChoice(["none", "[0,1]", "[-1,1]"]),
    help="Map each feature's training range to an interval; the model keeps the ranges, and `predict` scales by them "
    "[default: what the data set's entry says, none for files].",
)


def settings_from(options: dict[str, Any]) -> "Settings":
    """Return the settings of the options."""
    from fwsvm.data.labels import weights_from_words
    from fwsvm.solvers.settings import Settings
    from fwsvm.solvers.unused_options import refuse_what_does_nothing

    options["class_weight"] = weights_from_words("--class-weight", options["class_weight"])
    for name, option in _OWN.items():
        options[name] = _pairs(option, options[name])
    settings = Settings(**options)
    refuse_what_does_nothing(settings)
    return settings


def refuse_on_cluster(given: dict[str, object]) -> None:
    """Refuse options that training on a cluster does not have."""
    for option, value in given.items():
        if value:
            raise UsageError(f"{option} is for training on one machine; leave out {option} or --scheduler")


_OWN = {"parameters": "--param", "kernel_parameters": "--kernel-param"}


def _pairs(option: str, given: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for name, sign, _ in pairs:
        if not sign:
            raise UsageError(f"{option} takes NAME=VALUE, not {name!r}")
    return {name: value for name, _, value in pairs}
