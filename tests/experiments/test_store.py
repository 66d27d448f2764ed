"""Results folders: whatever happens, what was written stays and what is torn is cut off."""

import csv
import json
import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from fwsvm.errors import ResultsError
from fwsvm.experiments import record
from fwsvm.experiments.store import open_results, read_rows
from fwsvm.results import writing
from fwsvm.results.columns import COLUMNS, SCHEMA
from fwsvm.solvers.loop import TracePoint


def row(run_id: str, status: str = "converged", **more: object) -> record.Row:
    return record.row(**{"run_id": run_id, "status": status, **more})


def written(folder: Path, *rows: record.Row) -> Path:
    with open_results(folder) as store:
        for one in rows:
            store.add(one)
    return folder / "runs.csv"


def test_rows_come_back_as_they_went(tmp_path: Path) -> None:
    more = {"objective": 0.1 + 0.2, "certified": True, "fold": None, "rows": 7, "gap": float("nan")}
    path = written(tmp_path, row("a", message='said "no",\nthen went', **more))
    (found,) = read_rows(path, []).values()
    assert float(found["objective"]) == 0.1 + 0.2
    assert (found["certified"], found["fold"], found["rows"], found["gap"]) == ("true", "", "7", "")
    assert found["message"] == 'said "no", then went'
    assert path.read_text().count("\n") == 2


@pytest.mark.parametrize("cut", [0, 0.1, 0.5, 0.7, 0.999, 1])
def test_a_file_cut_anywhere_goes_on_from_its_last_whole_row(tmp_path: Path, cut: float) -> None:
    path = written(tmp_path, *(row(name) for name in "abc"))
    whole = path.read_bytes()
    left = whole[: round(cut * len(whole))]
    path.write_bytes(left)
    with open_results(tmp_path) as store:
        assert list(store.rows) == list("abc")[: max(0, left.count(b"\n") - 1)]
        assert bool(store.notices) == (left != b"" and not left.endswith(b"\n"))
        for name in "abc":
            if not store.done(name):
                store.add(row(name))
    assert path.read_bytes() == whole


@pytest.mark.parametrize("events", [0, 2])
def test_a_log_goes_on_after_its_last_whole_event(tmp_path: Path, events: int) -> None:
    with open_results(tmp_path) as store:
        for number in range(events):
            store.log("before", number=number)
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"time": "2026')
    with open_results(tmp_path) as store:
        store.log("after")
    found = [json.loads(line)["event"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert found == ["before"] * events + ["after"]


def older(path: Path, *lacking: str) -> list[list[str]]:
    """Make a runs.csv one that was written before there were some columns, and return its rows."""
    with path.open(newline="") as file:
        lines = list(csv.reader(file))
    left = [i for i, name in enumerate(lines[0]) if name not in lacking]
    kept = [[line[i] for i in left] for line in lines]
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(kept)
    return kept


def test_a_folder_of_an_older_schema_goes_on_and_keeps_its_rows(tmp_path: Path) -> None:
    path = written(tmp_path, row("a", message='said "no", then', objective=0.1), row("b", "error"))
    header, *rows = older(path, "schema", "blas")
    with path.open("a") as file:
        file.write("half of")
    with open_results(tmp_path) as store:
        assert (store.done("a"), store.done("b"), len(store.notices)) == (True, False, 1)
        assert (store.rows["a"]["schema"], store.rows["a"]["blas"]) == ("", "")
        store.add(row("b"))
    with path.open(newline="") as file:
        found = list(csv.DictReader(file))
    assert list(found[0]) == list(COLUMNS)
    assert [[line[name] for name in header] for line in found[:2]] == rows
    assert [line["schema"] for line in found] == ["", "", str(SCHEMA)]


def test_a_finished_row_is_not_replaced_by_an_unfinished_one(tmp_path: Path) -> None:
    path = written(tmp_path, row("a", "error"), row("a", C=1.0), row("a", "interrupted"), row("b", "missing"))
    rows = read_rows(path, [])
    assert (rows["a"]["status"], rows["a"]["C"], rows["b"]["status"]) == ("converged", "1.0", "missing")
    with open_results(tmp_path) as store:
        assert (store.done("a"), store.done("b"), store.done("c")) == (True, False, False)


def _hold(folder: str, ready: object, release: object) -> None:
    with open_results(Path(folder)):
        ready.set()
        release.wait(600)


def test_two_writers_do_not_share_a_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, release = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(str(tmp_path), ready, release))
    other.start()
    try:
        assert ready.wait(600)
        with pytest.raises(ResultsError, match="another fwsvm writes here"), open_results(tmp_path):
            pass
    finally:
        release.set()
        other.join()
    with open_results(tmp_path):
        pass


def test_committed_results_are_never_written_to(tmp_path: Path) -> None:
    with (
        pytest.raises(ResultsError, match="committed results"),
        open_results(tmp_path / "results/reference/web"),
    ):
        pass
    assert not (tmp_path / "results").exists()


def test_a_trace_has_its_columns(tmp_path: Path) -> None:
    with open_results(tmp_path) as store:
        store.add(row("a"), [TracePoint(0.5, 3, 1.25, float("nan"), 2)])
    lines = (tmp_path / "traces" / "a.csv").read_text().splitlines()
    assert lines == ["seconds,iteration,objective,gap,support_vectors", "0.5,3,1.25,,2"]


def test_the_columns_are_those_agreed_on() -> None:
    agreed = """
    run_id experiment profile role status message dataset data_sha256 rows features classes
    subproblems method kernel gamma sigma2 width_rule degree coef0 C lambda search stop tolerance
    seed fold repetition objective gap relative_gap gap_kind certified primal dual support_vectors
    iterations steps kernel_evaluations cache_hit_rate protocol parameters chosen flags time_limit
    max_iterations test_accuracy train_accuracy load_seconds compile_seconds
    train_seconds predict_seconds peak_memory_mib threads cache_mib parallel_cells
    shared machine cpu blas python numpy numba fwsvm commit started_utc schema source
    """
    assert list(COLUMNS) == agreed.split()
    assert all(sentence.endswith(".") for sentence in COLUMNS.values())


def test_a_row_is_plain_json() -> None:
    plain = writing.json_values(
        row("a", C=np.float64(2), gap=float("nan"), primal=float("inf"), certified=np.True_)
    )
    assert list(plain) == list(COLUMNS)
    again = json.loads(json.dumps(plain, allow_nan=False))
    assert (again["C"], again["gap"], again["primal"], again["certified"]) == (2.0, None, "inf", True)
