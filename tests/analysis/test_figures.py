"""Figures: what is drawn is what the rows say, axes end where numbers can, and what is lacking is named."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fwsvm.analysis import cells, figures, published, results
from fwsvm.analysis.figures import KINDS, Drawing, FigureData, convergence, style
from fwsvm.errors import UsageError
from tests.analysis.folders import cells_of, row, write, write_trace

PUBLISHED = FigureData(published.cells("003"))


def draw(data: FigureData, names=(), **asked) -> list[Drawing]:
    return figures.draw(replace(data, **asked), names)


def source_of(folder) -> FigureData:
    runs = results.read([folder]).frame
    return FigureData(cells.cells_of_runs(runs), runs)


def of_rows(*rows) -> FigureData:
    return FigureData(cells_of(*rows))


def named(drawings) -> dict:
    return {drawing.name: drawing for drawing in drawings}


def lines(drawing, panel: int = 0) -> dict[str, np.ndarray]:
    """Return the drawn values by the label of their line."""
    drawn = drawing.figure.axes[panel].lines
    return {
        line.get_label(): np.asarray(line.get_ydata(), dtype=float)
        for line in drawn
        if not line.get_label().startswith("_")
    }


def hollow(panel) -> list[float]:
    """Return the heights of the hollow markers of a panel."""
    marks = (line for line in panel.lines if line.get_label() == "_hollow")
    return sorted(float(y) for line in marks for y in line.get_ydata())


def texts(labels) -> list[str]:
    return [label.get_text() for label in labels]


def test_series_are_the_cells_in_order_of_size() -> None:
    drawn = named(draw(PUBLISHED, ["series"]))
    web = lines(drawn["series-time"])
    assert (web["fw"][:2].tolist(), web["cvm"][-1]) == ([0.286, 0.658], 1030)
    panels = drawn["series-time"].figure.axes
    assert [panel.get_title(loc="left") for panel in panels] == ["Web", "Adult"]
    assert panels[0].get_yscale() == "log"
    assert set(lines(drawn["series-speedup"])) == {"fw", "mfw"}, "not the baseline itself"
    assert lines(drawn["series-speedup"])["fw"][-1] == pytest.approx(1030 / 9.64)


def test_sets_of_one_size_stand_one_after_the_other() -> None:
    sizes = {"w1a": 2477, "w2a": 3470, "w3a": 4000, "w4a": 4000}
    rows = [row(dataset=d, method=m, rows=n) for d, n in sizes.items() for m in ("cvm", "fw")]
    panel = named(draw(of_rows(*rows), ["series"]))["series-time"].figure.axes[0]
    assert texts(panel.get_xticklabels())[2:] == ["w3a\n4,000", "w4a\n4,000"]


def test_axes_of_accuracy_end_at_a_hundred_per_cent() -> None:
    sizes = {"a1a": 100, "a2a": 200, "usps": 300}
    rows = [row(dataset=d, method=m, rows=n, C=C, test_accuracy=1)
            for d, n in sizes.items() for m in ("cvm", "fw") for C in (1, 200)]  # fmt: skip
    drawn = [
        *draw(of_rows(*rows), measures=("accuracy",)),
        *draw(PUBLISHED, ["datasets"], measures=("accuracy",)),
    ]
    axes = [axis for each in drawn for panel in each.figure.axes for axis in (panel.xaxis, panel.yaxis)]
    of_accuracy = [axis for axis in axes if "accuracy (%)" in axis.label.get_text()]
    assert of_accuracy
    assert all(0 <= limit <= 100 for axis in of_accuracy for limit in axis.get_view_interval())


def test_sweeps_have_a_panel_per_problem_with_ticks_at_their_values_and_hollow_bounds() -> None:
    drawing = named(draw(FigureData(published.cells("002")), ["sweep"]))["sweep-time"]
    titles = [panel.get_title(loc="left") for panel in drawing.figure.axes]
    assert titles == ["cover type", "kdd-a", "kdd-b", "news20", "rcv1", "url"]
    assert hollow(drawing.figure.axes[2]) == [400000, 932000, 1450000, 2160000]
    assert "cut short by a limit, a time there is a lower bound" in drawing.caption
    assert "avsf, tolerance 0.001" in texts(drawing.figure.legends[0].get_texts())
    rows = [row(dataset="usps", method="fw", C=C) for C in (0.5, 3, 200)]
    panel = draw(of_rows(*rows), ["sweep"], measures=("time",))[0].figure.axes[0]
    assert (panel.get_xticks().tolist(), texts(panel.get_xticklabels())) == (
        [0.5, 3, 200],
        ["0.5", "3", "200"],
    )


def test_ten_methods_have_ten_colours() -> None:
    names = ["cvm", "fw", "mfw", "swap", "swap-2o", "liblinear", "avsf", "wolfe", "pegasos", "scs"]
    rows = [row(dataset="usps", method=name, C=C) for name in names for C in (1, 2)]
    (drawing,) = draw(of_rows(*rows), ["sweep"], measures=("time",))
    assert len({line.get_color() for line in drawing.figure.axes[0].lines}) == len(names)


def test_what_is_lacking_small_or_cut_is_named_in_caption_and_picture() -> None:
    gone = {"status": "missing", "train_seconds": "", "test_accuracy": "", "support_vectors": "", "rows": ""}
    rows = [
        row(dataset="usps", method="fw", rows=7291),
        row(dataset="mnist", method="fw", rows=15000, status="time_limit"),
        *(row(dataset=d, method="fw", **gone) for d in ("protein", "mine/a$\\x$.svm")),
    ]
    drawing = named(draw(of_rows(*rows), ["datasets"]))["datasets-time"]
    assert texts(drawing.figure.axes[0].get_yticklabels()) == ["USPS", "MNIST"]
    notes = drawing.figure.get_supxlabel().splitlines()
    assert notes == [style.HOLLOW, r"no number for Protein, x\$.svm",
                     "fewer training rows than published: MNIST 15,000 of 60,000"]  # fmt: skip
    assert all(note.replace(r"\$", "$") in drawing.caption for note in notes)
    assert drawing.content("svg").startswith(b"<?xml")


def test_runs_of_several_settings_are_pictures_of_their_own() -> None:
    rows = [row(dataset=d, method=m, tolerance=tolerance, train_seconds=t)
            for d in ("usps", "letter")
            for m, tolerance, t in (("cvm", 0.1, 8), ("fw", 0.1, 2), ("cvm", 0.01, 12), ("fw", 0.01, 4))]  # fmt: skip
    loose, tight = draw(of_rows(*rows), ["datasets"], measures=("speedup",))
    assert (loose.name, tight.name) == ("datasets-speedup", "datasets-speedup-2")
    assert ("tolerance 0.1;" in loose.caption, "tolerance 0.01;" in tight.caption) == (True, True)
    for one, expected in ((loose, 4), (tight, 3)):
        fw = next(line for line in one.figure.axes[0].lines if line.get_label() == "fw")
        assert fw.get_xdata().tolist() == [expected] * 2


def test_the_summary_has_a_dot_for_each_problem_and_a_stroke_for_the_mean() -> None:
    times = {"cvm": (8, 30), "fw": (2, 10)}
    rows = [
        row(dataset=d, method=m, train_seconds=t)
        for m, both in times.items()
        for d, t in zip("ab", both, strict=True)
    ]
    (drawing,) = draw(of_rows(*rows), ["summary"])
    dots, stroke = (drawing.figure.axes[0].lines[place].get_xdata() for place in (0, 1))
    assert sorted(dots) == [3, 4]
    assert stroke == pytest.approx([3.5] * 2)


def traced_runs(folder):
    """Write two runs of a method whose objectives are of its sample, and one that ends at its own, 1."""
    runs = {"pegasos0": [9.0, 1.5, 0.75], "pegasos1": [9.0, 2.5, 1.25], "wolfe0": [4.0, 2.0, 1.0]}
    ends = {"pegasos0": 1.25, "pegasos1": 1.5, "wolfe0": 1.0}
    write(
        folder,
        [
            row(dataset="magic", method=n[:-1], repetition=int(n[-1]), run_id=n, objective=ends[n])
            for n in runs
        ],
    )
    for name, values in runs.items():
        trace = {"seconds": [0.1, 0.2, 1], "iteration": [1, 2, 3], "objective": values, "gap": [None, 1, 0.1]}
        write_trace(folder, name, pd.DataFrame(trace | {"support_vectors": [1, 2, 3]}))
    return source_of(folder)


def test_convergence_is_median_and_range_of_the_traces(tmp_path) -> None:
    source = traced_runs(tmp_path)
    (drawing,) = draw(source, ["convergence"])
    assert [panel.get_ylabel() for panel in drawing.figure.axes] == ["objective", "duality gap"]
    assert lines(drawing, panel=1)["pegasos"][-1] == pytest.approx(0.1)
    assert drawing.caption.endswith("; lines are medians of runs, bands their range.")
    (above,) = draw(source, ["convergence"], measures=("suboptimality",), against="iteration")
    assert above.figure.axes[0].get_yscale() == "log"
    assert lines(above)["pegasos"][0] == pytest.approx(8)
    assert np.isnan(lines(above)["wolfe"][-1]), "it gets to the lowest, which a log axis cannot show"
    short, long = ({"seconds": [0.0, 1.0, at], "gap": [9.0, *gaps], "run": run}
                   for run, (at, gaps) in enumerate([(2.0, (4, 2)), (8.0, (6, 1))]))  # fmt: skip
    values = convergence.course(pd.concat(map(pd.DataFrame, (short, long))), "seconds", "gap")
    assert values.index.tolist() == [0, 1, 2, 8]
    assert values.to_numpy().tolist()[1:] == [[4, 6], [2, 6], [2, 1]]


def test_the_same_rows_give_the_same_file() -> None:
    first, second = (
        draw(FigureData(published.cells("004")), ["datasets"], measures=("time",))[0] for _ in range(2)
    )
    for form, begin in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        assert first.content(form) == second.content(form)
        assert first.content(form).startswith(begin)


def test_infinite_numbers_and_nothing_at_all_are_left_out(tmp_path) -> None:
    rows = [row(dataset=f"d{i}", method=m, objective=v, gap=v)
            for i, v in enumerate(("inf", "-inf", 0.5, 0.0)) for m in ("fw", "mfw")]  # fmt: skip
    for kind in KINDS:
        for drawing in draw(of_rows(*rows), [kind], measures=("objective",)):
            assert drawing.content("svg")
    gone = row(
        dataset="a", method="fw", status="missing", train_seconds="", test_accuracy="", support_vectors=""
    )
    assert draw(source_of(write(tmp_path, [gone])), list(KINDS)) == []


def test_no_matplotlib_is_a_sentence(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"drawing needs matplotlib: pip install 'fwsvm\[plots\]'"):
        draw(PUBLISHED)
