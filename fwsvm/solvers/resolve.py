"""Settings with every default filled in: what a run will really do."""

import math
import sys
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

from fwsvm._memory import MIB, default_cache_mib
from fwsvm.errors import SettingError, not_one_of, shown
from fwsvm.kernels.kernel import SHARED, width_rules
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.kernels.widths import gamma_of, sigma2_of
from fwsvm.numerics.threads import usable_threads
from fwsvm.parameters import types_of
from fwsvm.settings import ALLOWED, POSITIVE, SEARCHES, Settings
from fwsvm.solvers.protocols import OPTIONS, PAPER_TOLERANCE, PROTOCOLS, SimplexProtocol
from fwsvm.solvers.registry import FAMILIES, Family, Method, method

DEFAULT_TOLERANCE = 1e-3
LARGEST_NUMBER = sys.float_info.max


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
    width_rule : str or None, by which gamma follows from the rows; None where it does not
    protocol : SimplexProtocol, with what the settings change of it
    cache_mib : int, MiB for kernel columns
    deferred : bool
        Whether a run that has converged leaves its certificate to others.
    traced : bool
        Whether the run of a single two-class problem keeps its trace.
    """

    method: Method
    rule: Any
    family: Family
    kernel_name: str
    kernel: Any
    width_rule: str | None
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
    deferred: bool = False
    traced: bool = True

    @property
    def cache_bytes(self) -> int:
        """The budget for kernel columns in bytes."""
        return self.cache_mib * MIB

    def as_columns(self) -> dict[str, Any]:
        """Return the settings under the names of the results columns; None where one has no meaning."""
        same = ("width_rule", "C", "stop", "tolerance", "seed", "threads", "cache_mib")
        of_kernel = {name: getattr(self.kernel, name, None) for name in SHARED}
        return {
            "method": self.method.name,
            "kernel": self.kernel_name,
            **of_kernel,
            "sigma2": sigma2_of(self.kernel.gamma) if kernel_family(self.kernel_name).sigma2 else None,
            "lambda": self.lambda_,
            "search": self.search if self.family.searches else None,
            **{name: getattr(self, name) for name in same},
        }


def with_method(resolved: Resolved, name: str, **parameters: Any) -> Resolved:
    """Return the settings with another method, whose other parameters have their defaults."""
    chosen = method(name)
    return replace(resolved, method=chosen, rule=chosen.make(parameters), family=FAMILIES[chosen.family])


def resolve(settings: Settings, X: Any, *, traced: bool = True) -> Resolved:
    """Fill in what the settings leave open, from the method, the rows X (m, n) and the machine.

    Raises
    ------
    SettingError
        A name that does not exist, a combination that makes no sense, or a number out of range.
    """
    chosen = method(settings.method)
    family = FAMILIES[chosen.family]
    check_values(settings)
    search = search_of(settings)
    stop, tolerance = stop_of(settings)
    check(f"search of {chosen.name}", search, family.searches or SEARCHES)
    check(f"stop of {chosen.name}", stop, chosen.stops)
    kernel_name, kernel, width_rule = _kernel(settings, chosen, family, X)
    m = X.shape[0]
    if settings.C is not None and settings.lambda_ is not None:
        raise SettingError("give C or lambda, not both: lambda = 1 / (C m)")
    C = float(settings.C or 1.0) if settings.lambda_ is None else 1.0 / (settings.lambda_ * m)
    return Resolved(
        method=chosen,
        rule=chosen.make(settings.parameters),
        family=family,
        kernel_name=kernel_name,
        kernel=kernel,
        width_rule=width_rule,
        C=C,
        lambda_=float(settings.lambda_ or 1.0 / (C * m)),
        stop=stop,
        tolerance=float(tolerance),
        search=search,
        protocol=protocol_of(settings),
        time_limit=settings.time_limit,
        max_iterations=settings.max_iterations or family.iteration_cap,
        seed=settings.seed,
        threads=settings.threads or usable_threads(),
        cache_mib=settings.cache_mib or default_cache_mib(),
        final_gap=settings.final_gap,
        traced=traced,
    )


def check_values(settings: Settings) -> None:
    """Refuse values that are not those allowed."""
    for name, value in vars(settings).items():
        if value is not None and name in ALLOWED and value is not getattr(Settings, name):
            check(name.rstrip("_"), value, ALLOWED[name])


def check(what: str, value: Any, allowed: Any) -> None:
    """Raise `SettingError` unless a value is ``allowed``, as in `fwsvm.settings.ALLOWED`."""
    if isinstance(allowed, tuple):
        if not isinstance(value, str) or value not in allowed:
            raise SettingError(not_one_of(what, allowed, value))
        return
    kind: Any = Real
    least = math.ulp(0.0) if allowed == POSITIVE else -LARGEST_NUMBER
    most = LARGEST_NUMBER
    if isinstance(allowed, range):
        kind, least, most = Integral, allowed.start, allowed.stop - 1
        allowed = f"a whole number of {least} to {most:,}"
    if isinstance(value, bool) or not isinstance(value, kind) or not least <= value <= most:
        raise SettingError(f"{what} must be {allowed}, not {shown(value)}")


def stop_of(settings: Settings) -> tuple[str, float]:
    """Return the stopping rule and the tolerance, those asked for or the defaults."""
    stops = method(settings.method).stops
    published = protocol_of(settings).published
    stop = settings.stop or ("meb" if published and "meb" in stops else stops[0])
    return stop, settings.tolerance or (PAPER_TOLERANCE if published and stop == "meb" else DEFAULT_TOLERANCE)


def search_of(settings: Settings) -> str:
    """Return how rows are searched: as the settings say, or the protocol and the method's family."""
    sampled = (
        protocol_of(settings).published and "sampled" in FAMILIES[method(settings.method).family].searches
    )
    return settings.search or ("sampled" if sampled else "full")


