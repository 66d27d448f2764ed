"""Every command and every snippet of the documentation runs, and prints what the page shows."""

import contextlib
import io
import re
import shlex

import click
import pytest
from click.testing import CliRunner

from fwsvm.cli import main
from fwsvm.experiments import config
from tests.docs.pages import ROOT, blocks, commands, pages, said

pytestmark = pytest.mark.slow

PAGES = {str(page.relative_to(ROOT)): page for page in pages()}
RUN = {
    name: page
    for name, page in PAGES.items()
    if {"console", "python", "yaml"} & {b.language for b in blocks(page)}
}
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def run(line: str) -> list[str]:
    """Run a line of the console, which must succeed, and return what it prints."""
    program, *words = shlex.split(line)
    assert program == "fwsvm", line
    done = CliRunner().invoke(main, words, prog_name="fwsvm")
    assert done.exit_code == 0, f"{line}: {done.output}\n{done.exception!r}"
    return done.output.rstrip().splitlines()


@pytest.mark.parametrize("name", RUN)
def test_a_page_runs_and_prints_what_it_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    space: dict[str, object] = {"__name__": "page"}
    printed = io.StringIO()
    for block in blocks(PAGES[name]):
        where = f"{name}:{block.line}"
        if block.language == "console":
            for line, shown in commands(block.text):
                output = run(line)
                assert not shown or said(shown, output), f"{where}: {line} prints\n" + "\n".join(output)
        elif block.language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block.text, where, "exec"), space)
        elif block.language == "text" and block.follows and printed.getvalue():
            output = printed.getvalue().rstrip().splitlines()
            assert said(block.text.rstrip().splitlines(), output), f"{where}: printed\n" + "\n".join(output)
        elif block.language == "yaml":
            file = re.match(r"# ([\w-]+\.yaml)\n", block.text)
            assert file, f"{where}: the first line names no file"
            (tmp_path / file[1]).write_text(block.text, encoding="utf-8")
            config.load(tmp_path / file[1])


def parsed(line: str) -> None:
    """Have click read a command's words, without running it."""
    words = shlex.split(line, comments=True)[1:]
    context, command = click.Context(main, info_name="fwsvm", **main.context_settings), main
    while isinstance(command, click.Group):
        known = command.get_command(context, words[0])
        assert known is not None, line
        command, words = known, words[1:]
    command.make_context("fwsvm", words, context)


@pytest.mark.parametrize(
    "name", [name for name, page in PAGES.items() if any(b.language == "sh" for b in blocks(page))]
)
def test_commands_that_are_not_run_exist_with_their_options(name):
    for block in blocks(PAGES[name]):
        for line in block.text.replace("\\\n", " ").splitlines() if block.language == "sh" else []:
            words = shlex.split(line, comments=True)
            while words and "=" in words[0]:
                words = words[1:]
            if words[:1] == ["fwsvm"]:
                parsed(shlex.join(words))
            elif words[:1] == ["make"]:
                assert {word for word in words[1:] if "=" not in word} <= TARGETS, line


def test_every_file_that_a_page_names_is_there():
    named = re.compile(r"`((?:fwsvm|configs|tests|docs|benchmarks|results/reference)/[\w./-]+)`")
    script = re.compile(r"`python (benchmarks/\w+\.py)")
    every = {
        (name, file)
        for name, page in PAGES.items()
        for pattern in (named, script)
        for file in pattern.findall(page.read_text("utf-8"))
    }
    assert [(name, file) for name, file in sorted(every) if not (ROOT / file).exists()] == []


def test_all_words_can_be_read_in_a_morning():
    written = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "results").rglob("README.md")]
    words = {page: len(re.findall(r"\S*\w\S*", page.read_text("utf-8"))) for page in written}
    assert sum(words.values()) <= 20_000
    assert words[ROOT / "README.md"] <= 650
    assert [
        page for page in words if page.name == "README.md" and words[page] > 300 and page.parent != ROOT
    ] == []
