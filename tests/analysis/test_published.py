"""The printed numbers: all there, under our names, and the statistics of 003 that follow from them."""

from pathlib import Path

import pytest
import yaml

from fwsvm.analysis import published
from fwsvm.analysis.comparisons import evaluate
from fwsvm.analysis.papers import DESIGNS, p003_tests
from fwsvm.errors import ResultsError, UsageError


def rbf_cells():
    cells = published.cells("003")
    return cells[cells["kernel"] == "rbf"]


def test_the_printed_statistics_follow_from_the_printed_tables_or_are_explained() -> None:
    table = p003_tests.recomputed_table()
    differ = {row.labels for row in table.rows if row.entries[2].text != "agrees"}
    assert len(table.rows) == 16
    assert differ == set(p003_tests.EXPLANATIONS)
    assert len(table.notes) == 5


def test_every_null_hypothesis_of_003_falls_at_a_hundredth_but_one_that_stands_at_a_tenth() -> None:
    tested = evaluate(DESIGNS["frandi"], rbf_cells()).tested
    standing = [(t.hypothesis.measure, t.hypothesis.first, t.hypothesis.second) for t in tested if t.p > 0.1]
    assert standing == [("time", "fw", "mfw")]
    assert len([t for t in tested if t.p <= 0.01]) == 5


def test_beside_003_the_printed_tables_give_the_printed_conclusions() -> None:
    five, six, seven = p003_tests.tables(evaluate(DESIGNS["frandi"], rbf_cells())).values()
    assert [entry.text for entry in five.rows[0].entries] == ["17", "20", "159", "14.8585"]
    assert [entry.text for entry in six.rows[0].entries[:3]] == ["3.085e-06", "5.528e-06", "0.6893"]
    for ours, paper in zip(seven.rows[::2], seven.rows[1::2], strict=True):
        assert [entry.text for entry in ours.entries] == [entry.text for entry in paper.entries]
    assert "ours on 26 data sets" in five.notes[0]


def test_a_measure_that_too_few_data_sets_have_is_left_out_and_named() -> None:
    cells = rbf_cells()
    cut = cells.assign(censored=cells["censored"] | (cells["method"] == "fw"))
    evaluation = evaluate(DESIGNS["frandi"], cut)
    assert [compared.measure for compared in evaluation.compared] == ["accuracy"]
    assert "fewer than two data sets have time" in evaluation.lacking[0]
    texts = [entry.text for entry in p003_tests.tables(evaluation)["5"].rows[0].entries]
    assert texts == ["-", "20", "-", "-"]
    with pytest.raises(ResultsError, match="; the tests need runs of these on more data sets"):
        evaluate(DESIGNS["frandi"], cells[cells["dataset"] == cells["dataset"].iloc[0]])


def test_every_printed_data_set_has_a_name_that_is_in_the_lock() -> None:
    lock = yaml.safe_load((Path(__file__).parents[2] / "datasets.lock").read_text(encoding="utf-8"))
    assert [name for name in published.names()["lock"] if name not in lock["datasets"]] == []
    assert published.names()["lock"].is_unique
    assert all(published.training_rows(paper) for paper in ("000", "002", "003", "004"))
    assert published.lock_name("KDD10pc") == published.lock_name("KDD99-10pc") == "kdd99-10pc"
    assert (published.title("w1a"), published.title("mine")) == ("w1a", "mine")
    assert published.in_order(published.names()["lock"].iloc[::-1])[:2] == ["a1a", "a2a"]


def test_cells_carry_values_digits_and_stars() -> None:
    assert {paper: len(published.cells(paper)) for paper in ("002", "003", "004")} == {
        "002": 2 * 72,
        "003": 26 * 3 + 20,
        "004": 24,
    }
    cells = published.cells("003").set_index(["dataset", "method", "kernel"])
    assert cells.loc[("a1a", "cvm", "rbf"), "test_accuracy"] == pytest.approx(0.8352)
    assert cells.loc[("a2a", "cvm", "rbf"), "train_seconds_text"] == "16"
    assert cells.loc[("shuttle", "mfw", "quadratic"), "train_seconds"] == 85.2
    linear = published.cells("002").set_index(["dataset", "method", "tolerance", "C"])
    starred = linear.loc[("kddb", "liblinear", 0.01, 100)]
    assert (starred["censored"], starred["train_seconds"]) == (True, 932000)
    assert linear.loc[("kdda", "avsf", 0.001, 1000)].isna()["train_seconds"]
    fractions = published.cells("004").set_index(["dataset", "method"])
    assert fractions.loc[("wdbc-500", "wolfe"), "test_accuracy_text"] == "97"
    with pytest.raises(UsageError, match=r"Nanculef et al\. \(2014\): no printed numbers"):
        published.cells("000")
