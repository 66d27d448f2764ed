"""Tables drawn from known rows: every form as a whole, and what must never be hidden."""

import csv
import io

import pytest

from fwsvm import promises
from fwsvm.analysis import measures, published
from fwsvm.analysis.method_matrix import method_matrix
from fwsvm.analysis.papers import LAYOUTS
from fwsvm.analysis.results import matching
from fwsvm.analysis.tables import drawing
from fwsvm.analysis.tables.layout import in_order
from fwsvm.analysis.tables.model import Table, TableEntry, TableRow
from fwsvm.analysis.tables.render import latex_text, render
from fwsvm.errors import ResultsError, UsageError
from tests.analysis.folders import row
from tests.analysis.test_results import cells_of, frame_of


def small():
    """Return cells of two data sets and three methods, with a failure, a limit and a subsample."""
    times = {"cvm": (8, 10, 12), "fw": (20, 21, 22), "mfw": (1, 1, 1)}
    rows = [
        row(dataset="a1a", method=method, rows=1605, repetition=i, train_seconds=t, test_accuracy=0.83)
        for method, seconds in times.items()
        for i, t in enumerate(seconds)
    ]
    rows += [
        row(dataset="w8a", method="cvm", rows=5000, status="time_limit", train_seconds=60),
        row(dataset="w8a", method="fw", rows=5000, train_seconds=0.5),
        row(dataset="w8a", method="mfw", status="missing", rows="", train_seconds="", test_accuracy=""),
    ]
    return cells_of(*rows)


GOLDEN_MARKDOWN = """\
**003, Table 3: training time (s)**

| data set |  | CVM | FW | MFW |
| :-- | :-- | --: | --: | --: |
| a1a | ours | 10.0 ± 2.0 | 21.0 ± 1.0 | **1.00 ± 0.00** |
|  | paper | 6.26 ± 0.09 | 12.5 ± 0.7 | **0.712 ± 0.004** |
|  | ratio | 1.60 | 1.68 | 1.40 |
| w8a | ours | 60.0\\* | **0.500** | missing |
|  | paper | 1030 ± 60 | **9.64 ± 5.22** | 111 ± 127 |
|  | ratio | ≥0.0583 | 0.0519 | - |

- ours: profile paper, kernel rbf, C 1, tolerance 1e-06, search sampled, stop meb, width_rule paper
- \\* stopped at a time limit; a time is a lower bound
- not complete: 1 missing in w8a/mfw
- training rows, ours of published: w8a 5000 of 49749
"""

GOLDEN_LATEX = """\
% \\usepackage{booktabs}
\\begin{table}
\\centering
\\caption{003, Table 3: training time (s)}
\\begin{tabular}{llrrr}
\\toprule
data set &  & CVM & FW & MFW \\\\
\\midrule
a1a & ours & 10.0 $\\pm$ 2.0 & 21.0 $\\pm$ 1.0 & \\textbf{1.00 $\\pm$ 0.00} \\\\
 & paper & 6.26 $\\pm$ 0.09 & 12.5 $\\pm$ 0.7 & \\textbf{0.712 $\\pm$ 0.004} \\\\
 & ratio & 1.60 & 1.68 & 1.40 \\\\
\\addlinespace
w8a & ours & 60.0$^{*}$ & \\textbf{0.500} & missing \\\\
"""


def test_markdown_as_a_whole() -> None:
    assert render(drawing.paper_tables("003-3", small()), "markdown") == GOLDEN_MARKDOWN


def test_latex_sets_the_best_in_bold_and_stars_bounds() -> None:
    assert render(drawing.paper_tables("003-3", small()), "latex").startswith(GOLDEN_LATEX)


def test_terminal_stays_within_80_columns_and_shows_every_status() -> None:
    drawn = render(drawing.paper_tables("003-3", small()), "terminal")
    assert max(map(len, drawn.splitlines())) <= 80
    assert "60.0*" in drawn
    assert "missing" in drawn
    assert "w8a 5000 of 49749" in drawn


