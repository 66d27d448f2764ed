"""Results of other people in tables, pictures and pages: their names are only names, and their size has a limit."""

import csv
import io
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from fwsvm.analysis import cells, figures, results
from fwsvm.analysis.comparisons import all_pairs, evaluate
from fwsvm.analysis.report import page
from fwsvm.analysis.tables.drawing import draw_tables
from fwsvm.analysis.tables.render import render
from fwsvm.analysis.writing import without_formula
from fwsvm.cli import main
from fwsvm.errors import ResultsError, shortened
from tests.analysis.folders import row, write, write_trace
from tests.analysis.markup import no_markup

NAMES = (
    "$\\frac{$",
    "<script>x</script>",
    "=1+1",
    "x" * 4000,
    "_hidden",
    "a|b`[c]",
    "../../x",
    "é",
    "%s{0}",
)


def source(folder: Path) -> figures.FigureData:
    runs = results.read([folder]).frame
    return figures.FigureData(cells.cells_of_runs(runs), runs)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Write a folder whose data sets and methods have hostile names."""
    return write(tmp_path / "foreign", [
        row(dataset=dataset, method=method, C=C, role=role, sigma2=C, width_rule="", train_seconds=C)
        for dataset in NAMES[:2] for method in NAMES[:6] for role, C in (("final", 1), ("select", 1), ("select", 2))
    ])  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_drawn_as_it_is_spelled(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path, [row(dataset=name, method=method) for method in (name[:3], "fw")])
    (drawing,) = figures.draw(source(folder), ["datasets"], measures=("time",))
    spelled = shortened(name, figures.style.MAX_LABEL)
    assert spelled.encode() in drawing.content("svg").replace(b"&lt;", b"<").replace(b"&gt;", b">").replace(
        b"&amp;", b"&"
    )


def test_pictures_have_names_of_their_own_that_files_can_have(foreign: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["plot", str(foreign), "--mixed-load", "--figure", "selection", "--out", str(tmp_path)]
    )
    assert done.exit_code == 0, done.output
    drawn = {path.name for path in tmp_path.glob("*.png")}
    assert len(drawn) == 6 * 2
    assert all(len(name.encode()) < 130 for name in drawn)


def test_names_are_no_markup_no_formulas_and_no_mathematics(foreign: Path) -> None:
    read = results.read([foreign])
    drawn = draw_tables(cells.cells_of_runs(read.frame), ["accuracy"])
    no_markup(page(read.select([f"method={NAMES[1]}"]), mixed_load=True), page=True)
    assert "<script" not in render(drawn, "html")
    markdown = render(drawn, "markdown")
    assert "| \\$\\\\frac{\\$ " in markdown
    assert "a\\|b\\`\\[c\\]" in markdown
    assert "\\<script>" in markdown
    assert r"\$\textbackslash{}frac\{\$" in render(drawn, "latex")
    fields = [field for line in csv.reader(io.StringIO(render(drawn, "csv"))) for field in line]
    assert "'=1+1" in fields
    assert "=1+1" not in fields
    assert max(map(len, render(drawn, "terminal").splitlines())) < 100


def test_numbers_are_no_formulas() -> None:
    assert [without_formula(field) for field in ("-1.5e-3", "+2", "-inf", -1.5, "-", "")] == [
        "-1.5e-3",
        "+2",
        "-inf",
        -1.5,
        "-",
        "",
    ]
    assert [without_formula(field) for field in ("-1+1", "=1", "@x", "+cmd|x")] == [
        "'-1+1",
        "'=1",
        "'@x",
        "'+cmd|x",
    ]


def test_infinite_and_immense_numbers_are_left_out_of_pictures(tmp_path: Path) -> None:
    values = ("inf", "-inf", "1e308", "1e-320", "-1e308", 0.5)
    rows = [
        row(dataset=f"d{i}", method=m, objective=v, gap=v, run_id=f"{m}{i}")
        for i, v in enumerate(values)
        for m in ("fw", "mfw")
    ]
    folder = write(tmp_path / "here", rows)
    trace = {
        "seconds": [0, 1, 2],
        "iteration": [0, 1, 2],
        "objective": ["inf", "1e308", 1],
        "gap": ["nan", "-inf", 1],
    }
    write_trace(folder, "fw0", pd.DataFrame(trace | {"support_vectors": [1, 2, 3]}))
    for kind in figures.kinds():
        for drawing in figures.draw(
            source(folder), [kind], measures=() if kind == "convergence" else ("objective",)
        ):
            assert drawing.content("svg")


def test_too_many_cells_are_refused(tmp_path: Path, monkeypatch) -> None:
    folder = write(tmp_path, [row(dataset=f"d{i}", method="fw") for i in range(4)])
    monkeypatch.setattr(cells, "MAX_CELLS", 3)
    with pytest.raises(ResultsError, match=r"4 cells .* at most 3 are averaged; choose with --where"):
        cells.cells_of_runs(results.read([folder]).frame)


def test_more_than_can_be_drawn_or_compared_is_refused(tmp_path: Path, monkeypatch) -> None:
    rows = [row(dataset=f"d{i}", method=m, role=role) for i in range(11) for m, role in
            (("fw", "final"), ("mfw", "final"), ("fw", "select"))]  # fmt: skip
    made = source(write(tmp_path, rows))
    monkeypatch.setattr(figures.style, "MAX_INCHES", 4.0)
    monkeypatch.setattr(figures.data, "MAX_PICTURES", 10)
    monkeypatch.setattr(sys.modules[evaluate.__module__], "MAX_DATASETS", 10)
    for kind, said in (("datasets", "a picture of 5 x 5 inches"), ("selection", "pictures of 11 data sets")):
        with pytest.raises(ResultsError, match=f"{said}.*; choose with --dataset"):
            figures.draw(made, [kind])
    with pytest.raises(ResultsError, match="2 methods on 11 data sets, and at most 40 on 10 are compared"):
        evaluate(all_pairs(["fw", "mfw"], ["time"]), made.cells)


def test_messages_do_not_repeat_what_is_endless(tmp_path: Path) -> None:
    rows = [row(dataset="x" * 4000, method="fw", search=f"{i}" * 1000) for i in range(10)]
    with pytest.raises(
        ResultsError, match=r"several results for x+…, fw: search .* or 2 more; choose"
    ) as error:
        draw_tables(cells.cells_of_runs(results.read([write(tmp_path, rows)]).frame), ["time", "003-2"])
    assert len(str(error.value)) < 1000
