"""The stochastic family: scs, wolfe and pegasos as a scikit-learn classifier."""

from typing import Any, ClassVar, Self

from fwsvm.estimators.kernel_machine import KernelMachine


class StochasticSVC(KernelMachine):
    """SVM with a kernel, the mean of hinge losses and no bias, solved on random samples of the rows.

    The losses of all rows count alike: the problem has no place for sample or class weights.

    Parameters
    ----------
    C : penalty; lambda = 1 / (C m) of the paper's problem
    method : scs, wolfe, pegasos, or another of the stochastic family
    kernel : rbf, linear, poly, quadratic, laplacian, or another of ``fwsvm kernels``
    gamma : width of the kernel; "scale": 1 / (n times the variance of all values); "auto": 1 / n; None: by
        ``width_rule`` from the mean squared distance D of the rows: paper 1/(2D), readme 1/D, libcvm 2/D
    degree, coef0 : of the poly kernel
    stop, tol : relative (gap / objective) or eps (each method's own rule); and the tolerance
    max_iter, time_limit : iterations and seconds after which a run ends, with a ConvergenceWarning; None (or -1):
        100,000 iterations and no limit of time
    decision_function_shape : ovr or ovo, for more than two classes
    cache_size : memory for kernel values in MiB; None: from the memory that is free
    n_jobs : threads; None for one, -1 for all there are
    random_state : of all samples
    parameters : mapping of the method's own parameters (``fwsvm methods NAME``)
    kernel_parameters : mapping of the kernel's own parameters (``fwsvm kernels``)
    scale : None, "[0,1]" or "[-1,1]", the interval to which the range of each feature over the training rows is
        mapped; rows to predict are scaled by the same ranges
    probability : whether there are `predict_proba` and `predict_log_proba`: five more machines are trained, each on
        four fifths of the rows, whose decision values on the others make the sigmoids
    """

    family: ClassVar[str] = "stochastic"
    weighted: ClassVar[bool] = False

    def __init__(
        self, C: float = 1.0, *, method: str = "scs", kernel: str = "rbf", gamma: float | str | None = None,
        width_rule: str = "paper", degree: int = 3, coef0: float = 1.0, stop: str = "relative", tol: float = 1e-3,
        max_iter: int | None = None, time_limit: float | None = None, decision_function_shape: str = "ovr",
        cache_size: int | None = None, n_jobs: int | None = None, random_state: Any = None,
        parameters: dict[str, Any] | None = None, scale: str | None = None,
        kernel_parameters: dict[str, Any] | None = None, probability: bool = False,
    ) -> None:  # fmt: skip
        self.C = C
        self.method = method
        self.kernel = kernel
        self.gamma = gamma
        self.width_rule = width_rule
        self.degree = degree
        self.coef0 = coef0
        self.stop = stop
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.decision_function_shape = decision_function_shape
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.parameters = parameters
        self.kernel_parameters = kernel_parameters
        self.probability = probability
        self.scale = scale

    def fit(self, X: Any, y: Any) -> Self:
        """Train on rows X (m, n), dense or sparse, with labels y (m,)."""
        return self._train(X, y)
