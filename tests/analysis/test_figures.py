"""Figures: what is drawn is what the rows say; the same rows give the same bytes."""

import sys

import numpy as np
import pytest

from fwsvm.analysis import cells, published, results
from fwsvm.analysis.figures import FigureData, draw, kinds, style
from fwsvm.analysis.figures.data import label_of
from fwsvm.errors import UsageError
from tests.analysis.folders import like_paper, row, write


def source_of(folder) -> FigureData:
    runs = results.read([folder]).frame
    return FigureData(cells.cells_of_runs(runs), runs)


def named(drawings) -> dict:
    return {drawing.name: drawing for drawing in drawings}


def lines(drawing, panel: int = 0) -> dict[str, np.ndarray]:
    """Return the drawn values by the label of their line."""
    drawn = drawing.figure.axes[panel].lines
    return {
        line.get_label(): np.asarray(line.get_ydata())
        for line in drawn
        if not line.get_label().startswith("_")
    }


def test_series_are_the_cells_in_order_of_size() -> None:
    drawing = named(draw(FigureData(published.cells("003")), ["series"]))["series-time"]
    web = lines(drawing)
    assert web["FW"][:2] == pytest.approx([0.286, 0.658])
    assert web["CVM"][-1] == 1030
    assert [drawing.figure.axes[i].get_title(loc="left") for i in (0, 1)] == ["Web", "Adult"]
    assert drawing.figure.axes[0].get_xscale() == drawing.figure.axes[0].get_yscale() == "log"


def test_pictures_of_two_kernels_have_captions_of_their_own(tmp_path) -> None:
    kernels = (("fw", "rbf"), ("avsf", "linear"))
    rows = [row(dataset="usps", method=m, kernel=k, rows=7291) for m, k in kernels]
    rows.append(row(dataset="a", method="avsf", kernel="", status="missing", train_seconds=""))
    drawn = draw(source_of(write(tmp_path, rows)), ["datasets"], measures=("time",))
    assert [drawing.caption for drawing in drawn] == [
        f"training time (s) on single data sets, {kernel} kernel." for kernel in ("rbf", "linear")
    ]


def test_data_sets_capped_to_one_size_stand_one_after_the_other(tmp_path) -> None:
    sizes = {"w1a": 2477, "w2a": 3470, "w3a": 4000, "w4a": 4000, "w5a": 4000}
    rows = [row(dataset=d, method=m, rows=n) for d, n in sizes.items() for m in ("cvm", "fw")]
    panel = named(draw(source_of(write(tmp_path, rows)), ["series"]))["series-time"].figure.axes[0]
    assert panel.lines[0].get_xdata().tolist() == [0, 1, 2, 3, 4]
    assert [label.get_text() for label in panel.get_xticklabels()][2:4] == ["w3a\n4,000", "w4a\n4,000"]


def test_a_series_of_two_data_sets_is_drawn_beside_the_longer_one(tmp_path) -> None:
    rows = [
        row(dataset=d, method="fw", rows=i) for i, d in enumerate(("w1a", "w7a", "a1a", "a2a", "a3a"), 100)
    ]
    drawing = named(draw(source_of(write(tmp_path, rows)), ["series"]))["series-time"]
    assert [panel.get_title(loc="left") for panel in drawing.figure.axes] == ["Web", "Adult"]


def test_a_set_that_no_series_draws_stands_among_the_single_ones(tmp_path) -> None:
    rows = [row(dataset="a1a", method=m, rows=1605) for m in ("swap-2o", "newton")]
    (alone,) = draw(source_of(write(tmp_path / "alone", rows)), ["datasets"], measures=("time",))
    assert [label.get_text() for label in alone.figure.axes[0].get_yticklabels()] == ["a1a"]
    rows += [row(dataset=d, method="fw", kernel=k) for d, k in (("a2a", "linear"), ("usps", "rbf"))]
    drawn = draw(source_of(write(tmp_path / "more", rows)), ["datasets", "series"], measures=("time",))
    shown = {label.get_text() for each in drawn for label in each.figure.axes[0].get_yticklabels()}
    assert {"a1a", "a2a", "USPS"} <= shown


