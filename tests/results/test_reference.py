"""Results folders committed by earlier versions: every one is read, merged and continued for good."""

import shutil
from base64 import b64encode
from pathlib import Path

import pytest

from fwsvm.analysis import figures
from fwsvm.analysis.figures import Drawing
from fwsvm.experiments.store import open_results
from fwsvm.results.columns import COLUMNS
from fwsvm.results.schemas import method_label
from tests.cli.running import rows, run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "results" / "reference").rglob("runs.csv"))
#: Folders that together have each kind of figure.
DRAWN = ("003-c-sweep", "avsf", "equal-gap", "real-files", "scs", "swap", "why")
#: What `stats` says of a folder that has nothing to compare; the others are compared.
ONE_METHOD = "choose at least two of"
NO_PAIRS = "fewer than two have"
#: Sweeps over C are compared at one of its values.
ONE_SETTING = {
    "003-c-sweep": ("--where", "C=1"),
    "003-c-sweep-as-run": ("--where", "C=1"),
    "avsf": ("--where", "C=1", "--where", "tolerance=0.01"),
    "equal-gap": ("--where", "tolerance=0.001"),
    "why": (
        "--where",
        "width_rule=libcvm",
        "--where",
        "search=sampled",
        *(word for name in ("cvm", "fw", "mfw", "swap") for word in ("--where", f"method={name}")),
    ),
}


def fwsvm(*words: object) -> tuple[int, str]:
    """Run a command line in this process; return its exit code and all it said."""
    done = run(*words)
    return done.exit_code, done.output


@pytest.fixture(params=FOLDERS, ids=lambda path: path.relative_to(ROOT / "results" / "reference").as_posix())
def folder(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_there_are_folders_of_earlier_versions() -> None:
    assert len(FOLDERS) >= 11


@pytest.mark.parametrize("command", ["table", "claims"])
def test_a_committed_folder_has_tables_and_claims(folder: Path, command: str) -> None:
    one = ONE_SETTING["equal-gap"] if (folder.name, command) == ("equal-gap", "claims") else ()
    code, said = fwsvm(command, folder, "--mixed-load", *one)
    assert code == 0, said
    assert {"table": "training time (s)", "claims": "claims: "}[command] in said


def test_a_committed_folder_has_statistics_where_it_has_methods_to_compare(folder: Path) -> None:
    code, said = fwsvm("stats", folder, "--mixed-load", *ONE_SETTING.get(folder.name, ()))
    assert code == 0 or ONE_METHOD in said or NO_PAIRS in said, said


@pytest.mark.parametrize("name", DRAWN)
def test_a_committed_folder_has_pictures_and_a_report(name: str, tmp_path: Path, monkeypatch) -> None:
    folder = ROOT / "results" / "reference" / name
    # every picture is made once, but not set and painted: matplotlib takes a second for each
    made: list[Drawing] = []
    draw = figures.draw
    monkeypatch.setattr(
        figures, "draw", lambda *given, **more: made or made.extend(draw(*given, **more)) or made
    )
    monkeypatch.setattr(Drawing, "content", lambda self, _: f"<svg>{self.name}</svg>".encode())
    code, said = fwsvm("plot", folder, "--mixed-load", "--out", tmp_path)
    assert code == 0, said
    page = tmp_path / "report.html"
    code, said = fwsvm("report", folder, "--mixed-load", "--out", page)
    assert code == 0, said
    text = page.read_text("utf-8")
    assert all(b64encode(drawing.content("svg")).decode() in text for drawing in made)


def test_a_committed_folder_is_merged_and_continued_without_losing_a_field(
    folder: Path, tmp_path: Path
) -> None:
    code, said = fwsvm("merge", folder, "--out", tmp_path / "merged", "--allow-mixed")
    assert code == 0, said
    shutil.copy(folder / "runs.csv", tmp_path / "runs.csv")
    before = rows(tmp_path)
    with open_results(tmp_path) as store:
        assert set(store.rows) == {row["run_id"] for row in before}
    after = rows(tmp_path)
    assert list(after[0]) == list(COLUMNS)
    said = [{name: row[name] for name in ("method", "chosen", "flags")} for row in after]
    assert after == [dict.fromkeys(COLUMNS, "") | row | own for row, own in zip(before, said, strict=True)]
    labels = [method_label(own["method"], "", own["chosen"]) for own in said]
    assert labels == [row["method"] for row in before]
    last = {row["run_id"]: row for row in before}
    assert {row["run_id"] for row in rows(tmp_path / "merged")} == set(last)
