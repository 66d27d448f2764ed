"""What pictures say in themselves, not in captions alone: lacking sets, fewer rows, whiskers, labels of log axes."""

import numpy as np
import pytest

from fwsvm.analysis import published
from fwsvm.analysis.figures import FigureData, draw, style
from tests.analysis.folders import row, write
from tests.analysis.test_figures import named, source_of


def footnotes(drawing) -> list[str]:
    """Return the lines below the panels."""
    return drawing.figure.get_supxlabel().splitlines()


def test_a_picture_names_in_itself_sets_without_a_number_and_sets_of_fewer_rows(tmp_path) -> None:
    rows = [
        row(dataset="usps", method="fw", rows=7291),
        row(dataset="mnist", method="fw", rows=15000),
        row(dataset="protein", method="fw", status="missing", train_seconds="", rows=""),
        row(dataset="mine/x.svm", method="fw", rows=10),
        row(dataset="mine/a$\\x$.svm", method="fw", status="missing", train_seconds="", rows=""),
    ]
    drawing = named(draw(source_of(write(tmp_path, rows)), ["datasets"]))["datasets-time"]
    assert footnotes(drawing) == [
        r"no number for Protein, mine/a\$\x\$.svm",
        "fewer training rows than published: MNIST 15,000 of 60,000",
    ]
    assert "MNIST 15,000 of 60,000" in drawing.content("svg").decode()
    (whole,) = draw(FigureData(published.cells("004")), ["datasets"], measures=("time",))
    assert footnotes(whole) == []


def test_pictures_of_speed_ups_name_sets_that_a_limit_cut_short(tmp_path) -> None:
    def both(dataset: str, n: int, **more):
        return [row(dataset=dataset, method=m, rows=n, **more) for m in ("cvm", "fw")]

    cut = {"status": "time_limit"}
    rows = [*both("w1a", 2477), *both("w7a", 24692), *both("w8a", 49749, **cut)]
    rows += [*both("reuters", 7770), *both("ijcnn1", 49990, **cut)]
    drawn = named(draw(source_of(write(tmp_path, rows)), measures=("speedup",)))
    assert footnotes(drawn["series-speedup"]) == ["no number for w8a, cut short by a limit"]
    assert footnotes(drawn["datasets-speedup"]) == ["no number for IJCNN, cut short by a limit"]
    assert "no number for w8a, cut short by a limit" in drawn["series-speedup"].caption


def test_whiskers_of_accuracies_end_at_a_hundred_per_cent(tmp_path) -> None:
    rows = [
        row(dataset="reuters", rows=7770, method="fw", repetition=i, test_accuracy=a)
        for i, a in enumerate((0.5, 1.0, 1.0))
    ]
    drawing = named(draw(source_of(write(tmp_path, rows)), ["datasets"]))["datasets-accuracy"]
    (panel,) = drawing.figure.axes
    ends = [x for path in panel.collections[0].get_paths() for x, _ in path.vertices]
    assert ends == pytest.approx([100 * (2.5 / 3 - np.std([0.5, 1, 1], ddof=1)), 100])
    assert footnotes(drawing) == ["whiskers are one standard deviation, as far as the axis goes"]


@pytest.mark.parametrize(
    "values",
    [
        (1.0, 1.07),
        (0.93, 1.6),
        (0.66, 1.65),
        (3.1, 3.9),
        (0.02, 0.021),
        (0.4, 7),
        (1e-4, 3e5),
        (0.97, 4.5),
        (5.3e5, 1.8e6),
    ],
)
def test_a_log_axis_has_two_labels_or_more(values: tuple[float, float]) -> None:
    _, (panel,) = style.panels(1)
    panel.plot([0, 1], values)
    style.log_axis(panel, "y")
    low, high = panel.get_ylim()
    shown = [place for place in panel.get_yticks() if low <= place <= high]
    assert 2 <= len(shown) <= 12
    assert np.diff(np.log([low, *shown, high])).max() <= 0.5 * np.log(high / low), (
        "no half is without a label"
    )
    texts = [panel.yaxis.get_major_formatter()(place) for place in shown]
    assert len(set(texts)) == len(texts)
