"""Who is best on how many problems, by how much, and where that is not certain."""

import math

import pytest

from fwsvm.analysis import cells, results
from fwsvm.analysis.contests import contest
from tests.analysis.folders import row, write


def of(folder, rows):
    return cells.cells_of_runs(results.read([write(folder, rows)]).frame)


def runs(dataset, method, seconds, **fields):
    return [
        row(dataset=dataset, method=method, repetition=i, seed=i, train_seconds=s, **fields)
        for i, s in enumerate(seconds)
    ]


def test_times_are_counted_and_averaged_over_the_problems_that_all_solved(tmp_path) -> None:
    made = of(tmp_path, [
        *runs("a", "fw", [1, 1]), *runs("a", "mfw", [4, 4]),
        *runs("b", "fw", [9, 9]), *runs("b", "mfw", [1, 1]),
        *runs("c", "fw", [2]),
    ])  # fmt: skip
    found = contest(made, "time")
    assert found is not None
    assert len(found.values) == 2, "a problem with one method is no contest"
    assert found.won.to_dict() == {"fw": 1, "mfw": 1}
    assert found.typical["fw"] == pytest.approx(math.sqrt(1 * 9))
    assert found.typical["mfw"] == pytest.approx(math.sqrt(4 * 1))
    assert (found.uncertain, found.judged) == (0, 2)


def test_accuracies_that_print_alike_are_won_by_all_and_are_not_certain(tmp_path) -> None:
    made = of(tmp_path, [
        *runs("a", "fw", [1, 1], test_accuracy=0.9), *runs("a", "mfw", [1, 1], test_accuracy=0.90001),
        row(dataset="b", method="fw", test_accuracy=0.8), row(dataset="b", method="mfw", test_accuracy=0.7),
    ])  # fmt: skip
    found = contest(made, "accuracy")
    assert found is not None
    assert found.won.to_dict() == {"fw": 2, "mfw": 1}
    assert found.behind["mfw"].max() == pytest.approx(10)
    assert found.judged == 1


def test_a_lead_within_two_standard_errors_is_uncertain(tmp_path) -> None:
    near = contest(of(tmp_path / "n", [*runs("a", "fw", [1, 3]), *runs("a", "mfw", [2, 3])]), "time")
    far = contest(of(tmp_path / "f", [*runs("a", "fw", [1, 1.1]), *runs("a", "mfw", [9, 9.1])]), "time")
    assert near is not None
    assert far is not None
    assert (near.uncertain, far.uncertain) == (1, 0)


def test_times_cut_short_and_numbers_without_end_win_nothing(tmp_path) -> None:
    made = of(tmp_path, [
        row(dataset="a", method="fw", train_seconds=1, status="time_limit"),
        row(dataset="a", method="mfw", train_seconds=5), row(dataset="a", method="swap", train_seconds=6),
        row(dataset="a", method="cvm", train_seconds=0.1, objective="inf"),
    ])  # fmt: skip
    found = contest(made, "time")
    assert found is not None
    assert found.won.to_dict() == {"mfw": 1, "swap": 0}


def test_a_sweep_is_a_contest_at_each_of_its_values(tmp_path) -> None:
    rows = [
        row(dataset="a", method=m, C=C, train_seconds=C * t)
        for C in (1, 2, 4)
        for m, t in (("fw", 1), ("mfw", 2))
    ]
    found = contest(of(tmp_path, rows), "time")
    assert found is not None
    assert found.won.to_dict() == {"fw": 3, "mfw": 0}


def test_several_tolerances_are_a_contest_each(tmp_path) -> None:
    rows = [
        row(dataset="a", method=m, tolerance=tolerance, train_seconds=t / tolerance)
        for tolerance in (0.1, 0.01)
        for m, t in (("fw", 1), ("mfw", 2))
    ]
    found = contest(of(tmp_path, rows), "time")
    assert found is not None
    assert found.won.to_dict() == {"fw": 2, "mfw": 0}


def test_tolerances_of_one_problem_leave_the_others_as_they_are(tmp_path) -> None:
    rows = [
        row(dataset="a", method="fw", tolerance=0.1, train_seconds=1),
        row(dataset="a", method="fw", tolerance=0.01, train_seconds=2),
        row(dataset="b", method="fw", tolerance=0.01, train_seconds=1),
        row(dataset="b", method="cvm", tolerance=0.001, train_seconds=2),
    ]
    found = contest(of(tmp_path, rows), "time")
    assert found is not None
    assert found.won.to_dict() == {"fw": 1, "cvm": 0}


def test_nothing_is_compared_where_a_method_stands_alone(tmp_path) -> None:
    assert (
        contest(of(tmp_path, [row(dataset="a", method="fw"), row(dataset="b", method="mfw")]), "time") is None
    )


def test_sets_made_here_win_nothing_unless_there_are_no_others(tmp_path) -> None:
    drawn = [row(dataset="w2a-drawn", method="fw", train_seconds=1),
             row(dataset="w2a-drawn", method="mfw", train_seconds=2)]  # fmt: skip
    real = [
        row(dataset="a1a", method="fw", train_seconds=2),
        row(dataset="a1a", method="mfw", train_seconds=1),
    ]
    both, alone = (
        contest(of(tmp_path / name, rows), "time") for name, rows in (("b", drawn + real), ("a", drawn))
    )
    assert both is not None
    assert alone is not None
    assert both.won.to_dict() == {"mfw": 1, "fw": 0}
    assert alone.won.to_dict() == {"fw": 1, "mfw": 0}
    lacking = [row(dataset="w2a", method="fw", status="missing", train_seconds="", test_accuracy="")]
    assert contest(of(tmp_path / "l", drawn + lacking), "time") is not None, "no published set was measured"
