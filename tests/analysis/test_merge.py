"""Merging folders: every run once, nothing mixed silently, nothing changed on the way."""

import csv
from pathlib import Path

import pandas as pd
import pytest

from fwsvm.analysis.merge import merge
from fwsvm.errors import ResultsError
from tests.analysis.folders import row, write, write_trace


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "runs.csv").open() as stream:
        return list(csv.DictReader(stream))


def test_rows_traces_and_logs_come_over_as_they_stand(tmp_path: Path) -> None:
    one = write(tmp_path / "one", [row(dataset="a1a", method="fw", run_id="r1", message='said "so", twice')])
    two = write(tmp_path / "two", [row(dataset="a2a", method="fw", run_id="r2", machine="laptop")])
    trace = pd.DataFrame(
        {"seconds": [0], "iteration": [0], "objective": [1], "gap": [1], "support_vectors": [1]}
    )
    write_trace(two, "r2", trace)
    (one / "log.jsonl").write_text('{"n": 1}\n')
    (two / "log.jsonl").write_text('{"n": 2}\n')
    out = tmp_path / "out"
    assert merge([one, two], out).rows == 2
    assert rows_of(out) == rows_of(one) + rows_of(two)
    assert (out / "traces" / "r2.csv").read_bytes() == (two / "traces" / "r2.csv").read_bytes()
    assert (out / "log.jsonl").read_text() == '{"n": 1}\n{"n": 2}\n'
    assert (out / "experiment.yaml").read_text() == (one / "experiment.yaml").read_text()


def test_merging_with_itself_changes_nothing(tmp_path: Path) -> None:
    one = write(tmp_path / "one", [row(dataset=d, method="fw") for d in ("a1a", "a2a")])
    merged = merge([one, one], tmp_path / "out")
    assert (tmp_path / "out" / "runs.csv").read_bytes() == (one / "runs.csv").read_bytes()
    assert "2 rows were repeats" in merged.notices[0]


