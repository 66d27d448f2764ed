"""The settings of a training run, in one table: names, types, defaults, allowed values, and what the help says of each.

Fields of `Settings` are the keys of YAML files and of `fwsvm.train`; `fwsvm.cli` makes an option of each, and
`fwsvm.estimators` parameters of some.
"""

import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any

STOPS = ("relative", "gap", "meb", "eps")
SEARCHES = ("full", "sampled")
CANDIDATES = UNIFORM, OUTSIDE, BALANCED = ("uniform", "outside", "balanced")
GRADIENTS = CHEAPER, COMPUTED, KEPT = ("cheaper", "computed", "kept")
POSITIVE, FINITE = "a positive number", "a finite number"
MOST_THREADS = 1024  # each takes memory, and a typing mistake takes all
#: Groups of options, in the order of the help.
MODEL, STOP, DATA, OUTPUT, RESOURCES = "Model", "Stop", "Data", "Output", "Resources"
PAPERS = "The papers' protocols, and fine control"
GROUPS = (MODEL, STOP, DATA, OUTPUT, RESOURCES, PAPERS)


def _setting(default: Any, group: str, text: str, *names: str, **more: Any) -> Any:
    """Return a field with its default, its group and help, and its options if not --name.

    More are ``metavar``; ``allowed``: `POSITIVE` or `FINITE` numbers, a range of whole numbers, a tuple of words, or
    None for anything; and ``sklearn``: its name and default in scikit-learn's classifiers.
    """
    about = {
        "group": group,
        "help": text,
        "names": names,
        "metavar": None,
        "allowed": None,
        "sklearn": (),
    } | more
    return (
        field(default_factory=dict, metadata=about)
        if default == {}
        else field(default=default, metadata=about)
    )


@dataclass(frozen=True)
class Settings:
    """Settings of one run, in the words of the command line and of the YAML files.

    ``None`` means: the default that `fwsvm.solvers.resolve` fills in from the method, the data and the machine. At most
    one of gamma, sigma2 and width_rule may be set, and one of ``C`` and ``lambda_``.
    """

    method: str = _setting(
        "auto", MODEL, "One of `fwsvm methods`.", "--method", "-m", metavar="NAME", sklearn=("method", "auto")
    )
    parameters: Mapping[str, Any] = _setting(
        {},
        MODEL,
        "Of the method or kernel, such as degree=2.",
        "--param",
        metavar="NAME=VALUE",
        sklearn=("parameters", None),
    )
    kernel: str | None = _setting(
        None,
        MODEL,
        "One of `fwsvm kernels` [default: by method].",
        "--kernel",
        "-t",
        metavar="NAME",
        sklearn=("kernel", "rbf"),
    )
    gamma: float | None = _setting(
        None,
        MODEL,
        "Kernel parameter, in rbf exp(-gamma |x-z|^2).",
        "--gamma",
        "-g",
        allowed=POSITIVE,
        sklearn=("gamma", None),
    )
    sigma2: float | None = _setting(
        None, PAPERS, "Instead of gamma: gamma = 1 / (2 sigma2).", allowed=POSITIVE
    )
    width_rule: str | None = _setting(
        None,
        PAPERS,
        "paper, inverse-distance or libcvm, for gamma.",
        metavar="RULE",
        sklearn=("width_rule", "paper"),
    )
    degree: int = _setting(
        3, "", "Degree of the poly kernel.", "--param", allowed=range(1, 2**31), sklearn=("degree", 3)
    )
    coef0: float = _setting(
        1.0, "", "Constant of the poly kernel.", "--param", allowed=FINITE, sklearn=("coef0", 1.0)
    )
    kernel_parameters: Mapping[str, Any] = _setting(
        {}, "", "Of a plug-in kernel.", "--param", sklearn=("kernel_parameters", None)
    )
    C: float | None = _setting(
        None, MODEL, "Penalty of errors [default: 1].", "-C", "-c", allowed=POSITIVE, sklearn=("C", 1.0)
    )
    lambda_: float | None = _setting(
        None,
        PAPERS,
        "Instead of C: lambda = 1 / (C rows).",
        "--lambda",
        allowed=POSITIVE,
        sklearn=("lam", None),
    )
    class_weight: str | Mapping[str, float] | None = _setting(
        None,
        MODEL,
        "Multiply C for a class, or all: balanced.",
        metavar="LABEL=W",
        sklearn=("class_weight", None),
    )
    stop: str | None = _setting(
        None,
        PAPERS,
        "relative, gap, meb or eps [default: relative].",
        metavar="RULE",
        sklearn=("stop", "relative"),
    )
    tolerance: float | None = _setting(
        None,
        STOP,
        "Relative gap to reach [default: 1e-3].",
        "--tol",
        "--tolerance",
        allowed=POSITIVE,
        sklearn=("tol", 0.001),
    )
    search: str | None = _setting(
        None, PAPERS, "Look at all rows (full) or at 59 (sampled).", metavar="HOW", sklearn=("search", "full")
    )
    protocol: str = _setting(
        "default",
        PAPERS,
        "default, paper, libcvm or fw-svms.",
        metavar="NAME",
        allowed=("default", "paper", "libcvm", "fw-svms"),
    )
    retries: int | None = _setting(
        None, PAPERS, "Samples without a violator before it stops.", allowed=range(1, 2**31 + 1)
    )
    first_level: float | None = _setting(
        None, PAPERS, "First tolerance, halved down to --tol.", allowed=POSITIVE
    )
    candidates: str | None = _setting(
        None, PAPERS, "Of cvm: uniform, outside or balanced.", metavar="ROWS", allowed=CANDIDATES
    )
    gradient: str | None = _setting(
        None, PAPERS, "computed, kept or cheaper [default: cheaper].", metavar="HOW", allowed=GRADIENTS
    )
    time_limit: float | None = _setting(
        None, STOP, "Stop after this time.", metavar="SECONDS", allowed=POSITIVE, sklearn=("time_limit", None)
    )
    max_iterations: int | None = _setting(
        None,
        PAPERS,
        "Stop after so many iterations.",
        allowed=range(1, 2**53 + 1),
        sklearn=("max_iter", None),
    )
    seed: int = _setting(
        0, PAPERS, "Seed of random numbers.", allowed=range(2**64), sklearn=("random_state", None)
    )
    threads: int | None = _setting(
        None,
        RESOURCES,
        "Number of threads [default: all].",
        allowed=range(1, MOST_THREADS + 1),
        sklearn=("n_jobs", None),
    )
    cache_mib: int | None = _setting(
        None,
        PAPERS,
        "MiB for kernel columns [default: by memory].",
        "--cache-mb",
        allowed=range(1, 2**30 + 1),
        sklearn=("cache_size", None),
    )
    final_gap: bool = _setting(True, PAPERS, "Recompute the gap at the end, or not.")


def option_names(setting: Field[Any]) -> tuple[str, ...]:
    """Return the names of a setting's option."""
    return setting.metadata["names"] or (f"--{setting.name.replace('_', '-')}",)


def with_options(text: str) -> str:
    """Return a message that names settings as Python does, with the command line's options in their place.

    >>> with_options('time_limit is small; take method="nested"'), with_options("probability=True is slow")
    ('--time-limit is small; take --method nested', '--probability is slow')
    """
    names = {each.name: option_names(each)[0] for each in fields(Settings) if "_" in each.name.rstrip("_")}
    text = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text)
    return re.sub(r"\b(\w+)=True", r"--\1", re.sub(r'\b(\w+)="([^" ]*)"', r"--\1 \2", text))
