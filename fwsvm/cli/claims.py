"""``fwsvm claims``: the papers' results as checks on result files and on the papers' own numbers."""

from pathlib import Path

import click

from fwsvm.cli._analysis import (
    emit,
    format_option,
    mixed_load_option,
    out_option,
    read_cells,
    refuse_where,
    results_argument,
    where_option,
)
from fwsvm.cli._lines import echo
from fwsvm.errors import UsageError


@click.command("claims")
@results_argument
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Only claims whose names begin so: frandi, nanculef-web ...; may be repeated.",
)
@click.option("--summary", "brief", is_flag=True, help="Print the counts alone.")
@format_option("terminal", "markdown", "csv")
@mixed_load_option
@where_option
@out_option
def command(
    results: tuple[Path, ...],
    only: tuple[str, ...],
    brief: bool,
    form: str,
    mixed_load: bool,
    where: tuple[str, ...],
    out: Path | None,
) -> None:
    """Check the papers' claims on RESULTS folders.

    Each is reproduced, not reproduced or not run, and is printed with its numbers. It has three verdicts: in the
    papers' printed numbers, some of which contradict their text; on runs as printed (protocol paper); and on runs as
    the authors made theirs (protocol fw-svms). Runs of `fwsvm grid why` among RESULTS show the setting on which the
    last verdict depends. Without RESULTS the printed numbers alone are looked at.
    """
    from fwsvm.analysis.claims import evaluate, show

    if brief and form != "terminal":
        raise UsageError(f"--summary is a sentence: leave out --format {form}")
    if not results:
        refuse_where(where)
    cells = read_cells(results, where, timed=True, mixed_load=mixed_load, out=out) if results else None
    verdicts = evaluate.check_claims(cells, only)
    notes = evaluate.caveats(cells) if cells is not None else []
    if brief and out is None:
        echo(show.summary(verdicts), 0)
    else:
        emit(show.summary(verdicts) if brief else show.render(verdicts, form, notes), out)
