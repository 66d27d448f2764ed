"""``fwsvm plot``: pictures from result files or from the printed numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from fwsvm.cli import _types
from fwsvm.cli._analysis import mixed_load_option, read_results, refuse_both, results_argument, where_option
from fwsvm.cli._lines import echo
from fwsvm.cli._types import FiniteFloat, NearestChoice
from fwsvm.errors import UsageError

if TYPE_CHECKING:
    from fwsvm.analysis.figures import FigureData


@click.command("plot")
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
@click.option(
    "--alpha",
    type=FiniteFloat(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the critical difference.",
)
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
    type=_types.FOLDER,
    help="Folder for the pictures [default: figures/ in the first results folder, or here].",
)
@mixed_load_option
@where_option
def command(
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
    from fwsvm.files.atomic import write_whole
    from fwsvm.results.files import refuse_reference

    refuse_both(results, published)
    folder = out or (results[0] / "figures" if results and results[0].is_dir() else Path("figures"))
    if out is None:
        refuse_reference(folder)
    if window and (others := {*measures} & {*figures.TRACED} - {"objective", "suboptimality"}):
        raise UsageError(
            "--window draws the objective above the lowest, with --measure objective the objective itself: "
            f"leave out --measure {min(others)}"
        )
    source = _source(results, published, datasets, where, mixed_load)
    axis: Literal["seconds", "iteration"] = "seconds" if against == "time" else "iteration"
    drawings = figures.draw(source, kinds, measures=measures, against=axis, window=window,
                            baseline=baseline, alpha=alpha)  # fmt: skip
    if not drawings:
        raise UsageError(
            "these results lack the numbers for the figures asked for; `--figure ?` lists the kinds"
        )
    for drawing in drawings:
        for form in forms:
            path = folder / f"{drawing.name}.{form}"
            write_whole(path, drawing.content(form))
            echo(f"{path}  {drawing.caption}", 2)


def _source(
    results: tuple[Path, ...],
    published: str | None,
    datasets: tuple[str, ...],
    where: tuple[str, ...],
    mixed_load: bool,
) -> "FigureData":
    """Return the source of the pictures: result folders or a paper's printed numbers."""
    from fwsvm.analysis import figures
    from fwsvm.analysis.cells import cells_of_runs
    from fwsvm.analysis.published import cells as printed_cells
    from fwsvm.analysis.reported import refuse_mixed_load
    from fwsvm.analysis.results import matching

    if published is not None:
        return figures.FigureData(matching(printed_cells(published), where), datasets=datasets)
    runs = read_results(results, where).frame
    if not mixed_load:
        refuse_mixed_load(runs)
    return figures.FigureData(cells_of_runs(runs), runs, datasets)
