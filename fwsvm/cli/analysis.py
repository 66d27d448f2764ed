"""``fwsvm table``, ``stats`` and ``plot``: what results say."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from fwsvm.cli._lines import echo, print_facts, tell
from fwsvm.cli._options import FOLDER, PATH
from fwsvm.cli._results import (
    emit_tables,
    mixed_load_option,
    read_results,
    read_runs,
    refuse_where,
    results_argument,
    text_options,
    where_option,
)
from fwsvm.errors import UsageError, listed, shortened
from fwsvm.plugins import entry_of

if TYPE_CHECKING:
    import pandas as pd

    from fwsvm.analysis.comparisons import Design


@click.command()
@results_argument
@click.option(
    "--layout",
    "-l",
    "names",
    multiple=True,
    metavar="NAME",
    help="A paper's table (frandi-2, nanculef-speedup ...) or a measure (accuracy, time, size, gap ...); without it, "
    "all papers' tables that the results fill, else accuracy, time and size.",
)
@click.option("--list", "listing", is_flag=True, help="List the layouts and measures.")
@text_options("terminal", "markdown", "latex", "csv")
def table(
    results: tuple[Path, ...],
    names: tuple[str, ...],
    listing: bool,
    form: str,
    mixed_load: bool,
    where: tuple[str, ...],
    out: Path | None,
) -> None:
    """Draw the papers' tables from RESULTS folders.

    Ours stand beside the printed numbers. Without RESULTS, --layout draws the printed numbers alone. Only final runs
    count; means and standard deviations are over repetitions, and what is missing, failed or cut short stays visible.
    """
    from fwsvm.analysis.cells import cells_of_runs
    from fwsvm.analysis.layouts import fitting_layouts, known_layouts, named_layouts
    from fwsvm.analysis.reported import refuse_mixed_load
    from fwsvm.analysis.results import says_sigma2

    if listing:
        print_facts({name: layout.title for name, layout in known_layouts().items()})
        return
    cells = None
    if results:
        read = read_results(results, where)
        cells = cells_of_runs(read.frame)
        if says_sigma2(read.folders):
            cells = cells.assign(sigma2_set=cells["sigma2"].where(cells["gamma_set"].notna()))
    elif not names:
        raise UsageError(
            "give RESULTS folders, or --layout NAME for the printed numbers alone (--list lists them)"
        )
    else:
        refuse_where(where)
    if names or cells is None:
        chosen = [(cells, layout) for layout in named_layouts(names, of_cells=cells is not None)]
    else:
        chosen = [(here, layout) for here, some in fitting_layouts(cells) for layout in some]
    if results and not mixed_load and any(layout.shows_times for _, layout in chosen):
        refuse_mixed_load(read.frame)
    emit_tables([table for here, layout in chosen for table in layout.draw(here)], form, out)


@click.command()
@results_argument
@click.option(
    "--published",
    metavar="PAPER",
    help="Test a paper's printed numbers (frandi, glasmachers or zhang) instead.",
)
@click.option(
    "--design",
    "plan",
    metavar="NAME",
    help="frandi or nanculef: that paper's hypotheses; pairs: all pairs, two-sided [default: the paper with just these "
    "methods, else pairs].",
)
@click.option(
    "--table",
    "numbers",
    type=click.Choice(["5", "6", "7"]),
    multiple=True,
    help="Only this table of Frandi et al.; may be repeated.",
)
@text_options("terminal", "markdown", "latex", "csv")
def stats(
    results: tuple[Path, ...],
    published: str | None,
    plan: str | None,
    numbers: tuple[str, ...],
    form: str,
    mixed_load: bool,
    where: tuple[str, ...],
    out: Path | None,
) -> None:
    """Compare methods over data sets by statistical tests.

    The tests are those of Friedman, Iman and Davenport, Nemenyi, and Wilcoxon with Holm's correction. Means over
    repetitions of the final runs in RESULTS are compared; every number is printed with its convention. With the design
    of Frandi et al. (2013) its Tables 5 and 6 stand beside ours, and with --published frandi beside what its own
    Tables 2 and 3 give.
    """
    from fwsvm.analysis import comparisons, papers
    from fwsvm.analysis.cells import cells_of_runs, settings_in_words
    from fwsvm.analysis.papers import p003
    from fwsvm.analysis.published import cells as published_cells
    from fwsvm.analysis.results import matching
    from fwsvm.papers import PAPERS, by_author

    if bool(results) == (published is not None):
        raise UsageError("give either RESULTS folders or --published PAPER")
    if published is not None:
        published = by_author(published)
        cells = matching(published_cells(published), where)
        cells = cells[cells["kernel"] == "rbf"] if published == "frandi" and not where else cells
        source = f"printed in {PAPERS[published].cited}"
    else:
        cells = cells_of_runs(read_runs(results, where, mixed_load=mixed_load))
        source = "means over repetitions of final runs"
    chosen = _design(cells, "frandi" if numbers and plan is None else plan)
    of_frandi = chosen is papers.DESIGNS["frandi"]
    if numbers and not of_frandi:
        raise UsageError("--table is of the design of Frandi et al.: leave out --design")
    source += f"; {settings_in_words(cells[cells['method'].isin(chosen.methods)])}"
    evaluation = comparisons.evaluate(chosen, cells)
    drawn = [] if numbers else comparisons.tables(evaluation, source)
    if of_frandi:
        tables = p003.test_tables(evaluation)
        drawn += [tables[number] for number in numbers or ("5", "6")]
    emit_tables(drawn, form, out)


def _design(cells: "pd.DataFrame", plan: str | None) -> "Design":
    """Return the requested design, or the one with the methods of these cells."""
    from fwsvm.analysis import comparisons, papers
    from fwsvm.analysis.measures import measured
    from fwsvm.papers import by_author

    present = list(dict.fromkeys(map(str, cells["method"])))
    if plan is None:
        plan = next((name for name, d in papers.DESIGNS.items() if set(d.methods) == set(present)), "pairs")
    if plan != "pairs":
        return entry_of(papers.DESIGNS, "published design", by_author(plan))
    if len(present) < 2:
        raise UsageError(f"choose at least two of {listed(map(shortened, present))}")
    return comparisons.all_pairs(present, measured(cells, ("time", "accuracy")))


@click.command()
@click.argument("results", nargs=-1, required=True, type=PATH, metavar="RESULTS...")
@click.option(
    "--figure",
    "kinds",
    multiple=True,
    metavar="NAME",
    help="Only this kind, as series; ? lists all; may be repeated [default: all there are numbers for].",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="time, accuracy, speedup, size, ..., or for convergence: objective, suboptimality, gap, support_vectors.",
)
@click.option(
    "--against",
    type=click.Choice(["time", "iteration"]),
    default="time",
    show_default=True,
    help="What convergence is drawn against.",
)
@click.option(
    "--window",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Draw the objective above the lowest for the first and last N iterations only (Zhang and Sen use 50).",
)
@click.option(
    "--format",
    "-f",
    "forms",
    multiple=True,
    type=click.Choice(["png", "svg", "pdf"]),
    default=["png"],
    show_default=True,
    help="File format; may be repeated.",
)
@click.option(
    "--out",
    "-o",
    type=FOLDER,
    help="Folder for the pictures [default: figures/ in the first results folder, or here].",
)
@mixed_load_option
@where_option
def plot(
    results: tuple[Path, ...],
    kinds: tuple[str, ...],
    measures: tuple[str, ...],
    against: str,
    window: int,
    forms: tuple[str, ...],
    out: Path | None,
    mixed_load: bool,
    where: tuple[str, ...],
) -> None:
    """Draw the figures of the results.

    Among these are series in m, single data sets, sweeps over C, convergence, and how far each method is behind the
    best. Colours are safe for the colour-blind, and markers and dashes differ, so that the pictures can be printed in
    grey. Needs matplotlib: pip install 'fwsvm[plots]'.
    """
    from fwsvm.analysis import figures
    from fwsvm.analysis.cells import cells_of_runs
    from fwsvm.files.atomic import write_whole
    from fwsvm.results.reading import refuse_reference

    folder = out or (results[0] / "figures" if results[0].is_dir() else Path("figures"))
    runs = read_runs(results, where, mixed_load=mixed_load)
    cells = cells_of_runs(runs)
    axis: Literal["seconds", "iteration"] = "seconds" if against == "time" else "iteration"
    source = figures.FigureData(cells, runs, measures, axis, window)
    drawings = figures.draw(source, kinds)
    if out is None:
        refuse_reference(folder)
    several = runs.loc[(runs["role"] == "final") & (runs["subproblems"] > 1), "dataset"].unique()
    if len(several) and "convergence" in (kinds or ["convergence"]):
        tell(
            [f"no convergence is drawn of {listed(several)}: traces are of two classes, and these have more"]
        )
    if not drawings:
        raise UsageError(
            "these results lack the numbers for the figures asked for; `--figure ?` lists the kinds"
        )
    for drawing in drawings:
        for form in forms:
            path = folder / f"{drawing.name}.{form}"
            write_whole(path, drawing.content(form))
            echo(f"{path}  {drawing.caption}")
