"""Laws of all commands: numbers are finite, and what nobody foresaw is one sentence and a log."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import fwsvm
from fwsvm import exit_codes
from fwsvm.__main__ import main as program
from fwsvm.cli import main
from fwsvm.experiments import run as runs
from tests.cli.running import done


def commands(group: click.Group, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the words and the command of each command below a group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        elif command is not None:
            yield (*words, name), command


def number_options() -> Iterator[tuple[str, ...]]:
    """Yield the words of each option that takes numbers which are not whole."""
    for words, command in commands(main, ()):
        for option in command.params:
            types = option.type.types if isinstance(option.type, click.Tuple) else [option.type]
            if any(isinstance(kind, type(click.FLOAT)) for kind in types):
                yield (*words, option.opts[0], *["nan"] * option.nargs)


@pytest.mark.parametrize("words", [*number_options()], ids=" ".join)
def test_no_number_option_takes_what_is_not_finite(words):
    for value in ("nan", "-inf", "1e400"):
        said = done(*(value if word == "nan" else word for word in words), "wdbc", code=2).stderr
        assert "number" in said or "is not in the range" in said


def test_an_unforeseen_error_is_one_sentence_and_a_log(monkeypatch, capsys):
    monkeypatch.setattr("fwsvm.files.folders.code_folder", lambda: 1 // 0)
    monkeypatch.setattr(sys, "argv", ["fwsvm", "info"])
    with pytest.raises(SystemExit) as ended:
        program()
    assert ended.value.code == exit_codes.FAILED
    said = capsys.readouterr().err
    assert said.startswith("fwsvm: unexpected ZeroDivisionError: ")
    assert said.count("\n") == 1
    log = Path(said.split()[-1]).read_text()
    assert log.startswith("fwsvm info\n")
    assert "Traceback" in log


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "code", "said"),
    [
        ("raise ImportError('damaged')", exit_codes.FAILED, "unexpected ImportError: damaged; please report"),
        (
            "import _thread, time\n_thread.interrupt_main()\ntime.sleep(9)",
            exit_codes.INTERRUPTED,
            "interrupted\n",
        ),
    ],
)
def test_starting_ends_by_one_sentence(tmp_path, module, code, said):
    (tmp_path / "click.py").write_text(module)
    found = [str(tmp_path), str(Path(fwsvm.__file__).parents[1])]
    ended = subprocess.run(
        [sys.executable, "-m", "fwsvm", "--help"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(found)},
    )
    assert (ended.returncode, ended.stdout) == (code, "")
    assert ended.stderr.startswith(f"fwsvm: {said}")
    assert ended.stderr.count("\n") == 1


NO_SPACE = "No space left on device"
on_linux = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows"
    path.write_text("".join(f"{t % 2} 1:{t}\n" for t in range(1, 13)))
    return path


@on_linux
@pytest.mark.parametrize(
    "words", ["subset rows 3 /dev/full", "scale -o /dev/full rows", "scale -s /dev/full rows"]
)
@pytest.mark.usefixtures("rows")
def test_a_file_that_a_disk_has_no_room_for(words):
    assert done(*words.split(), code=4).stderr == f"fwsvm: /dev/full cannot be written: {NO_SPACE}\n"


@pytest.mark.slow
@on_linux
@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("methods >/dev/full", 4, f"fwsvm: the output cannot be written: {NO_SPACE}\n"),
        ("predict m many >/dev/full", 4, f"fwsvm: the output cannot be written: {NO_SPACE}\n"),
        ("predict m many | head -1", 0, ""),
        ("train --model again rows >/dev/full", 4, f"fwsvm: the output cannot be written: {NO_SPACE}\n"),
    ],
)
def test_a_stream_that_takes_no_more(rows, line, code, said):
    done("train", "--model", "m", rows)
    rows.with_name("many").write_text("1:1\n" * 100_000)
    whole = f"set -o pipefail; '{sys.executable}' -m fwsvm {line}"
    ended = subprocess.run(["bash", "-c", whole], capture_output=True, text=True, check=False)
    assert ended.returncode == code
    assert ended.stderr.replace("compiling for first use\n", "") == said


@pytest.mark.parametrize("option", ["--model", "--trace"])
def test_a_file_that_its_folder_cannot_take_is_refused_before_training(rows, monkeypatch, option):
    monkeypatch.setattr(runs, "run_one", None)
    lost = rows.parent / "none" / "file"
    why = f"there is no folder {lost.parent}; name another file with {option}"
    assert f"{lost} cannot be written: {why}" in done("train", rows, option, lost, code=2).stderr
    assert "it is a folder" in done("train", rows, option, rows.parent, code=2).stderr
