"""scikit-learn classifiers, for its pipelines, searches and metrics.

    FrankWolfeSVC        the simplex family: L2-SVM with any kernel, one against one
    DualCoordinateSVC    the linear family: hinge or squared hinge, one class against the rest
    StochasticSVC        the stochastic family: mean hinge with any kernel and no bias, one against one

`base` is their base class, `kernel` has that of those with kernels. A fitted classifier has its
`fwsvm.solvers.Result`, with the certificate, as ``result_``.
"""

try:
    import sklearn as _sklearn  # noqa: F401  (only to say in a sentence that it is missing)
except ImportError:
    raise ImportError("fwsvm.estimators needs scikit-learn: pip install 'fwsvm[sklearn]'") from None

from fwsvm.estimators.kernel import FrankWolfeSVC
from fwsvm.estimators.linear import DualCoordinateSVC
from fwsvm.estimators.stochastic import StochasticSVC

__all__ = ["DualCoordinateSVC", "FrankWolfeSVC", "StochasticSVC"]
