"""Models as training would return them, drawn at random."""

from itertools import combinations

import numpy as np
from scipy.sparse import csr_array

from fwsvm.kernels.laplacian import Laplacian
from fwsvm.kernels.polynomial import Linear, Polynomial, Quadratic
from fwsvm.kernels.rbf import Rbf
from fwsvm.problems.machines import KernelModel, LinearModel

KERNELS = {
    "linear": Linear(),
    "poly": Polynomial(0.3, 1.0, 3),
    "quadratic": Quadratic(0.7),
    "rbf": Rbf(0.4),
    "laplacian": Laplacian(0.2),
}
IN_LIBSVM = ("linear", "poly", "quadratic", "rbf")


def kernel_model(
    kernel: str = "rbf", classes: tuple[str, ...] = ("1", "-1"), features: int = 5, seed: int = 0
) -> KernelModel:
    """Return a model of a few support vectors a class, about half of their features zero."""
    rng = np.random.default_rng(seed)
    K = len(classes)
    counts = rng.integers(1, 7, K)
    s = int(counts.sum())
    support = rng.normal(size=(s, features)) * rng.integers(0, 2, (s, features))
    coefficients = rng.normal(size=(s, K - 1)) * (rng.random((s, K - 1)) < 0.8)
    biases = rng.normal(size=len(list(combinations(classes, 2))))
    facts = {"method": "swap-2o", "C": 0.1, "gap": 1.25e-4, "certified": True}
    return KernelModel(
        classes, KERNELS[kernel], csr_array(support), counts, coefficients, biases, facts=facts
    )


def linear_model(
    classes: tuple[str, ...] = ("1", "-1"), features: int = 5, bias_feature: float = 1.0, seed: int = 0
) -> LinearModel:
    """Return a linear model, with a constant feature unless its value is 0."""
    rng = np.random.default_rng(seed)
    outputs = 1 if len(classes) == 2 else len(classes)
    biases = rng.normal(size=outputs) if bias_feature else np.zeros(outputs)
    weights = rng.normal(size=(outputs, features))
    return LinearModel(classes, weights, biases, bias_feature, facts={"method": "liblinear", "loss": "hinge"})


def rows(count: int = 40, features: int = 5, seed: int = 1) -> csr_array:
    """Return rows to predict, one of them all zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, features)) * rng.integers(0, 2, (count, features))
    X[0] = 0.0
    return csr_array(X)
