"""``fwsvm subset``: LIBSVM's tools/subset.py."""

from pathlib import Path

import click

from fwsvm.cli import _types
from fwsvm.cli._files import refuse_overwriting
from fwsvm.cli._streams import end_where_unread
from fwsvm.cli._types import NearestChoice


@click.command()
@click.option(
    "-s",
    "--method",
    type=NearestChoice(["0", "1"]),
    default="0",
    show_default=True,
    help="0: each class keeps its share. 1: each row has the same chance.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the draw; another seed draws other rows.",
)
@click.argument("data")
@click.argument("size", type=int)
@click.argument("output", type=_types.ANY, required=False)
@click.argument("rest", type=_types.ANY, required=False)
def command(method: str, seed: int, data: str, size: int, output: Path | None, rest: Path | None) -> None:
    """Draw SIZE rows of DATA.

    They are written to OUTPUT (else stdout), and all others to REST. DATA is a file, whose lines stay as they are, or a
    name of `fwsvm data list`, whose training rows are written in LIBSVM's format, not scaled. Rows stay in their order.
    The same seed draws the same rows.
    """
    import numpy as np

    from fwsvm.data import inputs, subset
    from fwsvm.files.atomic import replacing

    refuse_overwriting([data], [output, rest])
    lines = inputs.lines_of(data)
    draw = subset.stratified if method == "0" else subset.uniform
    chosen = draw(lines.classes, size, seed)
    if output is None:
        end_where_unread()
        for line in lines.of(chosen):
            click.echo(line, nl=False)
        return
    with replacing(output) as stream:
        stream.writelines(lines.of(chosen))
    if rest is not None:
        left = np.ones(len(lines.classes), bool)
        left[chosen] = False
        with replacing(rest) as stream:
            stream.writelines(lines.of(np.flatnonzero(left)))
