"""Settings with every default filled in: what a run will really do; and those that would do nothing."""

import math
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any

from fwsvm._mapped import RowMatrix, largest_of
from fwsvm._memory import MIB, default_cache_mib
from fwsvm.errors import DataError, UsageError, nearest, shown
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.kernels.kernel import width_rules
from fwsvm.kernels.limits import SCALE
from fwsvm.kernels.widths import gamma_of, sigma2_of
from fwsvm.numerics.threads import MOST_THREADS, usable_threads
from fwsvm.problems.precomputed import is_given
from fwsvm.settings import SEARCHES, SPELLED, Settings
from fwsvm.solvers.protocols import (
    CANDIDATES,
    GRADIENTS,
    OPTIONS,
    PAPER_TOLERANCE,
    PROTOCOLS,
    SimplexProtocol,
)
from fwsvm.solvers.registry import FAMILIES, Family, Method, method

SMALLEST, LARGEST = 1e-15, 1e15  # the largest value of the rows, for a kernel
MOST_SEED = 2**64 - 1
MOST = {"max_iterations": 2**53, "retries": 2**31, "threads": MOST_THREADS, "cache_mib": 1 << 30}
DEFAULT_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Resolved:
    """Settings of a run with nothing left open. Those that are not listed are as in `Settings`.

    Attributes
    ----------
    method : Method
    rule : NamedTuple of the method's parameters
    family : Family, that of the method
    kernel_name : str
    kernel : NamedTuple, a registered kernel with its parameters
    width_rule : str, "given" where gamma or sigma2 was, "" for kernels without gamma
    protocol : SimplexProtocol, with what the settings change of it
    cache_mib : int, MiB for kernel columns
    deferred : float
        Rounding, in parts of the goal, up to which a run that has converged leaves its certificate to others; 0: never.
    """

    method: Method
    rule: Any
    family: Family
    kernel_name: str
    kernel: Any
    width_rule: str
    C: float
    lambda_: float
    stop: str
    tolerance: float
    search: str
    protocol: SimplexProtocol
    time_limit: float | None
    max_iterations: int | None
    seed: int
    threads: int
    cache_mib: int
    final_gap: bool
    deferred: float = 0.0

    @property
    def cache_bytes(self) -> int:
        """The budget for kernel columns in bytes."""
        return self.cache_mib * MIB

    def as_columns(self) -> dict[str, Any]:
        """Return the settings under the names of the results columns; None where one has no meaning."""
        gamma, known = getattr(self.kernel, "gamma", None), kernel_family(self.kernel_name)
        return {
            "method": self.method.name,
            "kernel": self.kernel_name,
            "gamma": gamma,
            "sigma2": sigma2_of(self.kernel.gamma) if known.sigma2 else None,
            "width_rule": self.width_rule if gamma is not None and self.width_rule != "given" else None,
            "degree": getattr(self.kernel, "degree", None),
            "coef0": getattr(self.kernel, "coef0", None),
            "C": self.C,
            "lambda": self.lambda_,
            "search": self.search if self.family.searches else None,
            "stop": self.stop,
            "tolerance": self.tolerance,
            "seed": self.seed,
            "threads": self.threads,
            "cache_mib": self.cache_mib,
        }


def resolve(settings: Settings, X: RowMatrix, rows: int | None = None) -> Resolved:
    """Fill in what the settings leave open, from the method, the data (m, n) and the machine.

    ``rows`` is the number of rows where X is only some of them.

    Raises
    ------
    UsageError
        A name that does not exist, a combination that makes no sense, or a number out of range.
    DataError
        The largest value of the rows is out of the range of kernel values.
    """
    chosen = method(settings.method)
    family = FAMILIES[chosen.family]
    protocol = protocol_of(settings)
    search = search_of(settings)
    _one_of(f"search of {chosen.name}", search, family.searches or SEARCHES)
    stop, tolerance = stop_of(settings)
    _one_of(f"stop of {chosen.name}", stop, chosen.stops)
    _positive("tolerance", tolerance)
    if settings.first_level is not None and settings.first_level < tolerance:
        raise UsageError(
            f"first-level {settings.first_level:g} is below the tolerance {tolerance:g}, where its schedule ends"
        )
    check_whole("seed", settings.seed, 0, MOST_SEED)
    if family.kernels is None and not is_given(settings.kernel):
        _in_range(X)
    kernel_name, kernel, rule_of_width = _kernel(settings, chosen, family, X)
    C, lambda_ = _penalty(settings, X.shape[0] if rows is None else rows)
    if settings.time_limit is not None:
        _positive("time-limit", settings.time_limit)
    for name in ("max_iterations", "threads", "cache_mib"):
        if getattr(settings, name) is not None:
            check_whole(SPELLED[name], getattr(settings, name), 1, MOST[name])
    return Resolved(
        method=chosen,
        rule=chosen.make(settings.parameters),
        family=family,
        kernel_name=kernel_name,
        kernel=kernel,
        width_rule=rule_of_width,
        C=C,
        lambda_=lambda_,
        stop=stop,
        tolerance=float(tolerance),
        search=search,
        protocol=protocol,
        time_limit=settings.time_limit,
        max_iterations=settings.max_iterations
        if settings.max_iterations is not None
        else family.iteration_cap,
        seed=settings.seed,
        threads=settings.threads or usable_threads(),
        cache_mib=settings.cache_mib or default_cache_mib(),
        final_gap=settings.final_gap,
    )