@pytest.mark.parametrize("name", [n for n in LAYOUTS if n != "000-size"])
def test_every_paper_layout_draws_its_printed_numbers_in_every_form(name: str) -> None:
    drawn = drawing.paper_tables(name, None)
    for form in ("terminal", "markdown", "latex", "html", "csv"):
        assert render(drawn, form)
    assert max(len(line) for line in render(drawn, "terminal").splitlines()) <= 80


def test_printed_digits_are_kept_as_printed() -> None:
    drawn = render(drawing.paper_tables("002-2", None), "markdown")
    assert "| rcv1 | liblinear | **0.09** | **0.13** | **0.46** | 1.76 | 4.27 | 14.1 |" in drawn
    assert "400000\\*" in drawn
    assert "| kdd-a | AVSF | 473 | **858** | **2090** | **7880** | **36100** | — |" in drawn


def test_tidy_csv_has_one_line_per_entry_with_unrounded_numbers() -> None:
    text = render(drawing.paper_tables("003-3", small()), "csv")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(lines) == 6
    first = lines[0]
    assert (first["dataset"], first["method"], first["measure"]) == ("a1a", "cvm", "time")
    assert float(first["ours"]) == 10
    assert float(first["ratio"]) == pytest.approx(10 / 6.26)
    assert lines[-1]["ours"] == ""
    assert lines[-1]["status"] == "missing"


def test_both_of_a_tie_are_best() -> None:
    tied = cells_of(
        *(row(dataset="a", method=m, train_seconds=t) for m, t in (("fw", 9), ("mfw", 5), ("cvm", 5)))
    )
    assert "| a | 9.00 | **5.00** | **5.00** |" in render(drawing.draw_tables(tied, ["time"]), "markdown")


def test_what_is_printed_alike_is_best_alike() -> None:
    cells = cells_of(
        *(
            row(experiment="adult", dataset="a1a", method=m, test_accuracy=a)
            for m, a in (("cvm", 0.843899), ("fw", 0.843902), ("mfw", 0.8430))
        )
    )
    (table,) = drawing.draw_tables(cells, ["003-2"])
    marked = [entry.best for line in table.rows for entry in line.entries if entry.text in {"84.39", "84.30"}]
    assert marked[:3] == [True, True, False]


def test_pairs_of_classes_that_a_limit_left_out_are_said_to_be_cut() -> None:
    cells = cells_of(
        row(dataset="usps", method="fw", classes=10, subproblems=45, status="time_limit"),
        row(dataset="usps", method="mfw", classes=10, subproblems=45, status="converged", seed=1),
        row(dataset="usps", method="mfw", classes=10, subproblems=45),
    )
    text = render(drawing.draw_tables(cells, ["accuracy"]), "markdown")
    assert "| cut" in text
    assert "before all pairs of classes were solved" in " ".join(text.split())


def test_none_is_best_while_a_rival_cut_short_might_be() -> None:
    cut = cells_of(
        row(dataset="a", method="fw", status="time_limit", train_seconds=1),
        row(dataset="a", method="mfw", train_seconds=5),
        row(dataset="a", method="cvm", train_seconds=5),
    )
    drawn = render(drawing.draw_tables(cut, ["time"]), "markdown")
    assert "| a | 1.00\\* | 5.00 | 5.00 |" in drawn


def test_two_solvers_have_stars_and_dashes_as_002_prints_them() -> None:
    def cell(method, C, status="converged", seconds=1.0):
        return row(
            dataset="covtype",
            method=method,
            kernel="linear",
            C=C,
            tolerance=0.01,
            status=status,
            train_seconds=seconds,
            steps=7,
            width_rule="",
        )

    table = cells_of(
        cell("liblinear", 1),
        cell("avsf", 1, seconds=2.0),
        cell("liblinear", 10, "time_limit", 60),
        cell("avsf", 10, seconds=3),
        cell("liblinear", 100, "time_limit", 60),
        cell("avsf", 100, "time_limit", 60),
    )
    drawn = render(drawing.paper_tables("002-2", table, with_published=False), "markdown")
    assert "| cover type | liblinear | **1.00** | 60.0\\* | — |" in drawn
    assert "| cover type | AVSF | 2.00 | **3.00** | — |" in drawn


