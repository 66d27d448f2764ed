"""Settings that do nothing for the method or kernel they were given with: more likely a mistake than a wish."""

from dataclasses import fields

from fwsvm.errors import UsageError
from fwsvm.kernels.kernel import family as kernel_family
from fwsvm.settings import SPELLED, Settings
from fwsvm.solvers.registry import FAMILIES, method
from fwsvm.solvers.resolve import search_of

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
            spelled = SPELLED[setting]
            raise UsageError(f"{spelled} means nothing to {whose}; leave it out")
