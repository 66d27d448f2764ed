"""Runs along C in a grid, which share kernel values, starts and certificates: each is as good as a run alone."""

import csv

import pytest
import yaml
from click.testing import CliRunner

from fwsvm.cli import main

GROUPS = {
    "rbf": ["swap-2o", "newton", "mfw", "chunking", "decomposition", "auto"],
    "linear": ["liblinear", "avsf"],
}


@pytest.mark.parametrize("kernel", GROUPS)
@pytest.mark.parametrize("data", ["wdbc", "digits"])
def test_methods_of_one_problem_meet_at_each_penalty(kernel, data, tmp_path):
    config = {
        "name": "path",
        "datasets": [data],
        "methods": [{"name": name, "kernel": kernel} for name in GROUPS[kernel]],
        "rows": 200,
        "test_fraction": 0.3,
        "select": {"holdout": 0.3, "C": [0.5, 1, 2, 4, 8, 1000]},
        "tolerance": 1e-4,
        "width_rule": "paper",
    }
    (tmp_path / "path.yaml").write_text(yaml.safe_dump(config))
    done = CliRunner().invoke(
        main, ["grid", str(tmp_path / "path.yaml"), "--offline", "--out", str(tmp_path / "runs")]
    )
    assert done.exit_code == 0, done.output
    with (tmp_path / "runs" / "runs.csv").open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["role"] == "select"]
    assert len(rows) == 6 * len(GROUPS[kernel])
    for C in {row["C"] for row in rows}:
        found = [(float(row["objective"]), float(row["gap"])) for row in rows if row["C"] == C]
        assert len(found) == len(GROUPS[kernel])
        assert max(objective - gap for objective, gap in found) <= min(
            objective for objective, _ in found
        ) * (1 + 1e-9)
    assert {(row["status"], row["certified"]) for row in rows} == {("converged", "true")}
