"""Data sets that are made here: a dagger and a line wherever they are shown, no part in tests, one in growth."""

import pytest

from fwsvm.analysis import published
from fwsvm.analysis.claims.checks import WEB, better, growing_speedup
from fwsvm.analysis.claims.evaluate import check_claims
from fwsvm.analysis.claims.model import View
from fwsvm.analysis.comparisons import method_matrix
from fwsvm.analysis.figures import FigureData, draw
from fwsvm.analysis.layouts import named_layouts
from fwsvm.analysis.measures import measure
from fwsvm.analysis.tables import render
from tests.analysis.folders import cells_of, row

METHODS = ("cvm", "fw", "mfw")
SIZES = {"w1a": 2477, "w2a-drawn": 3470, "w3a-drawn": 4912, "w7a": 24692}


def rows(times: dict[str, float] | None = None):
    """Return rows of four sizes of Web, two of them drawn: CVM's times grow as m^2, the others' as m."""
    return [
        row(dataset=d, method=m, rows=n, train_seconds=(times or {}).get(d, n**2 / 1e6 if m == "cvm" else n / 1e4))
        for d, n in SIZES.items()
        for m in METHODS
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["terminal", "markdown", "latex"])
def test_tables_mark_and_explain_them(form: str) -> None:
    (layout,) = named_layouts(["003-3"])
    text = render(layout.draw(cells_of(*rows())), form)
    mark = r"w2a\textdagger{}" if form == "latex" else "w2a†"
    assert mark in text
    assert "made here by seed" in " ".join(text.split())
    plain = render(layout.draw(cells_of(*(r for r in rows() if r["dataset"] == "w1a"))), form)
    assert "made here" not in plain


def test_pictures_mark_and_explain_them() -> None:
    (drawing,) = draw(FigureData(cells_of(*rows()), measures=("time",)), ["series"])
    labels = [label.get_text() for label in drawing.figure.axes[0].get_xticklabels()]
    assert labels[1] == "w2a†\n3,470"
    assert drawing.figure.get_supxlabel().endswith(published.MADE_HERE)
    assert drawing.caption.endswith(f"; {published.MADE_HERE}.")
    assert not draw(FigureData(cells_of(*rows())), ["datasets"])
    missing = [row(dataset="w2a", method=m, status="missing", train_seconds=None) for m in METHODS]
    assert not draw(FigureData(cells_of(*rows(), *missing)), ["datasets"]), "of a series still"
    (plain, *_) = draw(FigureData(cells_of(*(r for r in rows() if "drawn" not in r["dataset"]))), ["series"])
    assert "made here" not in plain.caption


def test_tests_leave_them_out_and_say_so() -> None:
    values, left_out = method_matrix(cells_of(*rows()), measure("time"), METHODS)
    assert len(values) == 2
    assert left_out == dict.fromkeys(("w2a-drawn", "w3a-drawn"), "made here, no published data set")


def test_claims_of_growth_count_them_and_others_do_not() -> None:
    view = View(cells_of(*rows()), METHODS)
    grown = growing_speedup("fw", WEB)(view)
    assert grown is not None
    assert grown.holds
    assert "w2a†" in grown.evidence
    faster = better("fw", "cvm", "time", WEB)(view)
    assert faster is not None
    assert "in 2 of 2 comparisons" in faster.evidence
    verdicts = {
        v.claim.name: v.ours for v in check_claims(cells_of(*rows()), ["frandi-scales", "frandi-friedman"])
    }
    assert "4 sets" in verdicts["frandi-scales-better"].evidence
    assert verdicts["frandi-friedman-time"] is None, "two published data sets are too few"
