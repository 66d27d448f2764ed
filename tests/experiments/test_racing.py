"""A raced selection: who stays after the first look, what is run, and that a stop in between changes nothing."""

import contextlib
import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from fwsvm.cli import main
from fwsvm.experiments import racing
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Sweep, Trial, ValidationRule
from fwsvm.experiments.plan import Cell
from fwsvm.experiments.samples import DataInfo
from fwsvm.results.agreement import differing
from fwsvm.solvers import Settings

Rows = dict[str, dict[str, str]]

FACTS = DataInfo(fingerprint="d" * 64, rows=1000)
EXPERIMENT = Experiment("trial", "", 0, 1, (), {})
CANDIDATES = Sweep(Settings(method="newton", tolerance=1e-3), {"C": (1.0, 2.0, 4.0, 8.0)})
TRIAL = Trial(DataSpec("x"), CANDIDATES, 1, Selection(ValidationRule(folds=2), CANDIDATES, 0.1))

TEXT = """\
name: raced
datasets: [wdbc]
methods: [newton]
select: {folds: 3, race: 0.1, C: [0.001, 1, 4, 64, 4096], sigma2: [0.01, 4, 16]}
"""


def fold_rows(fold: int, errors: dict[float, float], rows: Rows | None = None, **odd: str) -> Rows:
    """Return these rows and those of a first look at a fold, with ``errors`` by C of its 500 rows."""
    rows = rows or {}
    return rows | {
        cell.run_id: {
            "status": "converged", "message": "",
            "test_accuracy": repr(1.0 - errors[cell.settings.C or 0.0] / 500.0), "objective": "1", **odd,
        }
        for cell in look(rows).cells
        if cell.part == fold
    }  # fmt: skip


def look(rows: Rows) -> racing.Look:
    return racing.first_look(EXPERIMENT, TRIAL, FACTS, rows)


def described(cells: list[Cell]) -> list[tuple[float | None, int | None, float | None]]:
    return [(cell.settings.C, cell.part, cell.settings.tolerance) for cell in cells]


def deciding(rows: Rows) -> list[tuple[float | None, int | None, float | None]]:
    return described(racing.deciding_cells(EXPERIMENT, TRIAL, FACTS, rows))


def test_all_candidates_are_looked_at_on_the_first_fold_at_the_tolerance_of_the_look() -> None:
    assert described(look({}).cells) == [(C, 0, 0.1) for C in (1.0, 2.0, 4.0, 8.0)]
    assert described(look({}).later) == [(C, 1, 0.1) for C in (1.0, 2.0, 4.0, 8.0)]
    assert deciding({}) == [(C, fold, 1e-3) for fold in (0, 1) for C in (1.0, 2.0, 4.0, 8.0)]


def test_candidates_stay_within_three_deviations_of_the_fewest_errors_so_far() -> None:
    first = fold_rows(0, {1.0: 48, 2.0: 68, 4.0: 70, 8.0: 300})  # 48 + 3 sqrt(49) = 69
    assert described(look(first).cells)[4:] == [(C, 1, 0.1) for C in (1.0, 2.0)]
    for errors, stay in ((59, [1.0, 2.0]), (60, [1.0])):  # 48 + 50 + 3 sqrt(99) = 127.8
        both = fold_rows(1, {1.0: 50, 2.0: errors}, first)
        assert not look(both).is_open
        assert deciding(both) == [(C, fold, 1e-3) for fold in (0, 1) for C in stay]


def test_no_candidate_leaves_by_a_fold_that_is_not_complete() -> None:
    rows = fold_rows(0, {1.0: 0, 2.0: 400, 4.0: 400, 8.0: 400})
    rows.popitem()
    assert look(rows).is_open
    assert len(look(rows).cells) == 4
    assert len(deciding(rows)) == 8


def test_no_candidate_leaves_where_none_could_be_judged() -> None:
    none = dict.fromkeys((1.0, 2.0, 4.0, 8.0), 0.0)
    rows = fold_rows(1, none, fold_rows(0, none, status="error", message="no"), status="error", message="no")
    assert not look(rows).is_open
    assert len(deciding(rows)) == 8


def test_a_candidate_that_could_not_be_judged_on_a_fold_leaves() -> None:
    rows = fold_rows(0, dict.fromkeys((1.0, 2.0, 4.0, 8.0), 10.0))
    failed = next(cell.run_id for cell in look({}).cells if cell.settings.C == 2.0)
    rows[failed] |= {"status": "error", "message": "no"}
    assert described(look(rows).cells)[4:] == [(C, 1, 0.1) for C in (1.0, 4.0, 8.0)]


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
    looks = [row for row in searched if row["tolerance"] == "0.1"]
    assert "at most 91 runs: 90 to choose parameters, 1 to report" in err
    assert f"wdbc: {len(searched) - len(looks)} of 45 runs are left after a first look" in err
    by_fold = [sum(row["fold"] == fold for row in looks) for fold in ("0", "1", "2")]
    assert 15 == by_fold[0] > by_fold[1] >= by_fold[2] >= 1
    assert 3 <= len(searched) - len(looks) <= 3 * by_fold[2]
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
    (tmp_path / "out").mkdir()
    looks = sum(",0.1," in line for line in lines)
    kept = looks if kept < 0 else kept
    (tmp_path / "out" / "runs.csv").write_text("".join(lines[: 1 + kept]))
    code, err = grid(tmp_path, TEXT)
    assert code == 0
    assert ("at most" in err) == (kept < looks)
    found, before = rows(tmp_path), rows(folder)
    assert found.keys() == before.keys()
    assert not any(differing(found[run_id], row) for run_id, row in before.items())
    assert ("first look" in err) == (kept < looks)


def test_a_look_of_another_folder_is_known_from_the_start(whole: tuple[Path, str], tmp_path: Path) -> None:
    code, err = grid(tmp_path, TEXT, "--reuse", str(whole[0] / "out"))
    assert code == 0
    assert f"{len(rows(tmp_path))} done" in err
    assert "at most" not in err
    assert "first look" not in err


def test_a_dry_run_says_what_hangs_on_the_look(tmp_path: Path) -> None:
    (tmp_path / "raced.yaml").write_text(TEXT)
    with contextlib.chdir(tmp_path):
        found = CliRunner().invoke(main, ["grid", "raced.yaml", "--offline", "--dry-run"])
    states = [line.rsplit("  ", 1)[1] for line in found.stdout.splitlines()]
    assert states == [
        *15 * ["to do"], *75 * ["open: runs if its candidate may win"], "open: parameters to be chosen"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (TEXT.replace("race: 0.1", "race: 0.001"), "raced.yaml:4: race is the relative gap of a first look"),
        (TEXT.replace("race: 0.1", "race: 2"), "raced.yaml:4: race must be"),
        (TEXT + "search: sampled\n", "raced.yaml:4: race is for runs with stop: relative and search: full"),
        (TEXT + "protocol: paper\n", "raced.yaml:4: race is for runs with stop: relative and search: full"),
    ],
)
def test_a_race_that_makes_no_sense_is_refused(tmp_path: Path, text: str, wrong: str) -> None:
    code, err = grid(tmp_path, text, "--dry-run")
    assert code == 2
    assert wrong in err
