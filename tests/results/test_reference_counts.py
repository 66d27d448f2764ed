"""The counts of reproduced statements on pages are those of the committed claims."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results" / "reference"
PAPERS = {"003": "Frandi", "000": "Ñanculef", "002": "Glasmachers", "004": "Zhang"}


def verdicts(paper: str, column: str = "verdict") -> Counter[str]:
    """Return how many statements of a paper have each verdict."""
    with (REFERENCE / paper / "claims.csv").open(newline="", encoding="utf-8") as stream:
        return Counter(row[column] for row in csv.DictReader(stream))


def test_the_readme_counts_all_statements() -> None:
    found = sum((verdicts(paper) for paper in PAPERS), Counter())
    assert (
        f"Of the {found.total()} statements of the papers {found['reproduced']} were reproduced, "
        f"{found['not reproduced']} were not, and {found['not run']} were not run"
    ) in " ".join((ROOT / "README.md").read_text("utf-8").split())


@pytest.mark.parametrize("page", ["results/reference/README.md", "docs/findings.md"])
@pytest.mark.parametrize("paper", PAPERS)
def test_a_table_has_a_line_a_paper(page: str, paper: str) -> None:
    names = f"{paper}|{PAPERS[paper]}"
    line = re.search(rf"^\| (?:{names})[^|]* \| (.*) \|$", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert line
    total, *_, as_printed, as_run = line[1].split(" | ")
    assert (int(total), int(as_printed)) == (verdicts(paper).total(), verdicts(paper)["reproduced"])
    assert as_run in {str(verdicts(paper, "as_run_verdict")["reproduced"]), "the same protocol"}


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_of_a_paper_counts_its_statements(paper: str) -> None:
    text = (REFERENCE / paper / "README.md").read_text("utf-8")
    said = re.findall(r"(\d+)(?: of \d+ claims)? are reproduced, (\d+) are not", " ".join(text.split()))
    columns = ("verdict", "as_run_verdict") if paper in {"003", "000"} else ("verdict",)
    found = [verdicts(paper, column) for column in columns]
    assert said == [(str(each["reproduced"]), str(each["not reproduced"])) for each in found]
