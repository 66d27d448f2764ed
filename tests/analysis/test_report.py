"""What a report says, and what its page holds; how it looks and works is tested in a browser (tests/browser)."""

import importlib
import json
import math
import re

import pandas as pd
import pytest

from fwsvm.analysis import published, results
from fwsvm.analysis.figures import Drawing, FigureData, draw, selection
from fwsvm.analysis.figures.style import band, hollow, panels, style_of
from fwsvm.analysis.report import page, plotting
from fwsvm.analysis.report.chart import chart
from fwsvm.analysis.report.pictures import in_json_script, inline_svg
from fwsvm.errors import ResultsError
from tests.analysis.folders import like_paper, row, write

pytest.importorskip("matplotlib")


def text_of(html: str, section: str) -> str:
    """Return the words of one section."""
    (found,) = re.findall(rf"<section id={section}>(.*?)</section>", html, re.DOTALL)
    return re.sub(
        r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"<(script|svg).*?</\1>", "", found, flags=re.DOTALL))
    )


def made(folder, rows) -> str:
    return page(results.read([write(folder, rows)]), mixed_load=True)


def test_the_summary_says_what_ran_what_won_and_what_is_uncertain(tmp_path) -> None:
    times = {"a": {"fw": (1, 1.1), "mfw": (4, 4.2)}, "b": {"fw": (2, 2.1), "mfw": (1, 3.5)}}
    rows = [
        row(
            dataset=d,
            method=m,
            repetition=i,
            seed=i,
            train_seconds=t,
            test_accuracy=0.9 if m == "fw" else 0.8,
        )
        for d, methods in times.items()
        for m, both in methods.items()
        for i, t in enumerate(both)
    ]
    rows += [row(dataset="c", method=m, status="missing", message="no file", train_seconds="", test_accuracy="")
             for m in ("fw", "mfw")]  # fmt: skip
    said = text_of(made(tmp_path, rows), "summary")
    assert "10 reported runs (8 converged, 2 missing) of 2 methods (FW, MFW) on 3 data sets" in said
    assert "Fastest: FW on 2 of 2 problems." in said
    geometric = math.sqrt((4.1 / 1.05) * (2.25 / 2.05))
    assert f"over 2 that all solved: FW 1, MFW {geometric:.3g}." in said
    assert "Mean of points below the highest accuracy, over 2 that all solved: FW 0, MFW 10." in said
    assert "On 1 of 2 problems the best two times are within two standard errors" in said
    assert "8 of 8 finished runs have a certificate" in said
    assert "Not finished: 2 runs on 1 data set (2 missing)" in said
    assert "no file" in said


def test_the_summary_says_when_it_ran_and_names_the_cells_that_promise_little(tmp_path) -> None:
    rows = [
        row(dataset=d, method=m, relative_gap=gap, certified=False, status="sampled_stop",
            started_utc=f"2026-03-0{1 + i}T1{i}:07:31+00:00")
        for i, d in enumerate("ab") for m, gap in (("fw", 1e-4), ("mfw", 3.2))
    ]  # fmt: skip
    said = text_of(made(tmp_path, rows), "summary")
    assert "started between 2026-03-01 10:07 and 2026-03-02 11:07 UTC." in said
    assert "MFW on a (relative gap 3.2), MFW on b (relative gap 3.2)." in said


def test_one_problem_that_ran_once_is_summed_up_without_means(tmp_path) -> None:
    said = text_of(
        made(tmp_path, [row(dataset="a", method=m, train_seconds=t) for m, t in (("fw", 1), ("mfw", 3))]),
        "summary",
    )
    assert "Fastest: FW on 1 of 1 problem. Time over the shortest: FW 1, MFW 3." in said
    assert "Accuracies are alike: all methods are best on all of 1 problem." in said
    assert (
        "No two methods ran more than once on a problem: how much times and accuracies vary is not known."
        in said
    )


def test_data_sets_of_which_nothing_finished_stand_in_the_folded_line_alone(tmp_path) -> None:
    rows = [row(dataset="usps", method=m) for m in ("fw", "mfw")]
    rows += [row(dataset="protein", method="fw", status="missing", train_seconds="", test_accuracy="")]
    html = made(tmp_path, rows)
    assert "Protein" in text_of(html, "summary")
    assert all("Protein" not in text_of(html, section) for section in ("tables", "figures", "tests"))


