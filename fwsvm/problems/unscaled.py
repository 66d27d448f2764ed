"""What a user should know of rows whose features have ranges of other orders of magnitude."""

from fwsvm import scaling
from fwsvm.kernels.kernel import KernelFamily
from fwsvm.scaling import Rows


def scaling_warning(X: Rows, kernel: KernelFamily, remedy: str = "--scale [0,1]") -> str:
    """Return a warning if the features of X, shape (m, n), have ranges that are bad for the kernel, else ''."""
    if kernel.given or (found := scaling.uneven(X)) is None:
        return ""
    so = "it decides the distances" if kernel.of_distances else "training may take very many steps"
    return found.sentence(so, remedy)
