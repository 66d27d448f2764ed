"""Options and texts of the commands that read results."""

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm.cli._lines import WIDTH, tell
from fwsvm.cli._options import FILE, PATH, added
from fwsvm.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from fwsvm.analysis.results import Results
    from fwsvm.analysis.tables import Table

AND = re.compile(r",(?=\w+=)")  # between conditions; names of methods have commas, too


def conditions_option(name: str, text: str) -> Callable[[Any], Any]:
    """Return an option of conditions COLUMN=VALUE, several of which may be given at once."""

    def split(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> list[str]:
        return [condition for words in given for condition in AND.split(words)]

    return click.option(name, multiple=True, metavar="COLUMN=VALUE,...", callback=split, help=text)


results_argument = click.argument("results", nargs=-1, type=PATH, metavar="[RESULTS]...")
where_option = conditions_option(
    "--where",
    "Only rows of runs.csv with these values, such as method=swap*,sigma2=0.5; several values of a column are "
    "alternatives; may be repeated.",
)
mixed_load_option = click.option(
    "--mixed-load",
    is_flag=True,
    help="Accept times measured under different loads or with shared kernel values.",
)


def text_options(*forms: str) -> Callable[[Any], Any]:
    """Return options of a command that writes a text in one of these forms, the first being the default."""
    kind = click.Choice(forms)
    return added(
        click.option(
            "--format", "-f", "form", type=kind, default=forms[0], show_default=True, help="How to write it."
        ),
        mixed_load_option,
        where_option,
        click.option("--out", "-o", type=FILE, help="Write to this file instead of stdout."),
    )


def read_results(paths: Sequence[Path], where: Sequence[str]) -> "Results":
    """Read the result folders; print their notices on stderr."""
    from fwsvm.analysis import results

    read = results.read(paths, where)
    tell(read.notices)
    return read


def read_runs(paths: Sequence[Path], where: Sequence[str], *, mixed_load: bool) -> "pd.DataFrame":
    """Read the runs of result folders; unless ``mixed_load`` their times need equal load."""
    from fwsvm.analysis.reported import refuse_mixed_load

    frame = read_results(paths, where).frame
    if not mixed_load:
        refuse_mixed_load(frame)
    return frame


def emit(text: str, out: Path | None) -> None:
    """Write the text to a file, atomically, or to stdout."""
    from fwsvm.files.atomic import write_whole

    if out is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        write_whole(out, text.encode())
        click.echo(f"wrote {out}", err=True)


def columns() -> int:
    """Return the width of the terminal, or what COLUMNS says, or else 80."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def emit_tables(tables: "Sequence[Table]", form: str, out: Path | None) -> None:
    """Write tables in one form."""
    from fwsvm.analysis.tables import render

    emit(render(tables, form, width=WIDTH if out else columns()), out)


def refuse_where(where: Sequence[str]) -> None:
    """Raise UsageError if rows are to be chosen where no RESULTS have any."""
    if where:
        raise UsageError(
            f"--where {where[0]}: it chooses among rows of RESULTS; name a folder, or leave it out"
        )
