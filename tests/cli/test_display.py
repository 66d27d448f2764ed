"""The progress display: what a terminal shows, as tmux sees it, and what is written where there is none."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import ANY

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwsvm.cli import _display, _runs
from fwsvm.cli._display import Compiled, Display
from fwsvm.cli._display_lines import WORDS, DisplayLine, indented, rendered
from fwsvm.phases import Phase, enter, listening, listening_inside
from fwsvm.solvers.loop import Progress
from fwsvm.solvers.newton.cholesky import factor_in_place

WIDTH, HEIGHT = 80, 24
LONG = """\
name: long
datasets: [wdbc]
methods: [{name: fw, tolerance: 0.1}, {name: fw, tolerance: 1e-12}]
"""
DRAWN = re.compile(r"^(\w+) +([━─]{16})  (....)  ([ \d]\d?\d:\d\d|......)(?:  (.*))?$")


def on_a_terminal(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test of a whole command on a terminal of its own."""
    return pytest.mark.slow(pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")(test))


class Terminal:
    """A terminal of its own, emulated by tmux."""

    def __init__(self, folder: Path) -> None:
        self.socket = str(folder / "tmux")
        self.run("-f", "/dev/null", "new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), "-c", str(folder),
                 "env", "PS1=$ ", "bash", "--norc")  # fmt: skip

    def run(self, *words: str) -> str:
        return subprocess.run(
            ["tmux", "-S", self.socket, *words], capture_output=True, text=True, check=True
        ).stdout

    def type(self, line: str) -> None:
        self.run("send-keys", line, "Enter")

    def frame(self, *options: str) -> list[str]:
        """Return the lines on the screen that are not empty."""
        return [line for line in self.run("capture-pane", "-p", *options).splitlines() if line.strip()]

    def wait_for(self, said: str) -> list[str]:
        """Return the first frame that has these words."""
        return self.wait_until(lambda frame: said in "\n".join(frame))

    def wait_until(self, is_there: Callable[[list[str]], bool]) -> list[str]:
        """Return the first frame that is as asked."""
        deadline = time.monotonic() + 200
        while not is_there(frame := self.frame()):
            assert time.monotonic() < deadline, "\n".join(frame)
            time.sleep(0.1)
        return frame


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / "long.yaml").write_text(LONG)
    made = Terminal(tmp_path)
    yield made
    made.run("kill-server")


def fwsvm(*words: str) -> str:
    return " ".join([sys.executable, "-m", "fwsvm", *words])


def bars(frame: list[str]) -> list[re.Match[str]]:
    """Return the lines with a bar among the last three of a frame."""
    return [found for line in frame[-3:] if (found := DRAWN.match(line))]


@on_a_terminal
def test_a_terminal_shows_the_run_in_fixed_columns_that_move_and_then_go(terminal: Terminal) -> None:
    terminal.type(fwsvm("grid", "long.yaml", "--offline"))
    terminal.wait_for("1 of 2")
    frames = [terminal.wait_for("gap ")]
    while len(frames) < 4:  # the clock of the runs and that of the phase go on
        runs, train = (found[4] for found in bars(frames[-1]))

        def is_later(frame: list[str], runs: str = runs, train: str = train) -> bool:
            return len(drawn := bars(frame)) == 2 and drawn[0][4] != runs and drawn[1][4] != train

        frames.append(terminal.wait_until(is_later))
    for frame in frames:
        drawn = bars(frame)
        assert [found[1] for found in drawn] == ["runs", "train"], frame
        assert {found.start(4) for found in drawn} == {34}
        assert drawn[0][5].startswith("1 of 2, about ")
        assert frame[-2].strip() == "wdbc fw final tolerance=1e-12"
        assert "gap " in drawn[1][5]
    terminal.run("send-keys", "C-c")
    left = terminal.wait_for("goes on from here")
    assert not any(DRAWN.match(line) for line in left), left


@on_a_terminal
def test_lines_that_are_printed_meanwhile_are_whole_and_stay(terminal: Terminal) -> None:
    terminal.type(fwsvm("cv", "-m", "fw", "--tol", "1e-4", "--folds", "3", "wdbc"))
    terminal.wait_for("folds ")
    left = terminal.wait_for("standard deviation")
    kept = [line for line in left if line.startswith(("fold ", "accuracy "))]
    assert [line.split()[:2] for line in kept[:3]] == [["fold", "0"], ["fold", "1"], ["fold", "2"]]
    assert kept[3].startswith("accuracy ")
    assert not any("━" in line or "─" in line for line in left)


