"""``fwsvm table``: the papers' tables from result files, beside the printed numbers."""

from pathlib import Path

import click

from fwsvm.cli._analysis import (
    emit,
    emit_tables,
    format_option,
    mixed_load_option,
    out_option,
    read_results,
    refuse_where,
    results_argument,
    where_option,
)
from fwsvm.cli._lines import echo
from fwsvm.errors import UsageError


@click.command("table")
@results_argument
@click.option(
    "--layout",
    "-l",
    "layouts",
    multiple=True,
    metavar="NAME",
    help="A paper's table (frandi-2, nanculef-speedup ...) or a measure (accuracy, time, size, gap ...); without it, "
    "all papers' tables that the results fill, else accuracy, time and size.",
)
@format_option("terminal", "markdown", "latex", "csv")
@click.option(
    "--published/--no-published", default=True, help="Set the paper's numbers and the ratio beside ours."
)
@click.option("--list", "listing", is_flag=True, help="List the layouts and measures.")
@mixed_load_option
@where_option
@out_option
def command(
    results: tuple[Path, ...],
    layouts: tuple[str, ...],
    form: str,
    published: bool,
    listing: bool,
    mixed_load: bool,
    where: tuple[str, ...],
    out: Path | None,
) -> None:
    """Draw the papers' tables from RESULTS folders.

    Ours stand beside the printed numbers. Without RESULTS, --layout draws the printed numbers alone. Only final runs
    count; means and standard deviations are over repetitions, and what is missing, failed or cut short stays visible.
    """
    from fwsvm.analysis import layouts as known
    from fwsvm.analysis.cells import cells_of_runs
    from fwsvm.analysis.reported import refuse_mixed_load

    if listing:
        if out is not None:
            emit("\n".join(_listing()), out)
        else:
            for line in _listing():
                echo(line, 23)
        return
    if not results:
        if not layouts:
            raise UsageError(
                "give RESULTS folders, or --layout NAME for the printed numbers alone (--list lists them)"
            )
        refuse_where(where)
        drawn = known.draw_tables(None, layouts)
        emit_tables(drawn, form, out)
        return
    runs = read_results(results, where, out).frame
    chosen = known.tables_for(cells_of_runs(runs), layouts)
    if any(known.show_times(names) for _, names in chosen) and not mixed_load:
        refuse_mixed_load(runs)
    drawn = [
        table for some, names in chosen for table in known.draw_tables(some, names, with_published=published)
    ]
    emit_tables(drawn, form, out)


def _listing() -> list[str]:
    from fwsvm.analysis.measures import MEASURES
    from fwsvm.analysis.papers import LAYOUTS

    layouts = [f"{name:22} {layout.title}" for name, layout in LAYOUTS.items()]
    measures = [f"{name:22} {measure.title}" for name, measure in MEASURES.items() if not measure.derived]
    return [*layouts, *measures]
