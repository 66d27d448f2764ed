"""What a result claims is recomputed from its saved machine, on problems made to break it.

Every method and every kernel it takes; rows that overflow, underflow, coincide and contradict each other.
"""

import math

import numpy as np
import pytest

from fwsvm.errors import FwsvmError
from fwsvm.solvers import METHODS, Status
from tests.solvers import certificates

SEEDS = range(40)


def hold(case, folder):
    """Assert that what the run on a case says of itself is so; return whether it was certified, None if refused."""
    try:
        result = certificates.train(case)
    except FwsvmError:
        return None  # values, kernel values or penalties that no precision holds
    assert result.message.startswith(result.status.sentence)
    assert result.certified == (result.status is Status.CONVERGED)
    if not math.isfinite(result.objective):
        assert "not a finite number" in result.message
    if not result.certified:
        return False
    claimed = (result.objective, result.gap, result.relative_gap, result.primal, result.dual)
    assert all(map(math.isfinite, claimed))
    assert result.relative_gap <= 0.1 or f"{result.relative_gap:.3g}" in result.message
    found = certificates.priority(case, result, folder / "machine")
    off = found.rounding
    assert result.objective == pytest.approx(found.objective, rel=1e-9, abs=off)
    if case.settings["stop"] == "eps":
        return True
    allowed = certificates.goal(case, result, found)
    if found.gap is None:
        assert result.primal == pytest.approx(found.primal, rel=1e-9, abs=off)
        assert result.dual <= found.least * (1.0 + 1e-9) + off, "no lower bound is above the optimum"
        assert result.gap == pytest.approx(result.primal - result.dual, rel=1e-6, abs=off)
        assert found.objective - result.dual <= allowed * (1.0 + 1e-9) + off
    else:
        assert result.gap == pytest.approx(found.gap, rel=1e-6, abs=off)
        assert np.isfinite(found.gap)
        assert found.gap <= allowed * (1.0 + 1e-6) + off
    return True


@pytest.mark.parametrize("method", sorted(METHODS))
def test_what_is_certified_is_so_by_the_saved_machine(method, tmp_path):
    seen = [hold(certificates.drawn(method, seed), tmp_path) for seed in SEEDS]
    assert seen.count(True) >= (0 if method == "pegasos" else 5), "or nothing was put to the test"
