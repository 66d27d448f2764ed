"""Several classes: one machine a class against the rest, each as good as it would be alone."""

import numpy as np
import pytest

from fwsvm.data import load
from fwsvm.data.labels import encode
from fwsvm.solvers import Settings, Status, fit
from tests.solvers.certified import outcome
from tests.solvers.dual_coordinate.running import METHODS, solve


@pytest.mark.parametrize("method", METHODS)
def test_digits_one_against_the_rest(method):
    data = load("digits")
    X, codes = data.train.X[:600] / 16.0, encode(data.train.labels, data.classes)[:600]
    result = fit(X, codes, data.classes, Settings(method=method, C=0.1, parameters={"bias": 1.0}))
    assert result.status is Status.CONVERGED
    assert result.certified
    assert result.model.weights.shape == (10, X.shape[1])
    alone = [
        outcome(solve(method, X, np.where(codes == k, 1.0, -1.0), 0.1, bias=1.0, seed=0)) for k in range(10)
    ]
    assert result.objective == pytest.approx(sum(a.objective for a in alone), rel=2e-3)
    assert result.relative_gap <= 1e-3
    assert result.support_vectors > 10
    values = X @ result.model.weights.T + result.model.biases
    np.testing.assert_allclose(result.model.decision(X), values)
    assert (result.model.predict(X) == codes).mean() > 0.9
