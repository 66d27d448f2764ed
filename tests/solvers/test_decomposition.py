"""decomposition: runs on more rows than a working set has."""

import pytest

from fwsvm.errors import UsageError
from fwsvm.solvers import Settings, Status, fit
from tests import naive
from tests.solvers.problems import two_classes

GAMMA = 0.5


def train(X, codes, size=64, **given):
    asked = {"gamma": GAMMA, "C": 10.0, "threads": 1, **given}
    return fit(X, codes, ("a", "b"), Settings("decomposition", parameters={"size": size}, **asked))


def optimum(X, codes, C):
    return naive.least_objective("rbf", X, 1.0 - 2.0 * codes, C, GAMMA)


@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
def test_many_working_sets_come_to_the_optimum(C):
    X, codes = two_classes(0, 400)
    found, best = train(X, codes, C=C, tolerance=1e-5), optimum(X, codes, C)
    assert found.certified
    assert found.iterations > 4
    assert best * (1 - 1e-8) <= found.objective <= best + found.gap


def test_the_size_of_working_sets_does_not_move_the_optimum():
    X, codes = two_classes(1, 400)
    found = [train(X, codes, size, tolerance=1e-6) for size in (2, 30, 1000)]
    assert {one.status for one in found} == {Status.CONVERGED}
    least = [one.objective - one.gap for one in found]
    assert max(least) <= min(one.objective for one in found)


def test_rows_far_from_the_origin_end_at_the_optimum():
    X, codes = two_classes(3, 200)
    found, best = train(X + 3e3, codes, tolerance=1e-6), optimum(X, codes, 10.0)
    assert found.objective + 1e-6 * best >= best >= found.objective - found.gap - 1e-6 * best
    assert found.certified == (found.relative_gap <= 1e-6)


@pytest.mark.parametrize("size", [1, 20_000])
def test_a_working_set_without_a_kept_and_a_new_row_or_too_large_is_refused(size):
    with pytest.raises(UsageError, match="size must be 2 to 16,384"):
        train(*two_classes(0, 400), size)