def stop_of(settings: Settings) -> tuple[str, float]:
    """Return the stopping rule and the tolerance, those asked for or the defaults."""
    stops, published = method(settings.method).stops, protocol_of(settings).published
    stop = settings.stop or ("meb" if published and "meb" in stops else stops[0])
    default = PAPER_TOLERANCE if published and stop == "meb" else DEFAULT_TOLERANCE
    return stop, default if settings.tolerance is None else settings.tolerance


def search_of(settings: Settings) -> str:
    """Return how rows are searched: as the settings say, or the protocol and the method's family."""
    searches = FAMILIES[method(settings.method).family].searches
    sampled = protocol_of(settings).published and "sampled" in searches
    return settings.search or ("sampled" if sampled else "full")


def protocol_of(settings: Settings) -> SimplexProtocol:
    """Return the protocol with what the settings change of it.

    Raises
    ------
    UsageError
        A name that does not exist, or a number out of range.
    """
    _one_of("protocol", settings.protocol, tuple(PROTOCOLS))
    if settings.retries is not None:
        check_whole("retries", settings.retries, 1, MOST["retries"])
    if settings.first_level is not None:
        _positive("first-level", settings.first_level)
    if settings.candidates is not None:
        _one_of("candidates", settings.candidates, CANDIDATES)
    if settings.gradient is not None:
        _one_of("gradient", settings.gradient, GRADIENTS)
    given = {name: getattr(settings, name) for name in OPTIONS if getattr(settings, name) is not None}
    return replace(PROTOCOLS[settings.protocol], **given) if given else PROTOCOLS[settings.protocol]


def width_rule_of(settings: Settings) -> str:
    """Return the rule of the default width: the one that is given, else the protocol's; `UsageError` for no rule."""
    if settings.width_rule is None:
        return protocol_of(settings).width_rule
    _one_of("width rule", settings.width_rule, width_rules())
    return settings.width_rule


def _kernel(settings: Settings, chosen: Method, family: Family, X: Any) -> tuple[str, Any, str]:
    name = settings.kernel or family.default_kernel
    known = kernel_family(name)
    if family.kernels is not None and name not in family.kernels:
        raise UsageError(
            f"{chosen.name} is a {family.name} method and works with the {' or '.join(family.kernels)} kernel, not "
            f"with {name}; leave out --kernel or choose a kernel method"
        )
    if settings.gamma is not None and settings.sigma2 is not None:
        raise UsageError("give gamma or sigma2, not both: gamma = 1 / (2 sigma2)")
    given = known.own_values(settings.kernel_parameters)
    if "degree" in known.parameters:
        check_whole("degree", settings.degree, 1, int(known.range_of("degree").most))
        given["degree"] = int(settings.degree)
    if "coef0" in known.parameters:
        given["coef0"] = _number("coef0", settings.coef0)
    if "gamma" not in known.parameters:
        return name, known.checked(**given), ""
    if settings.sigma2 is not None and not known.sigma2:
        raise UsageError(f"sigma2 is the rbf kernel's; give the {name} kernel gamma")
    wanted, gamma, rule = width_rule_of(settings), settings.gamma, "given"
    if settings.sigma2 is not None:
        _positive("sigma2", settings.sigma2)
        gamma = gamma_of(settings.sigma2)
    if gamma is not None:
        _positive("gamma", gamma)
    else:
        rule, width = known.width(wanted)
        gamma = width.gamma(X)
    return name, known.checked(gamma=float(gamma), **given), rule


