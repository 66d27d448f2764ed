"""`cells`: each cell has the exact model of its rows, and decides on what falls into it."""

import json

import numpy as np
import pytest
import scipy

from fwsvm.errors import UsageError
from fwsvm.problems import model_files
from fwsvm.problems.cells import Cells, divide
from fwsvm.problems.precomputed import beside_numbers
from fwsvm.solvers import Settings, fit
from tests.cli import running
from tests.cli.running import done

CLASSES = ("a", "b", "c")


def blobs(m: int = 600) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = np.arange(m) % 3
    return rng.normal(size=(m, 4)) + 1.5 * np.eye(4)[codes], codes


def settings(rows: int, **more) -> Settings:
    return Settings("cells", {"rows": rows}, **{"gamma": 0.3, "tolerance": 1e-6} | more)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_cell_has_the_model_of_its_rows(sparse):
    X, codes = blobs()
    X = scipy.sparse.csr_array(X) if sparse else X
    result = fit(X, codes, CLASSES, settings(100, threads=2))
    cells = result.model.cells.members(X)
    assert [len(rows) for rows in cells] == [75] * 8
    assert np.array_equal(np.sort(np.concatenate(cells)), np.arange(600))
    alone = [
        fit(X[rows], codes[rows], CLASSES, Settings("swap-2o", gamma=0.3, tolerance=1e-6)) for rows in cells
    ]
    assert result.certified
    assert result.subproblems == 24
    assert result.objective == pytest.approx(sum(one.objective for one in alone), rel=1e-5)
    for rows, one in zip(cells, alone, strict=True):
        assert result.model.decision(X[rows]) == pytest.approx(one.model.decision(X[rows]), abs=2e-3)
    assert set(result.support) == {
        row for rows, one in zip(cells, alone, strict=True) for row in rows[one.support]
    }


def test_a_model_file_keeps_the_cells_and_is_none_of_libsvms(tmp_path):
    X, codes = blobs()
    model = fit(X, codes, CLASSES, settings(100)).model
    model_files.write(tmp_path / "m", model)
    assert (tmp_path / "m").read_text().startswith("svm_type c_svc_cells\n")
    again = model_files.read(tmp_path / "m")
    assert np.array_equal(again.decision(X), model.decision(X))
    assert np.array_equal(again.predict(X), model.predict(X))


def test_a_cell_of_one_class_decides_for_it():
    X = np.repeat([[0.0, 1.0], [0.1, 1.0], [5.0, 0.0], [6.0, 0.0]], 20, axis=0)
    codes = np.repeat([0, 1, 2, 2], 20)
    result = fit(X, codes, CLASSES, settings(40))
    assert result.subproblems == 1
    assert np.array_equal(result.model.predict(X), codes)


def test_a_cell_that_was_not_reached_decides_for_most_of_its_rows():
    X, codes = blobs()
    codes[X[:, 0] > 1.0] = 2
    result = fit(X, codes, CLASSES, settings(300, time_limit=1e-9, threads=1))
    assert result.status == "time_limit"
    assert not result.certified
    unreached = result.model.union.counts.reshape(2, 3).sum(axis=1).argmin()
    rows = result.model.cells.members(X)[unreached]
    assert set(result.model.predict(X[rows])) == {np.bincount(codes[rows]).argmax()}


def test_equal_rows_stay_together():
    X = np.vstack([np.zeros((50, 2)), np.ones((50, 2))])
    cells, _ = divide(X, 10)
    assert sorted(map(len, cells.members(X)))[-2:] == [50, 50]
    far = cells.members(np.array([[1e6, 1e6], [-1e6, -1e6]]))
    assert all(len(cells.members(X)[cell]) for cell, rows in enumerate(far) if len(rows))


def test_a_row_falls_into_the_same_cell_alone_and_among_others():
    X, _ = blobs()
    tree, _ = divide(X, 50)
    for rows in (X, scipy.sparse.csr_array(X)):
        for cell, numbers in enumerate(tree.members(X)):
            assert all(len(tree.members(rows[[number]])[cell]) for number in numbers)


def test_the_tree_leads_left_up_to_the_threshold():
    cells = Cells(np.eye(3)[:, :2], np.array([0.0, 1.0, 9.0]))
    X = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 0.0]])
    assert [rows.tolist() for rows in cells.members(X)] == [[0], [1], [2], []]


@pytest.mark.parametrize(
    ("X", "more", "said"),
    [
        (np.repeat([[0.0], [1.0]], 4, axis=0), {}, "each cell has rows of one class only"),
        (
            beside_numbers(np.eye(8)),
            {"kernel": "precomputed", "gamma": None},
            "a precomputed kernel has none",
        ),
    ],
)
def test_what_cannot_be_divided_is_refused(X, more, said):
    with pytest.raises(UsageError, match=said):
        fit(X, np.repeat([0, 1], 4), ("1", "-1"), settings(4, **more))


def test_cells_from_the_command_line(tmp_path):
    cells = ["--method", "cells", "--param", "rows=100"]
    row = json.loads(done("train", *cells, "--json", "--model", tmp_path / "m", "wdbc").stdout)
    assert (row["certified"], row["subproblems"]) == (True, 4)
    assert "97.7153%" in done("predict", tmp_path / "m", "wdbc").stderr
    assert "accuracy" in done("cv", "--folds", "2", *cells, "wdbc").stdout
    refused = done("train", *cells, "--probability", "--model", tmp_path / "n", "wdbc", code=2)
    assert "cells has no probabilities" in refused.stderr
    assert "precomputed" not in done("methods", "cells").stdout
    refused = done("train", "--method", "cells", "--param", "rows=0", "wdbc", code=2)
    assert "take more rows a cell" in refused.stderr


def test_rows_that_repeat_are_divided_as_far_as_they_differ():
    codes = np.random.default_rng(0).integers(0, 8, 2000)
    _, cells = divide(np.eye(8)[codes], 100)
    assert max(map(len, cells)) == np.bincount(codes).max()


def test_a_model_that_was_cut_short_says_so_when_it_predicts(tmp_path):
    cells = ["--method", "cells", "--param", "rows=100", "--time-limit", "1e-6"]
    done("train", *cells, "--model", tmp_path / "m", "wdbc")
    assert "training of this model was cut short" in done("predict", tmp_path / "m", "wdbc").stderr


def test_an_experiment_chooses_a_penalty_for_cells(tmp_path):
    file, out = tmp_path / "e.yaml", tmp_path / "out"
    file.write_text(
        "name: e\ndatasets: [wdbc]\ntest_fraction: 0.25\n"
        "methods: [{name: cells, parameters: {rows: 100}}]\n"
        "select: {folds: 2, C: [0.25, 1, 4]}\n"
    )
    done("grid", file, "--out", out)
    found = running.rows(out)
    assert [row["certified"] for row in found] == ["true"] * 7
    assert min(float(row["test_accuracy"]) for row in found) > 0.9
