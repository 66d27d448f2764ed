"""The linear kernel <x, z>."""

from typing import NamedTuple

from fwsvm.kernels.kernel import of_inner_products, register, value


@register("linear", "<x, z>", libsvm="linear")
@of_inner_products
class Linear(NamedTuple):
    """No parameter; ``scale`` stays 1 (a NamedTuple needs a field to have a type of its own)."""

    scale: float = 1.0


@value.implements(Linear)
def _value(kernel, total, own_x, own_z):
    return total
