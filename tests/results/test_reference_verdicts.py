"""The verdicts of the committed runs are those that were committed with them."""

import csv
import io
from pathlib import Path

import pytest

from tests.cli.running import done

pytestmark = pytest.mark.slow

REFERENCE = Path(__file__).parents[2] / "results" / "reference"
OF_003 = ("web", "adult", "003-single", "stand-ins", "003-quadratic", "003-c-sweep")
OF_000 = ("swap", "stand-ins", "003-quadratic")
FOLDERS = {
    "003": (*OF_003, *(f"{name}-as-run" for name in OF_003)),
    "000": (*OF_000, *(f"{name}-as-run" for name in OF_000)),
    "002": ("avsf",),
    "004": ("scs",),
}
VERDICTS = ("claim", "verdict", "printed_verdict", "as_run_verdict")


@pytest.mark.parametrize("paper", FOLDERS)
def test_the_claims_of_a_paper_have_the_committed_verdicts(paper: str) -> None:
    folders = [REFERENCE / name for name in FOLDERS[paper]]
    found = done("claims", *folders, "--only", paper, "--mixed-load", "--format", "csv").stdout
    kept = (REFERENCE / paper / "claims.csv").read_text("utf-8")
    ours, theirs = (
        [[row[name] for name in VERDICTS] for row in csv.DictReader(io.StringIO(text))]
        for text in (found, kept)
    )
    assert ours == theirs