def test_axes_of_accuracy_end_at_a_hundred_per_cent(tmp_path) -> None:
    rows = [
        row(dataset=d, method=m, rows=n, C=C, test_accuracy=1)
        for d, n in (("a1a", 100), ("a2a", 200), ("usps", 300))
        for m in ("cvm", "fw")
        for C in (1, 3, 200)
    ]
    source = source_of(write(tmp_path, rows))
    panels = [p for each in draw(source, measures=("accuracy",)) for p in each.figure.axes]
    panels += draw(FigureData(published.cells("003")), ["datasets"], measures=("accuracy",))[0].figure.axes
    named_axes = [
        axis for p in panels for axis in (p.xaxis, p.yaxis) if "accuracy (%)" in axis.label.get_text()
    ]
    assert named_axes
    assert all(0 <= limit <= 100 for axis in named_axes for limit in axis.get_view_interval())


def test_ticks_of_a_sweep_are_its_values(tmp_path) -> None:
    rows = [row(dataset="usps", method="fw", C=C) for C in (0.5, 3, 200)]
    panel = draw(source_of(write(tmp_path, rows)), ["sweep"], measures=("time",))[0].figure.axes[0]
    assert panel.get_xticks().tolist() == [0.5, 3, 200]
    assert [label.get_text() for label in panel.get_xticklabels()] == ["0.5", "3", "200"]


def test_curves_that_coincide_are_drawn_as_differences_too(tmp_path) -> None:
    rows = [
        row(dataset=d, method=m, rows=i, test_accuracy=0.9 + 0.02 * i + shift)
        for i, d in enumerate(("a1a", "a2a", "a3a"), 1)
        for m, shift in (("cvm", 0.0), ("fw", 0.0004))
    ]
    drawing = named(draw(source_of(write(tmp_path, rows)), ["series"]))["series-accuracy"]
    assert lines(drawing, panel=1)["FW"] == pytest.approx([0.02] * 3)
    assert lines(drawing, panel=1)["CVM"] == pytest.approx([-0.02] * 3)
    assert "differences are from the mean" in drawing.caption
    apart = named(draw(FigureData(published.cells("003")), ["series"]))["series-time"]
    assert len(apart.figure.axes) == 2


def test_data_sets_without_a_number_are_named_in_the_caption_and_take_no_row(tmp_path) -> None:
    gone = {"status": "missing", "train_seconds": "", "test_accuracy": "", "support_vectors": ""}
    rows = [
        row(dataset="usps", method="fw", rows=7291),
        *(row(dataset=d, method="fw", **gone) for d in ("mnist", "mine/x.svm")),
    ]
    drawing = named(draw(source_of(write(tmp_path, rows)), ["datasets"]))["datasets-time"]
    assert [label.get_text() for label in drawing.figure.axes[0].get_yticklabels()] == ["USPS"]
    assert drawing.caption == "training time (s) on single data sets; no number for MNIST, mine/x.svm."


def test_a_point_has_the_row_of_its_cell(tmp_path) -> None:
    rows = [row(dataset="usps", method="fw", repetition=i, test_accuracy=0.9 + i / 100, C=4) for i in (0, 1)]
    drawing = named(draw(source_of(write(tmp_path, rows)), ["datasets"]))["datasets-accuracy"]
    ((said,),) = drawing.rows.values()
    assert said["data set"] == "usps"
    assert said["C"] == "4"
    assert said["test accuracy (%)"] == "90.50 ± 0.71"
    assert said["runs"] == "2 converged"


def test_speed_ups_leave_out_the_baseline_itself() -> None:
    drawing = named(draw(FigureData(published.cells("003")), ["series"]))["series-speedup"]
    assert set(lines(drawing)) == {"FW", "MFW"}
    assert lines(drawing)["FW"][-1] == pytest.approx(1030 / 9.64)


def test_sweeps_have_a_panel_per_problem_and_hollow_markers_for_bounds() -> None:
    drawing = named(draw(FigureData(published.cells("002")), ["sweep"]))["sweep-time"]
    titles = [axes.get_title(loc="left") for axes in drawing.figure.axes]
    assert titles == ["cover type", "kdd-a", "kdd-b", "news20", "rcv1", "url"]
    hollow = [
        line
        for line in drawing.figure.axes[2].lines
        if line.get_markerfacecolor() == "white" and line.get_xdata().size
    ]
    assert sorted(float(y) for line in hollow for y in line.get_ydata()) == [400000, 932000, 1450000, 2160000]
    assert "a time there is a lower bound" in drawing.caption
    (legend,) = drawing.figure.legends
    assert "cut short by a limit" in [text.get_text() for text in legend.get_texts()]


