"""Who is best on how many problems, by how much, and where that is not certain."""

import pytest

from fwsvm.analysis.contests import BEST, behind_best
from tests.analysis.folders import cells_of, row


def runs(dataset, method, *seconds, **fields):
    """Return repetitions with these times."""
    return [
        row(dataset=dataset, method=method, repetition=i, seed=i, train_seconds=s, **fields)
        for i, s in enumerate(seconds)
    ]


def won(rows, name: str = "time") -> dict[str, int]:
    """Return on how many problems each method is best."""
    return (behind_best(cells_of(*rows), name) <= BEST[name]).sum().to_dict()


def test_times_are_over_the_shortest_of_each_problem_that_two_methods_solved() -> None:
    rows = [*runs("a", "fw", 1, 1), *runs("a", "mfw", 4, 4), *runs("b", "fw", 9, 9), *runs("b", "mfw", 1, 1)]
    found = behind_best(cells_of(*rows, *runs("c", "fw", 2)), "time")
    assert found.to_numpy().tolist() == [[1, 4], [9, 1]]


def test_accuracies_that_print_alike_are_won_by_all() -> None:
    rows = [*runs("a", "fw", 1, 1, test_accuracy=0.9), *runs("a", "mfw", 1, 1, test_accuracy=0.90001),
            *runs("b", "fw", 1, test_accuracy=0.8), *runs("b", "mfw", 1, test_accuracy=0.7)]  # fmt: skip
    assert won(rows, "accuracy") == {"fw": 2, "mfw": 1}
    assert behind_best(cells_of(*rows), "accuracy")["mfw"].max() == pytest.approx(10)


PAIR = (("fw", 1), ("mfw", 2))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # a time cut short and a number that is not finite win nothing
        ([*runs("a", "fw", 1, status="time_limit"), *runs("a", "mfw", 5), *runs("a", "swap", 6),
          *runs("a", "cvm", 0.1, objective="inf")], {"mfw": 1, "swap": 0}),
        # a sweep is a contest at each of its values, several tolerances one each
        ([r for C in (1, 2, 4) for m, t in PAIR for r in runs("a", m, C * t, C=C)], {"fw": 3, "mfw": 0}),
        ([r for e in (0.1, 0.01) for m, t in PAIR for r in runs("a", m, t, tolerance=e)], {"fw": 2, "mfw": 0}),
        # sets made here win nothing, unless no published one was measured
        ([*runs("w2a-drawn", "fw", 1), *runs("w2a-drawn", "mfw", 2), *runs("a1a", "fw", 2),
          *runs("a1a", "mfw", 1)], {"mfw": 1, "fw": 0}),
        ([*runs("w2a-drawn", "fw", 1), *runs("w2a-drawn", "mfw", 2),
          *runs("w2a", "fw", "", status="missing", test_accuracy="")], {"fw": 1, "mfw": 0}),
    ],
)  # fmt: skip
def test_what_counts_as_a_problem_and_a_win(rows, expected) -> None:
    assert won(rows) == expected


def test_nothing_is_compared_where_a_method_stands_alone() -> None:
    assert behind_best(cells_of(*runs("a", "fw", 1), *runs("b", "mfw", 1)), "time").empty
