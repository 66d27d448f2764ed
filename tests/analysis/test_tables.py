"""Tables drawn from known rows: every form as a whole, and what must never be hidden."""

import csv
import io

import pytest

from fwsvm.analysis import measures
from fwsvm.analysis.layouts import fitting_layouts, named_layouts
from fwsvm.analysis.names import short_names
from fwsvm.analysis.papers import LAYOUTS
from fwsvm.analysis.tables import Entry, Row, Table, latex_text, render
from fwsvm.errors import ResultsError, UsageError
from fwsvm.status import BELOW_MAJORITY, NOT_FINITE_FLAG
from tests.analysis.folders import cells_of, row


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


def draw(cells, *names: str) -> list[Table]:
    """Return the tables of these names."""
    return [
        table for layout in named_layouts(names, of_cells=cells is not None) for table in layout.draw(cells)
    ]


def entries(cells, name: str) -> list[Entry]:
    """Return the entries of the first line of a table."""
    (table,) = draw(cells, name)
    return list(table.rows[0].entries)


MARKDOWN = """\
**Frandi et al. (2013), Table 3: training time (s)**

| data set |  | cvm | fw | mfw |
| :-- | :-- | --: | --: | --: |
| a1a | ours | 10.0 ± 2.0 | 21.0 ± 1.0 | **1.00** |
|  | paper | 6.26 ± 0.09 | 12.5 ± 0.7 | **0.712 ± 0.004** |
| w8a | ours | 60.0\\* | **0.500** | missing |
|  | paper | 1030 ± 60 | **9.64 ± 5.22** | 111 ± 127 |

- ours: profile paper, kernel rbf, C 1, tolerance 1e-06, search sampled, stop meb, width_rule paper
- \\* stopped at a time limit; a time is a lower bound
- fewer training rows than published: w8a 5,000 of 49,749
"""
LATEX = """\
% \\usepackage{booktabs}
\\begin{table}
\\centering
\\caption{Frandi et al. (2013), Table 3: training time (s)}
\\label{tab:frandi-et-al-2013-table-3-training-time-s}
\\begin{tabular}{llrrr}
\\toprule
data set &  & cvm & fw & mfw \\\\
\\midrule
a1a & ours & 10.0 $\\pm$ 2.0 & 21.0 $\\pm$ 1.0 & \\textbf{1.00} \\\\
 & paper & 6.26 $\\pm$ 0.09 & 12.5 $\\pm$ 0.7 & \\textbf{0.712 $\\pm$ 0.004} \\\\
\\addlinespace
w8a & ours & 60.0* & \\textbf{0.500} & missing \\\\
"""
TERMINAL = """\
Frandi et al. (2013), Table 3: training time (s)
data set             cvm         fw          mfw
────────────────────────────────────────────────
a1a      ours   10.0±2.0   21.0±1.0        1.00<
         paper 6.26±0.09   12.5±0.7 0.712±0.004<
w8a      ours      60.0*     0.500<      missing
         paper   1030±60 9.64±5.22<      111±127
"""


def test_each_form_as_a_whole() -> None:
    drawn = draw(small(), "003-3")
    assert render(drawn, "markdown") == MARKDOWN
    assert render(drawn, "latex").startswith(LATEX)
    assert render(drawn, "terminal").startswith(TERMINAL)
    lines = list(csv.DictReader(io.StringIO(render(drawn, "csv"))))
    assert [(line["data set"], line["line 1"]) for line in lines[:2]] == [("a1a", "ours"), ("a1a", "paper")]
    assert (lines[0]["cvm"], lines[0]["cvm sd"], lines[2]["mfw"]) == ("10.0", "2.0", "missing")


@pytest.mark.parametrize("name", [n for n in LAYOUTS if n != "nanculef-size"])
def test_every_paper_layout_draws_its_printed_numbers_in_every_form(name: str) -> None:
    drawn = draw(None, name)
    assert all(render(drawn, form) for form in ("terminal", "markdown", "latex", "csv"))
    assert max(map(len, render(drawn, "terminal").splitlines())) <= 80


def test_a_wide_table_is_drawn_in_pieces() -> None:
    heads = tuple(f"method {n}" for n in range(12))
    numbers = tuple(Entry("1.0", "0.1", best=n == 3) for n in range(12))
    table = Table("times", ("data set",), heads, (Row(("a1a",), numbers),))
    drawn = render([table], "terminal")
    assert max(map(len, drawn.splitlines())) <= 80
    assert all(head in drawn for head in heads)
    assert drawn.count("a1a") > 1
    assert "standard deviations do not fit" in drawn
    assert "±0.1" in render([table], "terminal", width=300)


def test_rows_never_look_alike_and_no_name_crowds_out_the_numbers() -> None:
    paths = [f"/data/{'x' * 60}/{side}/rows.svm" for side in ("left", "right")]
    made = [
        f"synthetic:adult-like?rows={n}&features=300&test=300&seed={s}"
        for n, s in ((300, 0), (300, 1), (420, 0))
    ]
    rows = [row(dataset=d, method=f"scs(metric={m}, growth=theory, start=one)")
            for d in (*paths, *made) for m in ("rkhs", "l2")]  # fmt: skip
    (table,) = draw(cells_of(*rows), "time")
    labels = [line.labels for line in table.rows]
    assert len({*labels}) == 5
    assert labels[-1] == ("adult-like 420",)
    assert len({*table.heads}) == 2
    assert max(map(len, render([table], "terminal").splitlines())) <= 80
    assert len({*short_names([*paths, *paths, "a" * 99, "a" * 98]).values()}) == 4


