"""Read result folders and average them into cells: nothing lost or invented, every mistake named."""

import math
from pathlib import Path

import pandas as pd
import pytest

from fwsvm.analysis import cells, results
from fwsvm.analysis.cells import against_cvm
from fwsvm.analysis.comparisons import method_matrix
from fwsvm.analysis.measures import measure
from fwsvm.analysis.reported import refuse_mixed_load
from fwsvm.errors import ResultsError, UsageError
from tests.analysis.folders import cells_of, frame_of, row, write


def test_a_folder_a_file_and_a_folder_of_folders_are_all_readable(tmp_path: Path) -> None:
    write(tmp_path / "one", [row(dataset="a1a", method="fw")])
    write(tmp_path / "two", [row(dataset="a2a", method="fw")])
    for path, n in ((tmp_path / "one", 1), (tmp_path / "one" / "runs.csv", 1), (tmp_path, 2)):
        assert len(results.read([path]).frame) == n
    assert len(results.read([tmp_path, tmp_path / "one"]).frame) == 2, "a folder named twice is read once"


def test_where_selects_by_number_text_and_truth_and_refuses_what_matches_nothing(tmp_path: Path) -> None:
    rows = [row(dataset="a1a", method=m, C=c) for m in ("fw", "mfw") for c in (1, 4)]
    folder = write(tmp_path, rows)

    def select(where: list[str]) -> results.Results:
        return results.read([folder], where)

    assert len(select(["C=4.0", "method=fw", "shared=false"]).frame) == 1
    assert len(select(["C=4", "C=1", "method=fw"]).frame) == 2  # values of one column are alternatives
    with pytest.raises(UsageError, match="no row is left; C holds 1, 4"):
        select(["C=4", "C=2"])
    with pytest.raises(UsageError, match="COLUMN=VALUE"):
        select(["colour=red"])
    with pytest.raises(UsageError, match="C=big: no row is left; C holds 1, 4"):
        select(["C=big"])


def test_a_cell_has_mean_and_deviation_over_repetitions_and_counts_what_failed() -> None:
    table = cells_of(
        *(
            row(dataset="a1a", method="fw", repetition=i, train_seconds=t)
            for i, t in enumerate([1.0, 2.0, 3.0])
        ),
        row(dataset="a1a", method="fw", repetition=3, status="error", train_seconds="", test_accuracy=""),
        row(dataset="a1a", method="fw", repetition=0, role="select", train_seconds=99),
    )
    cell = table.iloc[0]
    assert len(table) == 1
    assert (cell["train_seconds"], cell["train_seconds_sd"]) == (2.0, 1.0)
    assert (cell["runs"], cell["used"], cell["status"]) == (4, 3, "error")
    assert cell["statuses"] == "3 converged, 1 error"


def test_a_run_made_again_replaces_the_earlier_one_unless_it_failed() -> None:
    old, new = (
        row(dataset="a1a", method="fw", train_seconds=1),
        row(dataset="a1a", method="fw", train_seconds=5),
    )
    failed = row(dataset="a1a", method="fw", status="error", train_seconds="")
    assert cells_of(old, new)["train_seconds"].tolist() == [5]
    assert cells_of(failed, new)["status"].tolist() == ["converged"]
    assert cells_of(new, failed)["train_seconds"].tolist() == [5]


def test_a_run_that_never_was_is_replaced_by_one_that_agrees_with_what_was_asked() -> None:
    nothing = dict.fromkeys(("gamma", "sigma2", "width_rule", "C", "lambda", "stop", "search"), "")
    asked = {"dataset": "a1a", "status": "missing", "train_seconds": "", **nothing}
    made = cells_of(
        row(method="fw", **asked), row(method="mfw", **asked), row(dataset="a1a", method="mfw", C=4)
    )
    assert made[["method", "status"]].to_numpy().tolist() == [["fw", "missing"], ["mfw", "converged"]]


def test_a_run_interrupted_before_training_is_replaced_by_its_repetition() -> None:
    unknown = dict.fromkeys(("kernel", "gamma", "sigma2", "width_rule", "lambda", "stop", "search"), "")
    begun = row(run_id="0a", status="interrupted", train_seconds="", **unknown)
    assert cells_of(begun)["status"].tolist() == ["interrupted"]
    assert cells_of(begun, row(run_id="0a"))["status"].tolist() == ["converged"]


def test_several_classes_cut_short_have_a_time_but_no_accuracy() -> None:
    """Pairs that were not reached have no machine: what the others say together means nothing."""
    cut = {"status": "time_limit", "train_seconds": 10.0, "test_accuracy": 0.1, "support_vectors": 3}
    cells = cells_of(
        row(dataset="pairs", subproblems=45, **cut),
        row(dataset="two", subproblems=1, **cut),
        row(dataset="some", subproblems=45, **cut),
        row(dataset="some", subproblems=45, repetition=1, train_seconds=2.0, test_accuracy=0.9),
    ).set_index("dataset")
    assert cells["train_seconds"].tolist() == [10.0, 10.0, 6.0]
    assert math.isnan(cells.loc["pairs", "test_accuracy"])
    assert math.isnan(cells.loc["pairs", "support_vectors"])
    assert cells.loc["two", "test_accuracy"] == 0.1
    assert cells.loc["some", "test_accuracy"] == 0.9
    assert cells["used"].tolist() == [1, 1, 1]


