"""A raced selection: who stays, what is run, and that a stop in between changes nothing."""

import contextlib
import csv
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from fwsvm.cli import main
from fwsvm.experiments import racing
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Sweep, Trial, ValidationRule
from fwsvm.experiments.plan import Cell
from fwsvm.experiments.samples import DataInfo, validation_count
from fwsvm.results.agreement import differing
from fwsvm.solvers import Settings

Rows = dict[str, dict[str, str]]

FACTS = DataInfo(fingerprint="d" * 64, rows=1000)
EXPERIMENT = Experiment("trial", "", 0, 1, (), {})
CANDIDATES = Sweep(Settings(method="newton", tolerance=1e-3), {"C": (1.0, 2.0, 4.0, 8.0)})
THREE = ValidationRule(folds=3)
TRIAL = Trial(DataSpec("x"), CANDIDATES, 1, Selection(ValidationRule(folds=2), CANDIDATES, 0.1))

TEXT = """\
name: raced
datasets: [wdbc]
methods: [newton]
select: {folds: 3, race: 0.1, C: [0.001, 1, 4, 64, 4096], sigma2: [0.01, 4, 16]}
"""


def with_errors(errors: dict[float, float], rows: Rows | None = None, **odd: str) -> Rows:
    """Return these rows and those of the next round, with ``errors`` by C of the 500 rows of its fold."""
    rows = rows or {}
    return rows | {
        cell.run_id: {
            "status": "converged", "flags": "", "objective": "1",
            "test_accuracy": repr(1.0 - errors[cell.settings.C or 0.0] / 500.0), **odd,
        }
        for cell in search(rows).cells
        if cell.run_id not in rows
    }  # fmt: skip


def search(rows: Rows) -> racing.SelectionRuns:
    return racing.selection_runs(EXPERIMENT, TRIAL, FACTS, rows)


def described(cells: list[Cell]) -> list[tuple[float | None, int | None, float | None]]:
    return [(cell.settings.C, cell.part, cell.settings.tolerance) for cell in cells]


ALL_C = (1.0, 2.0, 4.0, 8.0)


def test_all_candidates_run_on_the_first_fold_to_the_tolerance_of_the_race() -> None:
    assert described(search({}).cells) == [(C, 0, 0.1) for C in ALL_C]
    assert described(search({}).later) == [(C, fold, 1e-3) for fold in (0, 1) for C in ALL_C]
    assert search({}).deciding == search({}).later


def test_candidates_stay_within_three_deviations_of_the_fewest_errors() -> None:
    rough = with_errors({1.0: 48, 2.0: 69, 4.0: 70, 8.0: 69})  # 48 + 3 sqrt(49) = 69
    assert described(search(rough).cells)[4:] == [(C, 0, 1e-3) for C in (1.0, 2.0, 8.0)]
    first = with_errors({1.0: 48, 2.0: 60, 8.0: 70}, rough)
    assert described(search(first).cells)[7:] == [(C, 1, 1e-3) for C in (1.0, 2.0)]
    assert described(search(first).deciding) == [(C, fold, 1e-3) for fold in (0, 1) for C in (1.0, 2.0)]


def test_none_of_those_that_ran_on_all_folds_leaves() -> None:
    rows = with_errors(dict.fromkeys(ALL_C, 10.0), with_errors(dict.fromkeys(ALL_C, 10.0)))
    last = with_errors({1.0: 0, 2.0: 400, 4.0: 400, 8.0: 400}, rows)
    assert described(search(last).deciding) == [(C, fold, 1e-3) for fold in (0, 1) for C in ALL_C]


def test_a_candidate_is_judged_by_its_errors_on_all_folds_so_far() -> None:
    three = replace(TRIAL, selection=Selection(THREE, CANDIDATES, 0.1))
    rows: Rows = {}
    for errors in ((40, 40), (40, 55), (40, 70)):  # 80 + 3 sqrt(81) = 107 < 40 + 70
        rows |= {
            cell.run_id: {
                "status": "converged", "flags": "", "objective": "1",
                "test_accuracy": repr(1.0 - errors[cell.settings.C == 8.0] / validation_count(1000, THREE, fold)),
            }
            for cell in racing.selection_runs(EXPERIMENT, three, FACTS, rows).cells
            if cell.run_id not in rows and (fold := cell.part or 0) is not None
        }  # fmt: skip
    found = racing.selection_runs(EXPERIMENT, three, FACTS, rows)
    assert {C for C, fold, _ in described(found.cells) if fold == 1} == {1.0, 2.0, 4.0, 8.0}
    assert {C for C, fold, _ in described(found.cells) if fold == 2} == {1.0, 2.0, 4.0}


def test_no_candidate_leaves_by_a_fold_that_is_not_complete() -> None:
    rows = with_errors({1.0: 0, 2.0: 400, 4.0: 400, 8.0: 400})
    rows.popitem()
    assert len(search(rows).cells) == 4
    assert len(search(rows).deciding) == 8


