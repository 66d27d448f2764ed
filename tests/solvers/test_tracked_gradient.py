"""What a simplex method keeps of q = K~ alpha is what q is, whatever moves it made."""

import numpy as np
import pytest

from fwsvm.problems.binary import Binary
from fwsvm.solvers import FAMILIES, METHODS, Settings, resolve

SIMPLEX = [name for name, method in METHODS.items() if method.family == "simplex"]


@pytest.mark.parametrize("search", ["full", "sampled"])
@pytest.mark.parametrize("name", SIMPLEX)
def test_tracked_q_is_the_recomputed_one(name: str, search: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0, 1.0, -1.0)
    resolved = resolve(Settings(name, {}, C=16.0, search=search, tolerance=1e-5, threads=1), X)
    process = FAMILIES["simplex"].start(
        Binary(X, y, np.full(200, 16.0), (0, 0)), resolved.rule, resolved, None
    )
    for _ in range(8):
        process.advance(50)
        state, alpha = process.state, process.state.alpha
        active = state.active[: state.now["active"][0]]
        exact = process.storage.gradient()
        assert set(active) == set(np.flatnonzero(alpha))
        assert alpha.sum() == pytest.approx(1.0, abs=1e-9)
        assert state.q[active] == pytest.approx(exact[active], abs=1e-5)
        assert state.now["R"][0] == pytest.approx(float(alpha @ exact), rel=1e-4)
