"""What stands around the package holds: hooks, citation, versions, decision records, templates."""

import re
import shutil
import subprocess
import unicodedata
from datetime import date
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

from fwsvm import __version__
from fwsvm.solvers import METHODS

ROOT = Path(__file__).parents[1]
HOOKS = {
    hook["id"]: hook
    for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    for hook in repo["hooks"]
}
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))


def test_a_commit_must_pass_the_checks_of_make_check():
    assert HOOKS["make-check"]["entry"] == "make check"
    assert HOOKS["make-check"]["pass_filenames"] is False


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_check_runs_the_four_tools():
    done = subprocess.run(
        ["make", "--dry-run", "--assume-old=.venv/installed", "check"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    tools = [
        Path(line.split()[0]).name
        for line in done.stdout.splitlines()
        if "/bin/" in line or "Scripts" in line
    ]
    assert tools == ["ruff", "ruff", "mypy", "lint-imports"]


def refused(message: str) -> bool:
    """Return whether the hook refuses a commit message, by the rules of pre-commit's pygrep."""
    hook = HOOKS["commit-subject"]
    assert (hook["language"], hook["stages"], hook["args"]) == ("pygrep", ["commit-msg"], ["--multiline"])
    return re.compile(hook["entry"].encode(), re.MULTILINE | re.DOTALL).search(message.encode()) is not None


def test_a_commit_subject_is_one_line_of_at_most_sixty_letters():
    assert not refused("x" * 60 + "\n")
    assert not refused(
        "Digest the syntax trees of what computes\n\nA body may have longer lines" + " more" * 30
    )
    assert not refused("A subject\n# what git says of the commit\n")
    assert not refused("fixup! " + "x" * 60 + "\n")
    assert refused("x" * 61 + "\n")
    assert refused("A subject that goes on\nin the next line\n")


def plain(text: str) -> str:
    """Return a name or a title without accents and capitals."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()


def test_the_citation_names_the_papers_whose_tables_are_published_here():
    sources = {
        file.name[:3]: plain(line)
        for file in sorted((ROOT / "fwsvm" / "analysis" / "published").glob("*.csv"))
        for line in file.read_text("utf-8").splitlines()
        if line.startswith("# Source: ")
    }
    papers = {paper["notes"][:3]: paper for paper in CITATION["references"]}
    assert set(papers) == set(sources)
    for number, paper in papers.items():
        assert plain(paper["title"]).partition(". ")[0] in sources[number]
        assert [plain(author["family-names"]) in sources[number] for author in paper["authors"]] == (
            [True] * len(paper["authors"])
        )


def test_the_citation_names_the_methods_of_each_paper():
    for paper in CITATION["references"]:
        number, _, named = paper["notes"].partition(": ")
        ours = {name for name, method in METHODS.items() if method.paper.startswith(number)}
        assert ours == set(named.split(", "))


def asked(form: str) -> str:
    """Return what a form of an issue says that must be filled in."""
    body = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / form).read_text("utf-8"))["body"]
    required = [part["attributes"] for part in body if part.get("validations", {}).get("required")]
    return " ".join(f"{part['label']} {part.get('description', '')}" for part in required)


def test_an_issue_asks_for_what_it_takes_to_reproduce_it():
    for word in ("Command", "exit code", "`fwsvm info`"):
        assert word in asked("bug.yml")
    for word in ("Command", "Certificate", "--json", "`fwsvm info`"):
        assert word in asked("wrong_result.yml")
    for word in ("method", "data set", "sha256"):
        assert word in asked("new_method_or_data_set.yml")


def releases() -> list[tuple[str, str]]:
    """Return versions and dates of the changelog, the latest first; what is not released yet stands above them."""
    first, *rest = re.findall(
        r"^## \[(.+?)\](?: - (\S+))?$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert first == ("Unreleased", "")
    return rest


def test_versions_go_down_the_changelog_with_their_dates():
    versions, dates = zip(
        *[(Version(version), date.fromisoformat(day)) for version, day in releases()], strict=True
    )
    assert list(versions) == sorted(set(versions), reverse=True)
    assert list(dates) == sorted(dates, reverse=True)


def test_the_package_is_the_last_release_or_on_its_way_to_the_next():
    last, _ = releases()[0]
    assert Version(last) <= Version(__version__)
    assert Version(last) == Version(__version__) or Version(__version__).is_devrelease


def test_the_citation_is_of_the_last_release():
    assert (CITATION["version"], CITATION["date-released"]) == releases()[0]


DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


def test_the_index_of_decisions_has_each_of_them_with_its_title():
    index = (ROOT / "docs" / "decisions" / "README.md").read_text("utf-8")
    listed = re.findall(r"^\| \[(\d+)\]\((\S+)\) \| (.+) \|$", index, re.MULTILINE)
    titles = [record.read_text("utf-8").partition("\n")[0].removeprefix("# ") for record in DECISIONS]
    assert [f"{number}. {title}" for number, _, title in listed] == titles
    assert [name for _, name, _ in listed] == [record.name for record in DECISIONS]


@pytest.mark.parametrize("record", DECISIONS, ids=lambda record: record.name[:4])
def test_a_decision_has_its_parts_and_names_files_that_are_there(record):
    content = record.read_text("utf-8")
    parts = re.findall(r"^\*\*(.+?)\*\*", content, re.MULTILINE)
    assert parts == ["Context.", "Decision.", "Evidence.", "Consequences.", "We would reconsider"]
    named = re.findall(r"`((?:fwsvm|tests|benchmarks|results|docs)/[\w./*-]*)`", content)
    assert named
    assert [name for name in named if not list(ROOT.glob(name.rstrip("/")))] == []
