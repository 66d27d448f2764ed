"""The Laplacian kernel exp(-gamma |x - z|_1)."""

from typing import NamedTuple

from fwsvm.kernels.kernel import alone, apart, itself, pair, register, value
from fwsvm.kernels.widths import Width, mean_absolute_distance
from fwsvm.numerics.simd import absolute, exp, maximum


@register(
    "laplacian",
    "exp(-gamma |x - z|_1)",
    ("gamma",),
    widths={"default": Width(mean_absolute_distance, "1 / (mean of |x - z|_1)")},
    of_distances=True,
)
class Laplacian(NamedTuple):
    """gamma > 0."""

    gamma: float


@pair.implements(Laplacian)
def _pair(kernel, total, x, z):
    return total + (
        absolute(x - z) - (absolute(x) + absolute(z))
    )  # bracketed so that k(x, z) = k(z, x) to the last bit


@alone.implements(Laplacian)
def _alone(kernel, x):
    return abs(x)


@itself.implements(Laplacian)
def _itself(kernel, own):
    return -2.0 * own


@value.implements(Laplacian)
def _value(kernel, total, own_x, own_z):
    return exp(maximum(own_x + own_z + total, 0.0) * -kernel.gamma)


@apart.implements(Laplacian)
def _apart(kernel, total, x, z):
    return total + absolute(x - z)
