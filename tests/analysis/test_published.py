"""The printed numbers: all there, under our names, and the statistics of 003 that follow from them."""

from pathlib import Path

import pytest
import yaml

from fwsvm.analysis import published
from fwsvm.analysis.comparisons import evaluate
from fwsvm.analysis.papers import design
from fwsvm.analysis.papers.p003 import statistics
from fwsvm.errors import ResultsError, UsageError

# 003, Tables 5 and 6, against its own Tables 2 and 3: what agrees, and what cannot
AGREE = {
    ("time", "FW vs CVM", "statistic"),
    ("time", "FW vs CVM", "p"),
    ("time", "MFW vs CVM", "statistic"),
    ("time", "MFW vs CVM", "p"),
    ("time", "FW vs MFW", "statistic"),
    ("time", "FW vs MFW", "p"),
    ("time", "Friedman", "statistic"),
    ("accuracy", "FW vs CVM", "statistic"),
    ("accuracy", "FW vs CVM", "p"),
    ("accuracy", "MFW vs CVM", "statistic"),
    ("accuracy", "FW vs MFW", "p"),
}
DIFFER = {
    ("time", "Friedman", "p"): "2 x 8.619e-06 = 1.72e-05",
    ("accuracy", "MFW vs CVM", "p"): "Pratt 3.58e-04, zeros dropped 2.84e-04",
    ("accuracy", "FW vs MFW", "statistic"): "W = 63.5 would need",
    ("accuracy", "Friedman", "statistic"): "F = 11.879 if the tie on a1a",
    ("accuracy", "Friedman", "p"): "= 1.20e-04",
}


def test_the_printed_statistics_follow_from_the_printed_tables_or_are_explained() -> None:
    compared = {(e.measure, e.test, e.quantity): e for e in statistics.recomputed()}
    assert {key for key, entry in compared.items() if entry.agrees} == AGREE
    assert {key for key, entry in compared.items() if not entry.agrees} == set(DIFFER)
    for key, said in DIFFER.items():
        assert said in compared[key].explanation


def test_table_7_at_all_three_levels() -> None:
    """Every null hypothesis falls at 0.01 but that FW and MFW are equally fast, which stands even at 0.1."""
    tested = evaluate(design("003"), statistics.rbf_cells()).tested
    standing = [(t.hypothesis.measure, t.hypothesis.first, t.hypothesis.second) for t in tested if t.p > 0.1]
    falling = [t for t in tested if t.p <= 0.01]
    assert standing == [("time", "fw", "mfw")]
    assert len(falling) == 5


@pytest.mark.parametrize(
    ("printed", "ours", "verdict"),
    [
        ("3.085e-06", 3.0845e-6, True),
        ("3.085e-06", 3.0844e-6, False),
        ("17", 17, True),
        ("48.5", 48.56, False),
    ],
)
def test_agreement_is_to_the_printed_digits(printed: str, ours: float, verdict: bool) -> None:
    assert statistics.agrees(printed, ours) is verdict


def test_every_printed_data_set_has_a_lock_name_and_every_lock_name_one_line() -> None:
    for paper in ("000", "002", "003", "004"):
        assert published.training_rows(paper)
    assert published.names()["lock"].is_unique
    assert published.lock_name("KDD10pc") == published.lock_name("KDD99-10pc") == "kdd99-10pc"
    assert published.title("w1a") == "w1a"
    assert published.title("mine") == "mine"
    with pytest.raises(UsageError, match="no paper prints"):
        published.lock_name("nowhere")


def test_every_name_is_in_the_lock() -> None:
    lock = yaml.safe_load((Path(__file__).parents[2] / "datasets.lock").read_text(encoding="utf-8"))
    assert [name for name in published.names()["lock"] if name not in lock["datasets"]] == []


def test_cells_carry_values_digits_and_stars() -> None:
    cells = published.cells("003").set_index(["dataset", "method", "kernel"])
    assert cells.loc[("a1a", "cvm", "rbf"), "test_accuracy"] == pytest.approx(0.8352)
    assert cells.loc[("a2a", "cvm", "rbf"), "train_seconds_text"] == "16"
    assert cells.loc[("shuttle", "mfw", "quadratic"), "train_seconds"] == 85.2
    linear = published.cells("002").set_index(["dataset", "method", "tolerance", "C"])
    starred = linear.loc[("kddb", "liblinear", 0.01, 100)]
    assert starred["censored"]
    assert starred["train_seconds"] == 932000
    assert linear.loc[("kdda", "avsf", 0.001, 1000)].isna()["train_seconds"]
    fractions = published.cells("004").set_index(["dataset", "method"])
    assert fractions.loc[("wdbc-500", "wolfe"), "test_accuracy_text"] == "97"
    assert ("hepmass", "wolfe") not in fractions.index


def test_the_numbers_of_cells_per_paper() -> None:
    assert {paper: len(published.cells(paper)) for paper in ("002", "003", "004")} == {
        "002": 2 * 72,
        "003": 26 * 3 + 20,
        "004": 24,
    }
    with pytest.raises(UsageError, match="000 has no printed numbers"):
        published.cells("000")


def test_beside_003_the_printed_tables_give_the_printed_conclusions() -> None:
    five, six, seven = statistics.tables(evaluate(design("003"), statistics.rbf_cells())).values()
    time = [(str(record["ours"]), record["printed"]) for record in five.tidy[:3]]
    assert time == [("17.0", "17"), ("20.0", "20"), ("159.0", "159")]
    assert [entry.text for entry in six.rows[0].entries[:3]] == ["3.085e-06", "5.528e-06", "0.6893"]
    assert [row.labels[-1] for row in seven.rows] == ["ours", "paper"] * 6
    for ours, paper in zip(seven.rows[::2], seven.rows[1::2], strict=True):
        assert ours.entries == paper.entries
    assert "ours on 26 data sets" in five.notes[0]


def test_times_that_were_all_cut_short_leave_the_accuracies_to_compare() -> None:
    cells = statistics.rbf_cells()
    cells = cells.assign(censored=cells["censored"] | (cells["method"] == "fw"))
    evaluation = evaluate(design("003"), cells)
    assert [compared.measure for compared in evaluation.compared] == ["accuracy"]
    assert "fewer than two data sets have time" in evaluation.lacking[0]
    texts = [entry.text for entry in statistics.tables(evaluation)["5"].rows[0].entries]
    assert texts == ["-", "20", "-", "-"]


def test_one_data_set_is_no_reason_to_run_more_methods() -> None:
    cells = statistics.rbf_cells()
    alone = cells[cells["dataset"] == cells["dataset"].iloc[0]]
    with pytest.raises(ResultsError, match="; the tests need runs of these on more data sets"):
        evaluate(design("003"), alone)