def protocol_of(settings: Settings) -> SimplexProtocol:
    """Return the protocol with what the settings change of it; `SettingError` for no protocol."""
    check("protocol", settings.protocol, tuple(PROTOCOLS))
    given = {name: value for name in OPTIONS if (value := getattr(settings, name)) is not None}
    return PROTOCOLS[settings.protocol]._replace(**given)


def width_rule_of(settings: Settings) -> str:
    """Return the rule of the default width: the one that is given, else the protocol's; `SettingError` for no rule."""
    rule = settings.width_rule or protocol_of(settings).width_rule
    check("width_rule", rule, width_rules())
    return rule


def _kernel(settings: Settings, chosen: Method, family: Family, X: Any) -> tuple[str, Any, str | None]:
    """Return the name of the kernel, the kernel, and the rule that its width is from; None where there is none."""
    name = settings.kernel or family.default_kernel
    known, gamma, rule = kernel_family(name), settings.gamma, None
    if family.kernels is not None and name not in family.kernels:
        raise SettingError(
            f"{chosen.name} is a {family.name} method and works with the {' or '.join(family.kernels)} kernel, not "
            f"with {name}; leave out the kernel or choose a kernel method"
        )
    if settings.sigma2 is not None:
        if gamma is not None:
            raise SettingError("give gamma or sigma2, not both: gamma = 1 / (2 sigma2)")
        gamma = gamma_of(settings.sigma2)
    if "gamma" in known.parameters:
        wanted = width_rule_of(settings)
        if gamma is None:
            rule, width = known.width(wanted)
            gamma = width.gamma(width.spread(X))
    shared = {"gamma": gamma, "degree": settings.degree, "coef0": settings.coef0}
    kinds = types_of(known.make)
    given = {key: kinds[key](value) for key, value in shared.items() if key in known.parameters}
    return name, known.checked(**known.own_values(settings.kernel_parameters), **given), rule
