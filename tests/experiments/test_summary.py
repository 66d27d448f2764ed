"""The table at the end of an experiment, over rows that others wrote."""

from types import SimpleNamespace

from fwsvm.experiments.summary import LOAD, NUMBERS, SETTING, _averages, _method, summary_table

SECONDS = list(NUMBERS).index("seconds")


def row(seconds: str) -> dict[str, str]:
    return {column: "" for column, *_ in NUMBERS.values()} | {"train_seconds": seconds, "status": "converged"}


def test_the_mean_of_times_near_the_largest_number_is_one() -> None:
    assert _averages([row("1.7e308")] * 3)[SECONDS] == "1.7e+308"
    assert _averages([row("1"), row("2")])[SECONDS] == "1.5"
    assert set(_averages([row("")])) == {"-"}


def test_repetitions_that_auto_solved_differently_are_one_line() -> None:
    group = [{"method": "auto", "parameters": "", "chosen": name} for name in ("swap-2o", "newton")]
    assert _method(group[:1] * 2) == "auto (swap-2o)"
    assert _method(group) == "auto"
    assert _method([{"method": "cvm", "parameters": '{"inner": 0.001}', "chosen": ""}]) == "cvm(inner=0.001)"


def test_no_number_of_the_table_is_cut_whatever_its_width() -> None:
    wide = {
        "dataset": "pendigits-random", "method": "swap-2o", "C": str(2.0**-10), "sigma2": "0.03125",
        "test_accuracy": "0.98765", "support_vectors": "123456", "train_seconds": "12345.6", "objective": "1.25e-101",
        "relative_gap": "1e-300", "status": "time_limit",
    }  # fmt: skip
    row = dict.fromkeys((*SETTING, *LOAD, "flags", "chosen", "shared"), "") | wide | {"subproblems": "1"}
    line = summary_table([SimpleNamespace(run_id="one")], {"one": row}).splitlines()[1]
    for number in (
        "0.000976562",
        "0.0312",
        "98.77",
        "123456",
        "1.23e+04",
        "1.25e-101",
        "1e-300",
        "time limit",
    ):
        assert f" {number}" in line


def test_sets_of_one_file_name_are_told_apart_below_the_table() -> None:
    found = {path: dict.fromkeys((*SETTING, *LOAD, "flags", "chosen", "shared", "subproblems"), "")
             | row("1") | {"dataset": path, "method": "fw"} for path in ("a/d.svm", "b/d.svm", "e.svm")}  # fmt: skip
    cells = [SimpleNamespace(run_id=path) for path in found]
    assert summary_table(cells, found).splitlines()[-1] == "data sets d.svm, in their order: a/d.svm, b/d.svm"
    assert "in their order" not in summary_table(cells[1:], found)


def test_a_machine_of_some_pairs_of_classes_has_its_time_alone() -> None:
    whole = row("1") | {"objective": "5", "support_vectors": "20", "subproblems": "45"}
    part = whole | {"train_seconds": "3", "objective": "1", "support_vectors": "2", "status": "time_limit"}
    shown = dict(zip(NUMBERS, _averages([whole, part]), strict=True))
    assert (shown["seconds"], shown["objective"], shown["SV"]) == ("2", "5.00e+00", "20")
