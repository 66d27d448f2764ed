"""Laws of all commands: numbers are finite, and what nobody foresaw is one sentence and a log."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

import fwsvm
from fwsvm import exit_codes
from fwsvm.__main__ import main as program
from fwsvm.cli import main
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
        said = done(*(value if word == "nan" else word for word in words), code=2).stderr
        assert "is not a finite number" in said or "is not in the range" in said


@pytest.mark.parametrize(
    ("words", "incomplete", "offered"),
    [
        ("", "gr", ["grid"]),
        ("easy", "--ti", ["--time-limit"]),
        ("train", "wdb", ["wdbc", "wdbc-500", "wdb"]),  # the last one stands for files
        ("grid", "quick", ["quickstart", "quick"]),
        ("train --method", "swap-", ["swap-2o"]),
        ("cv --kernel", "lap", ["laplacian"]),
    ],
)
def test_shells_complete_commands_options_and_names(words, incomplete, offered):
    shell = ShellComplete(main, {}, "fwsvm", "_FWSVM_COMPLETE")
    assert [item.value for item in shell.get_completions(words.split(), incomplete)] == offered


def test_an_unforeseen_error_is_one_sentence_and_a_log(monkeypatch, capsys):
    monkeypatch.setattr("fwsvm.cli.about._facts", lambda: 1 // 0)
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
