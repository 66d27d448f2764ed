"""The Gaussian kernel exp(-gamma |x - z|^2); gamma = 1/(2 sigma^2)."""

from typing import NamedTuple

from fwsvm.kernels.kernel import of_inner_products, register, value
from fwsvm.numerics.simd import exp, maximum


@register("rbf", "exp(-gamma |x - z|^2)", ("gamma",))
@of_inner_products
class Rbf(NamedTuple):
    """gamma > 0."""

    gamma: float


@value.implements(Rbf)
def _value(kernel, total, own_x, own_z):
    return exp(maximum(own_x + own_z - (total + total), 0.0) * -kernel.gamma)
