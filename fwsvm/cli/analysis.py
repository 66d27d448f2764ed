"""``fwsvm table``, ``stats``, ``plot``, ``claims``, ``report``, ``compare`` and ``merge``: what results say."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from fwsvm import exit_codes
from fwsvm.cli._lines import echo, has_cursor, tell
from fwsvm.cli._options import FILE, FOLDER, PATH, FiniteFloat, NearestChoice
from fwsvm.cli._outputs import refuse_overwriting_results
from fwsvm.errors import UsageError, listed, shortened, shown
from fwsvm.plugins import entry_of

if TYPE_CHECKING:
    import pandas as pd

    from fwsvm.analysis.comparisons import Design
    from fwsvm.analysis.results import Results
    from fwsvm.analysis.tables import Table

#: A comma between names of methods, not one between the parameters of a method.
BETWEEN = r",(?![^()]*\))"

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
alpha_option = click.option(
    "--alpha",
    type=FiniteFloat(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the critical difference.",
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


def _read(paths: Sequence[Path], where: Sequence[str], out: Path | None = None) -> "Results":
    """Read the result folders; print their notices on stderr. What is read is refused as ``out``."""
    from fwsvm.analysis import results
    from fwsvm.analysis.cells import some_read_as_sweeps

    read = results.read(tuple(paths)).select(tuple(where))
    if out is not None:
        refuse_overwriting_results(read.folders, out, read=paths)
    one_folder = read.frame["folder"].nunique() == 1
    meant = "of runs of one setting the later count" if one_folder else "they are counted as one data set"
    differ = [
        f"{said}; {meant}: choose with --where data_sha256=..." for said in results.different_data(read.frame)
    ]
    tell((*read.notices, *differ, *some_read_as_sweeps(read.frame)))
    return read


def _runs(
    paths: Sequence[Path], where: Sequence[str], *, mixed_load: bool, out: Path | None = None
) -> "pd.DataFrame":
    """Read the runs of result folders; unless ``mixed_load`` their times need equal load."""
    from fwsvm.analysis.reported import refuse_mixed_load

    frame = _read(paths, where, out).frame
    if not mixed_load:
        refuse_mixed_load(frame)
    return frame


def _emit(text: str, out: Path | None) -> None:
    """Write the text to a file, atomically, or to stdout."""
    from fwsvm.files.atomic import write_whole

    if out is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        write_whole(out, text.encode())
        click.echo(f"wrote {out}", err=True)


def _emit_tables(tables: "Sequence[Table]", form: str, out: Path | None) -> None:
    """Write tables in one form; on a terminal as wide as it is, the best in bold (but for https://no-color.org)."""
    from fwsvm.analysis.tables import WIDTH, render

    on_terminal = out is None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if on_terminal else WIDTH
    bold = on_terminal and has_cursor() and not os.environ.get("NO_COLOR")
    _emit(render(tables, form, width=width, colour=bold), out)


def _refuse_where(where: Sequence[str]) -> None:
    """Raise UsageError if rows are to be chosen where no RESULTS have any."""
    for given in where:
        raise UsageError(f"--where {given}: it chooses among rows of RESULTS; name a folder, or leave it out")


def _refuse_both(results: Sequence[Path], published: str | None) -> None:
    """Raise UsageError unless exactly one of RESULTS and --published is given."""
    if bool(results) == (published is not None):
        raise UsageError("give either RESULTS folders or --published PAPER")


@click.command()
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
@click.option(
    "--published/--no-published", default=True, help="Set the paper's numbers and the ratio beside ours."
)
@click.option("--list", "listing", is_flag=True, help="List the layouts and measures.")
@text_options("terminal", "markdown", "latex", "csv")
def table(
    results: tuple[Path, ...],
    layouts: tuple[str, ...],
    published: bool,
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
    from fwsvm.analysis import layouts as known
    from fwsvm.analysis.cells import cells_of_runs
    from fwsvm.analysis.measures import MEASURES
    from fwsvm.analysis.papers import LAYOUTS
    from fwsvm.analysis.reported import refuse_mixed_load

    if listing:
        titles = {name: each.title for name, each in LAYOUTS.items()}
        titles |= {name: each.title for name, each in MEASURES.items() if not each.derived}
        lines = [f"{name:22} {title}" for name, title in titles.items()]
        if out is not None:
            _emit("\n".join(lines), out)
        else:
            for line in lines:
                echo(line, 23)
        return
    if not results:
        if not layouts:
            raise UsageError(
                "give RESULTS folders, or --layout NAME for the printed numbers alone (--list lists them)"
            )
        _refuse_where(where)
        _emit_tables(known.draw_tables(None, layouts), form, out)
        return
    runs = _read(results, where, out).frame
    chosen = known.tables_for(cells_of_runs(runs), layouts)
    if any(known.show_times(names) for _, names in chosen) and not mixed_load:
        refuse_mixed_load(runs)
    drawn = [
        each for some, names in chosen for each in known.draw_tables(some, names, with_published=published)
    ]
    _emit_tables(drawn, form, out)


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
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="time, accuracy, size, ...; for pairs only [default: time and accuracy].",
)
@click.option(
    "--table",
    "numbers",
    type=NearestChoice(["5", "6", "7"]),
    multiple=True,
    help="Only this table of Frandi et al., ours beside the printed one; may be repeated.",
)
@click.option("--methods", metavar="A,B,...", help="Compare only these; for pairs only.")
@alpha_option
@text_options("terminal", "markdown", "latex", "csv")
def stats(
    results: tuple[Path, ...],
    published: str | None,
    plan: str | None,
    measures: tuple[str, ...],
    numbers: tuple[str, ...],
    methods: str | None,
    alpha: float,
    form: str,
    mixed_load: bool,
    where: tuple[str, ...],
    out: Path | None,
) -> None:
    """Compare methods over data sets by statistical tests.

    The tests are those of Friedman, Iman and Davenport, Nemenyi, and Wilcoxon with Holm's correction. Means over
    repetitions of the final runs in RESULTS are compared; every number is printed with its convention. With the design
    of Frandi et al. (2013) its Tables 5, 6 and 7 stand beside ours. With --published frandi its printed Tables 5 and 6
    are checked against its Tables 2 and 3.
    """
    from fwsvm.analysis import comparisons, papers
    from fwsvm.analysis.cells import cells_of_runs, several_kinds
    from fwsvm.analysis.measures import measure
    from fwsvm.analysis.papers import p003_tests
    from fwsvm.analysis.published import cells as published_cells
    from fwsvm.analysis.results import matching
    from fwsvm.papers import PAPERS, by_author

    _refuse_both(results, published)
    if published is not None:
        published = by_author(published)
        cells = matching(published_cells(published), where)
        cells = cells[cells["kernel"] == "rbf"] if published == "frandi" and not where else cells
        source = f"printed in {PAPERS[published].cited}"
    else:
        timed = not measures or any(measure(name).timed for name in measures)
        cells = cells_of_runs(_runs(results, where, mixed_load=mixed_load or not timed, out=out))
        source = "means over repetitions of final runs"
    chosen = _design(cells, "frandi" if numbers and plan is None else plan, measures, methods)
    of_frandi = chosen is papers.DESIGNS["frandi"]
    if numbers and (not of_frandi or published is not None):
        raise UsageError(
            "--table shows RESULTS under the design of Frandi et al.: leave out --published and --design"
        )
    if several := several_kinds(cells[cells["method"].isin(chosen.methods)]):
        source += f"; {several}"
    evaluation = comparisons.evaluate(chosen, cells, alpha=alpha)
    drawn = [] if numbers else comparisons.tables(evaluation, source)
    if of_frandi and published is None:
        ours = p003_tests.tables(evaluation)
        drawn += [each for name, each in ours.items() if name in numbers or not numbers]
    elif of_frandi and published == "frandi" and not where:
        drawn.append(p003_tests.recomputed_table())
    _emit_tables(drawn, form, out)


def _design(
    cells: "pd.DataFrame", plan: str | None, measures: tuple[str, ...], methods: str | None
) -> "Design":
    """Return the requested design, or the one with the methods of these cells."""
    from fwsvm.analysis import comparisons, papers
    from fwsvm.analysis.measures import measure, measured
    from fwsvm.papers import by_author

    for name in measures:
        if measure(name).derived:
            raise UsageError(
                f"--measure {name}: it is relative to a baseline, but methods are compared with each other here; "
                "give time or accuracy"
            )
    plan = None if plan is None else by_author(plan)
    present = list(dict.fromkeys(map(str, cells["method"])))
    if plan is None and not measures and methods is None:
        plan = next((name for name, d in papers.DESIGNS.items() if set(d.methods) == set(present)), None)
    if plan not in {None, "pairs"}:
        if measures or methods:
            raise UsageError(f"--measure and --methods go with --design pairs; design {plan} has its own")
        return entry_of(papers.DESIGNS, "design", str(plan), [*papers.DESIGNS, "pairs"])
    wanted = [name.strip() for name in re.split(BETWEEN, methods)] if methods else present
    for name in wanted:
        if wanted.count(name) > 1:
            raise UsageError(f"--methods: {shown(name)} stands there twice; name each method once")
    if not set(wanted) <= set(present) or len(wanted) < 2:
        raise UsageError(f"--methods: choose at least two of {listed(map(shortened, present))}")
    return comparisons.all_pairs(wanted, measures or measured(cells, ("time", "accuracy")))


@click.command()
@results_argument
@click.option(
    "--published",
    metavar="PAPER",
    help="Draw a paper's printed numbers (frandi, glasmachers or zhang) instead.",
)
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
    "--dataset", "datasets", multiple=True, metavar="NAME", help="Only this data set; may be repeated."
)
@click.option(
    "--against",
    type=NearestChoice(["time", "iteration"]),
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
    "--baseline",
    default="cvm",
    show_default=True,
    metavar="METHOD",
    help="Method that speed-ups are relative to.",
)
@alpha_option
@click.option(
    "--format",
    "-f",
    "forms",
    multiple=True,
    type=NearestChoice(["png", "svg", "pdf"]),
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
    published: str | None,
    kinds: tuple[str, ...],
    measures: tuple[str, ...],
    datasets: tuple[str, ...],
    against: str,
    window: int,
    baseline: str,
    alpha: float,
    forms: tuple[str, ...],
    out: Path | None,
    mixed_load: bool,
    where: tuple[str, ...],
) -> None:
    """Draw the figures of the results.

    Among these are series in m, single data sets, sweeps over C, convergence, parameter search and mean ranks.
    Colours are safe for the colour-blind, and markers and dashes differ, so that the pictures can be printed
    in grey. Needs matplotlib: pip install 'fwsvm[plots]'.
    """
    from fwsvm.analysis import figures
    from fwsvm.analysis.cells import cells_of_runs
    from fwsvm.analysis.published import cells as printed_cells
    from fwsvm.analysis.results import matching
    from fwsvm.files.atomic import write_whole
    from fwsvm.results.files import refuse_reference

    _refuse_both(results, published)
    folder = out or (results[0] / "figures" if results and results[0].is_dir() else Path("figures"))
    if out is None:
        refuse_reference(folder)
    if window and (others := {*measures} & {*figures.TRACED} - {"objective", "suboptimality"}):
        raise UsageError(
            "--window draws the objective above the lowest, with --measure objective the objective itself: "
            f"leave out --measure {min(others)}"
        )
    if published is not None:
        source = figures.FigureData(matching(printed_cells(published), where), datasets=datasets)
    else:
        runs = _runs(results, where, mixed_load=mixed_load)
        source = figures.FigureData(cells_of_runs(runs), runs, datasets)
    axis: Literal["seconds", "iteration"] = "seconds" if against == "time" else "iteration"
    drawings = figures.draw(
        source, kinds, measures=measures, against=axis, window=window, baseline=baseline, alpha=alpha
    )
    if not drawings:
        raise UsageError(
            "these results lack the numbers for the figures asked for; `--figure ?` lists the kinds"
        )
    for drawing in drawings:
        for form in forms:
            path = folder / f"{drawing.name}.{form}"
            write_whole(path, drawing.content(form))
            echo(f"{path}  {drawing.caption}", 2)


