"""``warm_start: true``: reported runs of a linear method start where the one with the next lower C ended."""

from pathlib import Path

import pytest

from fwsvm.results.agreement import differing
from tests.cli.test_grid import here, rows

WARM = """\
name: warm
datasets: [wdbc]
methods: [{name: avsf, warm_start: true}, {name: liblinear, warm_start: true}]
C: [1e-6, 1e-8, 1e-7]
"""
COLD = WARM.replace("true", "false")


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("warm")
    assert here(folder, WARM)[0] == 0
    return folder


def by_penalty(folder: Path, method: str) -> dict[float, dict[str, str]]:
    return {float(row["C"]): row for row in rows(folder) if row["method"] == method}


@pytest.mark.parametrize("method", ["avsf", "liblinear"])
def test_runs_go_up_in_c_and_all_but_the_first_say_that_they_share(warm, method):
    runs = [row for row in rows(warm) if row["method"] == method]
    assert [float(row["C"]) for row in runs] == [1e-8, 1e-7, 1e-6]
    assert [row["shared"] for row in runs] == ["false", "true", "true"]
    assert all(row["role"] == "final" and row["certified"] == "true" for row in runs)


def test_warm_runs_reach_the_same_value_and_only_the_first_is_the_same_run(warm, tmp_path):
    assert here(tmp_path, COLD)[0] == 0
    for method in ("avsf", "liblinear"):
        a, b = by_penalty(warm, method), by_penalty(tmp_path, method)
        assert [a[C]["run_id"] == b[C]["run_id"] for C in sorted(a)] == [True, False, False]
        for C in a:
            assert float(a[C]["objective"]) == pytest.approx(float(b[C]["objective"]), rel=2e-3)
            assert b[C]["shared"] == "false"


def test_a_finished_experiment_does_nothing_and_a_torn_one_starts_where_its_warm_runs_start(warm, tmp_path):
    (tmp_path / "out").mkdir()
    lines = (warm / "out" / "runs.csv").read_text().splitlines()
    (tmp_path / "out" / "runs.csv").write_text("\n".join(lines[:-1]) + "\n")  # liblinear lacks its last C
    assert here(tmp_path, WARM)[0] == 0
    *_, again = made = rows(tmp_path)[5:]
    assert [(row["method"], float(row["C"])) for row in made] == [
        ("liblinear", C) for C in (1e-8, 1e-7, 1e-6)
    ]
    as_before = by_penalty(warm, "liblinear")[1e-6]
    assert not differing(as_before, again)
    assert again["shared"] == as_before["shared"] == "true"
    assert here(tmp_path, WARM)[0] == 0
    assert len(rows(tmp_path)) == 8, "the chain that was not finished is made again"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WARM.replace("liblinear", "swap"), "warm_start is for linear methods; swap starts cold"),
        (WARM.replace("[1e-6, 1e-8, 1e-7]", "1"), "give C several values"),
        (WARM.replace("true", "7"), "methods[0].warm_start must be true or false, not 7"),
    ],
)
def test_what_cannot_start_warm_is_refused_with_its_line(tmp_path, text, said):
    code, _, err = here(tmp_path, text)
    assert code == 2
    assert said in err
    assert "trial.yaml" in err
