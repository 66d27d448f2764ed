"""Portions of rows, against the same steps on a weight vector that is written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fwsvm.kernels.linear import Linear
from fwsvm.kernels.rbf import Rbf
from fwsvm.kernels.rows import as_rows
from fwsvm.solvers.stochastic.one_pass import one_pass


def by_weight_vector(w, X, y, lam, t):
    """Take the steps of Shalev-Shwartz et al. 2011, Figure 1, from w."""
    for x, label in zip(X, y, strict=True):
        t += 1
        violated = label * (w @ x) < 1.0
        w = (1.0 - 1.0 / t) * w + (label / (lam * t)) * x * violated
    return w


@given(st.integers(0, 40), st.integers(1, 150), st.floats(1e-3, 10.0), st.integers(0, 10_000), st.booleans())
def test_the_steps_are_those_of_a_weight_vector(s, b, lam, seed, thin):
    rng = np.random.default_rng(seed)
    support, X = rng.normal(size=(s, 3)), rng.normal(size=(b, 3))
    beta, y, t = rng.normal(size=s), rng.choice([-1.0, 1.0], size=b), int(rng.integers(0, 50))
    form = sparse.csr_array if thin else np.asarray
    kept, gained = one_pass(Linear(), as_rows(form(support)), beta, as_rows(form(X)), y, lam, t)
    expected = by_weight_vector(beta @ support, X, y, lam, t)
    np.testing.assert_allclose(kept @ support + gained @ X, expected, rtol=1e-9, atol=1e-9)


def test_two_portions_are_one():
    rng = np.random.default_rng(0)
    X, y, kernel = rng.normal(size=(100, 4)), rng.choice([-1.0, 1.0], size=100), Rbf(0.3)
    nothing = as_rows(np.empty((0, 4)))
    _, whole = one_pass(kernel, nothing, np.empty(0), as_rows(X), y, 0.01, 0)
    _, first = one_pass(kernel, nothing, np.empty(0), as_rows(X[:37]), y[:37], 0.01, 0)
    kept, second = one_pass(kernel, as_rows(X[:37]), first, as_rows(X[37:]), y[37:], 0.01, 37)
    np.testing.assert_allclose(np.concatenate([kept, second]), whole, rtol=1e-10, atol=1e-12)
    assert whole[0] == pytest.approx(y[0] / (0.01 * 100))