def test_the_rank_diagram_states_the_critical_difference() -> None:
    drawing = named(draw(FigureData(published.cells("003")), ["ranks"]))["ranks-time"]
    texts = [text.get_text() for text in drawing.figure.axes[0].texts]
    assert "CD = 0.65" in texts
    assert "MFW  1.54" in texts


@pytest.mark.parametrize("form", style.PICTURE_FORMATS)
def test_the_same_rows_give_the_same_file(form: str) -> None:
    first, second = (
        named(draw(FigureData(published.cells("004")), ["datasets"]))["datasets-time"] for _ in range(2)
    )
    content = first.content(form)
    assert content == second.content(form)
    assert content.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[form])


def test_methods_differ_in_marker_and_dashes_not_in_colour_alone() -> None:
    together = ("cvm", "fw", "mfw", "swap", "swap-2o")
    looks = [(style.STYLES[m][1], str(style.STYLES[m][2])) for m in together]
    assert len({marker for marker, _ in looks}) == len(together)
    assert len({style.STYLES[m][0] for m in together}) == len(together)


def test_a_method_of_ones_own_gets_its_own_style(tmp_path) -> None:
    rows = [
        *like_paper("003", repetitions=1),
        *(
            row(dataset=d, method=m, experiment="like-003")
            for d in ("usps", "letter")
            for m in ("mine", "yours")
        ),
    ]
    drawing = named(draw(source_of(write(tmp_path, rows)), ["datasets"]))["datasets-time"]
    styles = {line.get_label(): line.get_marker() for line in drawing.figure.axes[0].lines}
    assert styles["mine"] != styles["yours"]


def test_no_two_of_forty_curves_look_alike() -> None:
    for known in ([], ["fw", "swap"]):
        among = [*known, *(f"mine {number}" for number in range(40 - len(known)))]
        looks = [style.style_of(name, among) for name in among]
        assert len({(look["color"], look["marker"]) for look in looks}) == 40


def test_a_legend_names_what_has_a_point() -> None:
    figure, (panel,) = style.panels(1)
    panel.plot([1, 2], [np.nan, np.nan], label="nothing")
    panel.plot([1, 2], [np.nan, 3.0], label="a point")
    style.legend(figure, [panel])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a point"]


def test_times_of_zero_leave_a_log_axis_empty(tmp_path) -> None:
    rows = [row(dataset="usps", method=m, train_seconds=0.0) for m in ("fw", "cvm")]
    drawings = draw(source_of(write(tmp_path, rows)), ["datasets"])
    assert [drawing.content("svg")[:5] for drawing in drawings] == [b"<?xml"] * len(drawings)


def test_names_of_files_are_names_of_files(tmp_path) -> None:
    data = "synthetic:adult-like?rows=3&x=/../etc"
    rows = [row(dataset=data, method="cvm", role="select", C=c) for c in (1, 4)]
    (drawing,) = draw(source_of(write(tmp_path, [*rows, row(dataset=data, method="fw")])), ["selection"])
    assert drawing.name == "selection-synthetic-adult-like-rows-3-x-..-etc-cvm"


def test_nothing_is_drawn_from_too_little(tmp_path) -> None:
    assert (
        draw(
            source_of(
                write(
                    tmp_path,
                    [
                        row(
                            dataset="a",
                            method="fw",
                            status="missing",
                            train_seconds="",
                            test_accuracy="",
                            support_vectors="",
                        )
                    ],
                )
            ),
            kinds(),
        )
        == []
    )


def test_without_matplotlib_one_sentence_says_how_to_get_it(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"drawing needs matplotlib: pip install 'fwsvm\[plots\]'"):
        draw(FigureData(published.cells("003")))


def test_pictures_name_synthetic_sets_by_kind_and_rows() -> None:
    names = ["synthetic:gaussians?rows=300&features=20&test=300&noise=0&seed=0", "kdd99-10pc", "wdbc"]
    assert [label_of(name) for name in names] == ["gaussians 300", "KDD99-10pc", "wdbc"]


