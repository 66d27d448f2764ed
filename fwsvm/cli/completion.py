"""``fwsvm completion``: the completion of commands, options and names for a shell."""

import os
from pathlib import Path

import click

from fwsvm.cli._types import NearestChoice
from fwsvm.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=NearestChoice(SHELLS), required=False)
@click.option("--install", is_flag=True, help="Put it where the shell looks for it, instead of printing it.")
def command(shell: str | None, install: bool) -> None:
    """Print or install the completion script for SHELL.

    Commands, options, methods, data sets and experiments are completed. Without SHELL it is for the shell that $SHELL
    names.

    \b
    fwsvm completion --install
    """  # noqa: D301
    from click.shell_completion import get_completion_class

    from fwsvm.cli import main
    from fwsvm.files.atomic import write_whole

    name = shell or Path(os.environ.get("SHELL", "")).name
    kind = get_completion_class(name) if name in SHELLS else None
    if kind is None:
        raise UsageError(f"$SHELL names {name!r}, which has no completion; give one of {', '.join(SHELLS)}")
    made = kind(main, {}, "fwsvm", "_FWSVM_COMPLETE")
    script = made.source_template % made.source_vars()
    if not install:
        click.echo(script)
        return
    place = _place(name)
    write_whole(place, script.encode())
    click.echo(f"wrote {place}; it takes effect in each {name} started from now on")
    if name == "zsh":
        click.echo(
            f"if nothing is completed, add to ~/.zshrc: fpath+={place.parent}; autoload -U compinit; compinit"
        )


def _place(shell: str) -> Path:
    """Return the user's file from which a shell loads the completion of fwsvm."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    shared = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return {
        "bash": shared / "bash-completion" / "completions" / "fwsvm",
        "zsh": shared / "zsh" / "site-functions" / "_fwsvm",
        "fish": config / "fish" / "completions" / "fwsvm.fish",
    }[shell]