@on_a_terminal
@pytest.mark.parametrize("setting", ["TERM=dumb", "NO_COLOR=1"])
def test_a_dumb_terminal_gets_plain_lines_and_no_color_no_colours(terminal: Terminal, setting: str) -> None:
    terminal.type(f"{setting} {fwsvm('train', '-m', 'fw', '--tol', '1e-12', 'wdbc')}")
    if setting == "TERM=dumb":
        frame = terminal.wait_for(" iteration ")
        assert re.match(r" +\d+\.\d s  iteration [\d,]+  relative gap \S+  support \d+$", frame[-1])
        return
    terminal.wait_for("gap ")
    (line,) = (line for line in terminal.frame("-e") if "train  " in line)
    assert {"━", "─"} & set(line)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", line)  # a colour of letters


def test_a_line_of_progress_leaves_out_what_is_not_known():
    """As of pairs of classes that are solved in compiled code."""
    unknown = Progress(3, 45, 0.25, 1234, float("nan"), float("nan"), 1e-3, 0)
    assert _runs._line(unknown) == "part 4/45     0.2 s  iteration 1,234"
    known = unknown._replace(objective=0.5, support_vectors=7)
    assert _runs._line(known) == "part 4/45     0.2 s  iteration 1,234  objective 0.5  support 7"


@given(
    fraction=st.none() | st.floats(-1, 2), said=st.text(st.characters(codec="ascii", min_codepoint=32)),
    spent=st.floats(0, 1e7), label=st.sampled_from(list(Phase)),
)  # fmt: skip
def test_columns_stay_where_they_are_whatever_is_said(
    fraction: float | None, said: str, spent: float, label: Phase
) -> None:
    line = rendered(DisplayLine(label, fraction, (said,), spent=spent), ascii_only=True).plain
    assert line[:10].strip() == label
    assert set(line[10:26]) <= {"#", "-"}
    assert (line[26:28], line[32:34], line[40:42]) == ("  ", "  ", "  ")
    assert line[42:] == said


COUNT = st.integers(0, 10**9)


@given(
    st.integers(1, 10**4),
    COUNT,
    st.floats(1e-300, 1e300),
    st.floats(1e-300, 1e300) | st.just(float("nan")),
    COUNT,
)
def test_no_word_of_a_run_is_cut_at_80_columns(
    parts: int, iterations: int, objective: float, gap: float, size: int
) -> None:
    said = _runs._words(Progress(parts - 1, parts, 1.0, iterations, objective, gap, 1e-3, size))
    for inside in ("", "kernel values 100%", "matrix 100%", "factoring 100%", "CG step 12"):
        line = DisplayLine(Phase.TRAIN, 0.5, said, inside)
        assert len(rendered(line, ascii_only=True).plain) <= 79
        assert line.words.endswith(inside)
        assert set(line.words.split(", ")) - {inside} <= set(said)


def test_a_long_step_is_shown_as_far_as_it_is_and_forgotten_when_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fwsvm.solvers.newton.cholesky.FACTOR_PANEL", 1024)
    with Display() as display:
        display.show(Phase.TRAIN, 0.5, ("gap 1.0e-02", "7 iter.", "3 SV"))
        matrix = np.eye(3000, dtype=np.float32, order="F")
        heard: list[str] = []
        with listening_inside(
            lambda what, part: (display.inside(what, part), heard.append(display.present.words))
        ):
            assert factor_in_place(matrix)
        assert heard == ["gap 1.0e-02, 7 iter., factoring 71%", "gap 1.0e-02, 7 iter., factoring 96%", ANY]
        assert heard[-1].endswith("factoring 100%")
        display.show(Phase.TRAIN, 0.5, ("gap 1.0e-03",))
        assert display.present.words == "gap 1.0e-03"


@given(st.text(st.characters(codec="ascii", min_codepoint=32), max_size=300), st.integers(30, 200))
def test_a_name_is_whole_if_it_fits_and_keeps_both_ends_if_not(name: str, width: int) -> None:
    shown = indented(name, width)
    assert len(shown) <= width
    assert (
        shown.endswith(name)
        if len(name) <= width - 10
        else shown[10:].startswith(name[:5]) and name[-5:] in shown
    )