def test_a_cell_that_promises_little_is_marked_and_named() -> None:
    table = cells_of(
        row(dataset="a", method="fw", relative_gap=3.06),
        row(dataset="a", method="mfw", flags=promises.BELOW_MAJORITY),
        row(dataset="a", method="cvm", relative_gap=3.06, status="max_iterations"),
    )
    drawn = render(drawing.draw_tables(table, ["time"]), "markdown")
    assert "1.00§" in drawn.replace("**", "")
    assert "a/fw (relative gap 3.06)" in drawn
    assert "a/mfw (fewer training rows right than the largest class has)" in drawn
    assert "a/cvm (" not in drawn, "nobody expects a small gap where a limit ended the run"


def test_notes_name_the_cells_of_their_own_table_and_what_sets_these_apart() -> None:
    def cell(C, tolerance, method="avsf", **fields):
        return row(dataset="covtype", method=method, kernel="linear", C=C, tolerance=tolerance,
                   **{"width_rule": "", "rows": 581012} | fields)  # fmt: skip

    table = cells_of(
        cell(1, 0.01, relative_gap=0.5),
        cell(10, 0.01),
        cell(1, 0.001, relative_gap=0.25, rows=9),
        cell(10, 0.001, status="error"),
        cell(1, 0.001, "liblinear", status="missing"),
        cell(10, 0.001, "liblinear", status="missing"),
    )
    loose, tight = (" ".join(drawing.paper_tables(name, table)[0].notes) for name in ("002-2", "002-3"))
    assert "§ weak guarantee for covtype/avsf at C 1 (relative gap 0.5)" in loose
    assert "not complete" not in loose
    assert "training rows" not in loose
    assert "0.5)" not in tight
    assert "§ weak guarantee for covtype/avsf at C 1 (relative gap 0.25)" in tight
    assert "1 error in covtype/avsf at C 10;" in tight
    assert "1 missing in covtype/liblinear" in tight.partition(" training")[0].split("; ")[-1]
    assert "training rows, ours of published: cover type 9 of 581012" in tight


@pytest.mark.parametrize("spoiled", [{"objective": "inf"}, {"flags": promises.NOT_FINITE_FLAG}])
def test_a_run_whose_numbers_are_not_finite_is_never_the_best(spoiled: dict[str, str]) -> None:
    table = cells_of(
        row(dataset="a", method="fw", train_seconds=1, **spoiled),
        row(dataset="a", method="mfw", train_seconds=3),
        row(dataset="a", method="cvm", train_seconds=5),
    )
    drawn = render(drawing.draw_tables(table, ["time"]), "markdown")
    assert "**3.00**" in drawn
    assert "**1.00**" not in drawn


def test_incomplete_cells_say_how_many_runs_they_rest_on() -> None:
    table = cells_of(
        row(dataset="a", method="fw"), row(dataset="a", method="fw", repetition=1, status="error")
    )
    drawn = render(drawing.draw_tables(table, ["time"]), "markdown")
    assert "1.00 (1/2)" in drawn
    assert "not complete: 1 converged, 1 error in a/fw" in drawn


def test_experiments_find_their_own_layout_and_others_get_plain_tables() -> None:
    assert drawing.fitting_layouts(small()) == ["003-2", "003-3"]
    own = cells_of(*(row(dataset=d, method=m) for d in "ab" for m in ("cvm", "fw", "mine")))
    assert drawing.fitting_layouts(own) == []
    assert [names for _, names in drawing.tables_for(own, ())] == [["accuracy", "time", "size"]]
    assert "| a | **1.00** | **1.00** | **1.00** |" in render(drawing.draw_tables(own, ["time"]), "markdown")