@pytest.mark.parametrize(
    ("name", "fields", "best"),
    [
        ("time", {"train_seconds": (9, 5, 5)}, "mfw cvm"),
        ("accuracy", {"test_accuracy": (0.843899, 0.843902, 0.8430)}, "fw mfw"),  # printed alike
        ("time", {"train_seconds": (1, 5, 5), "status": ("time_limit", "converged", "converged")}, ""),
        ("time", {"train_seconds": (1, 3, 5), "objective": ("inf", 0.5, 0.5)}, "mfw"),
        ("time", {"train_seconds": (1, 3, 5), "flags": (NOT_FINITE_FLAG, "", "")}, "mfw"),
        ("objective", {"objective": (0.5, 800, 0.4), "primal": (900, 800, 901)}, "cvm"),  # mfw has the primal
    ],
)  # fmt: skip
def test_the_best_is_marked_among_what_can_be_compared(name: str, fields: dict, best: str) -> None:
    methods = ("fw", "mfw", "cvm")
    rows = [row(dataset="a", method=m, **{key: values[place] for key, values in fields.items()})
            for place, m in enumerate(methods)]  # fmt: skip
    found = entries(cells_of(*rows), name)
    assert " ".join(m for m, entry in zip(methods, found, strict=True) if entry.best) == best


def test_what_is_weak_cut_or_incomplete_is_marked_and_explained() -> None:
    weak = cells_of(
        row(dataset="a", method="fw", relative_gap=3.06),
        row(dataset="a", method="mfw", flags=BELOW_MAJORITY),
        row(dataset="a", method="cvm", relative_gap=3.06, status="max_iterations"),
        row(dataset="a", method="swap"),
        row(dataset="a", method="swap", repetition=1, status="error"),
    )
    drawn = render(draw(weak, "time"), "markdown").replace("**", "")
    assert "| a | 1.00§ | 1.00§ | 1.00¶ | 1.00 (1/2) |" in drawn
    assert "a/fw (relative gap 3.06); a/mfw (fewer training rows right than the largest class has)" in drawn
    assert "a/cvm (" not in drawn, "nobody expects a small gap where a limit ended the run"
    cut = cells_of(row(dataset="usps", method="fw", classes=10, subproblems=45, status="time_limit"))
    drawn = render(draw(cut, "accuracy"), "markdown")
    assert "| cut |" in drawn
    assert "before all pairs of classes were solved" in drawn


def test_quotients_and_marks_say_that_a_time_is_a_bound() -> None:
    rows = [
        row(dataset="a1a", method="cvm", status="time_limit", train_seconds=60),
        row(dataset="a1a", method="fw", train_seconds=2),
        row(dataset="a1a", method="mfw", status="time_limit", train_seconds=60),
    ]
    assert [entry.text for entry in entries(cells_of(*rows), "000-speedup")][:2] == ["-", "≥30.0"]
    assert [entry.mark for entry in entries(cells_of(*rows), "time")] == ["*", "", "*"]


def test_experiments_find_their_own_layout_and_others_get_plain_tables() -> None:
    def found(cells) -> list[list[str]]:
        return [[layout.title.rpartition(", ")[2] for layout in some] for _, some in fitting_layouts(cells)]

    papers = ["Table 2: test accuracy (%)", "Table 3: training time (s)"]
    assert found(small()) == [papers]
    web, adult = ([row(experiment=e, dataset=d, method=m) for m in ("cvm", "fw", "mfw")]
                  for e, d in (("web", "w1a"), ("adult", "a1a")))  # fmt: skip
    assert found(cells_of(*web, *adult)) == [papers]
    own = cells_of(*(row(dataset=d, method=m) for d in "ab" for m in ("cvm", "fw", "mine")))
    assert found(own) == [["test accuracy (%)", "training time (s)", "support vectors"]]


def test_settings_are_labels_where_they_vary_and_notes_where_they_do_not() -> None:
    swept = cells_of(*(row(dataset="a", method="fw", C=c, train_seconds=c) for c in (1, 4)))
    assert "| data set | C | fw |" in (drawn := render(draw(swept, "time"), "markdown"))
    assert "| a | 4 | 4.00 |" in drawn
    settings = {"cvm": (1e-3, "paper"), "mfw": (1e-3, "paper"), "fw": (1e-2, "fw-svms")}
    rows = [row(dataset="a1a", method=m, tolerance=e, protocol=p) for m, (e, p) in settings.items()]
    (table,) = draw(cells_of(*rows), "time")
    assert "tolerance 0.001/0.01" in table.notes[0]
    assert "protocol fw-svms/paper" in table.notes[0]


def test_unknown_tables_name_the_known_ones() -> None:
    for name, cells, said in (
        ("beauty", None, r"there is no table 'beauty'; the tables are frandi-2(?!.*, accuracy,)"),
        ("beauty", small(), r"the tables are accuracy, frandi-2.*, time"),
        ("003-9", None, "did you mean 'frandi-8'"),
        ("speedup", small(), "there is no table 'speedup'"),
    ):
        with pytest.raises(UsageError, match=said):
            draw(cells, name)
    with pytest.raises(ResultsError, match="not printed in any of the papers"):
        draw(None, "nanculef-size")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.712, "0.712"), (6.264, "6.26"), (9.999, "10.0"), (2060.2, "2060"), (0.00123, "0.00123"),
     (1.59e11, "1.59e+11"), (0, "0"), (99.96, "100")],
)  # fmt: skip
def test_three_significant_digits(value: float, text: str) -> None:
    assert measures.three_digits(value) == text


def test_names_from_files_are_text_in_every_form() -> None:
    drawn = draw(cells_of(*(row(dataset="<b>|=x_", method=m) for m in ("fw", "mfw"))), "time")
    assert "\\<b>\\|=x_" in render(drawn, "markdown")
    assert latex_text("50% of a_b & {x} ±") == r"50\% of a\_b \& \{x\} $\pm$"
