"""Options of ``fwsvm plot``: what the pictures then hold, computed from the rows and traces anew."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fwsvm.analysis import figures
from fwsvm.analysis.figures import Drawing
from tests.analysis.folders import row, write, write_trace
from tests.cli.running import done

pytest.importorskip("matplotlib")
ADULT = ("a1a", "a2a", "a3a")
SECONDS = {"cvm": (8.0, 20.0, 60.0), "fw": (2.0, 10.0, 15.0), "mfw": (1.0, 4.0, 30.0)}
ACCURACIES = {"cvm": (0.80, 0.82, 0.84), "fw": (0.79, 0.82, 0.83), "mfw": (0.78, 0.83, 0.84)}
ITERATIONS, LOSSES = [1, 5, 20, 100], [9.0, 4.0, 2.0, 1.0]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Drawing]:
    """Return a mapping that gets the pictures of a command by name."""
    found: dict[str, Drawing] = {}
    draw = figures.draw

    def kept(*given: object, **named: object) -> list[Drawing]:
        drawings = draw(*given, **named)
        found.update({drawing.name: drawing for drawing in drawings})
        return drawings

    monkeypatch.setattr(figures, "draw", kept)
    return found


def curves(drawing: Drawing, panel: int = 0) -> dict[str, tuple[list[float], list[float]]]:
    """Return x and y of each named line of a panel."""
    lines = drawing.figure.axes[panel].lines
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata()))
            for line in lines if not line.get_label().startswith("_")}  # fmt: skip


@pytest.fixture(scope="module")
def adult(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results of three methods on three data sets, of which each run has a trace that ends at its time."""
    rows = [
        row(dataset=name, method=method, rows=1000 * (place + 1), train_seconds=SECONDS[method][place],
            test_accuracy=ACCURACIES[method][place])
        for place, name in enumerate(ADULT) for method in SECONDS
    ]  # fmt: skip
    folder = write(tmp_path_factory.mktemp("adult"), rows)
    for each in rows:
        seconds = np.array([0.1, 0.2, 0.5, 1.0]) * each["train_seconds"]
        course = {"seconds": seconds, "iteration": ITERATIONS, "objective": LOSSES, "gap": LOSSES}
        write_trace(folder, each["run_id"], pd.DataFrame(course | {"support_vectors": [1, 2, 3, 4]}))
    return folder


def test_an_unknown_kind_is_what_is_said_first():
    reference = Path(__file__).parents[2] / "results" / "reference" / "web"
    assert (
        "there is no figure 'nope'; the figures are"
        in done("plot", reference, "--figure", "nope", code=2).stderr
    )


@pytest.mark.parametrize("baseline", ["cvm", "fw"])
def test_a_speed_up_is_over_the_baseline(adult, tmp_path, drawn, baseline):
    words = (
        "--measure",
        "speedup",
        "--measure",
        "relative-accuracy",
        *(("--baseline", "fw") * (baseline == "fw")),
    )
    said = done("plot", adult, "--figure", "series", *words, "-f", "svg", "-o", tmp_path)
    speed, accuracy = (curves(drawn[f"series-{name}"]) for name in ("speedup", "relative-accuracy"))
    others = {method.upper(): method for method in SECONDS if method != baseline}
    assert set(speed) == set(others)
    for label, method in others.items():
        assert speed[label][1] == pytest.approx(np.divide(SECONDS[baseline], SECONDS[method]))
        below = 100 * (1 - np.divide(ACCURACIES[method], ACCURACIES[baseline]))
        assert accuracy[label][1] == pytest.approx(below)
    assert f"speed-up over {baseline.upper()} against the number of training rows" in said.output
