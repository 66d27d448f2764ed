"""What is said of numbers that are within a tolerance and promise little all the same, and which status is worse."""

import math

import pytest

from fwsvm.status import (
    BELOW_MAJORITY,
    NOT_FINITE,
    SEVERITY,
    Status,
    accuracy_warning,
    ending,
    gap_flags,
    gap_warning,
    in_short,
    worst,
)


def test_the_order_of_severity_is_that_of_the_conventions():
    words = ["error", "interrupted", "time_limit", "max_iterations", "stalled", "sampled_stop", "converged"]
    assert [status for status in map(str, SEVERITY) if status != "missing"] == words
    assert set(SEVERITY) == set(Status)
    for k, word in enumerate(words):
        assert worst(reversed(words[k:])) == word


@pytest.mark.parametrize("gap", [0.11, 3.06, math.inf])
def test_a_large_relative_gap_is_said(gap):
    far = f"stopped by rule meb, possibly far from the optimum (relative gap {gap:.3g})"
    assert ending(Status.CONVERGED, "meb", gap) == far
    assert ending(Status.TIME_LIMIT, "meb", gap) == "time_limit"
    said = f"The relative gap is {gap:.3g}: the model may be far from the best one."
    assert gap_warning(Status.TIME_LIMIT, 1.0, 3.0, gap, "exact") == said
    assert in_short([0.0, gap], ["", ""]) == f"relative gap {gap:.3g}"


@pytest.mark.parametrize("gap", [0.0, 0.1, math.nan])
def test_a_small_gap_and_one_that_is_not_known_are_not(gap):
    assert ending(Status.CONVERGED, "meb", gap) == "converged"
    assert gap_warning(Status.TIME_LIMIT, 1.0, gap, gap, "none") == ""
    assert in_short([gap], [""]) == ""


@pytest.mark.parametrize(
    ("objective", "gap"), [(math.inf, 1.0), (math.nan, 1.0), (1.0, math.inf), (1.0, math.nan)]
)
def test_numbers_that_are_not_finite_are_said_first(objective, gap):
    said = gap_warning(Status.STALLED, objective, gap, math.inf, "exact")
    assert said == NOT_FINITE
    assert (
        in_short([], [" ".join(gap_flags(Status.STALLED, objective, gap, math.inf, "exact"))])
        == "numbers that are not finite"
    )


def test_an_accuracy_below_the_larger_class_is_said():
    said = accuracy_warning(0.488, [512, 488])
    assert (
        said == "The model is right on 48.8% of its training rows, fewer than the largest class has (51.2%)."
    )
    assert in_short([], ["weak_guarantee", BELOW_MAJORITY]).startswith("fewer training rows")
    assert accuracy_warning(0.512, [512, 488]) == ""
    assert "than the largest class has (50.0%)" in accuracy_warning(0.4, [1, 2, 1])