def test_a_folder_of_which_nothing_finished_has_a_page(tmp_path) -> None:
    html = made(tmp_path, [row(dataset="a", method="fw", status="error", train_seconds="", test_accuracy="")])
    assert "No run has finished." in text_of(html, "tables")
    assert "1 error" in text_of(html, "summary")


def test_experiments_that_fill_one_table_of_a_paper_fill_it_together(tmp_path) -> None:
    series = [r for r in like_paper("003", repetitions=1) if r["dataset"][0] in "aw"]
    rows = [r | {"experiment": "adult" if r["dataset"].startswith("a") else "web"} for r in series]
    assert text_of(made(tmp_path, rows), "tables").count("003, Table 3") == 1


def test_tests_compare_the_papers_methods_with_rbf_on_published_sets_where_folders_hold_more(
    tmp_path,
) -> None:
    rows = like_paper("003", repetitions=1)
    some = [r for r in rows if r["dataset"] in {"a1a", "a2a", "a3a"}]
    more = [r | {"kernel": "quadratic", "run_id": f"q{i}"} for i, r in enumerate(some)]
    more += [row(dataset="a1a", method="swap", kernel="quadratic")]
    more += [row(dataset="w2a-drawn", method=m) for m in ("cvm", "fw", "mfw", "swap")]
    html = made(tmp_path, [*rows, *more])
    assert text_of(html, "tests").count("N = 26 data sets, k = 3 methods") == 2
    assert "In time the Nemenyi test, over 26 data sets" in text_of(html, "summary")
    assert ">Mean ranks in training time (s) on 26 data sets" in html.replace("&#x27;", "'")


def test_long_names_are_short_in_tables_and_claims_and_full_when_pointed_at(tmp_path) -> None:
    full = "synthetic:gaussians?rows=300&features=20&test=300&noise=0&seed=0"
    html = made(tmp_path, [row(dataset=full, method=m) for m in ("fw", "mfw")])
    assert full not in text_of(html, "tables")
    assert "gaussians 300" in text_of(html, "tables")
    assert f'title="{full.replace("&", "&amp;")}"' in html


