"""The counts of reproduced statements in the READMEs are those of the committed claims."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results" / "reference"
PAPERS = ("003", "000", "002", "004")


def verdicts(paper: str, column: str = "verdict") -> Counter[str]:
    """Return how many statements of a paper have each verdict."""
    with (REFERENCE / paper / "claims.csv").open(newline="", encoding="utf-8") as stream:
        return Counter(row[column] for row in csv.DictReader(stream))


def words(page: Path) -> str:
    """Return the text of a page, without line breaks."""
    return " ".join(page.read_text("utf-8").split())


def test_the_readme_counts_all_statements() -> None:
    as_printed = sum((verdicts(paper) for paper in PAPERS), Counter())
    said = words(ROOT / "README.md")
    assert (
        f"Of the papers' {as_printed.total()} statements {as_printed['reproduced']} were reproduced, "
        f"{as_printed['not reproduced']} were not, and {as_printed['not run']} were not run" in said
    )
    (first, before), (second, then) = (
        (verdicts(paper, "as_run_verdict")["reproduced"], verdicts(paper)["reproduced"])
        for paper in PAPERS[:2]
    )
    assert f"program, {first} of 34 statements of the first paper come out in place of {before}" in said
    assert f"and {second} of 38 of the second in place of {then}" in said


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_of_the_reference_runs_has_a_line_a_paper(paper: str) -> None:
    line = re.search(rf"^\| {paper} \| (.*) \|$", (REFERENCE / "README.md").read_text("utf-8"), re.MULTILINE)
    assert line
    total, *_, as_printed, as_run = line[1].split(" | ")
    assert (int(total), int(as_printed)) == (verdicts(paper).total(), verdicts(paper)["reproduced"])
    assert as_run in {str(verdicts(paper, "as_run_verdict")["reproduced"]), "the same protocol"}


@pytest.mark.parametrize("paper", PAPERS[:2])
def test_the_page_of_a_paper_counts_its_statements(paper: str) -> None:
    said = words(REFERENCE / paper / "README.md")
    for column in ("verdict", "as_run_verdict"):
        found = verdicts(paper, column)
        assert re.search(rf"{found['reproduced']} (of {found.total()} claims )?are reproduced", said)
        assert f"not reproduced ({found['not reproduced']})" in said