def test_tolerances_of_their_own_are_named_and_compared_all_the_same() -> None:
    rows = [
        row(dataset="a1a", method=m, tolerance=e, train_seconds=t)
        for m, e, t in (("cvm", 1e-3, 6), ("mfw", 1e-3, 3), ("fw", 1e-2, 2))
    ]
    drawn = render(drawing.paper_tables("000-speedup", cells_of(*rows), with_published=False), "markdown")
    assert "| a1a | 1.00 | **3.00** | 2.00 |" in drawn
    assert "tolerance 0.001 (0.01 for fw)" in drawn


def test_a_data_set_that_the_paper_lacks_has_one_line() -> None:
    table = cells_of(*(row(dataset=d, method=m) for d in ("a1a", "mine") for m in ("cvm", "fw", "mfw")))
    drawn = render(drawing.paper_tables("003-3", table), "markdown").splitlines()
    assert [line.split("|")[1:3] for line in drawn if line.startswith("|")][2:] == [
        [" a1a ", " ours "],
        ["  ", " paper "],
        ["  ", " ratio "],
        [" mine ", " ours "],
    ]


@pytest.mark.parametrize(
    ("label", "short"),
    [
        ("synthetic:sparse-text?rows=20242&features=47236&test=0&seed=0", "sparse-text 20242"),
        ("scs(metric=rkhs, growth=theory, start=one)", "scs(metric=rkhs"),
        ("tolerance 1e-06, search sampled, stop meb, width_rule paper", "tolerance 1e-06, search"),
    ],
)
def test_no_word_of_a_long_label_is_cut_and_the_whole_stands_below(label: str, short: str) -> None:
    entries = (TableEntry("1"),) * 4
    drawn = render([Table("times", ("",), ("a", "b", "c", "d"), (TableRow((label,), entries),))], "terminal")
    assert f"\n{short} [1] " in drawn
    assert drawn.rstrip().endswith(f"[1] {label}")


def test_long_names_do_not_crowd_out_the_numbers_in_a_terminal() -> None:
    names = [f"synthetic:adult-like?rows={n}&features=300&test=300&noise=0.02&seed=0" for n in (300, 420)]
    table = cells_of(*(row(dataset=d, method=m) for d in names for m in ("cvm", "fw", "mfw")))
    drawn = render(drawing.draw_tables(table, ["time"]), "terminal")
    assert drawn.count("CVM") == 1, "in one piece"
    assert max(map(len, drawn.splitlines())) <= 80
    assert f"[2] {names[1]}" in " ".join(drawn.split())


def test_what_varies_within_a_data_set_becomes_a_label() -> None:
    table = cells_of(*(row(dataset="a", method="fw", C=c, train_seconds=c) for c in (1, 4)))
    drawn = render(drawing.draw_tables(table, ["time"]), "markdown")
    assert "| data set | C | FW |" in drawn
    assert "| a | 4 | 4.00 |" in drawn


def test_speed_up_and_relative_accuracy_tables_follow_from_time_and_accuracy() -> None:
    drawn = render(drawing.paper_tables("000-speedup", None), "markdown")
    assert "| w8a | 1.00 | **107** | 9.28 |" in drawn
    with pytest.raises(ResultsError, match="not printed in any of the papers"):
        drawing.paper_tables("000-size", None)


