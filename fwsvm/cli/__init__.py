"""The command line: options, output and exit codes; nothing is computed here.

Modules with a leading underscore have no commands. At module level all import
only click and modules that import neither numpy nor numba, so that ``--help`` is instant.
"""

import errno
import gc
import importlib
import os
import signal
import sys
import threading
import warnings
from typing import Any

import click

from fwsvm import __version__, exit_codes
from fwsvm.cli._lines import tell
from fwsvm.errors import FwsvmError, SettingError
from fwsvm.settings import with_options

SECTIONS = {
    "Use": ("train", "predict", "cv", "easy"),
    "Files": ("data", "scale", "check", "subset", "summary"),
    "Experiments": ("grid", "table", "stats", "plot", "claims", "report", "compare", "merge"),
    "About": ("methods", "kernels", "info", "warmup"),
}
#: Modules of several commands; every other command has one of its own name.
MODULES = {
    "files": SECTIONS["Files"][1:],
    "analysis": SECTIONS["Experiments"][1:4],
    "reports": SECTIONS["Experiments"][4:],
    "about": SECTIONS["About"],
}


class Commands(click.Group):
    """The commands of this package; a mistake becomes one line on stderr."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands below their titles, each with its first sentence."""
        for title, names in SECTIONS.items():
            found = [(f"{name:7}", self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(name, one.get_short_help_str(100)) for name, one in found if one])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command of that name, which is imported on demand."""
        if cmd_name not in self.commands:
            return None
        module = next((each for each, names in MODULES.items() if cmd_name in names), cmd_name)
        command: click.Command = getattr(importlib.import_module(f"{__name__}.{module}"), cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print a known error in one line and exit with its code."""
        warnings.formatwarning = lambda message, *_, **__: f"fwsvm: {message}\n"
        gc.set_threshold(
            1_000_000, 20, 100
        )  # numba's compiler makes millions of objects, few of them garbage
        if threading.current_thread() is threading.main_thread():
            # a cluster's scheduler sends it before it kills: what is there is saved
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            said = error.format_message().rstrip(".")
            path = error.ctx.command_path if error.ctx else "fwsvm"
            tell([f"{said[0].lower()}{said[1:]}; see `{path} --help`"])
            sys.exit(exit_codes.USAGE)
        except FwsvmError as error:
            tell([with_options(str(error)) if isinstance(error, SettingError) else error])
            sys.exit(error.exit_code)
        except MemoryError:
            from fwsvm._memory import RAN_OUT

            tell([with_options(RAN_OUT)])
            sys.exit(exit_codes.FAILED)
        except OSError as error:
            if error.filename is not None:
                tell([f"{os.fsdecode(error.filename)}: {error.strerror}"])
                sys.exit(exit_codes.DATA)
            if error.errno not in {errno.EPIPE, errno.ENOSPC, errno.EDQUOT}:
                raise
            # stdout leads nowhere now, so that what is left in its buffer raises nothing at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if error.errno == errno.EPIPE:  # as after `| head`
                sys.exit(0)
            tell([f"the output cannot be written: {error.strerror}"])
            sys.exit(exit_codes.FAILED)
        except KeyboardInterrupt:
            tell(["interrupted"])
            sys.exit(exit_codes.INTERRUPTED)
        return result


@click.group(
    cls=Commands,
    commands={name: click.Command(name) for names in SECTIONS.values() for name in names},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name="fwsvm")
def main() -> None:
    """Train support vector machines with Frank-Wolfe-type methods, and compare solvers honestly."""
