"""Packages as pip would install them, the pages of docs/adding, and Python run where it finds both."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "adding"
#: Runs the command lines of its standard input, one after another, in one process.
SEVERAL = """
import json, sys
from click.testing import CliRunner
from fwsvm.cli import main

told = []
for words in json.load(sys.stdin):
    done = CliRunner().invoke(main, words, prog_name="fwsvm")
    if not isinstance(done.exception, SystemExit | None):
        raise done.exception
    told.append([done.exit_code, done.stdout, done.stderr])
json.dump(told, sys.stdout)
"""
ENTRY = re.compile(r'\[project\.entry-points\."([\w.]+)"\]\n(\w+) = "([\w.]+)"\n')


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of one language on a page."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def install(folder: Path, group: str, package: str, module: str, code: str) -> None:
    """Write what pip would leave behind for a package of one module with one entry point."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{package} = {module}\n")
    (folder / f"{module}.py").write_text(code, encoding="utf-8")


def install_page(folder: Path, page: str) -> None:
    """Install the package that a page makes: its first Python block under its entry point."""
    (entry,) = blocks(page, "toml")
    group, package, module = ENTRY.fullmatch(entry).groups()
    install(folder, group, package, module, blocks(page, "python")[0])


def python(
    folder: Path, *arguments: str, warn: str = "error", stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder whose packages can be imported."""
    paths = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-W", warn, *arguments], input=stdin,
        cwd=folder, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def fwsvm(folder: Path, *words: str) -> str:
    """Run the command line there, which must succeed, and return what it printed."""
    done = python(folder, "-m", "fwsvm", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Said(NamedTuple):
    """What a command ended with and wrote."""

    code: int
    out: str
    err: str


def several(folder: Path, *lines: "list[str] | tuple[str, ...]") -> list[Said]:
    """Run command lines there in one process, whose start takes longer than most of them."""
    done = python(folder, "-c", SEVERAL, stdin=json.dumps(lines))
    assert done.returncode == 0, done.stderr
    return [Said(*each) for each in json.loads(done.stdout)]


def printed(folder: Path, *lines: "list[str] | tuple[str, ...]") -> list[str]:
    """Run command lines there in one process, which must succeed, and return what each printed."""
    told = several(folder, *lines)
    assert [said.err for said in told if said.code] == []
    return [said.out for said in told]


def commands(page: str) -> list[list[str]]:
    """Return the words after ``fwsvm`` of every command on a page."""
    lines = [
        line for block in blocks(page, "console") for line in block.splitlines() if line.startswith("$ ")
    ]
    words = [line.removeprefix("$ ").split() for line in lines]
    assert {each[0] for each in words} == {"fwsvm"}
    return [each[1:] for each in words]
