"""``fwsvm archive``: a results folder in one file, for a repository."""

import json
import os
from pathlib import Path

import click

from fwsvm.cli import _types


@click.command("archive")
@click.argument("results", type=_types.ANY)
@click.option(
    "--out",
    "-o",
    type=_types.FILE,
    help="Where to write it [default: RESULTS.zip].",
)
def command(results: Path, out: Path | None) -> None:
    """Pack the folder RESULTS into one zip, with checksums.

    It has rows, traces, log, configuration, data lock and environment. The same folder, packed again on the same
    machine with the same packages and data lock, makes the same file. `merge`, `report`, `compare`, `table`, `stats`,
    `plot` and `claims` read it like a folder; a file that was altered is refused.
    """
    from fwsvm.cli._files import refuse_overwriting_results
    from fwsvm.data.lock import lockfile
    from fwsvm.results import archives
    from fwsvm.results.files import refuse_reference

    out = out or Path(f"{os.path.realpath(results)}{archives.SUFFIX}")
    refuse_reference(out.parent)
    refuse_overwriting_results([results], out)
    added = {"datasets.lock": lockfile.lock_path().read_bytes(), "environment.json": _environment()}
    if lockfile.overlay_path().exists():
        added["datasets.own.lock"] = lockfile.overlay_path().read_bytes()
    runs = archives.write(results, out, added)
    click.echo(f"{out}: {runs} runs, {out.stat().st_size / 1e6:,.1f} MB")


def _environment() -> bytes:
    """Return the packages beside which the archive is made; where each run was made stands in its row."""
    from importlib.metadata import distributions

    from fwsvm.experiments.environment import environment

    packages = {found.name: found.version for found in distributions() if found.name}
    facts = {"packed": environment().as_columns(), "packages": dict(sorted(packages.items()))}
    return json.dumps(facts, indent=1).encode()