def progress(number: int, seconds: float, gap: float) -> Progress:
    return Progress(number, 3, seconds, 1, 1.0, gap, 1e-3, 7)


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1e9)), min_size=1))
def test_what_is_done_of_a_run_is_a_part_that_never_goes_back(told: list[tuple[int, float]]) -> None:
    share, last = _runs.Share(), 0.0
    for seconds, (number, gap) in enumerate(sorted(told, key=lambda pair: pair[0])):
        done = share.of(progress(number, float(seconds), gap))
        assert max(last, number / 3) <= done <= 1
        last = done


def test_the_way_to_the_tolerance_is_measured_in_orders_of_magnitude_and_anew_in_each_run() -> None:
    share = _runs.Share()
    gaps = [1.0, 0.1, 0.01]
    assert [round(3 * share.of(progress(0, k, gap)), 3) for k, gap in enumerate(gaps)] == [0.0, 0.333, 0.667]
    assert share.of(progress(0, 0.5, 1.0)) == 0.0  # the clock went back: another fold


def test_phases_are_heard_from_below_and_compiling_from_numba() -> None:
    double = numba.njit(lambda x: 2.0 * x)  # noqa: TID251 - nothing of it is cached
    heard: list[Phase] = []
    with listening(heard.append):
        enter(Phase.LOAD)
        double(1.0)
        double(2.0)
    enter(Phase.CHECK)
    assert heard == [Phase.LOAD, Phase.COMPILE, Phase.COMPILE, Phase.LOAD]


def test_without_a_terminal_compiling_is_said_once_and_progress_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(_display.time, "monotonic", lambda: now[0])
    with Display(listens=False, compiled=Compiled(90)) as display:
        for _ in range(60):
            now[0] += 0.1
            display.enter(Phase.COMPILE)
        for k in range(60):
            now[0] += 0.2
            display.show(Phase.TRAIN, 0.5, (), plain=f"at {k}")
    first, *rest = capsys.readouterr().err.splitlines()
    assert first == "compiling for this machine (once, about 30 s)"  # 22 at 0.2 s, 68 at a third, up to fives
    assert 1 < len(rest) < 6
    assert all(line.startswith("at ") for line in rest)


def test_two_displays_of_a_command_say_once_that_it_compiles(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now, compiled = [0.0], Compiled()
    monkeypatch.setattr(_display.time, "monotonic", lambda: now[0])
    for _ in range(2):
        with Display(listens=False, compiled=compiled) as display:
            for _ in range(60):
                now[0] += 0.1
                display.enter(Phase.COMPILE)
    assert capsys.readouterr().err == "compiling for this machine (once)\n"


def test_where_it_is_not_known_how_much_will_be_compiled_no_time_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(_display.time, "monotonic", lambda: now[0])
    with Display(listens=False) as display:
        for _ in range(60):
            now[0] += 0.1
            display.enter(Phase.COMPILE)
    assert capsys.readouterr().err == "compiling for this machine (once)\n"
    assert display.compiled.fraction is None
    assert display.compiled.words == "for this machine, once, 30 done"
    display.enter(Phase.COMPILE)
    display.enter(Phase.COMPILE)
    assert display.compiled.words == "for this machine, once, 31 done"
    assert len(display.compiled.words.replace("31", "1,234")) <= WORDS


def test_a_single_function_is_compiled_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    with Display(listens=False) as display:
        for _ in range(2):
            display.enter(Phase.COMPILE)
    assert capsys.readouterr().err == ""


def test_a_phase_that_is_left_and_entered_again_goes_on_with_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(_display.time, "monotonic", lambda: now[0])
    display = Display(listens=False)
    for phase in (Phase.TRAIN, Phase.CHECK, Phase.TRAIN, Phase.COMPILE, Phase.TRAIN):
        display.enter(phase)
        now[0] += 1.0
    assert {label: line.seconds for label, line in display.lines.items()} == {"train": 3.0, "check": 1.0}
    display.begin("another run")
    display.enter(Phase.TRAIN)
    assert display.lines["train"].seconds == 0.0
