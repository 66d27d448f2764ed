"""``fwsvm claims``, ``report``, ``compare`` and ``merge``: whole folders of results."""

import sys
from pathlib import Path

import click

from fwsvm import exit_codes
from fwsvm.cli._lines import echo, tell
from fwsvm.cli._options import FILE, FOLDER, PATH
from fwsvm.cli._results import (
    emit,
    emit_tables,
    mixed_load_option,
    read_results,
    read_runs,
    refuse_where,
    results_argument,
    text_options,
    where_option,
)
from fwsvm.errors import counted


@click.command()
@results_argument
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Only claims whose names begin so: frandi, nanculef-web ...; may be repeated.",
)
@text_options("terminal", "markdown", "csv")
def claims(
    results: tuple[Path, ...],
    only: tuple[str, ...],
    form: str,
    mixed_load: bool,
    where: tuple[str, ...],
    out: Path | None,
) -> None:
    """Check the papers' claims on RESULTS folders.

    Each is reproduced, not reproduced or not run, and is printed with its numbers. It has three verdicts: in the
    papers' printed numbers, some of which contradict their text; on runs as printed (protocol paper); and on runs as
    the authors made theirs (protocol fw-svms). Without RESULTS the printed numbers alone are looked at.
    """
    from fwsvm.analysis.cells import cells_of_runs
    from fwsvm.analysis.claims import evaluate, show

    if not results:
        refuse_where(where)
    cells = cells_of_runs(read_runs(results, where, mixed_load=mixed_load)) if results else None
    verdicts = evaluate.check_claims(cells, only)
    notes = evaluate.caveats(cells) if cells is not None else []
    emit(show.render(verdicts, form, notes, only_with_runs=bool(results) and not only), out)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=PATH, metavar="DIR...")
@click.option("--out", "-o", type=FILE, help="Where to write it [default: report.html in the first DIR].")
@mixed_load_option
@where_option
def report(folders: tuple[Path, ...], out: Path | None, mixed_load: bool, where: tuple[str, ...]) -> None:
    """Write one HTML page of the results in the folders DIR.

    The page says which method is the fastest and which the most accurate, how many runs are certified, and what is
    uncertain or missing. It needs no network and no other file. Its tables sort. Figures need matplotlib: pip install
    'fwsvm[plots]'.
    """
    from fwsvm.analysis.report import page
    from fwsvm.files.atomic import write_whole
    from fwsvm.results.reading import refuse_reference

    results = read_results(folders, where)
    first = folders[0]
    path = out or (first if first.is_dir() else first.parent) / "report.html"
    if out is None:
        refuse_reference(path)
    write_whole(path, page(results, mixed_load=mixed_load).encode())
    click.echo(f"wrote {path}")


@click.command()
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    type=click.Choice(["accuracy", "time"]),
    help="Compare only this; may be repeated [default: both].",
)
@text_options("terminal", "markdown", "latex", "csv")
def compare(
    old: Path,
    new: Path,
    measures: tuple[str, ...],
    form: str,
    mixed_load: bool,
    where: tuple[str, ...],
    out: Path | None,
) -> None:
    """Say where NEW is better, the same or worse than OLD.

    OLD and NEW are folders that `fwsvm grid` wrote. Runs are paired by data set, method, setting
    and repetition. Half a percentage point of accuracy and a fifth of the time count. Lines of six
    pairs or more are tested (Wilcoxon, Holm).
    Times from different machines, loads or data are not compared.

    Exit code: 0 if nothing is worse, 1 if something is, or if a run ends with a worse status than before.
    """
    from fwsvm.analysis.compare import compare_results

    before, after = (read_results((path,), where).frame for path in (old, new))
    tables, worse, notices = compare_results(
        before, after, measures or ("accuracy", "time"), mixed_load=mixed_load
    )
    tell(notices)
    emit_tables(tables, form, out)
    for said in worse:
        echo(f"worse: {said}", err=True)
    sys.exit(exit_codes.WORSE if worse else 0)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=PATH, metavar="DIR...")
@click.option("--out", "-o", required=True, type=FOLDER, help="New folder for the joined results.")
@click.option("--allow-mixed", is_flag=True, help="Accept different code, data or configurations.")
def merge(folders: tuple[Path, ...], out: Path, allow_mixed: bool) -> None:
    """Join result folders into one.

    Rows, traces, log and configuration of DIR... are joined. A run that several folders hold is written once. Different
    code (fwsvm, commit), different data under one name and different configurations are refused unless --allow-mixed,
    and then named.
    """
    from fwsvm.analysis import merge as joining

    rows, notices = joining.merge(folders, out, allow_mixed=allow_mixed)
    tell(notices)
    click.echo(f"{out}: {counted(rows, 'run')}")
