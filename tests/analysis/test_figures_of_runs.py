"""Figures of runs, not cells: convergence from their traces, and the parameter search."""

import numpy as np
import pandas as pd
import pytest

from fwsvm.analysis.figures import above_lowest, convergence, draw
from tests.analysis.folders import row, write, write_trace
from tests.analysis.test_figures import lines, named, source_of


def test_bands_are_median_and_range_with_ended_runs_at_their_last_value() -> None:
    runs = [
        pd.DataFrame({"seconds": [0.0, 1.0, 2.0], "gap": [9.0, 4.0, 2.0]}),
        pd.DataFrame({"seconds": [0.0, 1.0, 8.0], "gap": [9.0, 6.0, 1.0]}),
    ]
    x, values = convergence.on_one_grid(runs, "seconds", "gap")
    assert (x[0], x[-1]) == (1, pytest.approx(8))
    assert values[:, 0].tolist() == [4, 6]
    assert values[:, -1].tolist() == [2, 1]
    assert (np.diff(values, axis=1) <= 0).all()


def test_convergence_and_search_are_drawn_from_runs(tmp_path) -> None:
    rows = [
        row(dataset="usps", method=m, repetition=i, run_id=f"{m}{i}", C=4, sigma2=2, objective=1)
        for m in ("fw", "swap")
        for i in (0, 1)
    ]
    rows += [
        row(
            dataset="usps",
            method="cvm",
            role="select",
            width_rule="",
            C=c,
            sigma2=s,
            test_accuracy=0.9 - 0.01 * abs(c - 4),
        )
        for c in (1, 4, 16)
        for s in (2, 8)
    ]
    folder = write(tmp_path, rows)
    for name in ("fw0", "fw1", "swap0", "swap1"):
        trace = {
            "seconds": [0, 0.1, 1],
            "iteration": [0, 5, 50],
            "objective": [3, 2, 1],
            "gap": [None, 1, 0.1],
        }
        write_trace(folder, name, pd.DataFrame(trace | {"support_vectors": [1, 2, 3]}))
    drawings = named(draw(source_of(folder), ["convergence", "selection"]))
    assert set(drawings) == {"convergence-usps", "selection-usps-cvm"}
    assert set(lines(drawings["convergence-usps"])) == {"FW", "SWAP"}
    assert lines(drawings["convergence-usps"], panel=1)["FW"][-1] == pytest.approx(0.1)
    assert "C = 4, sigma² = 2" in drawings["selection-usps-cvm"].caption
    (windowed,) = draw(source_of(folder), ["convergence"], window=50, measures=("objective",))
    assert windowed.name == "window-usps"
    assert lines(windowed, panel=1)["SWAP"][0] == 1
    first, last = windowed.figure.axes
    assert (first.get_yscale(), first.get_ylim()) == (last.get_yscale(), last.get_ylim())
    (above,) = draw(source_of(folder), ["convergence"], measures=("suboptimality",))
    assert above.figure.axes[0].get_yscale() == "log"
    assert lines(above)["FW"][0] == 1, "the lowest objective of all runs is 1"


def sampled_runs(folder, *, objective: float = 1.0):
    """Write two runs of a method whose objectives are of its sample, and one that ends at its own, 1."""
    runs = {"pegasos0": [9.0, 1.5, 0.75], "pegasos1": [9.0, 2.5, 1.25], "wolfe0": [4.0, 2.0, 1.0]}
    ends = {"pegasos0": 1.25, "pegasos1": 1.5, "wolfe0": objective}
    rows = [
        row(dataset="magic", method=n[:-1], repetition=int(n[-1]), run_id=n, objective=ends[n]) for n in runs
    ]
    write(folder, rows)
    for name, values in runs.items():
        trace = {"seconds": [0.1, 0.2, 1], "iteration": [1, 2, 3], "objective": values, "gap": [None] * 3}
        write_trace(folder, name, pd.DataFrame(trace | {"support_vectors": [1, 2, 3]}))
    return folder


