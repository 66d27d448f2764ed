"""What `train` and `grid` say of machines whose numbers are not finite, or finite and worth little."""

import json

import numpy as np
import pytest

from tests.cli.running import done, rows


@pytest.fixture
def overflowing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{2 * (i % 2) - 1} 1:{i // 2} 2:{0.3 * (i // 2):.1f}\n" for i in range(12)]
    (tmp_path / "rows").write_text("".join(lines))
    return tmp_path


@pytest.mark.parametrize(
    "method", ["swap-2o", "newton", "chunking", "decomposition", "wolfe", "pegasos", "scs"]
)
def test_kernel_values_that_overflow_are_an_error_row_and_no_certificate(method, overflowing):
    options = ("--kernel", "poly", "--degree", "1000", "--json")
    found = done("train", "--method", method, *options, "rows", code=4)
    told = json.loads(found.stdout)
    assert (told["status"], told["certified"], told["objective"]) == ("error", None, None)
    assert "row 7 has the poly kernel's value inf" in told["message"]
    assert "scale the data" in told["message"]
    assert found.stderr.endswith(f"fwsvm: {told['message']}\n")


def test_a_grid_records_them_as_errors_and_goes_on(overflowing):
    (overflowing / "grid.yaml").write_text(
        "name: over\ndatasets: [rows]\nmethods: [wolfe, swap-2o]\nkernel: poly\ndegree: 1000\n"
    )
    done("grid", "grid.yaml", "--out", "out", code=4)
    found = rows(overflowing / "out")
    assert [row["status"] for row in found] == ["error", "error"]
    assert all("the poly kernel's value inf" in row["message"] for row in found)


@pytest.fixture
def noise(tmp_path, monkeypatch):
    """Rows of whose labels a rough solution learns little."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(400) < 0.35, 1, -1)
    (tmp_path / "noisy").write_text(
        "".join(
            f"{y} 1:{x:.4f} 2:{z:.4f}\n" for y, x, z in zip(labels, *rng.normal(size=(2, 400)), strict=True)
        )
    )
    return tmp_path


def test_train_says_what_the_rule_does_not_promise(noise):
    options = ("-C", "10000", "--gamma", "20", "--stop", "meb", "--tol", "0.01", "--json")
    found = done("train", *options, "noisy")
    told, said = json.loads(found.stdout), " ".join(found.stderr.split())
    assert told["status"] == "converged"
    assert told["relative_gap"] > 0.1
    far = f"topped by rule meb, possibly far from the optimum (relative gap {told['relative_gap']:.3g})"
    assert told["message"].startswith(f"S{far}.")
    assert told["message"] in said
    assert "status s" + far in said
    assert "converged" not in said


def test_cv_and_grid_and_table_say_it_too(noise):
    (noise / "grid.yaml").write_text(
        "name: void\ndatasets: [noisy]\nmethods: [swap-2o]\nC: 10000\ngamma: 20\nstop: meb\ntolerance: 0.01\n"
    )
    options = ("-C", "10000", "--gamma", "20", "--stop", "meb", "--tol", "0.01")
    folds = done("cv", "--folds", "2", *options, "noisy")
    assert "stopped by rule meb, possibly far from the optimum" in " ".join(folds.stdout.split())
    assert "converged" not in folds.stdout
    grid = done("grid", "grid.yaml", "--out", "out")
    assert "weak guarantee for noisy, swap-2o: relative gap" in " ".join(grid.stdout.split())
    assert "converged" not in grid.stdout + grid.stderr.partition("[1/1]")[2].partition("\n")[0]
    table = done("table", "out")
    assert "§ weak guarantee for noisy/swap-2o (relative gap" in " ".join(table.stdout.split())