def test_no_candidate_leaves_where_none_could_be_judged() -> None:
    rows: Rows = {}
    for _ in range(3):
        rows = with_errors(dict.fromkeys(ALL_C, 0.0), rows, status="error", message="no")
    assert not search(rows).later
    assert len(search(rows).deciding) == 8


def test_a_candidate_that_could_not_be_judged_on_a_fold_leaves() -> None:
    rows = with_errors(dict.fromkeys(ALL_C, 10.0))
    failed = next(cell.run_id for cell in search({}).cells if cell.settings.C == 2.0)
    rows[failed] |= {"status": "error", "message": "no"}
    assert described(search(rows).cells)[4:] == [(C, 0, 1e-3) for C in (1.0, 4.0, 8.0)]


def grid(folder: Path, text: str, *options: str) -> tuple[int, str]:
    """Run the experiment in a folder and return exit code and stderr."""
    (folder / "raced.yaml").write_text(text)
    with contextlib.chdir(folder):
        command = ["grid", "raced.yaml", "--offline", "--threads", "1", "--out", "out", *options]
        found = CliRunner().invoke(main, command)
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.stderr


def rows(folder: Path) -> dict[str, dict[str, str]]:
    lines = (folder / "out" / "runs.csv").read_text().splitlines()
    return {row["run_id"]: row for row in csv.DictReader(lines)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a folder where the experiment ran, and what it said."""
    folder = tmp_path_factory.mktemp("raced")
    code, err = grid(folder, TEXT)
    assert code == 0
    return folder, err


def test_what_races_is_said_and_stands_in_the_rows(whole: tuple[Path, str]) -> None:
    folder, err = whole
    searched = [row for row in rows(folder).values() if row["role"] == "select"]
    rough = [row for row in searched if row["tolerance"] == "0.1"]
    assert "at most 61 runs: 60 to choose parameters, 1 to report" in err
    assert f"wdbc: {60 - len(searched)} of 60 runs are left out" in err
    assert {row["fold"] for row in rough} == {"0"}
    by_fold = [sum(row["fold"] == fold for row in searched if row not in rough) for fold in ("0", "1", "2")]
    assert 15 == len(rough) > by_fold[0] >= by_fold[1] >= by_fold[2] >= 1
    assert all(float(row["relative_gap"]) <= float(row["tolerance"]) for row in searched)


def test_the_choice_is_that_of_the_whole_search(whole: tuple[Path, str], tmp_path: Path) -> None:
    assert grid(tmp_path, TEXT.replace("race: 0.1, ", ""))[0] == 0
    (raced,), (full,) = (
        [row for row in rows(folder).values() if row["role"] == "final"] for folder in (whole[0], tmp_path)
    )
    assert raced["run_id"] == full["run_id"]
    assert not differing(raced, full)


@pytest.mark.parametrize("kept", [0, 10, 15, 20, -1])
def test_an_interrupted_race_goes_on_to_the_same_rows(
    whole: tuple[Path, str], tmp_path: Path, kept: int
) -> None:
    folder, _ = whole
    lines = (folder / "out" / "runs.csv").read_text().splitlines(keepends=True)
    searched = sum(",select," in line for line in lines)
    kept = searched if kept < 0 else kept
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "runs.csv").write_text("".join(lines[: 1 + kept]))
    code, err = grid(tmp_path, TEXT)
    assert code == 0
    assert ("at most" in err) == (kept < searched)
    found, before = rows(tmp_path), rows(folder)
    assert found.keys() == before.keys()
    assert not any(differing(found[run_id], row) for run_id, row in before.items())
    assert ("left out" in err) == (kept < searched)


def test_a_race_of_another_folder_is_known_from_the_start(whole: tuple[Path, str], tmp_path: Path) -> None:
    code, err = grid(tmp_path, TEXT, "--reuse", str(whole[0] / "out"))
    assert code == 0
    assert f"{len(rows(tmp_path))} done" in err
    assert "at most" not in err
    assert "left out" not in err


def test_a_dry_run_says_what_hangs_on_the_race(tmp_path: Path) -> None:
    (tmp_path / "raced.yaml").write_text(TEXT)
    with contextlib.chdir(tmp_path):
        found = CliRunner().invoke(main, ["grid", "raced.yaml", "--offline", "--dry-run"])
    states = [line.rsplit("  ", 1)[1] for line in found.stdout.splitlines()]
    assert states == [
        *15 * ["to do"], *45 * ["open: runs if its candidate may win"], "open: parameters to be chosen"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (TEXT.replace("race: 0.1", "race: 0.001"), "raced.yaml:4: race is the relative gap of first runs"),
        (TEXT.replace("race: 0.1", "race: 2"), "raced.yaml:4: race must be"),
        (TEXT + "search: sampled\n", "raced.yaml:4: race is for runs with stop: relative and search: full"),
        (TEXT + "protocol: paper\n", "raced.yaml:4: race is for runs with stop: relative and search: full"),
    ],
)
def test_a_race_that_makes_no_sense_is_refused(tmp_path: Path, text: str, wrong: str) -> None:
    code, err = grid(tmp_path, text, "--dry-run")
    assert code == 2
    assert wrong in err