def test_without_bokeh_a_sentence_says_how_figures_would_zoom(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(plotting, "find_spec", lambda _: None)
    html = made(tmp_path, [row(dataset=d, method=m) for d in "ab" for m in ("fw", "mfw")])
    assert "pip install 'fwsvm[report]'" in text_of(html, "figures")
    assert "id=library" not in html
    assert "<svg" in html


@pytest.mark.slow
def test_a_page_that_would_be_too_large_keeps_pictures_and_leaves_out_numbers(tmp_path, monkeypatch) -> None:
    pytest.importorskip("bokeh")
    rows = [row(dataset=d, method=m) for d in "ab" for m in ("fw", "mfw")]
    whole = made(tmp_path, rows)
    module = importlib.import_module("fwsvm.analysis.report.page")
    main, library = re.findall(r"<main>.*</main>|id=library>[^<]*", whole, re.DOTALL)
    monkeypatch.setattr(module, "MOST_BYTES", len(main) + len(library) + module.OWN_BYTES - 100)
    less = made(tmp_path, rows)
    assert less.count("class=numbers") == whole.count("class=numbers") - 1
    assert less.count("<svg") == whole.count("<svg")
    monkeypatch.setattr(module, "MOST_BYTES", 0)
    assert "id=library" not in made(tmp_path, rows)


@pytest.mark.parametrize(
    "text", ["</script>", "<!--", "\u2028\u2029", "]]>", "&lt;", "\ud83d\ude00", "\\u003c"]
)
def test_json_in_a_script_is_what_it_was_and_ends_nothing(text: str) -> None:
    text = text.encode("utf-16", "surrogatepass").decode("utf-16")
    script = in_json_script({text: [text, 1.5, None]})
    assert script.isascii()
    assert not set("<>&\u2028\u2029") & set(script)
    assert json.loads(script) == {text: [text, 1.5, None]}


def test_a_chart_has_the_numbers_of_its_drawing() -> None:
    figure, (left, right) = panels(2)
    style = style_of("fw", ["fw"])
    (line,) = left.plot([1, 2, 4], [3.0, 3.0, float("nan")], **style)
    hollow(left, [2], [3.0], style)
    left.plot(
        [4],
        [1.0],
        marker="o",
        markersize=12,
        markerfacecolor="none",
        markeredgecolor="#0072b2",
        linestyle="none",
    )
    band(left, [1, 2, 4], [1, 1, 1], [2, 3, 4], style)
    left.axhline(7)
    left.set_xscale("log")
    right.set_yticks([0, 1], ["one", r"\$two"])
    right.plot([5], [1], marker="s", linestyle="none", label="SWAP")
    rows = {line: [{"data set": name} for name in "abc"]}
    numbers = chart(Drawing("name", "A caption.", figure, rows))
    assert numbers is not None
    json.dumps(numbers, allow_nan=False)
    first, second = numbers["panels"]
    assert first["x"]["log"]
    assert first["rules"] == [{"at": 7, "across": "x"}]
    curve, mark, ring = first["curves"]
    assert curve["name"] == mark["name"] == "FW"
    assert curve["turns"] == [[1, 2, 4], [3, 3, None]]
    assert (curve["fields"], curve["rows"]) == (["data set"], [["a"], ["b"], ["c"]])
    assert mark["hollow"]
    assert (mark["ring"], curve["ring"]) == (None, None)
    assert (ring["ring"], ring["colour"], ring["hollow"]) == (16, "#0072B2", False)
    assert mark["line"] is None
    assert {area["name"] for area in first["areas"]} == {"FW"}
    assert second["y"]["ticks"] == [[0, 1], ["one", "$two"]]
    assert second["curves"][0]["marks"] == [[5], [1]]


def test_level_parts_of_a_curve_keep_their_ends() -> None:
    figure, (panel,) = panels(1)
    x, y = range(8), [5, 5, 5, 5, 2, 2, 2, 1]
    panel.plot(x, y, **(style_of("fw", ["fw"]) | {"markevery": 3}))
    numbers = chart(Drawing("name", "A caption.", figure))
    assert numbers is not None
    (curve,) = numbers["panels"][0]["curves"]
    assert curve["turns"] == [[0, 3, 4, 6, 7], [5, 5, 2, 2, 1]]
    assert curve["marks"] == [[0, 3, 6], [5, 5, 2]]


def test_a_figure_with_parts_of_its_own_stays_a_picture() -> None:
    figure, (panel,) = panels(1)
    panel.plot([1, 2], [1, 2])
    panel.text(1, 1, "here")
    assert chart(Drawing("name", "A caption.", figure)) is None


def test_an_inline_picture_follows_the_pages_colours_and_is_named() -> None:
    (drawing,) = draw(FigureData(published.cells("004")), ["datasets"], measures=("time",))
    svg = inline_svg(drawing, "p7-")
    assert svg.startswith('<svg role="img" aria-label="training time (s) on single data sets.')
    assert "var(--c-000000)" in svg
    assert not re.search(r"#000000|#0072b2", svg)
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert ids
    assert all(name.startswith("p7-") for name in ids)
    referred = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)
    assert {a or b for a, b in referred} <= set(ids)
    assert len(svg) < 0.8 * len(drawing.content("svg"))


def test_the_numbers_of_a_heat_map_keep_their_colours_as_its_cells_do() -> None:
    table = pd.DataFrame([[0.5, 0.9], [0.7, 0.6]], index=[1.0, 2.0], columns=[1.0, 2.0])
    svg = inline_svg(selection._heat_map("map", "wdbc", table, (1.0, 2.0)), "p1-")
    colours = dict(re.findall(r'<text style="[^"]*fill: ([^;"]+)[^>]*>(50.0|90.0)<', svg))
    assert colours == {"#fefefe": "50.0", "#111111": "90.0"}


def test_results_without_reported_runs_have_no_page(tmp_path) -> None:
    with pytest.raises(ResultsError, match="no final runs"):
        made(tmp_path, [row(dataset="a", method="fw", role="select")])
