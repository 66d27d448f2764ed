"""What stands around the package holds: hooks, citation, versions."""

import re
import unicodedata
from pathlib import Path

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
    text = (ROOT / "fwsvm" / "analysis" / "published" / "cells.csv").read_text("utf-8")
    sources = {
        number: plain(line) for number, line in re.findall(r"^# Source (\d+): (.*)$", text, re.MULTILINE)
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
        first = plain(paper["authors"][0]["family-names"])
        ours = {name for name, method in METHODS.items() if plain(method.paper).startswith(first)}
        assert ours == set(paper["notes"].partition(": ")[2].split(", "))


def releases() -> list[tuple[str, str]]:
    """Return versions and dates of the changelog, the latest first; what is not released yet stands above them."""
    first, *rest = re.findall(
        r"^## \[(.+?)\](?: - (\S+))?$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert first == ("Unreleased", "")
    return rest


def test_the_package_is_the_last_release_or_on_its_way_to_the_next():
    last, _ = releases()[0]
    assert Version(last) <= Version(__version__)
    assert Version(last) == Version(__version__) or Version(__version__).is_devrelease


def test_the_citation_is_of_the_last_release():
    assert (CITATION["version"], CITATION["date-released"]) == releases()[0]


def test_every_test_has_a_law_in_the_table():
    tests = ROOT / "tests"
    named = re.findall(
        r"`([\w/]+(?:/|\.py))`", (tests / "README.md").read_text("utf-8").partition("\n\n`")[0]
    )
    assert [name for name in named if not (tests / name).exists()] == []
    files = [file.relative_to(tests).as_posix() for file in tests.rglob("test_*.py")]
    assert [file for file in files if not file.startswith(tuple(named))] == []
