"""A raced selection: who stays after the first look, what is run, and that a stop in between changes nothing."""

import contextlib
import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from fwsvm.cli import main
from fwsvm.experiments import racing
from fwsvm.experiments.experiment import DataSpec, Experiment, Selection, Sweep, Trial, ValidationRule
from fwsvm.experiments.samples import DataInfo
from fwsvm.results.agreement import differing
from fwsvm.solvers import Settings

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


def look_rows(errors: dict[float, float], **odd: str) -> dict[str, dict[str, str]]:
    """Return the rows of a first look; ``errors`` by C, of 1,000 rows."""
    return {
        cell.run_id: {
            "status": "converged", "message": "",
            "test_accuracy": repr(1.0 - errors[cell.settings.C or 0.0] / 1000.0), **odd,
        }
        for cell in racing.look_cells(EXPERIMENT, [TRIAL], {TRIAL.data: FACTS})
    }  # fmt: skip


def deciding(rows: dict[str, dict[str, str]]) -> list[tuple[float | None, int | None, float | None]]:
    cells = racing.deciding_cells(EXPERIMENT, TRIAL, FACTS, rows)
    return [(cell.settings.C, cell.part, cell.settings.tolerance) for cell in cells]


def test_a_first_look_has_all_candidates_at_its_own_tolerance() -> None:
    cells = racing.look_cells(EXPERIMENT, [TRIAL], {TRIAL.data: FACTS})
    assert {cell.settings.tolerance for cell in cells} == {0.1}
    assert len({cell.run_id for cell in cells}) == 8


def test_candidates_stay_within_three_deviations_of_the_fewest_errors() -> None:
    rows = look_rows({1.0: 98, 2.0: 126, 4.0: 128, 8.0: 300})  # 98 + 3 sqrt(99) = 127.8
    assert deciding(rows) == [(C, part, 1e-3) for part in (0, 1) for C in (1.0, 2.0)]


def test_no_candidate_leaves_before_the_look_is_complete() -> None:
    rows = look_rows({1.0: 0, 2.0: 900, 4.0: 900, 8.0: 900})
    rows.popitem()
    assert racing.is_open(EXPERIMENT, TRIAL, FACTS, rows)
    assert len(deciding(rows)) == 8


def test_no_candidate_leaves_where_none_could_be_judged() -> None:
    rows = look_rows({1.0: 0, 2.0: 0, 4.0: 0, 8.0: 0}, status="error", message="no")
    assert not racing.is_open(EXPERIMENT, TRIAL, FACTS, rows)
    assert len(deciding(rows)) == 8


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
    assert f"wdbc: {len(searched) - 45} of 45 runs are left after a first look" in err
    assert len(looks) == 45
    assert 3 <= len(searched) - len(looks) < 45
    assert all(float(row["relative_gap"]) <= float(row["tolerance"]) for row in searched)


def test_the_choice_is_that_of_the_whole_search(whole: tuple[Path, str], tmp_path: Path) -> None:
    assert grid(tmp_path, TEXT.replace("race: 0.1, ", ""))[0] == 0
    (raced,), (full,) = (
        [row for row in rows(folder).values() if row["role"] == "final"] for folder in (whole[0], tmp_path)
    )
    assert raced["run_id"] == full["run_id"]
    assert not differing(raced, full)


@pytest.mark.parametrize("kept", [0, 20, 45, 46])
def test_an_interrupted_race_goes_on_to_the_same_rows(
    whole: tuple[Path, str], tmp_path: Path, kept: int
) -> None:
    folder, _ = whole
    lines = (folder / "out" / "runs.csv").read_text().splitlines(keepends=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "runs.csv").write_text("".join(lines[: 1 + kept]))
    code, err = grid(tmp_path, TEXT)
    assert code == 0
    assert ("at most" in err) == (kept < 45)
    found, before = rows(tmp_path), rows(folder)
    assert found.keys() == before.keys()
    assert not any(differing(found[run_id], row) for run_id, row in before.items())
    assert ("first look" in err) == (kept < 45)


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
        *45 * ["to do"], *45 * ["open: runs if its candidate may win"], "open: parameters to be chosen"
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
