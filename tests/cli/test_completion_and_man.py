"""Completion for three shells and manual pages from the help, as shells and groff take them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from fwsvm.cli import main
from fwsvm.cli.man import page
from tests.cli.running import run

pytestmark = pytest.mark.slow

SHELLS = ("bash", "zsh", "fish")


def completed(*words: str) -> list[str]:
    """Return what bash is offered for the last of the words."""
    done = subprocess.run(
        [sys.executable, "-c", "from fwsvm.cli import main; main(prog_name='fwsvm')"],
        env=os.environ | {"_FWSVM_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(("fwsvm", *words)),
                          "COMP_CWORD": str(len(words))},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


def test_commands_options_and_names_are_completed() -> None:
    assert completed("gr") == ["plain,grid"]
    assert "plain,--time-limit" in completed("easy", "--t")
    assert completed("train", "wdb") == ["plain,wdbc", "plain,wdbc-500", "file,wdb"]
    assert completed("grid", "quick") == ["plain,quickstart", "file,quick"]
    assert completed("train", "--method", "swap-") == ["plain,swap-2o"]
    assert completed("cv", "--kernel", "lap") == ["plain,laplacian"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_reads_its_script(shell: str, tmp_path: Path) -> None:
    script = run("completion", shell).stdout
    assert "_FWSVM_COMPLETE" in script
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    (tmp_path / "script").write_text(script)
    done = subprocess.run(
        [shell, "-n", str(tmp_path / "script")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("shell", "place"), [
    ("bash", "share/bash-completion/completions/fwsvm"), ("zsh", "share/zsh/site-functions/_fwsvm"),
    ("fish", "config/fish/completions/fwsvm.fish"),
])  # fmt: skip
def test_one_command_installs_it_for_the_shell_in_use(shell: str, place: str, tmp_path: Path) -> None:
    where = {"XDG_DATA_HOME": str(tmp_path / "share"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    done = run("completion", "--install", SHELL=f"/usr/bin/{shell}", **where)
    assert done.exit_code == 0, done.output
    assert (tmp_path / place).read_text() + "\n" == run("completion", shell).stdout


def test_an_unknown_shell_is_said() -> None:
    done = run("completion", SHELL="/bin/csh")
    assert (done.exit_code, "'csh', which has no completion; give one of bash, zsh, fish" in done.stderr) == (
        2,
        True,
    )


def test_every_command_has_a_page_with_its_options(tmp_path: Path) -> None:
    done = run("man", "--out", str(tmp_path))
    names = {file.name for file in tmp_path.iterdir()}
    assert {"fwsvm.1", "fwsvm-train.1", "fwsvm-data-list.1"} <= names
    assert f"wrote {len(names)} pages" in done.stdout
    train = (tmp_path / "fwsvm-train.1").read_text()
    command = main.get_command(click.Context(main), "train")
    assert command is not None
    for option in (one for one in command.params if isinstance(one, click.Option)):
        assert max(option.opts, key=len).replace("-", "\\-") in train
    assert run("man", "data", "list").stdout == (tmp_path / "fwsvm-data-list.1").read_text()


def test_a_command_that_there_is_not_has_no_page() -> None:
    done = run("man", "trian")
    assert (done.exit_code, "there is no command 'fwsvm trian'" in done.stderr) == (2, True)


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_groff_takes_every_page_without_a_warning(tmp_path: Path) -> None:
    run("man", "--out", str(tmp_path))
    pages = sorted(map(str, tmp_path.iterdir()))
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-Kutf8", *pages], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_lines_that_roff_would_take_for_commands_stay_text() -> None:
    @click.command("odd", help=".SH HIDDEN\n\n\b\n'quoted\n.so /etc/passwd\\n")
    def odd() -> None:
        pass

    lines = page(click.Context(odd, info_name="odd")).splitlines()
    assert not [line for line in lines if line.startswith((".SH HIDDEN", ".so", "'"))]