def test_a_window_is_above_the_lowest_objective_at_the_end_of_a_run_on_a_log_axis(tmp_path) -> None:
    (drawing,) = draw(source_of(sampled_runs(tmp_path)), ["convergence"], window=3)
    first, last = drawing.figure.axes
    assert first.get_yscale() == last.get_yscale() == "log"
    assert first.get_ylabel() == "objective above the lowest of all runs"
    assert lines(drawing)["Pegasos"][:2] == pytest.approx([8, 1]), (
        "median of 9 and 9, of 1.5 and 2.5, without 1"
    )
    assert lines(drawing)["Wolfe"] == pytest.approx([3, 1, np.nan], nan_ok=True), "it gets to the lowest"
    assert np.isnan(lines(drawing)["Pegasos"][2]), (
        "the median of 0.75 and 1.25 is the lowest, not 0.25 above it"
    )
    assert min(first.get_ylim()) > 0
    assert "during a run a stochastic method tracks the objective on its sample" in drawing.caption
    assert drawing.figure.get_supxlabel().splitlines()[0] == above_lowest.ENDS
    (plain,) = draw(source_of(tmp_path), ["convergence"], window=3, measures=("objective",))
    assert lines(plain)["Pegasos"] == pytest.approx([9, 2, 1])
    assert plain.figure.get_supxlabel() == ""


def test_without_a_window_curves_above_the_lowest_end_there_too(tmp_path) -> None:
    asked = {"against": "iteration", "measures": ("suboptimality",)}
    (drawing,) = draw(source_of(sampled_runs(tmp_path)), ["convergence"], **asked)
    assert lines(drawing)["Pegasos"][0] == pytest.approx(8)
    assert np.isnan(lines(drawing)["Pegasos"][-1]), "the median of 0.75 and 1.25 is the lowest"
    assert np.isnan(lines(drawing)["Wolfe"][-1])
    assert drawing.figure.get_supxlabel().splitlines()[0] == above_lowest.ENDS


def test_where_all_runs_are_level_a_window_has_the_objective_itself(tmp_path) -> None:
    write(tmp_path, [row(dataset="usps", method="fw", run_id="level", objective=2)])
    trace = {"seconds": [1, 2], "iteration": [1, 2], "objective": [2, 2], "gap": [None, None]}
    write_trace(tmp_path, "level", pd.DataFrame(trace | {"support_vectors": [1, 1]}))
    (drawing,) = draw(source_of(tmp_path), ["convergence"], window=2)
    assert lines(drawing)["FW"] == pytest.approx([2, 2])
    assert "objective over the first and last 2 iterations" in drawing.caption


def test_a_width_derived_from_each_fold_is_no_axis_of_the_search(tmp_path) -> None:
    rows = [
        row(
            dataset="usps",
            method="cvm",
            role="select",
            C=c,
            sigma2=2 + 0.1 * fold,
            fold=fold,
            test_accuracy=0.9,
        )
        for c in (1, 4, 16)
        for fold in (0, 1)
    ]
    folder = write(tmp_path, [*rows, row(dataset="usps", method="fw", C=4, sigma2=2.02)])
    (drawing,) = draw(source_of(folder), ["selection"])
    assert "the ring marks the choice, C = 4" in drawing.caption


def searched(**fields):
    """Return rows of a search over two C with accuracies 0.7 and 0.8, and the reported run."""
    return [
        *(
            row(dataset="usps", method="cvm", role="select", C=c, test_accuracy=a, **fields)
            for c, a in ((1, 0.7), (4, 0.8))
        ),
        row(dataset="usps", method="fw", C=4, **fields),
    ]


def test_the_picture_of_a_race_has_the_runs_that_decided_not_the_first_look(tmp_path) -> None:
    look = [
        row(dataset="usps", method="cvm", role="select", C=c, tolerance=0.9, test_accuracy=0.5)
        for c in (1, 4, 64)
    ]
    (drawing,) = draw(source_of(write(tmp_path, [*look, *searched()])), ["selection"])
    (curve, _) = drawing.figure.axes[0].lines
    assert curve.get_xdata().tolist() == [1, 4]
    assert curve.get_ydata().tolist() == pytest.approx([70, 80])


def test_captions_name_an_empty_profile(tmp_path) -> None:
    rows = [*searched(profile="smoke"), *searched(profile="")]
    captions = [d.caption for d in draw(source_of(write(tmp_path, rows)), ["selection", "datasets"])]
    assert sum("profile smoke" in caption for caption in captions) == len(captions) / 2 > 1
    assert sum("profile (empty)" in caption for caption in captions) == len(captions) / 2


