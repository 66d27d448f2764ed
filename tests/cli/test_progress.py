"""Progress: bars within 80 columns on a terminal, which always go away, and plain lines elsewhere."""

import contextlib
import io
import re
from types import SimpleNamespace

import numba
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from fwsvm.cli import _bars, _progress
from fwsvm.cli._progress import Display, RunsDisplay
from fwsvm.data.fetching import obtain
from fwsvm.errors import DataError
from fwsvm.phases import Phase, enter, inside, listening
from fwsvm.solvers.loop import Progress
from tests.cli.running import done
from tests.data import site as serve
from tests.data.conftest import cache, site
from tests.data.test_fetch import CONTENT, a_file, an_entry

__all__ = ["cache", "site"]  # fixtures

CELL = SimpleNamespace(
    run_id="a", label="covtype.libsvm.binary.scale swap-2o(samples=59) select C=4096 sigma2=0.125 fold 3"
)


def progress(number: int, gap: float, subproblems: int = 3) -> Progress:
    return Progress(number, subproblems, 1.0, 45_000_000, 1.0, gap, 1e-3, 12_345_678)


@pytest.fixture
def terminal(monkeypatch):
    """Make stderr a terminal of 80 columns that remembers all it was sent."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(_bars, "Console", lambda **_: console)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.delenv("TERM", raising=False)
    return screen


def lines_of(screen: io.StringIO) -> list[str]:
    """Return all lines that were shown, without the codes that move the cursor."""
    return [
        line.rstrip()
        for line in re.split(r"\r|\n", re.sub(r"\x1b\[[0-9;?]*\w", "", screen.getvalue()))
        if line.strip()
    ]


def test_lines_of_runs_and_phases_fit_in_a_terminal(terminal):
    with RunsDisplay(1_234_567, 1) as display:
        display.watch(CELL, Phase.LOAD)
        display.watch(CELL, progress(1, 0.1))
        display.watch(SimpleNamespace(run_id="b", label="beside"), Phase.TRAIN)  # is not shown yet
        inside("kernel values", 0.5)
        display.ended(SimpleNamespace(cell=CELL, row={}))
        display._bars.refresh()
    lines = lines_of(terminal)
    assert all(len(line) < 78 for line in lines)
    said = "\n".join(lines)
    assert re.search(r"^runs .* 2 of 1,234,567 +0:00:0\d .* left$", said, re.MULTILINE)
    assert re.search(r"^train .* kernel values 50% +0:00:0\d", said, re.MULTILINE)
    assert "beside" not in said
    assert re.search(r"^ {9}covtype\.libsvm.*…$", said, re.MULTILINE)
    sent = terminal.getvalue()
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h") == 1  # the cursor comes back


def test_a_line_for_each_run_and_now_and_then_where_there_is_no_terminal(monkeypatch, capsys):
    row = {
        "status": "converged",
        "stop": "meb",
        "relative_gap": 4.54,
        "test_accuracy": 0.5,
        "train_seconds": 1.25,
    }
    with RunsDisplay(3, 1) as display:
        display.ended(
            SimpleNamespace(cell=CELL, status="converged", row={"status": "converged", "stop": "meb"})
        )
        display.ended(SimpleNamespace(cell=CELL, status="converged", row=row))
    weak = "stopped by rule meb, possibly far from the optimum (relative gap 4.54)"
    assert capsys.readouterr().err.splitlines() == [
        f"[2/3] {CELL.label}: converged",
        f"[3/3] {CELL.label}: {weak}, 50.00% right, 1.25 s, relative gap 4.5e+00",
    ]
    monkeypatch.setattr(_progress, "SECONDS_BETWEEN_LINES", -1.0)
    with Display() as display:
        display.enter(Phase.TRAIN)
        display(progress(1, 0.25))
        display(progress(0, float("nan"), 1))
        display.enter(Phase.FETCH)
        display.inside("5.0 MB of big.bz2", 0.1)
    assert capsys.readouterr().err.splitlines() == [
        "train: begins",
        "train: part 2/3, gap 2.5e-01, 12,345,678 SV",
        "train: 12,345,678 SV",
        "fetch: 5.0 MB of big.bz2",
    ]


def test_quiet_runs_say_nothing_but_results(tmp_path):
    (tmp_path / "rows").write_text("1 1:1\n-1 1:-1\n" * 20)
    assert done("train", "--quiet", tmp_path / "rows").output == ""
    told = done("cv", "--quiet", "--folds", 2, tmp_path / "rows")
    assert told.output.startswith("accuracy        100.00% (40 of 40)")
    assert told.output.count("\n") == 1


def test_compiling_is_said_once_where_many_functions_are(capsys):
    for functions, said in ((2, ""), (60, "compiling for first use\n")):
        with Display() as display:
            for _ in range(functions):
                display.enter(Phase.COMPILE)
        assert capsys.readouterr().err == said


def test_phases_are_heard_from_below_and_compiling_from_numba():
    double = numba.njit(lambda x: 2.0 * x)  # noqa: TID251 - nothing of it is cached
    heard = []
    with listening(heard.append):
        enter(Phase.LOAD)
        double(1.0)
        double(2.0)
    enter(Phase.CHECK)
    assert heard == [Phase.LOAD, Phase.COMPILE]


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1e9)), min_size=1))
def test_what_is_done_of_a_run_is_a_part_that_never_goes_back(told):
    display, parts = Display(), []
    display.show = lambda _phase, done, _said: parts.append(done)
    for number, gap in sorted(told, key=lambda pair: pair[0]):
        display(progress(number, gap))
        assert number / 3 <= parts[-1] <= 1
    assert parts == sorted(parts)


@pytest.mark.parametrize("behaviour", [serve.well, serve.dies])
def test_a_download_is_shown_and_its_line_taken_away(behaviour, terminal, cache, site):
    entry = an_entry(a_file(site.put("/tiny", CONTENT, behaviour)))
    refused = contextlib.nullcontext() if behaviour is serve.well else pytest.raises(DataError)
    with Display(), refused:
        obtain(entry)
    sent = terminal.getvalue()
    assert "fetch" in sent
    assert "tiny" in sent
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h") > 0
