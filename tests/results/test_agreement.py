"""Two rows of one run: what may differ, and what no two honest runs can say."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fwsvm.results.agreement import contradictions
from fwsvm.results.columns import COLUMNS

ROW = dict.fromkeys(COLUMNS, "") | {
    "run_id": "r", "status": "converged", "subproblems": "1", "gamma": "0.5", "C": "1.0", "gap_kind": "exact",
    "objective": "2.0", "gap": "0.1", "dual": "1.0", "primal": "1.2", "support_vectors": "7", "test_accuracy": "0.9",
}  # fmt: skip


def row(**fields: object) -> dict[str, str]:
    return ROW | {name: str(value) for name, value in fields.items()}


@given(
    best=st.floats(1e-12, 1e12),
    above=st.tuples(*[st.floats(0, 10)] * 2),
    slack=st.tuples(*[st.floats(0, 10)] * 2),
)
def test_certificates_of_one_optimum_never_contradict_each_other(
    best: float, above: tuple[float, float], slack: tuple[float, float]
) -> None:
    """Each ends somewhere above the optimum, with a gap that is at least the distance."""
    a, b = (
        row(
            objective=best * (1 + u),
            gap=best * (u + s),
            primal=best * (1 + s),
            dual=best / (1 + u),
            iterations=u,
        )
        for u, s in zip(above, slack, strict=True)
    )
    assert contradictions(a, b) == contradictions(b, a) == []


@given(objective=st.floats(1e-6, 1e6), gaps=st.tuples(*[st.floats(0, 1)] * 2), apart=st.floats(1e-6, 10))
def test_what_lies_farther_apart_than_the_gaps_is_a_contradiction(
    objective: float, gaps: tuple[float, float], apart: float
) -> None:
    other = objective * (1 + apart) + gaps[1]
    assume(math.isfinite(other))
    a, b = row(objective=objective, gap=gaps[0]), row(objective=other, gap=gaps[1])
    (said,) = contradictions(a, b)
    assert said.startswith(f"objective {objective} and {other}, farther apart than the gaps")
    assert len(contradictions(b, a)) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"iterations": 370, "steps": 370, "kernel_evaluations": 9},  # another way to the same tolerance
        {"objective": 2.05, "gap": 0.06, "test_accuracy": 0.85, "support_vectors": 9},
        {"gamma": 0.5 * (1 + 1e-13)},  # follows from the data, by sums
        {"status": "stalled", "certified": "false"},
        {"status": "time_limit", "gap": 5.0, "objective": 7.0, "primal": 9.0, "dual": 0.1},
        {"machine": "laptop", "train_seconds": 7.0, "cache_mib": 3, "message": "said otherwise"},
    ],
)
def test_honest_rows_of_one_run_agree(other: dict[str, object]) -> None:
    assert contradictions(ROW, row(**other)) == contradictions(row(**other), ROW) == []


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            {"objective": 2.2, "gap": 0.1},
            "objective 2.0 and 2.2, farther apart than the gaps 0.1 and 0.1 allow",
        ),
        ({"status": "time_limit", "objective": 1.8}, "objective 2.0 and 1.8, farther apart"),
        ({"dual": 1.3, "primal": 1.4}, "dual 1.3 is above primal 1.2"),
        ({"test_accuracy": 0.5}, "test_accuracy 0.9 and 0.5"),
        ({"gamma": 0.6}, "gamma 0.5 and 0.6"),
        ({"C": ""}, "C 1.0 and "),
        ({"gap_kind": "estimate", "objective": 2.00001}, "objective 2.0 and 2.00001"),
        ({"gap": "inf", "objective": "inf"}, "objective 2.0 and inf"),
    ],
)
def test_a_contradiction_is_named_by_its_columns(other: dict[str, object], said: str) -> None:
    (found,) = contradictions(ROW, row(**other))
    assert said in found


def test_sums_over_the_subproblems_that_a_clock_let_a_run_reach_are_not_compared() -> None:
    cut = {"status": "time_limit", "subproblems": 3, "objective": 0.1, "gap": 0.01}
    assert contradictions(row(subproblems=3), row(**cut)) == []
