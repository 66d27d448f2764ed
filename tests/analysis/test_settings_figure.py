"""The pictures of `fwsvm grid why`: one a setting, with the numbers of the runs."""

from fwsvm.analysis import published
from fwsvm.analysis.figures import FigureData, draw
from fwsvm.analysis.figures.style import texts
from tests.analysis.folders import cells_of, row


def why(dataset: str, method: str, seconds: float, **more):
    usual = {"experiment": "why", "protocol": "fw-svms", "width_rule": "libcvm"}
    return row(**(usual | {"dataset": dataset, "method": method, "train_seconds": seconds} | more))


def cells():
    return cells_of(
        *(
            made
            for dataset, factor in (("a5a", 1), ("w7a", 2))
            for made in (
                why(dataset, "cvm", 100 * factor, relative_gap=0.5),
                why(dataset, "cvm(inner=0.001)", factor, relative_gap=0.25, test_accuracy=0.875),
                why(dataset, "cvm(inner=1e-05)", 10 * factor),
                why(dataset, "fw", 2),
                why(dataset, "fw(retries=7)", 8, status="time_limit"),
            )
        )
    )


def test_a_picture_a_setting_has_the_quotients_accuracies_and_gaps() -> None:
    inner, retries = draw(FigureData(cells()), ["settings"])
    assert (inner.name, retries.name) == ("settings-inner", "settings-retries")
    assert len(inner.figure.axes) == 2 * 3
    drawn = [
        {
            line.get_label(): list(map(float, line.get_ydata()))
            for line in panel.lines
            if len(line.get_xdata()) == 3
        }
        for panel in inner.figure.axes
    ]
    assert drawn[0] == {"FW": [50, 5, 0.5]}, "CVM's time over FW's, which has no core set"
    assert drawn[1] == {"FW": [100, 10, 1]}
    assert drawn[2]["CVM"] == [90, 90, 87.5]
    assert drawn[4]["CVM"][::2] == [0.5, 0.25]
    assert [label.get_text() for label in inner.figure.axes[0].get_xticklabels()] == [
        "[1e-07]",
        "1e-05",
        "0.001",
    ]
    assert [label.get_text() for label in retries.figure.axes[0].get_xticklabels()] == ["[1]", "7"]
    assert "cut short by a limit" in texts(retries)
    assert "cut short by a limit" not in texts(inner)


def test_a_picture_says_what_brackets_and_points_are_and_names_its_setting() -> None:
    inner, retries = draw(FigureData(cells()), ["settings"])
    said = "brackets mark the value that the authors' program has; each point is one run"
    assert said in texts(inner)
    assert said in inner.caption
    columns = len(retries.figure.axes) // 3
    named = [panel.get_xlabel() for panel in retries.figure.axes]
    assert named == [""] * 2 * columns + ["samples without a violator before a stop"] * columns
    twice = cells_of(
        *(why("a5a", "cvm", 100, repetition=i) for i in (0, 1)), why("a5a", "cvm(inner=0.001)", 1)
    )
    (drawn,) = draw(FigureData(twice), ["settings"])
    assert any("each point is the mean of 1 to 2 runs" in text for text in texts(drawn))


def test_labels_of_a_log_axis_are_chosen_with_the_line_at_one_in_view() -> None:
    cells = cells_of(
        why("a5a", "cvm", 100), why("a5a", "cvm(inner=0.001)", 90), why("a5a", "fw", 2), why("a5a", "mfw", 5)
    )
    (inner,) = draw(FigureData(cells), ["settings"])
    low, high = inner.figure.axes[0].get_ylim()
    labelled = [place for place in inner.figure.axes[0].get_yticks() if low <= place <= high]
    assert labelled == [1, 2, 5, 10, 20, 50], "not 1, 2, 3, ..., 9, 10, 20, which overlap"


def test_other_results_have_no_such_pictures() -> None:
    assert draw(FigureData(cells_of(row(dataset="a5a", method="fw"))), ["settings"]) == []
    assert draw(FigureData(published.cells("003")), ["settings"]) == []


def test_a_marker_is_hollow_where_its_own_run_was_cut_and_a_quotient_where_either_was() -> None:
    cells = cells_of(
        why("a5a", "cvm", 10, status="time_limit"),
        why("a5a", "cvm(inner=0.001)", 5),
        why("a5a", "fw", 2),
    )
    (inner,) = draw(FigureData(cells), ["settings"])
    hollow = [
        {
            line.get_label(): len(line.get_xdata())
            for line in panel.lines
            if line.get_markerfacecolor() == "white"
        }
        for panel in inner.figure.axes
    ]
    assert hollow[0] == {"_FW": 1}
    assert hollow[1] == hollow[2] == {"_FW": 0, "_CVM": 1}
    series = [
        row(dataset=d, method=m, rows=n, train_seconds=9, status="time_limit" if m == "cvm" else "converged")
        for d, n in (("a1a", 1605), ("a2a", 2265))
        for m in ("cvm", "fw")
    ]
    drawn = {one.name: one for one in draw(FigureData(cells_of(*series)), ["series"])}
    marks = [
        (line.get_label(), len(line.get_xdata()))
        for line in drawn["series-time"].figure.axes[0].lines
        if line.get_markerfacecolor() == "white"
    ]
    assert sorted(marks) == [("_CVM", 2), ("_FW", 0)], "FW's own runs were not cut"
