"""The linear kernel <x, z>, (gamma <x, z> + coef0)^degree, and the papers' quadratic one, (gamma <x, z>)^2."""

from typing import NamedTuple

from fwsvm.kernels.kernel import of_inner_products, register, value
from fwsvm.kernels.widths import Width, mean_squared_distance


@register("linear", "<x, z>", libsvm="linear")
@of_inner_products
class Linear(NamedTuple):
    """No parameter; ``scale`` stays 1 (a NamedTuple needs a field to have a type of its own)."""

    scale: float = 1.0


@value.implements(Linear)
def _inner_product(kernel, total, own_x, own_z):
    return total


MOST_DEGREE = 1000  # a value takes as many multiplications: a hostile degree would never end
WIDTHS = {"default": Width(mean_squared_distance, "1 / D")}  # 003 section 5.8


@register(
    "poly",
    "(gamma <x, z> + coef0)^degree",
    ("gamma", "coef0", "degree"),
    ranges={"degree": (1, MOST_DEGREE)},
    widths=WIDTHS,
    libsvm="polynomial",
    objection=lambda kernel: "" if kernel.coef0 >= 0 else "needs coef0 >= 0 to be positive semi-definite",
    condition=lambda kernel: float(kernel.degree),
)
@of_inner_products
class Polynomial(NamedTuple):
    """gamma > 0, coef0 >= 0, degree >= 1: positive semi-definite."""

    gamma: float
    coef0: float = 1.0
    degree: int = 3


@value.implements(Polynomial)
def _value(kernel, total, own_x, own_z):
    base = total * kernel.gamma + kernel.coef0
    power = base
    for _ in range(kernel.degree - 1):
        power = power * base
    return power


@register(
    "quadratic",
    "(gamma <x, z>)^2",
    ("gamma",),
    widths=WIDTHS,
    equal=lambda kernel: Polynomial(kernel.gamma, 0.0, 2),
    condition=lambda _: 2.0,
)
@of_inner_products
class Quadratic(NamedTuple):
    """gamma > 0; the non-normalised kernel of 003 section 5.8 and of 000, with gamma = 1/D."""

    gamma: float


@value.implements(Quadratic)
def _square(kernel, total, own_x, own_z):
    root = total * kernel.gamma
    return root * root
