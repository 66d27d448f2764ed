"""The examples of the README do what it says: each console line runs, in order, in one folder."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from fwsvm.cli import main
from tests.docs import pages

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return [block.text for block in pages.blocks(ROOT / "README.md") if block.language == language]


def test_every_console_line_runs_and_prints_what_stands_below_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    lines = [command for block in blocks("console") for command in pages.commands(block)]
    assert len(lines) > 10
    for line, shown in lines:
        program, *arguments = shlex.split(line)
        assert program == "fwsvm"
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, f"{line}: {result.output}\n{result.exception!r}"
        printed = result.output.rstrip().splitlines()
        assert not shown or pages.said(shown, printed), f"{line} prints\n{result.output}"
        assert printed or arguments[0] == "subset"


def test_it_is_short():
    assert len(README.split()) < 900


@pytest.mark.slow
def test_the_python_example_runs(tmp_path):
    (code,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "converged"
    assert done.stdout.split()[-1] == "True"


def test_every_file_it_names_is_there():
    named = set(re.findall(r"`((?:fwsvm|configs|tests|results)/[\w./-]+\.\w+)`", README))
    assert "fwsvm/results/columns.py" in named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_command_it_names_is_there():
    named = set(re.findall(r"`fwsvm ([a-z]+)", README))
    assert named <= set(main.list_commands(None))


def test_every_make_target_it_names_is_there():
    targets = set(
        re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert set(re.findall(r"(?:`|^)make ([a-z0-9-]+)", README, re.MULTILINE)) <= targets
