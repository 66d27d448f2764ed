"""The table at the end of an experiment, over rows that others wrote."""

from fwsvm.experiments.summary import NUMBERS, _asked, _averages, _method

SECONDS = list(NUMBERS).index("seconds")


def row(seconds: str) -> dict[str, str]:
    return {column: "" for column, *_ in NUMBERS.values()} | {"train_seconds": seconds, "status": "converged"}


def test_the_mean_of_times_near_the_largest_number_is_one() -> None:
    assert _averages([row("1.7e308")] * 3)[SECONDS] == "1.7e+308"
    assert _averages([row("1"), row("2")])[SECONDS] == "1.5"
    assert set(_averages([row("")])) == {"-"}


def test_repetitions_that_auto_solved_differently_are_one_line() -> None:
    group = [{"method": "auto (swap-2o)"}, {"method": "auto (newton)"}]
    assert _method(group[:1] * 2) == "auto (swap-2o)"
    assert _method(group) == "auto"
    assert _asked("cvm(inner=0.001)") == "cvm(inner=0.001)"


def test_a_machine_of_some_pairs_of_classes_has_its_time_alone() -> None:
    whole = row("1") | {"objective": "5", "support_vectors": "20", "subproblems": "45"}
    part = whole | {"train_seconds": "3", "objective": "1", "support_vectors": "2", "status": "time_limit"}
    shown = dict(zip(NUMBERS, _averages([whole, part]), strict=True))
    assert (shown["seconds"], shown["objective"], shown["SV"]) == ("2", "5.00e+00", "20")
