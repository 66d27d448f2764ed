"""Output that nobody takes: files are written all the same, and the exit code is one that is documented."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TextIO

import click
import pytest

from fwsvm.cli import Commands, main, predict
from fwsvm.data import ranges
from fwsvm.experiments import run as runs
from tests.cli.running import done

DATA = "synthetic:gaussians?rows=60&features=3&test=0"
TRAIN = ("train", "-m", "swap", "--threads", "1", "--offline", DATA)
UNWRITTEN = "fwsvm: the output cannot be written: No space left on device\n"
#: What stdout leads to, the exit code of a command that is well but for that, and what is said.
BROKEN = [("unread", 0, ""), ("full", 4, UNWRITTEN)]
broken = pytest.mark.parametrize(("kind", "code", "said"), BROKEN, ids=["unread", "full"])

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@pytest.fixture
def outputs() -> Iterator[dict[str, TextIO]]:
    """Return a pipe whose reader went away, and a disk that is full."""
    reading, writing = os.pipe()
    os.close(reading)
    with (
        os.fdopen(writing, "w", encoding="utf-8") as unread,
        Path("/dev/full").open("w", encoding="utf-8") as full,
    ):
        yield {"unread": unread, "full": full}


def code_of(*words: object) -> int:
    """Run a command line with the streams as they are; return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code or 0


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what was told of, without progress, such as that code is compiled."""
    lines = capsys.readouterr().err.splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith(("fwsvm:", "Traceback")))


def never(*_: object, **__: object) -> None:
    """Stand for what must not be done."""
    raise AssertionError


@broken
def test_machine_and_trace_are_written_whatever_becomes_of_stdout(
    tmp_path, monkeypatch, capsys, outputs, kind, code, said
):
    machine, trace = tmp_path / "m", tmp_path / "t.csv"
    monkeypatch.setattr(sys, "stdout", outputs[kind])
    assert code_of(*TRAIN, "--model", machine, "--trace", trace) == code
    assert machine.stat().st_size > 0
    assert trace.stat().st_size > 0
    assert told(capsys) == said


@broken
def test_training_for_stdout_alone_ends_where_nobody_reads_it(monkeypatch, capsys, outputs, kind, code, said):
    monkeypatch.setattr(runs, "run_one", never)
    monkeypatch.setattr(sys, "stdout", outputs[kind])
    assert code_of(*TRAIN) == code
    assert told(capsys) == said


@broken
@pytest.mark.parametrize("command", ["scale", "predict"])
def test_rows_are_written_no_further_than_somebody_reads(
    tmp_path, monkeypatch, outputs, command, kind, code, said
):
    made, line = [], "1 1:2\n" * 10_000

    def lines(*_, **__):
        for number in range(100):
            made.append(number)
            yield SimpleNamespace(text=line, entries=1, before=1) if command == "scale" else line

    rows = tmp_path / "rows"
    rows.write_text("".join(f"{i % 2} 1:{i} 2:1\n" for i in range(1, 21)))
    if command == "predict":
        done("train", "-m", "swap", "--threads", 1, "--model", tmp_path / "m", rows)
    monkeypatch.setattr(ranges, "scaled_text", lines)
    monkeypatch.setattr(predict, "lines_of", lines)
    monkeypatch.setattr(sys, "stdout", outputs[kind])
    assert code_of(command, *([tmp_path / "m"] if command == "predict" else []), rows) == code
    assert len(made) < 10


@broken
@pytest.mark.parametrize("words", ["--help", "-V", "methods --help", "methods", "data list"])
def test_what_only_prints_ends_in_one_sentence_or_quietly(
    monkeypatch, capsys, outputs, words, kind, code, said
):
    monkeypatch.setattr(sys, "stdout", outputs[kind])
    assert code_of(*words.split()) == code
    assert told(capsys) == said


@pytest.mark.parametrize(
    ("own", "unread", "full"), [(0, 0, 4), (1, 1, 4), (2, 2, 2), (3, 3, 3), (130, 130, 130)]
)
def test_an_exit_code_of_success_or_of_a_comparison_gives_way_to_that_of_lost_output(
    monkeypatch, outputs, own, unread, full
):
    @click.command()
    def printing():
        click.echo("a line")
        sys.exit(own)

    monkeypatch.setattr(Commands, "get_command", lambda *_: printing)
    for kind, code in (("unread", unread), ("full", full)):
        monkeypatch.setattr(sys, "stdout", outputs[kind])
        assert code_of("methods") == code


def test_commands_work_without_streams(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    for words in (["--help"], ["methods"], ["data", "list"], [*TRAIN, "--model", tmp_path / "m"]):
        assert code_of(*words) == 0
        assert (sys.stdout, sys.stderr) == (None, None)
    assert code_of("train", "./nowhere.svm") == 3
    assert (tmp_path / "m").stat().st_size > 0


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
@pytest.mark.parametrize("options", ["-u"])
def test_a_shell_may_close_the_streams(closed, options):
    line = f'"{sys.executable}" {options} -m fwsvm methods {closed}'
    ended = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("option", ["--model", "--trace"])
def test_a_file_that_its_folder_cannot_take_is_refused_before_training(tmp_path, monkeypatch, option):
    monkeypatch.setattr(runs, "run_one", never)
    lost = tmp_path / "none" / "file"
    why = f"there is no folder {lost.parent}; make it, or name another with {option}"
    assert f"{lost} cannot be written: {why}" in done(*TRAIN, option, lost, code=2).stderr
    assert "it is a folder" in done(*TRAIN, option, tmp_path, code=2).stderr
