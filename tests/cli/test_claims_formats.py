"""``fwsvm claims`` as HTML and Markdown, by what CSV says; ``fwsvm table`` without the printed numbers."""

from pathlib import Path

import pytest

from fwsvm.analysis.published import table as printed_table
from tests.analysis.folders import like_paper, write
from tests.cli.running import done
from tests.cli.test_formats import Cells, lines_of, rows_of


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return those of the Web series."""
    rows = [row for row in like_paper("003", repetitions=1) if row["dataset"].startswith("w")]
    return write(tmp_path_factory.mktemp("web") / "like-003", rows)


def test_claims_as_html_have_the_verdicts_of_the_csv(web: Path) -> None:
    words = ("claims", web, "--only", "003-web-f")
    page, lines = Cells(), lines_of(done(*words, "--format", "csv").stdout)
    page.feed(done(*words, "--format", "html").stdout)
    assert page.open == []
    assert page.rows[1:] == [
        [line["claim"], f"{line['statement']} ({line['place']})",
         f"{line['printed_verdict']} {line['printed_evidence']}", f"{line['verdict']} {line['evidence']}"]
        for line in lines
    ]  # fmt: skip
    said = [word for line in lines for word in (line["printed_verdict"], line["verdict"])]
    assert page.classes.count("holds") == sum(word.startswith(("holds", "reproduced")) for word in said) > 0
    assert page.classes.count("fails") == sum(word.startswith(("does not", "not rep")) for word in said) > 0


def test_claims_as_markdown_have_the_verdicts_of_the_csv(web: Path) -> None:
    words = ("claims", web, "--only", "003-web-f")
    text, lines = (
        done(*words, "--format", "markdown").stdout,
        lines_of(done(*words, "--format", "csv").stdout),
    )
    told = [[(line[f"{whose}verdict"], line[f"{whose}evidence"]) for whose in ("printed_", "", "as_run_")]
            for line in lines]  # fmt: skip
    cells = [
        [f"**{word}**" + (f": {evidence}" if evidence else "") for word, evidence in each] for each in told
    ]
    assert rows_of(text, "markdown")[2:] == [
        [line["claim"], f"{line['statement']} ({line['place']})", *each, line["turns_on"]]
        for line, each in zip(lines, cells, strict=True)
    ]
    assert done(*words, "--summary").stdout.strip() in text.splitlines()


def test_a_table_without_published_numbers_has_ours_alone(web: Path) -> None:
    words = ("table", web, "--layout", "003-3", "--format")
    beside, alone = (lines_of(done(*words, "csv", *more).stdout) for more in ([], ["--no-published"]))
    printed = printed_table("003-table3").set_index("dataset")
    for line in beside:
        published = float(printed.loc[line["dataset"], f"{line['method'].upper()}_time"])
        assert float(line["published"]) == published
        assert float(line["ratio"]) == pytest.approx(float(line["ours"]) / published)
    assert len(beside) == 8 * 3
    assert [line["ours"] for line in alone] == [line["ours"] for line in beside]
    assert {(line["published"], line["ratio"]) for line in alone} == {("", "")}
    both, one = (
        rows_of(done(*words, "markdown", *more).stdout, "markdown") for more in ([], ["--no-published"])
    )
    assert [row[1] for row in both[2:]] == ["ours", "paper", "ratio"] * 8
    assert [[row[0], *row[2:]] for row in both[2::3]] == one[2:]


def test_a_summary_is_a_sentence() -> None:
    said = done("claims", "--summary", "--format", "csv", code=2).stderr
    assert "--summary is a sentence: leave out --format csv" in said
    assert done("claims", "--summary").stdout.startswith("92 claims: ")
