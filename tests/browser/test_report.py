"""The page of ``fwsvm report`` in a browser: it fits, prints, sorts, filters, zooms and hides, and names stay text."""

import io
import itertools
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from fwsvm.analysis.figures.style import SPARE
from fwsvm.cli import main
from tests.analysis.folders import like_paper, row, write, write_trace

pytestmark = pytest.mark.slow

pytest.importorskip("matplotlib")
pytest.importorskip("bokeh")
Image = pytest.importorskip("PIL.Image")
ImageColor = pytest.importorskip("PIL.ImageColor")

REFERENCE = Path(__file__).parents[2] / "results" / "reference"
LIGHT, DARK = False, True
SETS = ("a1a", "a2a", "a3a", "w1a", "w7a", "usps", "letter", "pendigits")
HOSTILE = (
    "</script><script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 2'>",
    '" onmouseover="window.hit = 3" x=\'',
    "none $$\\alpha$$ @{x} ${1+1} <!--",
    "__proto__",
    "x" * 4000,
)


def report(folder: Path) -> Path:
    page = folder / "page.html"
    done = CliRunner().invoke(main, ["report", str(folder), "--mixed-load", "--out", str(page)])
    assert done.exit_code == 0, done.output
    return page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Make the page of results like 003's, with traces, a failed run, and a synthetic set with a long name."""
    rows = [r for r in like_paper("003", repetitions=2) if r["dataset"] in SETS]
    rows += [
        row(dataset=f"synthetic:gaussians?rows=300&features=20&test=300&noise=0&seed={seed}", method=m, train_seconds=s,
            experiment="like-003")
        for seed in (0, 1) for m, s in (("cvm", 3), ("fw", 2), ("mfw", 1))
    ]  # fmt: skip
    rows += [row(dataset="mnist", method="fw", experiment="like-003", status="missing", message="not available",
                 train_seconds="", test_accuracy="")]  # fmt: skip
    folder = write(tmp_path_factory.mktemp("like"), rows)
    for found in (r for r in rows if r["dataset"] == "usps"):
        steps = np.arange(1, 40)
        trace = pd.DataFrame({"seconds": steps / 100, "iteration": steps, "objective": 1 + 1 / steps})
        write_trace(folder, found["run_id"], trace.assign(gap=1 / steps, support_vectors=steps))
    return report(folder)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Make the page of a folder whose data sets, methods, messages and machines are named to break pages."""
    rows = [
        row(dataset=dataset, method=method, train_seconds=1 + i, machine=HOSTILE[0], cpu=HOSTILE[1],
            experiment=HOSTILE[0])
        for i, dataset in enumerate(HOSTILE) for method in (*HOSTILE[:3], "fw")
    ]  # fmt: skip
    rows += [row(dataset=d, method="fw", status="error", message=d, train_seconds="", test_accuracy="", repetition=1)
             for d in HOSTILE]  # fmt: skip
    return report(write(tmp_path_factory.mktemp("hostile"), rows, f"name: {'y' * 3000}\n"))


def everything_drawn(tab) -> None:
    """Unfold and scroll through the page, until every figure that can be is drawn anew."""
    tab.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    wanted = "document.querySelectorAll('script.numbers').length"
    for place in range(tab.value(wanted)):
        tab.value(f"document.querySelectorAll('script.numbers')[{place}].closest('figure').scrollIntoView()")
        tab.until(f"document.querySelectorAll('script.numbers')[{place}].closest('figure').matches('.drawn')")
    tab.until(f"document.querySelectorAll('.point').length === {wanted}")
    tab.value("new Promise(done => setTimeout(done, 300))")


@pytest.mark.parametrize(("width", "dark"), [(360, LIGHT), (768, DARK), (1280, LIGHT)])
@pytest.mark.parametrize("which", ["page", "hostile"])
def test_it_fits_every_width_and_nothing_complains(tab, request, which, width, dark):
    tab.open(request.getfixturevalue(which), width=width, dark=dark)
    everything_drawn(tab)
    assert tab.complaints == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert tab.value("document.documentElement.scrollWidth") <= width
    wide = """[...document.querySelectorAll("body *")].filter(e => e.scrollWidth > e.clientWidth + 1
        && ["auto", "scroll"].includes(getComputedStyle(e).overflowX)).map(e => e.outerHTML.slice(0, 80))"""
    assert tab.value(wide) == []
    beyond = """[...document.querySelectorAll("main th, main td, main li, main summary, button")].filter(
        e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
        .map(e => e.outerHTML.slice(0, 80))"""
    assert tab.value(beyond) == []


NARROW = """[...document.querySelectorAll(".table tbody th, .table tbody td")]
    .filter(e => e.checkVisibility() && e.textContent.trim().length > 12 && e.clientWidth < 64)
    .map(e => [e.clientWidth, e.textContent.slice(0, 40)])"""


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_no_cell_with_words_is_a_column_of_letters(tab, page, width):
    tab.open(page, width=width)
    tab.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert tab.value("document.querySelectorAll('#claims tbody').length") > 10
    assert tab.value(NARROW) == []
    heads = "[...document.querySelectorAll('.table thead th')].filter(e => e.clientHeight > 150).length"
    assert tab.value(heads) == 0


def test_a_verdict_has_the_colour_of_its_own_word(tab, page):
    tab.open(page)
    colours = """(words) => [...new Set([...document.querySelectorAll("#claims td strong")]
        .filter(e => words.includes(e.textContent)).map(e => getComputedStyle(e).color))]"""
    good = tab.value(f"({colours})(['reproduced', 'holds in the printed numbers'])")
    bad = tab.value(f"({colours})(['not reproduced', 'does not hold in the printed numbers'])")
    assert len(good) == len(bad) == 1
    assert good != bad
    assert not {*good, *bad} & set(tab.value(f"({colours})(['not run'])"))


def test_every_method_has_marks_that_are_seen(tab, hostile):
    tab.open(hostile)
    first_figure(tab)
    colours = ["#E69F00", *(colour for colour, _, _ in SPARE[:3])]
    # strokes of a cross are thin: few of their pixels have the colour itself
    assert all(len(marks_of(tab, ImageColor.getrgb(colour), near=40)) > 10 for colour in colours)


def test_hostile_names_are_text_in_words_tables_and_figures(tab, hostile):
    tab.open(hostile)
    everything_drawn(tab)
    point_at_marks(tab)
    assert tab.value("window.hit") is None
    assert tab.value("document.querySelectorAll('img, iframe, object, [onerror], [onmouseover]').length") == 0
    own = {
        "": 1,
        "application/json": tab.value("document.querySelectorAll('figure script').length"),
        "text/plain": 1,
    }
    kinds = Counter(tab.value("[...document.querySelectorAll('body script')].map(s => s.type)"))
    assert kinds == own
    shown = tab.value("document.body.textContent")
    assert all(name in shown for name in HOSTILE[:3])
    assert tab.value("document.title").startswith("</script>")
    full = tab.value("[...document.querySelectorAll('.short')].map(e => e.title)")
    assert "x" * 4000 in full


def column(tab, number: int) -> list[str]:
    """Return the texts of a column in the second table, first lines of the blocks that are shown."""
    return tab.value(f"""[...document.querySelectorAll(".table table")[1].tBodies].filter(b => !b.hidden)
        .map(b => b.rows[0].cells[{number}].textContent)""")


def test_tables_sort_by_any_column_both_ways_and_keep_blocks_together(tab, page):
    tab.open(page)
    before = tab.value("[...document.querySelectorAll('.table table')[1].tBodies].map(b => b.rows.length)")
    head = tab.value("document.querySelectorAll('.table table')[1].tHead.textContent")
    assert "CVM" in head
    for direction, reverse in (("ascending", False), ("descending", True)):
        tab.value(
            "document.querySelectorAll('.table table')[1].tHead.rows[0].cells[2].querySelector('button').click()"
        )
        values = [float(re.match(r"[\d.e+-]+", text)[0]) for text in column(tab, 2)]
        assert values == sorted(values, reverse=reverse)
        assert len(set(values)) > 4
        assert tab.value("document.querySelectorAll('[aria-sort]').length") == 1
        assert tab.value(f"document.querySelectorAll('[aria-sort={direction}]').length") == 1
    after = tab.value("[...document.querySelectorAll('.table table')[1].tBodies].map(b => b.rows.length)")
    assert Counter(after) == Counter(before)
    tab.value(
        "document.querySelectorAll('.table table')[1].tHead.rows[0].cells[0].querySelector('button').click()"
    )
    names = column(tab, 0)
    assert names == sorted(names, key=str.casefold)


def test_what_is_no_number_stands_last_whichever_way(tab, tmp_path):
    gone = {"status": "missing", "train_seconds": "", "test_accuracy": ""}
    rows = [
        row(dataset=f"d{i}", method=m, train_seconds=t)
        for i, t in enumerate((30, 4, 100))
        for m in ("fw", "mfw")
    ]
    rows += [row(dataset="gone", method="fw", **gone), row(dataset="gone", method="mfw")]
    tab.open(report(write(tmp_path, rows)))
    for expected in (["4.00", "30.0", "100", "missing"], ["100", "30.0", "4.00", "missing"]):
        tab.value(
            "document.querySelectorAll('.table table')[1].tHead.rows[0].cells[1].querySelector('button').click()"
        )
        assert column(tab, 1) == expected


def test_tables_filter_by_words_and_by_full_names(tab, page):
    tab.open(page)
    type_in = """(() => {{ const field = document.querySelectorAll(".filter input")[1];
        field.value = {!r}; field.dispatchEvent(new Event("input")); }})()"""
    every = column(tab, 0)
    tab.value(type_in.format("usps"))
    assert column(tab, 0) == ["USPS"]
    tab.value(type_in.format("noise=0&seed=1"))
    assert column(tab, 0) == [name for name in every if "seed 1" in name]
    tab.value(type_in.format(""))
    assert column(tab, 0) == every


def pixels(tab, colour: tuple[int, int, int], near: int = 0) -> np.ndarray:
    """Return where the window shows this colour, within ``near`` steps of 255, (n, 2) of x and y."""
    shown = np.asarray(Image.open(io.BytesIO(tab.picture(whole=False))).convert("RGB")).astype(int)
    y, x = np.nonzero((abs(shown - colour) <= near).all(axis=2))
    return np.column_stack([x, y])


FW, MFW = (0xE6, 0x9F, 0x00), (0x00, 0x72, 0xB2)


def first_figure(tab) -> None:
    tab.value("document.querySelector('figure.picture').scrollIntoView()")
    tab.until("document.querySelector('figure.drawn .point') !== null")
    tab.until("document.querySelector('figure.drawn .panels').offsetHeight > 200")
    tab.value("new Promise(done => setTimeout(done, 300))")


def test_a_method_is_hidden_and_shown_in_all_figures(tab, page):
    tab.open(page)
    first_figure(tab)
    pressed = (
        "[...document.querySelectorAll('.keys button[name=FW]')].map(b => b.getAttribute('aria-pressed'))"
    )
    click = (
        "document.querySelector('.keys button[name=FW]').click(), new Promise(done => setTimeout(done, 300))"
    )
    there, others = len(pixels(tab, FW)), len(pixels(tab, MFW))
    assert there > 100
    tab.value(click)
    assert len(pixels(tab, FW)) < there / 4, "the key alone has its colour still"
    assert len(pixels(tab, MFW)) > others / 2
    everything_drawn(tab)
    assert set(tab.value(pressed)) == {"false"}
    assert len(tab.value(pressed)) > 5
    tab.value(click)
    first_figure(tab)
    assert len(pixels(tab, FW)) >= there * 0.9
    assert set(tab.value(pressed)) == {"true"}


def mouse(tab, kind: str, x: float, y: float, **more) -> None:
    tab.call("Input.dispatchMouseEvent", type=kind, x=float(x), y=float(y), **more)


def click_at(tab, x: float, y: float) -> None:
    mouse(tab, "mouseMoved", x, y)
    mouse(tab, "mousePressed", x, y, button="left", clickCount=1)
    mouse(tab, "mouseReleased", x, y, button="left", clickCount=1)
    tab.value("new Promise(done => setTimeout(done, 200))")


def marks_of(tab, colour: tuple[int, int, int], near: int = 0) -> np.ndarray:
    """Return where marks of this colour are in the first figure's panels, below their tools."""
    top = tab.value("document.querySelector('figure.drawn .panels').getBoundingClientRect().y")
    found = pixels(tab, colour, near)
    found = found[found[:, 1] > top + 40]
    assert len(found)
    return found


def point_at_marks(tab) -> None:
    """Point at, and click, marks of the first figure, until one has told its row."""
    first_figure(tab)
    marks = marks_of(tab, FW)
    for x, y in marks[::53][:12]:
        click_at(tab, x, y)
    assert "data set" in tab.value("document.querySelector('figure.drawn .point').textContent")


def test_a_mark_tells_its_row(tab, page):
    tab.open(page)
    first_figure(tab)
    marks = marks_of(tab, MFW)
    x, y = marks[len(marks) // 2]
    click_at(tab, x, y)
    told = tab.value("document.querySelector('figure.drawn .point').textContent")
    assert "method MFW" in told
    assert re.search(r"data set \S+", told)
    assert re.search(r"time over the shortest [\d.]+|accuracy below the highest \(points\) [\d.]+", told)


def test_dragging_a_box_zooms_in_and_reset_goes_back(tab, page):
    tab.open(page)
    first_figure(tab)
    box = tab.value("""(() => { const r = document.querySelector('.panels [role=img]').getBoundingClientRect();
        return [r.x, r.y, r.width, r.height]; })()""")
    limits = (
        """(() => { const {start, end} = Bokeh.documents[0].roots()[0].x_range; return [start, end]; })()"""
    )
    before = tab.value(limits)
    x, y, width, height = box
    mouse(tab, "mouseMoved", x + width * 0.5, y + height * 0.4)
    mouse(tab, "mousePressed", x + width * 0.5, y + height * 0.4, button="left", clickCount=1)
    for share in (0.6, 0.7, 0.8):
        mouse(tab, "mouseMoved", x + width * share, y + height * 0.7, button="left", buttons=1)
    mouse(tab, "mouseReleased", x + width * 0.8, y + height * 0.7, button="left", clickCount=1)
    tab.value("new Promise(done => setTimeout(done, 300))")
    after = tab.value(limits)
    assert before[0] < after[0] < after[1] < before[1]


def test_without_scripts_it_has_all_tables_and_pictures(tab, page):
    tab.open(page, scripts=False)
    html = page.read_text("utf-8")
    assert html.count("<svg") > html.count("class=numbers") > 5
    # scripts of the page are off; those of the test are run on what stands there
    drawn = "[...document.querySelectorAll('figure svg')].filter(s => s.checkVisibility()).length"
    assert tab.value(drawn) > 5
    assert tab.value("document.querySelectorAll('.keys, .filter').length") == 0


def test_it_is_readable_by_a_screen_reader(tab, page):
    tab.open(page)
    everything_drawn(tab)
    levels = tab.value("[...document.querySelectorAll('h1, h2, h3, h4')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert tab.value("[...document.querySelectorAll('table')].every(t => t.caption?.textContent.trim())")
    assert tab.value("[...document.querySelectorAll('th')].every(h => h.scope && h.textContent.trim())")
    assert tab.value(
        "[...document.querySelectorAll('figure svg[viewBox]')].every(s => s.getAttribute('aria-label'))"
    )
    assert tab.value(
        "[...document.querySelectorAll('figure')].every(f => f.querySelector('figcaption').textContent)"
    )
    assert tab.value("document.documentElement.lang") == "en"
    assert tab.value("[...document.querySelectorAll('input')].every(i => i.labels.length === 1)")


CONTRAST = """(() => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) {
    const c = parts(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0) return c; }
    return [255, 255, 255]; };
  return [...document.querySelectorAll("main *, header *")].filter(e => e.checkVisibility()
    && !e.closest("svg, .panels [role=img]")
    && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())).map(e => {
      const [a, b] = [light(parts(getComputedStyle(e).color)), light(behind(e))].sort((p, q) => q - p);
      return [(a + 0.05) / (b + 0.05), e.outerHTML.slice(0, 60)]; }).filter(([ratio]) => ratio < 4.5); })()"""


IN_PICTURES = CONTRAST.replace('"main *, header *"', '"figure svg text"').replace(
    '!e.closest("svg, .panels [role=img]")', "true").replace(".color))", ".fill))")  # fmt: skip


@pytest.mark.parametrize("dark", [LIGHT, DARK])
def test_the_words_of_its_pictures_have_contrast(tab, page, dark):
    tab.open(page, dark=dark, scripts=False)  # all figures are pictures
    tab.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert tab.value("document.querySelectorAll('figure svg text').length") > 50
    assert tab.value(IN_PICTURES) == []


@pytest.mark.parametrize("dark", [LIGHT, DARK])
def test_its_text_has_contrast(tab, page, dark):
    tab.open(page, dark=dark)
    first_figure(tab)
    assert tab.value(CONTRAST) == []


def test_a_reference_page_prints_on_a_third_of_the_pages_it_had_and_is_below_3_mb(tab, tmp_path):
    # the page of these results had 15 pages, the first three a list of what was missing
    page = tmp_path / "page.html"
    done = CliRunner().invoke(main, ["report", str(REFERENCE / "scs"), "--mixed-load", "--out", str(page)])
    assert done.exit_code == 0, done.output
    assert page.stat().st_size < 3_000_000
    tab.open(page)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", tab.printed())) <= 5
