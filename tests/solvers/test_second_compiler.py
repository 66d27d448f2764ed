"""A second process that compiles beside the first: it ends with it, and its failure changes nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from fwsvm.solvers import Settings, second_compiler, warm_up
from fwsvm.solvers.auto.pair_certificates import add_class_sums
from fwsvm.solvers.frank_wolfe.run_until_miss import run_until_miss
from fwsvm.solvers.newton.gram_rows import _add
from fwsvm.solvers.resolve import resolve

WAITS = [sys.executable, "-c", "import sys; sys.stdin.read()"]
FAILS = [sys.executable, "-c", "raise SystemExit(1)"]
DEADLINE = 60.0  # seconds after which a process that goes on is a failure


def is_running(pid: int) -> bool:
    """Whether there is such a process, and it has not ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def has_ended(pid: int) -> bool:
    """Wait until the process ends; whether it did."""
    deadline = time.monotonic() + DEADLINE
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(pid)


def compile_something() -> None:
    assert numba.njit(lambda x: x + 1)(1) == 2  # noqa: TID251 - nothing of it is cached


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Let the second process be one that waits for the end of its input; return those started."""
    return starting(WAITS, monkeypatch)


def starting(words: list[str], monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    made: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        made.append(subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0))
        return made[-1]

    monkeypatch.setattr(second_compiler, "start", start)
    monkeypatch.setattr(second_compiler, "can_help", lambda _: True)
    monkeypatch.setattr(second_compiler, "is_cache_empty", lambda: False)
    return made


def test_it_starts_when_a_function_is_compiled_and_ends_with_the_block(started):
    with second_compiler.second_compiler(Settings()):
        assert not started
        compile_something()
        compile_something()
        (process,) = started
        assert process.poll() is None
    assert process.poll() is not None


def test_it_starts_at_once_where_nothing_is_compiled_yet(started, monkeypatch):
    monkeypatch.setattr(second_compiler, "is_cache_empty", lambda: True)
    with second_compiler.second_compiler(Settings()):
        assert len(started) == 1
        compile_something()
        assert len(started) == 1


def test_it_ends_when_the_first_run_is_compiled_and_no_other_is_started(started, monkeypatch):
    monkeypatch.setattr(warm_up, "_DONE", set())
    X = np.eye(8)
    resolved = resolve(Settings(), X)
    with second_compiler.second_compiler(Settings()):
        compile_something()
        warm_up.compile_runs(resolved, X)
        assert started[0].poll() is not None
        compile_something()
        assert len(started) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_it_ends_where_the_block_is_left_by_an_error(started, error):
    def block() -> None:
        with second_compiler.second_compiler(Settings()):
            compile_something()
            raise error

    with pytest.raises(error):
        block()
    assert started[0].poll() is not None


def test_one_that_fails_changes_nothing(monkeypatch):
    started = starting(FAILS, monkeypatch)
    with second_compiler.second_compiler(Settings()):
        compile_something()
        started[0].wait()
        with second_compiler.helped([0]):
            compile_something()
    assert started[0].returncode == 1


def test_one_that_cannot_be_started_changes_nothing(monkeypatch):
    tried = []

    def start() -> None:
        tried.append("once")
        raise OSError("no more processes")

    monkeypatch.setattr(second_compiler, "start", start)
    monkeypatch.setattr(second_compiler, "can_help", lambda _: True)
    with second_compiler.second_compiler(Settings()):
        compile_something()
        compile_something()
    assert tried == ["once"]


def test_one_that_does_not_listen_is_ended_too(monkeypatch):
    started = starting([sys.executable, "-c", "import time; time.sleep(1000)"], monkeypatch)
    with second_compiler.second_compiler(Settings()):
        compile_something()
    assert started[0].returncode


@pytest.mark.parametrize(
    "settings",
    [Settings(method="liblinear"), Settings(method="swap", search="sampled"), Settings(protocol="paper"),
     Settings(method="no such method")],
)  # fmt: skip
def test_there_is_none_where_it_would_not_know_what_to_compile(settings, monkeypatch):
    monkeypatch.setattr(second_compiler, "usable_threads", lambda: 2)
    assert second_compiler.can_help(Settings())
    assert not second_compiler.can_help(settings)


def test_there_is_none_without_a_second_processor_or_a_cache_to_write_to(monkeypatch):
    monkeypatch.setattr(second_compiler, "usable_threads", lambda: 1)
    assert not second_compiler.can_help(Settings())
    monkeypatch.setattr(second_compiler, "usable_threads", lambda: 2)
    monkeypatch.setattr("os.access", lambda *_: False)
    assert not second_compiler.can_help(Settings())


FIRST = """
import sys, time
from fwsvm.solvers.second_compiler import start
process = start()
print(process.pid, flush=True)
time.sleep(1000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        signal.SIGKILL,
    ],
)
def test_a_first_process_that_is_killed_leaves_none_behind(number):
    first = subprocess.Popen(
        [sys.executable, "-c", FIRST], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with first:
        assert first.stdout is not None
        second = int(first.stdout.readline())
        assert is_running(second)
        first.send_signal(number)
        first.wait()
        assert has_ended(second)


AHEAD = """
from queue import SimpleQueue
import numpy as np
from scipy import sparse
from fwsvm.kernels.column_cache import fetch_in_thread
from fwsvm.kernels.sparse_tiles import fill_range
from fwsvm.solvers import Settings, fit
from fwsvm.solvers.compile_from_the_end import Layouts, compile_from_the_end
from fwsvm.solvers.frank_wolfe.engine import make
from fwsvm.solvers.frank_wolfe.run_until_miss import run_until_miss
from fwsvm.solvers.newton.cholesky_factor import _add_mirrored
from fwsvm.solvers.newton.gram_rows import _add, _gather, _gather_block
from fwsvm.solvers.resolve import resolve
from fwsvm.solvers.warm_up import GAPS, compile_runs
ahead = {each: each.compile for each in (fill_range, fetch_in_thread, run_until_miss)}
signatures = lambda: [sorted(map(str, each._numba_type_.dispatcher.overloads)) for each in (make, *ahead)]
told = SimpleQueue()
told.put(Layouts([GAPS]))
compile_from_the_end("auto", "rbf", "relative", told)
before = signatures()
X = sparse.csr_array(np.eye(8))
compile_runs(resolve(Settings(), X), X)
assert all(before), before
assert signatures() == before
systems = lambda: [sorted(map(str, each.overloads)) for each in (_add, _add_mirrored, _gather, _gather_block)]
before = systems()
rng = np.random.default_rng(0)
wide = sparse.csr_array(np.pad(rng.normal(size=(60, 2)), ((0, 0), (0, GAPS))))
result = fit(wide, rng.integers(0, 2, 60), ("1", "-1"), Settings(method="newton", C=1e5))  # single precision will do
assert result.certified
assert all(before), before
assert systems() == before
"""


@pytest.mark.slow
def test_what_it_compiles_is_what_a_run_calls():
    done = subprocess.run([sys.executable, "-c", AHEAD], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_second_process_compiles_what_it_is_asked_for_and_ends(monkeypatch, tmp_path):
    for name in ("NUMBA_CACHE_DIR", "FWSVM_CACHE"):  # nothing is compiled or carried here yet
        monkeypatch.setenv(name, str(tmp_path / name))
    process = second_compiler.start()
    helper = second_compiler.SecondCompiler(Settings())
    helper._process = process
    helper.tell([0], pairs=True)
    assert process.wait(10 * DEADLINE) == 0
    assert process.stdin is not None
    process.stdin.close()
    kept = {path.name.partition(f".{sys.implementation.cache_tag}.")[0] for path in tmp_path.rglob("*.nbc")}
    for function in (
        run_until_miss,
        add_class_sums,
        _add,
    ):  # of the loop, of pairs of classes, of newton's systems
        assert f"{function.py_func.__module__}.{function.py_func.__qualname__}" in kept


PAIRS_AHEAD = """
from queue import SimpleQueue
import numpy as np
from scipy import sparse
from fwsvm.solvers import Settings, fit
from fwsvm.solvers.auto.pair_certificates import add_class_sums, write_certificates
from fwsvm.solvers.tuning import ONE_MATRIX_ROWS
from fwsvm.solvers.compile_from_the_end import Layouts, compile_from_the_end
from fwsvm.solvers.warm_up import GAPS
told = SimpleQueue()
told.put(Layouts([0, GAPS], pairs=True))
compile_from_the_end("auto", "rbf", "relative", told)
def compiled():
    return [sorted(map(str, each.overloads)) for each in (add_class_sums, write_certificates)]
before = compiled()
codes = np.arange(ONE_MATRIX_ROWS + 2) % 3
X = codes[:, None] + np.random.default_rng(0).normal(size=(len(codes), 2))
for gaps in (0, GAPS):
    wide = sparse.csr_array(np.pad(X, ((0, 0), (0, gaps))))
    assert fit(wide, codes, ("a", "b", "c"), Settings()).certified
assert all(before) and compiled() == before, before
"""


@pytest.mark.slow
def test_what_it_compiles_for_pairs_is_what_they_call():
    done = subprocess.run([sys.executable, "-c", PAIRS_AHEAD], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
