"""The settings of a training run, in one table: names, types, defaults, and what the command line says of each.

Fields of `Settings` are the keys of YAML files and of `fwsvm.train`; `fwsvm.cli` makes an option of each.
"""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any

STOPS = ("relative", "gap", "meb", "eps")
SEARCHES = ("full", "sampled")
#: Groups of options, in the order of the help.
MODEL, STOP, DATA, OUTPUT, RESOURCES = "Model", "Stop", "Data", "Output", "Resources"
PARAMETERS, PAPERS = "Parameters of methods and kernels", "The papers' protocols"
GROUPS = (MODEL, STOP, DATA, OUTPUT, RESOURCES, PARAMETERS, PAPERS)


def _setting(
    default: Any, group: str, text: str, *names: str, metavar: str | None = None, least: int | None = None
) -> Any:
    """Return a field with its default, its group and help, its options if not --name, and its least whole number."""
    more = {"group": group, "help": text, "names": names, "metavar": metavar, "least": least}
    return (
        field(default_factory=dict, metadata=more) if default == {} else field(default=default, metadata=more)
    )


@dataclass(frozen=True)
class Settings:
    """Settings of one run, in the words of the command line and of the YAML files.

    ``None`` means: the default that `fwsvm.solvers.resolve` fills in from the method, the data and the machine. At most
    one of gamma, sigma2 and width_rule may be set, and one of ``C`` and ``lambda_``.
    """

    method: str = _setting("auto", MODEL, "One of `fwsvm methods`.", "--method", "-m", metavar="NAME")
    parameters: Mapping[str, Any] = _setting(
        {}, PARAMETERS, "Of the method.", "--param", metavar="NAME=VALUE"
    )
    kernel: str | None = _setting(
        None,
        MODEL,
        "One of `fwsvm kernels` [default: by method].",
        "--kernel",
        "-t",
        metavar="NAME",
    )
    gamma: float | None = _setting(
        None, MODEL, "Kernel parameter, in rbf exp(-gamma |x-z|^2).", "--gamma", "-g"
    )
    sigma2: float | None = _setting(None, PARAMETERS, "Instead of gamma: gamma = 1 / (2 sigma2).")
    width_rule: str | None = _setting(
        None,
        PAPERS,
        "paper, inverse-distance or libcvm, for gamma.",
        metavar="RULE",
    )
    degree: int = _setting(3, PARAMETERS, "Degree of the poly kernel.")
    coef0: float = _setting(1.0, PARAMETERS, "Constant of the poly kernel.")
    kernel_parameters: Mapping[str, Any] = _setting(
        {}, PARAMETERS, "Of a plug-in kernel.", "--kernel-param", metavar="NAME=VALUE"
    )
    C: float | None = _setting(None, MODEL, "Penalty of errors [default: 1].", "-C", "-c")
    lambda_: float | None = _setting(None, PARAMETERS, "Instead of C: lambda = 1 / (C rows).", "--lambda")
    class_weight: str | Mapping[str, float] | None = _setting(
        None, MODEL, "Multiply C for a class, or all: balanced.", metavar="LABEL=W"
    )
    stop: str | None = _setting(None, STOP, "relative, gap, meb or eps [default: relative].", metavar="RULE")
    tolerance: float | None = _setting(
        None, STOP, "Tolerance of the rule [default: 1e-3].", "--tol", "--tolerance"
    )
    search: str | None = _setting(None, PAPERS, "Look at all rows (full) or at 59 (sampled).", metavar="HOW")
    protocol: str = _setting("default", PAPERS, "default, paper, libcvm or fw-svms.", metavar="NAME")
    retries: int | None = _setting(None, PAPERS, "Samples without a violator before it stops.")
    first_level: float | None = _setting(None, PAPERS, "First tolerance, halved down to --tol.")
    candidates: str | None = _setting(None, PAPERS, "Of cvm: uniform, outside or balanced.", metavar="ROWS")
    gradient: str | None = _setting(
        None, PAPERS, "computed, kept or cheaper [default: cheaper].", metavar="HOW"
    )
    time_limit: float | None = _setting(None, STOP, "Stop after this time.", metavar="SECONDS")
    max_iterations: int | None = _setting(None, STOP, "Stop after so many iterations.")
    seed: int = _setting(0, RESOURCES, "Seed of random numbers.", least=0)
    threads: int | None = _setting(None, RESOURCES, "Number of threads [default: all].")
    cache_mib: int | None = _setting(
        None, RESOURCES, "MiB for kernel columns [default: by memory].", "--cache-mb"
    )
    final_gap: bool = _setting(True, PAPERS, "Recompute the gap at the end, or not.")


def option_names(setting: Field[Any]) -> tuple[str, ...]:
    """Return the names of a setting's option."""
    return setting.metadata["names"] or (f"--{setting.name.replace('_', '-')}",)


#: How the command line spells each setting, without dashes.
SPELLED = {each.name: option_names(each)[0].lstrip("-") for each in fields(Settings)}
