"""Options of table, stats, plot, claims and report, and their reading of results and writing of text."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fwsvm.cli import _types
from fwsvm.cli._lines import has_cursor, tell
from fwsvm.cli._types import NearestChoice
from fwsvm.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from fwsvm.analysis.results import Results
    from fwsvm.analysis.tables import Table

results_argument = click.argument("results", nargs=-1, type=_types.ANY, metavar="[RESULTS]...")
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
out_option = click.option(
    "--out",
    "-o",
    type=_types.FILE,
    help="Write to this file instead of stdout.",
)


def format_option(*forms: str) -> Callable[[Any], Any]:
    """Return the --format option with these choices, the first being the default."""
    return click.option(
        "--format",
        "-f",
        "form",
        type=NearestChoice(forms),
        default=forms[0],
        show_default=True,
        help="How to write it.",
    )


def read_results(paths: tuple[Path, ...], where: tuple[str, ...], out: Path | None = None) -> "Results":
    """Read the result folders; print their notices on stderr. What is read is refused as ``out``."""
    from fwsvm.analysis import results
    from fwsvm.analysis.cells import some_read_as_sweeps
    from fwsvm.cli._files import refuse_overwriting_results

    read = results.read(paths).select(where)
    if out is not None:
        refuse_overwriting_results(read.folders, out, read=paths)
    one_folder = read.frame["folder"].nunique() == 1
    meant = "of runs of one setting the later count" if one_folder else "they are counted as one data set"
    differ = [
        f"{said}; {meant}: choose with --where data_sha256=..." for said in results.different_data(read.frame)
    ]
    tell((*read.notices, *differ, *some_read_as_sweeps(read.frame)))
    return read


def read_cells(
    paths: tuple[Path, ...], where: tuple[str, ...], *, timed: bool, mixed_load: bool, out: Path | None = None
) -> "pd.DataFrame":
    """Read the result folders into cells; times need equal load unless ``mixed_load``."""
    from fwsvm.analysis.cells import cells_of_runs
    from fwsvm.analysis.reported import refuse_mixed_load

    frame = read_results(paths, where, out).frame
    if timed and not mixed_load:
        refuse_mixed_load(frame)
    return cells_of_runs(frame)


def emit(text: str, out: Path | None) -> None:
    """Write the text to a file, atomically, or to stdout."""
    if out is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    from fwsvm.files.atomic import write_whole

    write_whole(out, text.encode())
    click.echo(f"wrote {out}", err=True)


def emit_tables(tables: "Sequence[Table]", form: str, out: Path | None) -> None:
    """Write tables in one form; on a terminal as wide as it is, the best in bold."""
    from fwsvm.analysis.tables import WIDTH, render

    width = shutil.get_terminal_size().columns if out is None and sys.stdout.isatty() else WIDTH
    emit(render(tables, form, width=width, colour=out is None and coloured()), out)


def coloured() -> bool:
    """Return whether stdout is a terminal that shows bold, and colours are not refused (https://no-color.org)."""
    return sys.stdout.isatty() and has_cursor() and not os.environ.get("NO_COLOR")


def refuse_both(results: tuple[Path, ...], published: str | None) -> None:
    """Raise UsageError unless exactly one of RESULTS and --published is given."""
    if bool(results) == (published is not None):
        raise UsageError("give either RESULTS folders or --published PAPER")


def refuse_where(where: tuple[str, ...]) -> None:
    """Raise UsageError if rows are to be chosen where no RESULTS have any."""
    if where:
        raise UsageError(
            f"--where {where[0]}: it chooses among rows of RESULTS; name a folder, or leave it out"
        )