def test_a_run_of_two_machines_is_written_once_the_finished_one_first(tmp_path: Path) -> None:
    failed = write(
        tmp_path / "failed", [row(dataset="a1a", method="fw", run_id="r", status="error", test_accuracy="")]
    )
    done = write(
        tmp_path / "done", [row(dataset="a1a", method="fw", run_id="r", train_seconds=3, machine="laptop")]
    )
    again = write(tmp_path / "again", [row(dataset="a1a", method="fw", run_id="r", train_seconds=4)])
    merge([failed, done, again], tmp_path / "out")
    (kept,) = rows_of(tmp_path / "out")
    assert (kept["status"], kept["train_seconds"], kept["machine"]) == ("converged", "3", "laptop")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"commit": "fffffff"}, "rows of different code: commit abc1234 in .*one, fffffff in .*two"),
        ({"fwsvm": "0.2.0"}, "rows of different code: fwsvm 0.1.0 in .*one, 0.2.0 in .*two"),
        ({"data_sha256": "f" * 64}, "different data under the name a1a: .* in .*one, ffffffffffff in .*two"),
        (
            {"run_id": "same", "objective": 0.6},
            r"run same \(a1a, fw\) is not the same .*objective 0.5 and 0.6",
        ),
    ],
)
def test_mixtures_are_refused_by_name_and_done_only_when_asked(tmp_path: Path, other, said: str) -> None:
    one = write(tmp_path / "one", [row(dataset="a1a", method="fw", run_id="same")])
    two = write(tmp_path / "two", [row(dataset="a1a", method="fw", **({"run_id": "other"} | other))])
    with pytest.raises(ResultsError, match=said):
        merge([one, two], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    merged = merge([one, two], tmp_path / "out", allow_mixed=True)
    assert merged.rows == (1 if "objective" in other else 2)
    assert merged.notices


def test_configurations_may_differ_in_the_machines_part_alone(tmp_path: Path) -> None:
    one = write(tmp_path / "one", [row(dataset="a1a", method="fw")], "name: trial\nworkers: 2\n")
    two = write(tmp_path / "two", [row(dataset="a2a", method="fw")], "name: trial\nworkers: 8\n")
    three = write(tmp_path / "three", [row(dataset="a3a", method="fw")], "name: trial\ntolerance: 0.1\n")
    assert merge([one, two], tmp_path / "out").rows == 2
    with pytest.raises(ResultsError, match=r"different configurations .*: tolerance"):
        merge([one, three], tmp_path / "out2")
    merge([one, three], tmp_path / "out3", allow_mixed=True)
    assert (tmp_path / "out3" / "experiment-2.yaml").read_text() == "name: trial\ntolerance: 0.1\n"


def test_different_experiments_may_stand_in_one_folder(tmp_path: Path) -> None:
    one = write(tmp_path / "one", [row(dataset="a1a", method="fw", experiment="adult")], "name: adult\n")
    two = write(tmp_path / "two", [row(dataset="w1a", method="fw", experiment="web")], "name: web\n")
    assert merge([one, two], tmp_path / "out").notices == ()
    assert (tmp_path / "out" / "experiment-2.yaml").read_text() == "name: web\n"


def test_a_folder_of_two_experiments_brings_both_configurations(tmp_path: Path) -> None:
    rows = [row(dataset=name, method="fw", experiment=of) for name, of in (("a1a", "adult"), ("w1a", "web"))]
    one = write(tmp_path / "one", rows, "name: adult\n")
    (one / "experiment-2.yaml").write_text("name: web\nprotocol: fw-svms\n")
    two = write(tmp_path / "two", [row(dataset="a2a", method="fw", experiment="adult")], "name: adult\n")
    assert merge([one, two], tmp_path / "out").rows == 3
    assert (tmp_path / "out" / "experiment.yaml").read_text() == "name: adult\n"
    assert (tmp_path / "out" / "experiment-2.yaml").read_text() == "name: web\nprotocol: fw-svms\n"


def test_a_users_own_configuration_beside_that_of_its_runs_is_no_other_experiment(tmp_path: Path) -> None:
    one = write(
        tmp_path / "one", [row(dataset="a1a", method="fw")], "name: trial\nprofiles: {small: {C: 1}}\n"
    )
    (one / "experiment-2.yaml").write_text("name: trial\nC: 1\n")
    two = write(tmp_path / "two", [row(dataset="a2a", method="fw")], "name: trial\nC: 1\n")
    assert merge([one, two], tmp_path / "out").rows == 2


def test_nothing_is_overwritten_and_other_columns_are_refused(tmp_path: Path) -> None:
    one = write(tmp_path / "one", [row(dataset="a1a", method="fw")])
    with pytest.raises(ResultsError, match=r"already contains runs\.csv"):
        merge([one], one)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "experiment.yaml").write_text("name: mine\n")
    with pytest.raises(ResultsError, match=r"already contains experiment\.yaml"):
        merge([one], tmp_path / "own")
    two = write(tmp_path / "two", [row(dataset="a2a", method="fw")])
    text = (two / "runs.csv").read_text()
    (two / "runs.csv").write_text("\n".join(line + ",x" for line in text.splitlines()) + "\n")
    with pytest.raises(ResultsError, match="different columns: x"):
        merge([one, two], tmp_path / "out")


def test_a_torn_folder_is_not_merged(tmp_path: Path) -> None:
    one = write(tmp_path / "one", [row(dataset="a1a", method="fw")])
    runs = one / "runs.csv"
    runs.write_text(runs.read_text() + "half a li")
    with pytest.raises(ResultsError, match="incomplete"):
        merge([one], tmp_path / "out")


def test_honest_runs_of_two_machines_are_taken_the_first_of_them(tmp_path: Path) -> None:
    """They went other ways to the same tolerance: their certificates have the optimum in common."""
    one = write(tmp_path / "one", [row(dataset="a1a", method="fw", run_id="r", objective=0.5, gap=2e-3)])
    more = {
        "objective": 0.501,
        "gap": 1.5e-3,
        "iterations": 370,
        "kernel_evaluations": 7,
        "machine": "laptop",
    }
    two = write(tmp_path / "two", [row(dataset="a1a", method="fw", run_id="r", **more)])
    for first, second in ((one, two), (two, one)):
        out = tmp_path / f"{first.name}-first"
        merge([first, second], out)
        assert rows_of(out) == rows_of(first)


def test_within_a_folder_the_latest_finished_row_of_a_run_counts(tmp_path: Path) -> None:
    runs = [
        row(dataset="a1a", method="fw", run_id="r", objective=0.9),
        row(dataset="a1a", method="fw", run_id="r", objective=0.5),
        row(dataset="a1a", method="fw", run_id="r", status="interrupted", objective=0.7),
    ]
    one, two = write(tmp_path / "one", runs), write(tmp_path / "two", runs[1:2])
    merge([one, two], tmp_path / "out")
    assert rows_of(tmp_path / "out") == rows_of(two)
