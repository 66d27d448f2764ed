"""The page of ``fwsvm report``: what stands on it, that it needs nothing else, and that its tables sort."""

import html.parser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fwsvm.status import FIRST_USE
from tests.analysis.folders import like_paper, row, write
from tests.cli.running import done

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page(html.parser.HTMLParser):
    """What a page would fetch, whether its elements are closed, and its tables' first cells."""

    VOID = frozenset({"meta", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.active: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [
            v for k, v in attrs if k in {"src", "href"} and v and not v.startswith("data:image/svg")
        ]
        self.active += [tag] * (tag == "script") + [k for k, _ in attrs if k.startswith("on")]
        self.open += [tag] * (tag not in self.VOID)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results like 003's on a few data sets, one of them with a hostile name, of first use and weak."""
    rows = [r for r in like_paper("003", repetitions=2) if r["dataset"] in {"w1a", "w2a", "w3a", "usps"}]
    hostile = {"dataset": "<script>alert(1)</script>", "experiment": "like-003", "flags": FIRST_USE}
    rows += [row(**hostile, method=m, relative_gap=3) for m in ("cvm", "fw", "mfw")]
    rows += [row(dataset="mnist", method="fw", experiment="like-003", status="error", message="<b>no",
                 train_seconds="", test_accuracy="")]  # fmt: skip
    return write(tmp_path_factory.mktemp("report") / "like-003", rows)


@pytest.fixture(scope="module")
def page(folder: Path) -> Path:
    """Return the report of these results."""
    assert done("report", folder).stdout == f"wrote {folder / 'report.html'}\n"
    return folder / "report.html"


def test_it_is_one_small_page_that_fetches_nothing(page: Path) -> None:
    text = page.read_text("utf-8")
    read = Page(text)
    assert (read.fetched, read.open, read.active) == ([], [], ["script"])
    assert len(text) < 1_000_000
    assert len(re.search(r"<script>(.*)</script>", text, re.DOTALL)[1].splitlines()) < 60


def test_it_says_what_won_what_is_certified_and_what_is_missing(page: Path) -> None:
    text = page.read_text("utf-8")
    for said in (
        "<h1>like-003</h1>", "2026-01-01 · fwsvm 0.1.0", "Fastest<strong>", "Most accurate<strong>",
        "Certified<strong>100 %</strong><small>27 of 27 finished runs",
        "Frandi et al. (2013), Table 3: training time (s)",
        "3 of 15 cells have a weak guarantee", "no published checksum", "Missing: 1 of 28 runs, on 1 data set",
        "MNIST: 1 error (fw). &lt;b&gt;no", "machine: desk", "data:image/svg+xml;base64,",
    ):  # fmt: skip
        assert said in text


def test_one_method_or_nothing_finished_has_a_page_too(tmp_path: Path) -> None:
    alone = write(tmp_path / "alone", [row(dataset="mine", method="fw")])
    assert done("report", alone / "runs.csv").exit_code == 0
    assert "no two methods finished one problem" in (alone / "report.html").read_text("utf-8")
    nothing = write(tmp_path / "nothing", [row(dataset="a", method="fw", status="missing", certified="")])
    done("report", nothing)
    assert "No run has finished." in (nothing / "report.html").read_text("utf-8")
    cut = row(dataset="a", method="fw", role="select")
    assert "hold no final runs" in done("report", write(tmp_path / "select", [cut]), code=2).stderr


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_in_a_browser_tables_sort_both_ways_and_a_narrow_page_does_not_scroll(
    page: Path, tmp_path: Path
) -> None:
    script = """<script>
      const head = document.querySelectorAll("thead th")[2], table = head.closest("table"), seen = [];
      for (let turn = 0; turn < 2; turn++) {
        head.querySelector("button").click();
        seen.push([...table.tBodies].map(body => body.rows[0].cells[2].textContent).join(";"), head.ariaSort);
      }
      document.body.textContent = ["SEEN", ...seen, innerWidth - document.documentElement.scrollWidth].join("|");
    </script>"""
    looked = tmp_path / "page.html"
    looked.write_text(page.read_text("utf-8").replace("</body>", f"{script}</body>"), "utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--window-size=500,900", "--dump-dom", looked.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    up, rising, down, falling, beyond = re.search(r"SEEN\|(.*)</body>", shown, re.DOTALL)[1].split("|")
    values = [float(re.match(r"[\d.]+", value)[0]) for value in up.split(";")]
    assert values == sorted(values)
    assert down.split(";") == up.split(";")[::-1]
    assert (rising, falling, int(beyond) >= 0) == ("ascending", "descending", True)
