"""The page on reproducing the papers names the Makefile's targets, their experiments, and the minutes of our runs."""

import csv
import re
import shutil
import subprocess

import pytest

from tests.docs.pages import DOCS

ROOT = DOCS.parent
PAGE = (DOCS / "reproducing.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `reproduce-([\w-]+)` \| (.*) \|$", PAGE, re.MULTILINE))
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
REFERENCE = ROOT / "results" / "reference"


def experiments(target: str) -> set[str]:
    """Return the experiments that a target runs, as make says."""
    said = subprocess.run(
        ["make", "-n", f"reproduce-{target}"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return set(re.findall(r"fwsvm grid configs/([\w-]+)\.yaml", said))


def minutes(names: set[str]) -> float:
    """Return the training times of the reference runs of these experiments.

    A row that one folder borrowed from another by `--reuse` stands in both with the same start and seconds, and counts
    once. A run that two experiments made, each for itself, counts twice.
    """
    seconds = {}
    for name in names:
        file = REFERENCE / name / "runs.csv"
        if file.exists():
            with file.open(newline="", encoding="utf-8") as stream:
                for row in csv.DictReader(stream):
                    run = row["run_id"], row["started_utc"], row["train_seconds"]
                    seconds[run] = float(row["train_seconds"] or 0)
    return sum(seconds.values()) / 60


def test_every_target_has_a_row_and_every_row_a_target() -> None:
    targets = set(re.findall(r"^reproduce-([\w-]+):", MAKEFILE, re.MULTILINE))
    assert set(ROWS) == targets


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("target", sorted(ROWS))
def test_a_row_has_the_minutes_of_the_experiments_that_make_runs(target: str) -> None:
    ran, (_, names, said) = experiments(target), ROWS[target].split(" | ")
    assert ran
    shipped = {file.stem for file in (ROOT / "configs").glob("*.yaml")}
    assert set(re.findall(r"`([\w-]+)`", names)) & shipped <= ran
    assert float(said) == pytest.approx(minutes(ran), abs=0.051)
