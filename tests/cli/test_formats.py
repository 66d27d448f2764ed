"""``fwsvm stats`` as HTML and Markdown, by what CSV says."""

import csv
import io
import re
from pathlib import Path

import pytest

from tests.analysis.folders import like_paper, write
from tests.cli.running import done
from tests.cli.test_analysis_commands import Page

each_form = pytest.mark.parametrize("form", ["html", "markdown"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results like 003's, one of each run."""
    return write(tmp_path_factory.mktemp("results") / "like-003", like_paper("003", repetitions=1))


class Cells(Page):
    """The cells of all tables of a page, line by line, and the classes that colour them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.classes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
            self.classes += [value for name, value in attrs if name == "class" and value]

    def handle_data(self, data: str) -> None:
        if {"th", "td"} & set(self.open):
            self.rows[-1][-1] += data


def lines_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def rows_of(text: str, form: str) -> list[list[str]]:
    """Return the cells of all tables in a text."""
    if form == "markdown":
        lines = (line for line in text.splitlines() if line.startswith("|"))
        return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    page = Cells()
    page.feed(text)
    assert page.open == []
    return page.rows


def digits(p: str) -> str:
    return f"{float(p):.4f}" if float(p) >= 0.01 else f"{float(p):.3e}"


def shown(line: dict[str, str]) -> list[str]:
    """Return the row in which a table shows a line of CSV; nothing of conclusions, which are sentences."""
    if line["test"] == "mean rank":
        return [f"mean rank of {line['method'].upper()}", f"{float(line['rank']):.3f}", ""]
    if line["test"] == "friedman":
        return ["Iman-Davenport's F", f"{float(line['F']):.4f}", digits(line["p"])]
    if line["test"] != "wilcoxon":
        return []
    one_sided = (
        line["p"] if line["alternative"] != "two-sided" else min(line["p_less"], line["p_greater"], key=float)
    )
    pair, counts = f"{line['first'].upper()} - {line['second'].upper()}", [line["n"], line["zeros"]]
    values = map(digits, (one_sided, line["p_two_sided"], line["p_holm"]))
    return [line["measure"], pair, *counts, f"{float(line['W']):g}", line["alternative"], *values]


@each_form
def test_stats_have_the_numbers_of_the_csv(folder: Path, form: str) -> None:
    text = done("stats", folder, "--format", form).stdout
    rows, lines = rows_of(text, form), lines_of(done("stats", folder, "--format", "csv").stdout)
    expected = [row for row in map(shown, lines) if row]
    assert len(expected) == 2 * (3 + 1) + 6
    assert [row for row in expected if row not in rows] == []
    levels = [line["smallest_level_rejected"] for line in lines if line["test"] == "conclusion"]
    verdicts = [["rejected" if level and float(level) <= at else "stands" for at in (0.01, 0.05, 0.1)]
                for level in levels]  # fmt: skip
    assert [row[2:] for row in rows if len(row) == 5 and row[0] in {"time", "accuracy"}] == verdicts
    assert len({*map(tuple, verdicts)}) > 1
