"""``fwsvm compare``: what became better or worse between two results of an experiment."""

import sys
from pathlib import Path

import click

from fwsvm import exit_codes
from fwsvm.cli import _types
from fwsvm.cli._analysis import (
    emit_tables,
    format_option,
    mixed_load_option,
    out_option,
    read_results,
    where_option,
)
from fwsvm.cli._types import FiniteFloat, NearestChoice
from fwsvm.errors import listed


@click.command("compare")
@click.argument("old", type=_types.ANY)
@click.argument("new", type=_types.ANY)
@click.option("--measure", "measures", multiple=True, type=NearestChoice(["accuracy", "time"]),
              help="Compare only this; may be repeated [default: both].")  # fmt: skip
@click.option("--accuracy-margin", type=FiniteFloat(0, 100), default=0.5, show_default=True, metavar="POINTS",
              help="Smallest difference of accuracies that counts, in percentage points.")  # fmt: skip
@click.option("--time-margin", type=FiniteFloat(1, min_open=True), default=1.2, show_default=True,
              metavar="FACTOR", help="Smallest ratio of times that counts.")  # fmt: skip
@format_option("terminal", "markdown", "latex", "csv")
@mixed_load_option
@where_option
@out_option
def command(
    old: Path, new: Path, measures: tuple[str, ...], accuracy_margin: float, time_margin: float, form: str,
    mixed_load: bool, where: tuple[str, ...], out: Path | None,
) -> None:  # fmt: skip
    """Say where NEW is better, the same or worse than OLD.

    OLD and NEW are folders that `fwsvm grid` wrote, or archives of such. Runs are paired by data set, method, setting
    and repetition. Lines of six pairs or more are tested (Wilcoxon, Holm); the others are judged by the margin alone.
    Times from different machines or loads are not compared.

    Exit code: 0 if nothing is worse, 1 if something is, or if a run ends with a worse status than before.
    """
    from fwsvm.analysis.compare import compare_results
    from fwsvm.cli._lines import echo, tell

    margins = {"accuracy": accuracy_margin / 100, "time": time_margin}
    before, after = (read_results((path,), where, out).frame for path in (old, new))
    found = compare_results(before, after, measures or tuple(margins), margins, mixed_load=mixed_load)
    tell(found.notices)
    emit_tables(found.tables, form, out)
    for said in found.worse:
        echo(f"worse: {said}", 2, err=True)
    for names, side in ((found.only_old, old), (found.only_new, new)):
        if names:
            echo(f"only in {side}: {listed(names, '; ', 10)}", 2, err=True)
    sys.exit(exit_codes.WORSE if found.worse else 0)
