"""The printed numbers: all there, under our names, and the statistics of 003 that follow from them."""

from pathlib import Path

import pytest
import yaml

from fwsvm.analysis import published
from fwsvm.analysis.comparisons import evaluate
from fwsvm.analysis.papers import DESIGNS, p003
from fwsvm.errors import ResultsError, UsageError


def rbf_cells():
    cells = published.cells("003")
    return cells[cells["kernel"] == "rbf"]


def test_the_printed_statistics_follow_from_the_printed_tables_but_for_five() -> None:
    tables = p003.test_tables(evaluate(DESIGNS["frandi"], rbf_cells()))
    lines = [[entry.text for entry in row.entries] for number in "56" for row in tables[number].rows]
    assert lines[0] == ["17", "20", "159", "14.8585"]
    pairs = [
        (abs(float(ours) / float(paper) - 1), paper)
        for mine, theirs in zip(lines[::2], lines[1::2], strict=True)
        for ours, paper in zip(mine, theirs, strict=True)
    ]
    # twice the right tail, a tie broken as unrounded means would (three), and a W that is not the p's
    assert {paper for off, paper in pairs if off > 5e-3} == {
        "1.72e-05",
        "11.879",
        "1.20e-04",
        "3.21e-04",
        "63.5",
    }
    assert "ours on 26 data sets" in tables["5"].notes[0]


def test_every_null_hypothesis_of_003_falls_at_a_hundredth_but_one_that_stands_at_a_tenth() -> None:
    tested = evaluate(DESIGNS["frandi"], rbf_cells()).tested
    standing = [(t.hypothesis.measure, t.hypothesis.first, t.hypothesis.second) for t in tested if t.p > 0.1]
    assert standing == [("time", "fw", "mfw")]
    assert len([t for t in tested if t.p <= 0.01]) == 5


def test_a_measure_that_too_few_data_sets_have_is_left_out_and_named() -> None:
    cells = rbf_cells()
    cut = cells.assign(censored=cells["censored"] | (cells["method"] == "fw"))
    evaluation = evaluate(DESIGNS["frandi"], cut)
    assert [*evaluation.overall] == ["accuracy"]
    assert "a1a (fw: no usable time (converged))" in evaluation.notes[0]
    texts = [entry.text for entry in p003.test_tables(evaluation)["5"].rows[0].entries]
    assert texts == ["-", "20", "-", "-"]
    with pytest.raises(
        ResultsError, match="fewer than two have time or accuracy for all of cvm, fw, mfw; run more data sets"
    ):
        evaluate(DESIGNS["frandi"], cells[cells["dataset"] == cells["dataset"].iloc[0]])


def test_every_printed_data_set_has_a_name_that_is_in_the_lock() -> None:
    lock = yaml.safe_load((Path(__file__).parents[2] / "datasets.lock").read_text(encoding="utf-8"))
    assert [name for name in published.names().index if name not in lock["datasets"]] == []
    assert published.names().index.is_unique
    assert all(published.cells(paper)["rows"].gt(0).all() for paper in ("002", "003", "004"))
    assert (published.title("w1a"), published.title("mine")) == ("w1a", "mine")
    assert published.in_order(published.names().index[::-1])[:2] == ["a1a", "a2a"]


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
    with pytest.raises(UsageError, match="no paper with printed numbers 'nanculef'"):
        published.cells("000")
