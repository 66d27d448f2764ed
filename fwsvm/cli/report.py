"""``fwsvm report``: one self-contained HTML page of an experiment."""

from importlib.util import find_spec
from pathlib import Path

import click

from fwsvm.cli import _types
from fwsvm.cli._analysis import mixed_load_option, read_results, where_option


@click.command("report")
@click.argument("folders", nargs=-1, required=True, type=_types.ANY, metavar="DIR...")
@click.option("--out", "-o", type=_types.FILE,
              help="Where to write it [default: report.html in the first DIR].")  # fmt: skip
@mixed_load_option
@where_option
def command(folders: tuple[Path, ...], out: Path | None, mixed_load: bool, where: tuple[str, ...]) -> None:
    """Write one HTML page of the results in the folders DIR.

    The page says which method is the fastest and which the most accurate, how many runs are certified, and what is
    uncertain or missing. It needs no network and no other file. Its tables sort. Figures need matplotlib: pip install
    'fwsvm[plots]'.
    """
    from fwsvm.analysis.report import page
    from fwsvm.files.atomic import write_whole
    from fwsvm.results.files import refuse_reference

    results = read_results(folders, where, out)
    first = folders[0]
    beside = first if first.is_dir() else first.parent  # of a runs.csv
    path = out or beside / "report.html"
    if out is None:
        refuse_reference(path)
    write_whole(path, page(results, mixed_load=mixed_load).encode())
    click.echo(f"wrote {path}")
    if find_spec("matplotlib") is None:
        click.echo(
            "fwsvm: the page has no figures; drawing needs matplotlib: pip install 'fwsvm[plots]'", err=True
        )
