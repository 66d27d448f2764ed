"""`nested`: samples that grow as far as the time goes."""

import numpy as np
import pytest

from fwsvm.solvers import Settings, fit
from fwsvm.solvers.auto.nested import nested_order, next_size


def test_every_sample_holds_all_classes_in_their_shares():
    codes = np.repeat([0, 1, 2], [900, 90, 10])
    order = nested_order(codes, 0)
    assert sorted(order) == list(range(1000))
    assert set(codes[order[:3]]) == {0, 1, 2}
    assert np.bincount(codes[order[:200]]) == pytest.approx([180, 18, 2], abs=2)


@pytest.mark.parametrize(
    ("seconds", "left", "size"),
    [([1.0], 1e9, 4000), ([1.0], 5.0, 2000), ([1.0], 1.0, 0), ([1.0], np.inf, 4000)],
)
def test_the_next_sample_is_what_the_time_is_enough_for(seconds, left, size):
    assert next_size([1000], seconds, 10**6, left) == size


def test_without_a_limit_the_last_sample_is_all_rows():
    rng = np.random.default_rng(0)
    codes = np.arange(600) % 2
    X = rng.normal(size=(600, 2)) + 2.0 * codes[:, None]
    nested = fit(X, codes, ("1", "-1"), Settings("nested", {"first": 50}, tolerance=1e-6))
    auto = fit(X, codes, ("1", "-1"), Settings("auto", tolerance=1e-6))
    assert nested.certified
    assert nested.sample is None
    assert nested.objective == pytest.approx(auto.objective, rel=1e-5)