def test_a_method_of_one_setting_stands_beside_each_of_the_others(tmp_path) -> None:
    rows = [
        row(dataset=d, method=m, tolerance=tolerance, train_seconds=t, rows=100)
        for d in ("usps", "letter")
        for m, tolerance, t in (("cvm", 0.1, 8), ("fw", 0.1, 2), ("fw", 0.01, 4), ("scs", "", 1))
    ]
    drawn = draw(source_of(write(tmp_path, rows)), ["datasets"], measures=("speedup",))
    shown = [{point["method"].lower() for points in one.rows.values() for point in points} for one in drawn]
    assert shown == [{"fw", "scs"}, {"fw", "scs"}]
    assert ["tolerance 0.1" in drawn[0].caption, "tolerance 0.01" in drawn[1].caption] == [True, True]


def test_settings_of_one_method_are_pictures_of_their_own(tmp_path) -> None:
    rows = [
        row(dataset=d, method=m, tolerance=t, train_seconds=1 / t, rows=n)
        for d, n in (("usps", 7291), ("letter", 15000))
        for m in ("cvm", "fw")
        for t in (0.1, 0.01)
    ]
    drawn = draw(source_of(write(tmp_path, rows)), ["datasets"], measures=("time",))
    assert [one.name for one in drawn] == ["datasets-time", "datasets-time-2"]
    assert [one.caption for one in drawn] == [
        f"training time (s) on single data sets, tolerance {t}." for t in ("0.1", "0.01")
    ]


def test_sweeps_of_two_settings_are_pictures_of_their_own(tmp_path) -> None:
    def swept(experiment: str, **more):
        return [row(experiment=experiment, dataset="a1a", method="fw", C=C, **more) for C in (1, 4, 16)]

    for name in ("printed", "as-run"):
        write(tmp_path / name, swept(name, train_seconds=1.0 + (name == "as-run")))
    drawn = named(draw(source_of(tmp_path), ["sweep"], measures=("time",)))
    assert [lines(drawn[name])["FW"].tolist() for name in ("sweep-time", "sweep-time-2")] == [
        [2.0] * 3,
        [1.0] * 3,
    ]
    assert all(
        f"experiment {name}" in "".join(d.caption for d in drawn.values()) for name in ("printed", "as-run")
    )


def test_accuracy_below_a_baseline_may_be_zero_and_less(tmp_path) -> None:
    accuracies = {"cvm": 0.9, "fw": 0.8, "mfw": 0.95}
    write(tmp_path / "one", [row(dataset="usps", method=m, test_accuracy=a) for m, a in accuracies.items()])
    (drawing,) = draw(source_of(tmp_path), ["datasets"], measures=("relative-accuracy",))
    (panel,) = drawing.figure.axes
    assert panel.get_xscale() == "linear"
    low, high = panel.get_xlim()
    assert low < 100 * (0.9 - 0.95) / 0.9 < 0 < 100 * 0.1 / 0.9 < high


def test_the_gap_of_cells_is_drawn_where_a_kind_is_named(tmp_path) -> None:
    write(
        tmp_path / "one",
        [row(dataset="usps", method=m, relative_gap=g) for m, g in (("fw", 0.1), ("mfw", 0.2))],
    )
    (drawing,) = draw(source_of(tmp_path), ["datasets"], measures=("gap",))
    assert drawing.name == "datasets-gap"
    assert draw(source_of(tmp_path), [], measures=("gap",)) == []


def test_a_measure_of_traces_draws_no_other_figure_that_is_named(tmp_path) -> None:
    write(tmp_path / "one", [row(dataset="usps", method=m) for m in ("fw", "mfw")])
    assert draw(source_of(tmp_path), ["datasets"], measures=("suboptimality",)) == []


def test_a_sweep_names_the_sets_that_never_finished_and_those_of_fewer_rows(tmp_path) -> None:
    swept = [row(dataset="shuttle", method=m, C=C, rows=4350) for m in ("fw", "mfw") for C in (1, 16)]
    lacking = row(
        dataset="reuters", method="fw", status="missing", rows="", train_seconds="", test_accuracy=""
    )
    write(tmp_path, [*swept, lacking])
    drawn = named(draw(source_of(tmp_path), ["sweep"], measures=("time",)))["sweep-time"]
    for said in ("no number for Reuters", "fewer training rows than published: Shuttle 4,350 of 43,500"):
        assert said in drawn.caption
        assert said in drawn.figure.get_supxlabel()