def test_parameters_in_a_methods_name_are_set_aside_only_if_it_has_one_variant() -> None:
    one = cells_of(row(dataset="a", method="scs(metric=rkhs)"), row(dataset="b", method="scs(metric=rkhs)"))
    assert one["method"].unique().tolist() == ["scs"]
    assert one["parameters"].unique().tolist() == ["metric=rkhs"]
    two = cells_of(row(dataset="a", method="scs(metric=rkhs)"), row(dataset="a", method="scs"))
    assert sorted(two["method"]) == ["scs", "scs(metric=rkhs)"]


def test_two_results_for_one_place_are_an_error_that_says_how_to_choose() -> None:
    table = cells_of(
        row(dataset="a", method="fw", search="full"), row(dataset="a", method="fw", search="sampled")
    )
    with pytest.raises(
        ResultsError, match=r"several results for a, fw: search full or sampled; choose with --where"
    ):
        cells.unique_cells(table, ["dataset", "method"])


def test_an_empty_number_is_named_and_chosen_by_an_empty_value() -> None:
    frame = frame_of(row(dataset="a", method="fw", C=""), row(dataset="a", method="fw", C=0.25))
    with pytest.raises(ResultsError, match=r"C \(empty\) or 0.25; choose with --where C=$"):
        cells.unique_cells(cells.cells_of_runs(frame), ["dataset", "method"])
    assert results.matching(frame, ["C="])["C"].isna().tolist() == [True]


def test_speed_ups_and_relative_accuracies_are_against_the_baseline_of_the_same_data_set() -> None:
    table = against_cvm(
        cells_of(
            row(dataset="a", method="cvm", train_seconds=10, test_accuracy=0.8),
            row(dataset="a", method="fw", train_seconds=2, test_accuracy=0.6),
            row(dataset="b", method="fw", train_seconds=2),
        )
    ).set_index(["dataset", "method"])
    assert table.loc[("a", "fw"), "speedup"] == 5
    assert table.loc[("a", "fw"), "relative_accuracy"] == pytest.approx(0.25)
    assert pd.isna(table.loc[("b", "fw"), "speedup"])


def test_two_times_cut_short_have_no_speed_up_and_one_gives_a_bound() -> None:
    table = against_cvm(
        cells_of(
            row(dataset="a", method="cvm", train_seconds=10, status="time_limit"),
            row(dataset="a", method="fw", train_seconds=20, status="time_limit"),
            row(dataset="a", method="mfw", train_seconds=2),
            row(dataset="b", method="cvm", train_seconds=5),
            row(dataset="b", method="fw", train_seconds=10, status="time_limit"),
        )
    ).set_index(["dataset", "method"])
    assert pd.isna(table.loc[("a", "fw"), "speedup"])
    assert (table.loc[("a", "mfw"), "speedup"], table.loc[("b", "fw"), "speedup"]) == (5, 0.5)
    assert table["censored"].tolist() == [True, True, True, False, True]


def test_the_matrix_leaves_out_data_sets_by_name_and_reason() -> None:
    table = cells_of(
        row(dataset="a", method="cvm"),
        row(dataset="a", method="fw"),
        row(dataset="b", method="cvm"),
        row(dataset="c", method="cvm"),
        row(dataset="c", method="fw", status="time_limit"),
        row(dataset="d", method="cvm", status="missing", train_seconds=""),
        row(dataset="d", method="fw"),
    )
    values, left_out = method_matrix(table, measure("time"), ["cvm", "fw"])
    assert list(values.index) == ["a"]
    assert left_out == {
        "b": "fw: no usable time (not run)",
        "c": "fw: no usable time (1 time_limit)",
        "d": "cvm: no usable time (1 missing)",
    }
    accuracies, _ = method_matrix(table, measure("accuracy"), ["cvm", "fw"])
    assert "c" in accuracies.index, "an accuracy at the time limit is an accuracy"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"parallel_cells": 2}, "parallel_cells is 1 .* and .*|parallel_cells is"),
        ({"threads": 4}, "threads is"),
        ({"shared": "true"}, "1 run took kernel values"),
        (
            {"machine": "laptop"},
            r"the times on a come from different machines: desk \(a CPU\), laptop \(a CPU\)",
        ),
    ],
)
def test_times_under_different_loads_are_refused(tmp_path: Path, other, said: str) -> None:
    alike = [row(dataset="a", method="cvm"), row(dataset="a", method="fw")]
    refuse_mixed_load(results.read([write(tmp_path / "alike", alike)]).frame)
    unlike = [*alike, row(dataset="a", method="mfw", **other)]
    with pytest.raises(ResultsError, match=said):
        refuse_mixed_load(results.read([write(tmp_path / "unlike", unlike)]).frame)


def test_results_of_which_no_run_has_ended_yet_say_so(tmp_path: Path) -> None:
    found = results.read(
        [write(tmp_path, [], config="name: trial\nmethods: [{name: swap, protocol: paper}]\n")]
    )
    with pytest.raises(ResultsError, match="hold no final runs"):
        cells.cells_of_runs(found.frame)
