"""What a user should know of rows whose features have ranges of other orders of magnitude."""

from fwsvm import scaling
from fwsvm._mapped import RowMatrix
from fwsvm.kernels.kernel import KernelFamily
from fwsvm.kernels.survey import survey_of_mapped


def scaling_warning(X: RowMatrix, kernel: KernelFamily, remedy: str = "--scale '[0,1]'") -> str:
    """Return a warning if the features of X, shape (m, n), have ranges that are bad for the kernel, else ''."""
    if kernel.given:
        return ""
    known = survey_of_mapped(X)
    found = scaling.uneven(X) if known is None else scaling.uneven_widths(known.most - known.least)
    if found is None:
        return ""
    so = "it decides the distances" if kernel.of_distances else "training may take very many steps"
    return found.sentence(so, remedy)
