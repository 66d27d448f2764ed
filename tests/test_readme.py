"""The examples of the README do what it says: each console line runs, in order, in one folder."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from fwsvm.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_every_console_line_runs(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    monkeypatch.chdir(tmp_path)
    lines = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]
    assert len(lines) > 10
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "fwsvm"
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, f"{line}: {result.output}\n{result.exception!r}"
        assert result.output


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
