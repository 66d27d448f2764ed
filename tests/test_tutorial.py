"""docs/add-a-solver.md does what it says: its blocks are saved, installed and run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "add-a-solver.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(folder: Path, *arguments: str) -> str:
    """Run Python in a folder whose modules can be imported, and return what it printed."""
    paths = os.pathsep.join([str(folder), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a folder with the page's file in it."""
    place = tmp_path_factory.mktemp("tutorial")
    (place / "pairwise.py").write_text(blocks("python")[0], encoding="utf-8")
    return place


def test_the_file_trains_and_its_laws_hold(folder):
    _, *steps = blocks("python")
    assert len(steps) == 3
    said = run(folder, "-c", "\n".join([*steps, "print(result.certified)"]))
    assert "within the tolerance" in said
    assert said.split()[-1] == "True"


def test_the_entry_point_brings_the_method_to_the_command_line(folder):
    (entry,) = blocks("toml")
    group, name, module = re.fullmatch(
        r'\[project\.entry-points\."([\w.]+)"\]\n(\w+) = "(\w+)"\n', entry
    ).groups()
    installed = folder / "pairwise-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: pairwise\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}\n")
    (line,) = blocks("console")
    program, *arguments = line.removeprefix("$ ").split()
    assert program == "fwsvm"
    said = run(folder, "-m", "fwsvm", *arguments)
    assert "Mitchell" in said
    assert "converged" in said


def test_every_file_it_names_is_there():
    named = set(re.findall(r"`((?:fwsvm|tests)/[\w/]+(?:\.py)?)/?`", PAGE))
    assert "fwsvm/solvers/frank_wolfe/moves.py" in named
    assert [name for name in named if not (ROOT / name).exists()] == []