def _in_range(X: RowMatrix) -> None:
    """Refuse values whose squares single precision, which kernel values are computed in, cannot hold."""
    largest = largest_of(X)
    if largest != 0.0 and not SMALLEST <= largest <= LARGEST:
        raise DataError(
            f"the largest value of the rows is {largest:.3g}, out of the range of kernel values in single precision; "
            f"{SCALE}"
        )


def _penalty(settings: Settings, m: int) -> tuple[float, float]:
    if settings.C is not None and settings.lambda_ is not None:
        raise UsageError("give C or lambda, not both: lambda = 1 / (C m)")
    if settings.lambda_ is not None:
        _positive("lambda", settings.lambda_)
        C, lambda_ = 1.0 / (settings.lambda_ * m), float(settings.lambda_)
    else:
        C = 1.0 if settings.C is None else settings.C
        _positive("C", C)
        C, lambda_ = float(C), 1.0 / (C * m)
    if not (math.isfinite(C) and math.isfinite(lambda_)):
        raise UsageError(f"with {m:,} rows C = {C:g} and lambda = {lambda_:g}: out of range")
    return C, lambda_


def _one_of(what: str, value: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        hint = nearest(value, allowed)
        raise UsageError(f"{what} must be {' or '.join(allowed)}, not {shown(value)}{hint and f'; {hint}'}")


def _number(what: str, value: Any) -> float:
    if not _is(value, Real) or not -math.inf < value < math.inf:
        raise UsageError(f"{what} must be a finite number, not {shown(value)}")
    return float(value)


def _positive(what: str, value: Any) -> None:
    if not _is(value, Real) or not 0 < value < math.inf:
        raise UsageError(f"{what} must be a positive number, not {shown(value)}")


def check_whole(what: str, value: Any, least: int, most: int) -> None:
    """Raise `UsageError` unless a value is a whole number within these bounds."""
    if not _is(value, Integral) or not least <= value <= most:
        raise UsageError(f"{what} must be a whole number of {least} to {most:,}, not {shown(value)}")


def _is(value: Any, kind: type) -> bool:
    """Return whether a value is a number of a kind; True and False are none, and none is beyond a double."""
    try:
        return isinstance(value, kind) and not isinstance(value, bool) and not math.isnan(float(value))  # type: ignore[arg-type]
    except OverflowError:
        return False


_DEFAULTS = {field.name: field.default for field in fields(Settings)}


def refuse_what_does_nothing(settings: Settings) -> None:
    """Raise UsageError for a setting that differs from its default and would change nothing.

    Experiments are not held to this: in a grid one setting may be about some of the methods only.
    """
    chosen = method(settings.method)
    family = FAMILIES[chosen.family]
    name = settings.kernel or family.default_kernel
    kernel = f"the {name} kernel"
    known, given = kernel_family(name), (settings.gamma, settings.sigma2) != (None, None)
    parameters = known.parameters
    samples = "sampled" in family.searches and search_of(settings) == "sampled"
    whose_search = "full search" if "sampled" in family.searches else chosen.name
    fixed = {0: kernel, 1: f"{kernel}, which has one rule"}
    idle = {
        "gamma": kernel if "gamma" not in parameters else "",
        "sigma2": "" if known.sigma2 else kernel,
        "width_rule": fixed.get(len(known.widths), "a width that is given" if given else ""),
        "degree": kernel if "degree" not in parameters else "",
        "coef0": kernel if "coef0" not in parameters else "",
        "search": chosen.name if not family.searches else "",
        "cache_mib": "" if family.keeps_values else chosen.name,
        "protocol": chosen.name if "sampled" not in family.searches and "meb" not in chosen.stops else "",
        "retries": "" if samples else whose_search,
        "first_level": "" if "sampled" in family.searches else chosen.name,
        "candidates": whose_search if not samples else "" if chosen.name == "cvm" else chosen.name,
        "gradient": "" if samples else whose_search,
    }
    for setting, whose in idle.items():
        if whose and getattr(settings, setting) != _DEFAULTS[setting]:
            raise UsageError(f"{SPELLED[setting]} means nothing to {whose}; leave it out")