def raced(stayed):
    """Return rows of a race over C = 1, 4 and 16: first runs, runs on fold 0, and on fold 1 of those that stayed."""
    first = [(0.9, 0, c) for c in (1, 4, 16)]
    every = [*first, *((1e-3, 0, c) for c in (1, 4)), *((1e-3, 1, c) for c in stayed)]
    searched = {"dataset": "usps", "method": "cvm", "role": "select"}
    return [
        row(dataset="usps", method="fw", C=4),
        *(
            row(**searched, C=c, tolerance=tolerance, fold=fold, test_accuracy=0.5 + c / 100)
            for tolerance, fold, c in every
        ),
    ]


def test_the_picture_of_a_race_leaves_out_who_did_not_run_on_all_folds(tmp_path) -> None:
    (drawing,) = draw(source_of(write(tmp_path, raced((1, 4)))), ["selection"])
    assert drawing.figure.axes[0].lines[0].get_xdata().tolist() == [1, 4]
    assert "first runs of a race" not in drawing.caption


def test_where_one_candidate_stayed_the_picture_is_of_the_first_runs(tmp_path) -> None:
    (drawing,) = draw(source_of(write(tmp_path, raced((4,)))), ["selection"])
    assert drawing.figure.axes[0].lines[0].get_xdata().tolist() == [1, 4, 16]
    assert "first runs of a race" in drawing.caption


def test_searches_of_two_experiments_or_profiles_have_a_picture_each(tmp_path) -> None:
    rows = [*searched(), *searched(experiment="other"), *searched(profile="quick")]
    drawings = draw(source_of(write(tmp_path, rows)), ["selection"])
    assert [drawing.caption.partition(":")[0] for drawing in drawings] == [
        f"USPS, searched with CVM, experiment {experiment}, profile {profile}"
        for experiment, profile in (("trial", "paper"), ("other", "paper"), ("trial", "quick"))
    ]
    assert all("the ring marks the choice, C = 4" in drawing.caption for drawing in drawings)


def traced(folder, *rows):
    """Write runs whose traces end at an objective each, and return their folder."""
    write(folder, [made for made, _ in rows])
    for made, last in rows:
        trace = {"seconds": [0.1, 1], "iteration": [5, 50], "objective": [9, last], "gap": [1, 0.1]}
        write_trace(folder, made["run_id"], pd.DataFrame(trace | {"support_vectors": [1, 3]}))
    return folder


def curves(folder) -> dict[str, float]:
    """Return the last objective of each curve by its label."""
    (drawing,) = draw(source_of(folder), ["convergence"], measures=("objective",))
    return {label: y[-1] for label, y in lines(drawing).items()}


def test_runs_at_several_penalties_are_curves_of_their_own_and_repetitions_are_one(tmp_path) -> None:
    rows = [
        (row(dataset="usps", method="fw", C=C, repetition=i), C + i)
        for C in (1, 2, 4, 8, 16, 64)
        for i in (0, 2)
    ]
    rows += [(row(dataset="usps", method="swap", C=1), 3)]
    found = curves(traced(tmp_path, *rows))
    assert found == {f"FW, C {C}": C + 1 for C in (1, 2, 4, 8, 16, 64)} | {"SWAP, C 1": 3}
    (drawing,) = draw(source_of(tmp_path), ["convergence"], measures=("objective",))
    looks = {(line.get_color(), line.get_marker()) for line in drawing.figure.axes[0].lines}
    assert len(looks) == len(found)


def test_variants_of_a_method_are_curves_of_their_own_and_choices_of_auto_are_not(tmp_path) -> None:
    rows = [
        (row(dataset="usps", method=m), k) for k, m in enumerate(("scs(metric=rkhs)", "scs(metric=l2)"), 2)
    ]
    chosen = [
        (row(dataset="usps", method=f"auto ({how})", repetition=i, sigma2=1 + i, gamma=0.5 / (1 + i)), 4 + i)
        for i, how in enumerate(("chunking", "newton"))
    ]
    assert curves(traced(tmp_path, *rows, *chosen)) == {
        "scs(metric=rkhs)": 2,
        "scs(metric=l2)": 3,
        "auto": 4.5,
    }