def test_tables_of_data_sets_show_the_printed_sizes_and_ours_below() -> None:
    printed = render(drawing.draw_tables(None, ["003-1"]), "markdown")
    assert "| USPS-Ext | 266079 | 75383 | 2 | 266079 | 266079 | 676 |" in printed
    assert render(drawing.draw_tables(None, ["002-1"]), "csv").splitlines()[1:3] == [
        '"002, Table 1: data sets",covtype,581012,54',
        '"002, Table 1: data sets",kdda,8407752,20216830',
    ]
    ours = render(drawing.draw_tables(small(), ["003-1"]), "markdown")
    assert (
        "| Web w8a | paper | 49749 | 14951 | 2 | 49749 | 49749 | 300 |\n|  | ours | 5000 | - | 2 | - | - | 10 |"
        in ours
    )
    assert "USPS" not in ours


def test_unknown_layouts_and_measures_name_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"there is no table 'beauty'; known are 000-1(?!.*, accuracy,)"):
        drawing.draw_tables(None, ["beauty"])  # there are no cells to measure
    with pytest.raises(UsageError, match=r"there is no table 'beauty'; known are 000-1.*, accuracy, time"):
        drawing.draw_tables(small(), ["beauty"])
    with pytest.raises(UsageError, match="there is no table '003-9'; did you mean '003-8'"):
        drawing.draw_tables(None, ["003-9"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.712, "0.712"),
        (6.264, "6.26"),
        (9.999, "10.0"),
        (45.06, "45.1"),
        (2060.2, "2060"),
        (0.0461, "0.0461"),
        (0.00123, "0.00123"),
        (1.59e11, "1.59e+11"),
        (0, "0"),
        (99.96, "100"),
    ],
)
def test_three_significant_digits(value: float, text: str) -> None:
    assert measures.three_digits(value) == text


def test_latex_escapes_what_it_would_obey() -> None:
    assert latex_text("50% of a_b & {x} ±") == r"50\% of a\_b \& \{x\} $\pm$"


def test_names_from_files_cannot_break_html_or_markdown() -> None:
    table = cells_of(row(dataset="<b>|", method="fw"), row(dataset="<b>|", method="mfw"))
    drawn = drawing.draw_tables(table, ["time"])
    assert "<b>" not in render(drawn, "html")
    assert "<b>\\|" in render(drawn, "markdown")


def test_data_sets_stand_in_the_papers_order_and_new_ones_last() -> None:
    assert in_order(published.names()["lock"].iloc[::-1])[:2] == ["a1a", "a2a"]


def test_ratios_and_marks_say_that_a_time_is_a_bound() -> None:
    rows = [
        row(dataset="a1a", method="cvm", status="time_limit", train_seconds=60),
        row(dataset="a1a", method="fw", train_seconds=2),
        row(dataset="a1a", method="fw", status="error", train_seconds="", seed=1, repetition=1),
        row(dataset="a1a", method="mfw", status="time_limit", train_seconds=60),
        row(dataset="a1a", method="mfw", status="error", train_seconds="", seed=1, repetition=1),
    ]
    (speedup,) = drawing.draw_tables(cells_of(*rows), ["000-speedup"])
    shown = {head: entry.text for head, entry in zip(speedup.heads, speedup.rows[0].entries, strict=True)}
    assert shown["FW"] == "≥30.0"
    (times,) = drawing.draw_tables(cells_of(*rows), ["time"])
    assert [entry.mark for entry in times.rows[0].entries] == ["*", " (1/2)", "* (1/2)"]


def test_a_run_cut_short_is_best_in_nothing_that_grows() -> None:
    rows = [
        row(dataset="a1a", method="cvm", status="time_limit", steps=10),
        row(dataset="a1a", method="fw", steps=20),
    ]
    (table,) = drawing.draw_tables(cells_of(*rows), ["steps"])
    assert [entry.best for entry in table.rows[0].entries] == [False, False]


