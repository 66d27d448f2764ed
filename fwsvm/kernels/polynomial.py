"""The polynomial kernel (gamma <x, z> + coef0)^degree, and the papers' quadratic one, (gamma <x, z>)^2."""

from typing import NamedTuple

from fwsvm.kernels.kernel import of_inner_products, register, value

MOST_DEGREE = 1000  # a value takes as many multiplications: a hostile degree would never end


@register("poly", "(gamma <x, z> + coef0)^degree", ("gamma", "coef0", "degree"))
@of_inner_products
class Polynomial(NamedTuple):
    """gamma > 0, coef0 >= 0, degree >= 1: positive semi-definite."""

    gamma: float
    coef0: float
    degree: int


@value.implements(Polynomial)
def _value(kernel, total, own_x, own_z):
    base = total * kernel.gamma + kernel.coef0
    power = base
    for _ in range(kernel.degree - 1):
        power = power * base
    return power


@register("quadratic", "(gamma <x, z>)^2", ("gamma",))
@of_inner_products
class Quadratic(NamedTuple):
    """gamma > 0; the non-normalised kernel of 003 section 5.8 and of 000, with gamma = 1/D."""

    gamma: float


@value.implements(Quadratic)
def _square(kernel, total, own_x, own_z):
    root = total * kernel.gamma
    return root * root
