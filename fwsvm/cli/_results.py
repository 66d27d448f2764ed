"""Options and texts of the commands that read results."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm.cli._lines import has_cursor, tell
from fwsvm.cli._options import FILE, PATH, NearestChoice
from fwsvm.cli._outputs import refuse_overwriting_results
from fwsvm.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from fwsvm.analysis.results import Results
    from fwsvm.analysis.tables import Table

results_argument = click.argument("results", nargs=-1, type=PATH, metavar="[RESULTS]...")
where_option = click.option(
    "--where",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Use only rows of runs.csv with this value; may be repeated: several values of a column are alternatives.",
)
mixed_load_option = click.option(
    "--mixed-load",
    is_flag=True,
    help="Accept times measured under different loads or with shared kernel values.",
)


def text_options(*forms: str) -> Callable[[Any], Any]:
    """Return options of a command that writes a text in one of these forms, the first being the default."""
    kind = NearestChoice(forms)
    each = (
        click.option(
            "--format", "-f", "form", type=kind, default=forms[0], show_default=True, help="How to write it."
        ),
        mixed_load_option,
        where_option,
        click.option("--out", "-o", type=FILE, help="Write to this file instead of stdout."),
    )

    def add(command: Any) -> Any:
        for option in reversed(each):
            command = option(command)
        return command

    return add


def read_results(paths: Sequence[Path], where: Sequence[str], out: Path | None = None) -> "Results":
    """Read the result folders; print their notices on stderr. What is read is refused as ``out``."""
    from fwsvm.analysis import results

    read = results.read(paths, where)
    if out is not None:
        refuse_overwriting_results(read.folders, out, read=paths)
    tell(read.notices)
    return read


def read_runs(
    paths: Sequence[Path], where: Sequence[str], *, mixed_load: bool, out: Path | None = None
) -> "pd.DataFrame":
    """Read the runs of result folders; unless ``mixed_load`` their times need equal load."""
    from fwsvm.analysis.reported import refuse_mixed_load

    frame = read_results(paths, where, out).frame
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


def emit_tables(tables: "Sequence[Table]", form: str, out: Path | None) -> None:
    """Write tables in one form; on a terminal as wide as it is, the best in bold (but for https://no-color.org)."""
    from fwsvm.analysis.tables import WIDTH, render

    on_terminal = out is None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if on_terminal else WIDTH
    bold = on_terminal and has_cursor() and not os.environ.get("NO_COLOR")
    emit(render(tables, form, width=width, colour=bold), out)


def refuse_where(where: Sequence[str]) -> None:
    """Raise UsageError if rows are to be chosen where no RESULTS have any."""
    for given in where:
        raise UsageError(f"--where {given}: it chooses among rows of RESULTS; name a folder, or leave it out")


def refuse_both(results: Sequence[Path], published: str | None) -> None:
    """Raise UsageError unless exactly one of RESULTS and --published is given."""
    if bool(results) == (published is not None):
        raise UsageError("give either RESULTS folders or --published PAPER")
