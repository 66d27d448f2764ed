"""``fwsvm merge``: join result folders of several machines."""

from pathlib import Path

import click

from fwsvm.cli import _types


@click.command("merge")
@click.argument("folders", nargs=-1, required=True, type=_types.ANY, metavar="DIR...")
@click.option("--out", "-o", required=True, type=_types.FOLDER,
              help="New folder for the joined results.")  # fmt: skip
@click.option(
    "--allow-mixed", is_flag=True, help="Accept different code, data, settings or results of one run."
)
def command(folders: tuple[Path, ...], out: Path, allow_mixed: bool) -> None:
    """Join result folders into one.

    Rows, traces, log and configuration of DIR... are joined. A run that several folders hold is written once. Different
    code (fwsvm, commit), different data under one name, different configurations, and runs that disagree are refused
    unless --allow-mixed, and then named.
    """
    from fwsvm.analysis.merge import merge
    from fwsvm.cli._lines import tell

    merged = merge(folders, out, allow_mixed=allow_mixed)
    tell(merged.notices)
    click.echo(f"{out}: {merged.rows} runs")