def test_objectives_of_two_problems_are_not_ranked() -> None:
    rows = [
        row(dataset="a1a", method="fw", objective=0.5, primal=900),
        row(dataset="a1a", method="avsf", kernel="linear", objective=800, primal=800),
        row(dataset="a1a", method="mfw", objective=0.4, primal=901),
    ]
    cells = cells_of(*rows).assign(kernel="rbf")
    (table,) = drawing.draw_tables(cells, ["objective"])
    assert [entry.best for entry in table.rows[0].entries] == [False, False, True]
    with pytest.raises(ResultsError, match="minimise R on the simplex and some the primal"):
        method_matrix(cells, "objective", ["fw", "avsf"])


def test_sizes_of_several_classes_are_ranked_only_if_they_count_the_same() -> None:
    def best(classes: int, **linear: object) -> list[bool]:
        several = {"dataset": "a", "classes": classes, "primal": 900}
        rows = [
            row(**several, method="fw", subproblems=classes * (classes - 1) // 2, support_vectors=60),
            row(**several, method="mfw", subproblems=classes * (classes - 1) // 2, support_vectors=70),
            row(**several | {"method": "avsf", "objective": 900, "support_vectors": 50} | linear),
        ]
        (table,) = drawing.draw_tables(cells_of(*rows), ["size"])
        return [entry.best for entry in table.rows[0].entries]

    assert best(2, subproblems=1) == [False, False, True]
    assert best(3, subproblems=3) == best(5, subproblems=5) == [True, False, False]


def test_whole_counts_have_no_decimals_and_means_have_some() -> None:
    whole = row(dataset="a", method="fw", support_vectors=55)
    means = [row(dataset="a", method="mfw", support_vectors=n, repetition=n) for n in (55, 56)]
    (table,) = drawing.draw_tables(cells_of(whole, *means), ["size"])
    assert [entry.text for entry in table.rows[0].entries] == ["55", "55.5"]
    assert measures.measure("time").printed(55.0) == "55.0"


def test_notes_name_long_data_sets_by_the_numbers_of_their_labels() -> None:
    name = "synthetic:adult-like?rows=300&features=300&test=300&noise=0.02&seed=0"
    table = cells_of(*(row(dataset=d, method=m, relative_gap=3)
                       for d in (name, f"{name}0") for m in ("fw", "mfw", "cvm")))  # fmt: skip
    drawn = " ".join(render(drawing.draw_tables(table, ["time"]), "terminal").split())
    assert "guarantee for [1]/fw (relative gap 3); [1]/mfw (relative gap 3); [1]/cvm" in drawn
    assert "[2]/fw (relative gap 3)" in drawn
    assert f"[1] {name} [2] {name}0 " in drawn


def test_a_sweep_over_the_width_is_a_table_and_its_values_choose() -> None:
    rows = [
        row(dataset="wdbc", method="swap", width_rule="", gamma=1 / (2 * s), sigma2=s, test_accuracy=0.9)
        for s in (0.5, 1.5, 3)
    ]
    (table,) = drawing.draw_tables(cells_of(*rows), ["accuracy"])
    assert table.label_heads == ("data set", "gamma")
    assert [line.labels[1] for line in table.rows] == ["1", "0.333333", "0.166667"]
    assert len(matching(frame_of(*rows), ["gamma=0.333333"])) == 1


def test_comparisons_with_a_baseline_are_no_plain_tables() -> None:
    with pytest.raises(UsageError, match="there is no table 'speedup'"):
        drawing.draw_tables(cells_of(row(dataset="a1a", method="fw")), ["speedup"])


def test_a_table_says_which_cells_have_fewer_runs_and_that_protocols_differ() -> None:
    rows = [
        row(dataset="a1a", method=m, repetition=i, protocol="paper")
        for m, n in (("cvm", 3), ("fw", 2))
        for i in range(n)
    ]
    rows.append(row(dataset="w1a", method="cvm", protocol="fw-svms"))
    (table,) = drawing.plain_tables(cells_of(*rows), ["time"])
    notes = " ".join(table.notes)
    assert "fewer runs: a1a/fw (2 of 3)" in notes
    assert "several protocols: paper, fw-svms" in notes