@click.command()
@results_argument
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Only claims whose names begin so: frandi, nanculef-web ...; may be repeated.",
)
@click.option("--summary", "brief", is_flag=True, help="Print the counts alone.")
@text_options("terminal", "markdown", "csv")
def claims(
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
    from fwsvm.analysis.cells import cells_of_runs
    from fwsvm.analysis.claims import evaluate, show

    if brief and form != "terminal":
        raise UsageError(f"--summary is a sentence: leave out --format {form}")
    if not results:
        _refuse_where(where)
    cells = cells_of_runs(_runs(results, where, mixed_load=mixed_load, out=out)) if results else None
    verdicts = evaluate.check_claims(cells, only)
    notes = evaluate.caveats(cells) if cells is not None else []
    if brief and out is None:
        echo(show.summary(verdicts), 0)
    else:
        _emit(show.summary(verdicts) if brief else show.render(verdicts, form, notes), out)


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
    from fwsvm.results.files import refuse_reference

    results = _read(folders, where, out)
    first = folders[0]
    path = out or (first if first.is_dir() else first.parent) / "report.html"
    if out is None:
        refuse_reference(path)
    write_whole(path, page(results, mixed_load=mixed_load).encode())
    click.echo(f"wrote {path}")
    if find_spec("matplotlib") is None:
        tell(["the page has no figures; drawing needs matplotlib: pip install 'fwsvm[plots]'"])


@click.command()
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    type=NearestChoice(["accuracy", "time"]),
    help="Compare only this; may be repeated [default: both].",
)
@click.option(
    "--accuracy-margin",
    type=FiniteFloat(0, 100),
    default=0.5,
    show_default=True,
    metavar="POINTS",
    help="Smallest difference of accuracies that counts, in percentage points.",
)
@click.option(
    "--time-margin",
    type=FiniteFloat(1, min_open=True),
    default=1.2,
    show_default=True,
    metavar="FACTOR",
    help="Smallest ratio of times that counts.",
)
@text_options("terminal", "markdown", "latex", "csv")
def compare(
    old: Path,
    new: Path,
    measures: tuple[str, ...],
    accuracy_margin: float,
    time_margin: float,
    form: str,
    mixed_load: bool,
    where: tuple[str, ...],
    out: Path | None,
) -> None:
    """Say where NEW is better, the same or worse than OLD.

    OLD and NEW are folders that `fwsvm grid` wrote, or archives of such. Runs are paired by data set, method, setting
    and repetition. Lines of six pairs or more are tested (Wilcoxon, Holm); the others are judged by the margin alone.
    Times from different machines or loads are not compared.

    Exit code: 0 if nothing is worse, 1 if something is, or if a run ends with a worse status than before.
    """
    from fwsvm.analysis.compare import compare_results

    margins = {"accuracy": accuracy_margin / 100, "time": time_margin}
    before, after = (_read((path,), where, out).frame for path in (old, new))
    found = compare_results(before, after, measures or tuple(margins), margins, mixed_load=mixed_load)
    tell(found.notices)
    _emit_tables(found.tables, form, out)
    for said in found.worse:
        echo(f"worse: {said}", 2, err=True)
    for names, side in ((found.only_old, old), (found.only_new, new)):
        if names:
            echo(f"only in {side}: {listed(names, '; ', 10)}", 2, err=True)
    sys.exit(exit_codes.WORSE if found.worse else 0)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=PATH, metavar="DIR...")
@click.option("--out", "-o", required=True, type=FOLDER, help="New folder for the joined results.")
@click.option(
    "--allow-mixed", is_flag=True, help="Accept different code, data, settings or results of one run."
)
def merge(folders: tuple[Path, ...], out: Path, allow_mixed: bool) -> None:
    """Join result folders into one.

    Rows, traces, log and configuration of DIR... are joined. A run that several folders hold is written once. Different
    code (fwsvm, commit), different data under one name, different configurations, and runs that disagree are refused
    unless --allow-mixed, and then named.
    """
    from fwsvm.analysis import merge as joining

    merged = joining.merge(folders, out, allow_mixed=allow_mixed)
    tell(merged.notices)
    click.echo(f"{out}: {merged.rows} runs")
