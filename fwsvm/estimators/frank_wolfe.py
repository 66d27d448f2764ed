"""The methods on the simplex, with any kernel, as a scikit-learn classifier."""

from typing import Any, ClassVar, Self

from fwsvm.estimators.kernel_function import Function
from fwsvm.estimators.kernel_machine import KernelMachine


class FrankWolfeSVC(KernelMachine):
    """L2-SVM with a kernel: squared hinge loss, regularised bias; solved to a certified gap by Frank-Wolfe methods.

    Parameters
    ----------
    C : penalty; each row's is multiplied by its class's and its own weight
    method : auto, which chooses among swap-2o, newton and chunking; these, decomposition, swap, mfw, fw or cvm
    kernel : rbf, linear, poly, quadratic, laplacian, or another of ``fwsvm kernels``; "precomputed", where X is the
        kernel matrix (m, m), and (t, m) to predict; or a function of two sets of rows that returns such a matrix
    gamma : width of the kernel; "scale": 1 / (n times the variance of all values); "auto": 1 / n; None: by
        ``width_rule`` from the mean squared distance D of the rows: paper 1/(2D), readme 1/D, libcvm 2/D
    degree, coef0 : of the poly kernel
    stop, tol : relative (gap / objective), gap, or meb; and the tolerance
    search : full (all rows; exact gaps), or sampled (59 rows; the gap is computed where these say that it ends)
    max_iter, time_limit : iterations and seconds after which a run ends, with a ConvergenceWarning; None (or -1) for
        no limit
    class_weight : None, "balanced", or a mapping of labels to weights
    decision_function_shape : ovr or ovo, for more than two classes
    cache_size : memory for kernel columns in MiB; None: from the memory that is free
    n_jobs : threads; None for one, -1 for all there are
    random_state : of the starting point and of sampling
    parameters : mapping of the method's own parameters (``fwsvm methods NAME``)
    kernel_parameters : mapping of the kernel's own parameters (``fwsvm kernels``)
    scale : None, "[0,1]" or "[-1,1]", the interval to which the range of each feature over the training rows (those
        whose weight is not 0) is mapped; rows to predict are scaled by the same ranges
    probability : whether there are `predict_proba` and `predict_log_proba`: five more machines are trained, each on
        four fifths of the rows, whose decision values on the others make the sigmoids
    """

    family: ClassVar[str] = "simplex"

    def __init__(
        self, C: float = 1.0, *, method: str = "auto", kernel: str | Function = "rbf", gamma: float | str | None = None,
        width_rule: str = "paper", degree: int = 3, coef0: float = 1.0, stop: str = "relative", tol: float = 1e-3,
        search: str = "full", max_iter: int | None = None, time_limit: float | None = None,
        class_weight: Any = None, decision_function_shape: str = "ovr", cache_size: int | None = None,
        n_jobs: int | None = None, random_state: Any = None, parameters: dict[str, Any] | None = None,
        scale: str | None = None, kernel_parameters: dict[str, Any] | None = None, probability: bool = False,
    ) -> None:  # fmt: skip
        self._keep(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows X (m, n), dense or sparse, with labels y (m,).

        A row of ``sample_weight`` (m,) k counts as k rows, in the sum of losses, the default width and balanced class
        weights: the fits are the same to the last bit.
        """
        return self._train(X, y, sample_weight, search=self.search)
