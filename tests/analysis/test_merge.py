"""Merging folders: every run once, nothing mixed silently, nothing changed on the way."""

from pathlib import Path

import pandas as pd
import pytest

from fwsvm.analysis.merge import merge
from fwsvm.errors import ResultsError
from tests.analysis.folders import row, write, write_trace
from tests.cli.running import rows as rows_of


def test_rows_traces_and_logs_come_over_as_they_stand(tmp_path: Path) -> None:
    one = write(tmp_path / "one", [row(dataset="a1a", method="fw", run_id="r1", message='said "so", twice')])
    two = write(tmp_path / "two", [row(dataset="a2a", method="fw", run_id="r2", machine="laptop")])
    columns = ("seconds", "iteration", "objective", "gap", "support_vectors")
    write_trace(two, "r2", pd.DataFrame({name: [1] for name in columns}))
    (one / "log.jsonl").write_text('{"n": 1}\n{"to')
    (two / "log.jsonl").write_text('{"n": 2}\n')
    out = tmp_path / "out"
    assert merge([one, two, one], out)[0] == 2
    assert rows_of(out) == rows_of(one) + rows_of(two)
    assert (out / "traces" / "r2.csv").read_bytes() == (two / "traces" / "r2.csv").read_bytes()
    assert (out / "log.jsonl").read_text() == '{"n": 1}\n{"n": 2}\n'
    assert (out / "experiment.yaml").read_text() == (one / "experiment.yaml").read_text()


def test_a_run_of_several_folders_is_written_once_the_latest_finished_of_the_first(tmp_path: Path) -> None:
    def same(name: str, *runs: dict[str, object]) -> Path:
        return write(
            tmp_path / name, [row(dataset="a1a", method="fw", run_id="r", **fields) for fields in runs]
        )

    failed = same("failed", {"status": "error", "test_accuracy": ""})
    done = same("done", {"objective": 0.9}, {"train_seconds": 3}, {"status": "interrupted", "objective": 0.7})
    again = same("again", {"train_seconds": 4, "machine": "laptop"})
    merged = merge([failed, done, again], tmp_path / "out")
    assert merged == (1, ["4 rows left out: of each run one is kept, a finished one if there is any"])
    (kept,) = rows_of(tmp_path / "out")
    assert (kept["status"], kept["train_seconds"], kept["machine"]) == ("converged", "3", "desk")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"commit": "fffffff"}, "rows of different code: abc1234 in .*one, fffffff in .*two"),
        ({"data_sha256": "f" * 64}, "different data under the name a1a: .* in .*one, ffffffffffff in .*two"),
    ],
)
def test_mixtures_are_refused_by_name_and_done_only_when_asked(tmp_path: Path, other, said: str) -> None:
    one = write(tmp_path / "one", [row(dataset="a1a", method="fw", run_id="same")])
    two = write(tmp_path / "two", [row(dataset="a1a", method="fw", **({"run_id": "other"} | other))])
    with pytest.raises(ResultsError, match=said):
        merge([one, two], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    merged = merge([one, two], tmp_path / "out", allow_mixed=True)
    assert merged[0] == 2
    assert merged[1]


def test_configurations_may_differ_in_the_machines_part_alone_and_all_come_over(tmp_path: Path) -> None:
    one = write(tmp_path / "one", [row(dataset="a1a", method="fw")], "name: trial\nworkers: 2\n")
    two = write(tmp_path / "two", [row(dataset="a2a", method="fw")], "name: trial\nworkers: 8\n")
    three = write(tmp_path / "three", [row(dataset="a3a", method="fw")], "name: trial\ntolerance: 0.1\n")
    web = write(tmp_path / "web", [row(dataset="w1a", method="fw", experiment="web")], "name: web\n")
    assert merge([one, two, web], tmp_path / "out")[0] == 3
    assert (tmp_path / "out" / "experiment-2.yaml").read_text() == "name: web\n"
    with pytest.raises(ResultsError, match=r"different configurations of trial: .*one.* and .*three"):
        merge([one, three], tmp_path / "out2")
    merge([one, three], tmp_path / "out3", allow_mixed=True)
    assert (tmp_path / "out3" / "experiment-2.yaml").read_text() == "name: trial\ntolerance: 0.1\n"
