"""Runs along C in a grid, which share kernel values, starts and certificates: each is as good as a run alone."""

import pytest
import yaml

from tests.cli.running import done, rows

GROUPS = {
    "rbf": ["swap-2o", "newton", "mfw", "chunking", "decomposition", "auto"],
    "linear": ["liblinear", "avsf"],
}
OWN = {"chunking": {"parameters": {"fewest": 0}}}  # or so few rows are solved in one piece
PENALTIES = [0.5, 1, 2, 4, 8, 1000]


def selection(method, kernel, data, folder):
    """Return the rows of a selection of C by a method, objective and gap for each C."""
    config = {
        "name": "path",
        "datasets": [data],
        "methods": [{"name": method, "kernel": kernel} | OWN.get(method, {})],
        "rows": 500,
        "test_fraction": 0.3,
        "select": {"holdout": 0.3, "method": method, "C": PENALTIES},
        "tolerance": 1e-4,
    }
    (folder / "path.yaml").write_text(yaml.safe_dump(config))
    done("grid", folder / "path.yaml", "--offline", "--out", folder / method)
    found = [row for row in rows(folder / method) if row["role"] == "select"]
    assert {(row["status"], row["certified"]) for row in found} == {("converged", "true")}
    return {float(row["C"]): (float(row["objective"]), float(row["gap"])) for row in found}


@pytest.mark.parametrize("kernel", GROUPS)
@pytest.mark.parametrize("data", ["wdbc", "digits"])
def test_methods_of_one_problem_meet_at_each_penalty(kernel, data, tmp_path):
    found = [selection(method, kernel, data, tmp_path) for method in GROUPS[kernel]]
    for C in PENALTIES:
        objectives, gaps = zip(*[each[C] for each in found], strict=True)
        lower = max(objective - gap for objective, gap in zip(objectives, gaps, strict=True))
        assert lower <= min(objectives) * (1 + 1e-9)
