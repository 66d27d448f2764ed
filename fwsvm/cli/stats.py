"""``fwsvm stats``: the papers' statistical tests on result files or on the printed tables."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fwsvm.cli._analysis import (
    emit_tables,
    format_option,
    mixed_load_option,
    out_option,
    read_cells,
    refuse_both,
    results_argument,
    where_option,
)
from fwsvm.cli._types import FiniteFloat, NearestChoice
from fwsvm.errors import UsageError, shown
from fwsvm.plugins import entry_of

if TYPE_CHECKING:
    import pandas as pd

    from fwsvm.analysis.comparisons import Design


#: A comma between names of methods, not one between the parameters of a method.
BETWEEN = r",(?![^()]*\))"


@click.command("stats")
@results_argument
@click.option(
    "--published",
    metavar="PAPER",
    help="Test a paper's printed numbers (frandi, glasmachers or zhang) instead.",
)
@click.option("--design", "plan", metavar="NAME",
              help="frandi or nanculef: that paper's hypotheses; pairs: all pairs, two-sided "
                   "[default: the paper that has just these methods, else pairs].")  # fmt: skip
@click.option("--measure", "measures", multiple=True, metavar="NAME",
              help="time, accuracy, size, ...; for pairs only [default: time and accuracy].")  # fmt: skip
@click.option("--table", "numbers", type=NearestChoice(["5", "6", "7"]), multiple=True,
              help="Only this table of Frandi et al., ours beside the printed one; may be repeated.")  # fmt: skip
@click.option("--methods", metavar="A,B,...", help="Compare only these; for pairs only.")
@click.option("--alpha", type=FiniteFloat(0, 1, min_open=True, max_open=True), default=0.05,
              show_default=True, help="Level of the critical difference.")  # fmt: skip
@format_option("terminal", "markdown", "latex", "csv")
@mixed_load_option
@where_option
@out_option
def command(
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
    from fwsvm.analysis.cells import several_kinds
    from fwsvm.analysis.measures import measure
    from fwsvm.analysis.papers import p003_tests
    from fwsvm.analysis.published import PAPERS, by_author
    from fwsvm.analysis.published import cells as published_cells
    from fwsvm.analysis.results import matching

    refuse_both(results, published)
    if published is not None:
        published = by_author(published)
        cells = matching(published_cells(published), where)
        cells = cells[cells["kernel"] == "rbf"] if published == "frandi" and not where else cells
    else:
        timed = not measures or any(measure(name).timed for name in measures)
        cells = read_cells(results, where, timed=timed, mixed_load=mixed_load, out=out)
    chosen = _design(cells, "frandi" if numbers and plan is None else plan, measures, methods)
    of_003 = chosen is papers.DESIGNS["frandi"]
    if numbers and (not of_003 or published is not None):
        raise UsageError(
            "--table shows RESULTS under the design of Frandi et al.: leave out --published and --design"
        )
    source = (
        f"printed in {PAPERS[published].cited}"
        if published is not None
        else "means over repetitions of final runs"
    )
    if several := several_kinds(cells[cells["method"].isin(chosen.methods)]):
        source += f"; {several}"
    evaluation = comparisons.evaluate(chosen, cells, alpha=alpha)
    drawn = [] if numbers else comparisons.tables(evaluation, source)
    if of_003 and published is None:
        drawn += [
            table for name, table in p003_tests.tables(evaluation).items() if name in numbers or not numbers
        ]
    elif of_003 and published == "frandi" and not where:
        drawn.append(p003_tests.recomputed_table())
    emit_tables(drawn, form, out)


def _design(
    cells: "pd.DataFrame", plan: str | None, measures: tuple[str, ...], methods: str | None
) -> "Design":
    """Return the requested design, or the one with the methods of these cells."""
    from fwsvm.analysis import comparisons, papers
    from fwsvm.analysis.measures import measure, measured
    from fwsvm.analysis.published import by_author

    for name in measures:
        if measure(name).derived:
            raise UsageError(
                f"--measure {name}: it is relative to a baseline, but methods are compared with each other here; "
                "give time or accuracy"
            )
    plan = None if plan is None else by_author(plan)
    present = list(dict.fromkeys(str(method) for method in cells["method"]))
    if plan is None and not measures and methods is None:
        plan = next((name for name, d in papers.DESIGNS.items() if set(d.methods) == set(present)), None)
    if plan not in {None, "pairs"}:
        if measures or methods:
            raise UsageError(f"--measure and --methods go with --design pairs; design {plan} has its own")
        return entry_of(papers.DESIGNS, "design", str(plan), [*papers.DESIGNS, "pairs"])
    wanted = [name.strip() for name in re.split(BETWEEN, methods)] if methods else present
    twice = [name for name in wanted if wanted.count(name) > 1]
    if twice:
        raise UsageError(f"--methods: {shown(twice[0])} stands there twice; name each method once")
    unknown = [method for method in wanted if method not in present]
    if unknown or len(wanted) < 2:
        from fwsvm.errors import listed, shortened

        raise UsageError(f"--methods: choose at least two of {listed(map(shortened, present))}")
    return comparisons.all_pairs(wanted, measures or measured(cells, ("time", "accuracy")))
