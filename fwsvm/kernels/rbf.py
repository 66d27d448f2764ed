"""The Gaussian kernel exp(-gamma |x - z|^2); gamma = 1/(2 sigma^2).

Three conventions of the default width are in circulation: 003 and 000 print gamma = 1/(2 D), LIBCVM's
README says 1/D, and LIBCVM's and the authors' programs set 2/D, with D the mean squared distance of two rows.
"""

from typing import NamedTuple

from fwsvm.kernels.kernel import apart, of_inner_products, register, value
from fwsvm.kernels.widths import Width, mean_squared_distance
from fwsvm.numerics.simd import exp, maximum, muladd


@register(
    "rbf",
    "exp(-gamma |x - z|^2)",
    ("gamma",),
    widths={
        "paper": Width(mean_squared_distance, "1 / (2 D)", 0.5),
        "inverse-distance": Width(mean_squared_distance, "1 / D"),
        # D of every so many rows, as LIBCVM's program does
        "libcvm": Width(
            lambda X: mean_squared_distance(X[:: -(-X.shape[0] // 5000)]), "2 / D of 5,000 rows", 2.0
        ),
    },
    sigma2=True,
    of_distances=True,
    libsvm="rbf",
)
@of_inner_products
class Rbf(NamedTuple):
    """gamma > 0."""

    gamma: float


@value.implements(Rbf)
def _value(kernel, total, own_x, own_z):
    return exp(maximum(muladd(total, -2.0, own_x + own_z), 0.0) * -kernel.gamma)


@apart.implements(Rbf)
def _apart(kernel, total, x, z):
    return muladd(x - z, x - z, total)
