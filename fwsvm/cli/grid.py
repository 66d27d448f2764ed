"""``fwsvm grid``: run an experiment from its YAML file."""

import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fwsvm.cli._lines import echo, note
from fwsvm.cli._options import FILE_OR_NAME, FOLDER, offline_option, quiet_option
from fwsvm.cli._results import columns, conditions_option
from fwsvm.errors import DataError, UsageError, counted
from fwsvm.phases import Phase

if TYPE_CHECKING:
    from fwsvm.experiments.experiment import DataSpec, Experiment, Resources
    from fwsvm.experiments.runner import Executor
    from fwsvm.experiments.samples import DataInfo


@click.command()
@click.argument("config", type=FILE_OR_NAME, required=False)
@click.option("--list", "list_shipped", is_flag=True, help="List the experiments that come with fwsvm.")
@conditions_option(
    "--only", "Only these runs, such as method=swap,dataset=a5a or dataset=w*; may be repeated."
)
@click.option(
    "--profile", metavar="NAME", help="Size at which to run [default: small, where the file has it]."
)
@click.option(
    "--out",
    metavar="DIR",
    type=FOLDER,
    help="Folder for the results [default: results/NAME of the experiment].",
)
@click.option(
    "--reuse",
    "lenders",
    multiple=True,
    metavar="DIR",
    type=FOLDER,
    help="Take runs that this results folder holds already; may be repeated.",
)
@click.option(
    "--workers", type=click.IntRange(1, 1000), metavar="N", help="Worker processes [default: the file's]."
)
@click.option("--scheduler", metavar="ADDRESS", help="A Dask cluster to run on, such as tcp://10.0.0.1:8786.")
@click.option(
    "--threads",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Threads of a run [default: all of the machine; 1 beside others].",
)
@click.option(
    "--cache-mb",
    "cache_mib",
    type=click.IntRange(1, 1 << 30),
    metavar="N",
    help="MiB for kernel columns, shared among workers [default: by memory].",
)
@offline_option
@click.option("--force", is_flag=True, help="Repeat finished runs, too.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first run that fails.")
@quiet_option
@click.option(
    "--dry-run", is_flag=True, help="List the runs and which are done; load, run and write nothing."
)
def grid(
    config: str | None,
    only: list[str],
    profile: str | None,
    out: Path | None,
    lenders: tuple[Path, ...],
    workers: int | None,
    scheduler: str | None,
    threads: int | None,
    cache_mib: int | None,
    *,
    list_shipped: bool,
    offline: bool,
    dry_run: bool,
    force: bool,
    fail_fast: bool,
) -> None:
    """Run the experiment CONFIG and end with its table.

    CONFIG is a YAML file, or the name of an experiment that comes with fwsvm (--list), such as quickstart.

    Each run is a row of runs.csv, on the disk before the next one starts; short runs that differ only in C are
    written several at a time, every few seconds. The same command again does only what is missing: after Ctrl-C, a
    kill, a full disk, or with data that was not available before.

    Exit code: 0, 2 usage, 3 data missing, 4 a run failed, 130 interrupted.
    """
    from fwsvm.analysis.summary import summary
    from fwsvm.cli._progress import RunsDisplay
    from fwsvm.experiments import config as configs
    from fwsvm.experiments.config_files import config_file
    from fwsvm.experiments.experiment import Resources
    from fwsvm.experiments.plan import describe, planned_runs
    from fwsvm.experiments.runner import Runner
    from fwsvm.experiments.samples import info_of_rows
    from fwsvm.experiments.store import add_lent, open_results, read_rows

    if list_shipped:
        _list_shipped()
        return
    if config is None:
        raise UsageError("name an experiment: a YAML file, or one that `fwsvm grid --list` shows")
    if force and lenders:
        raise UsageError("give --reuse or --force, not both")
    if workers is not None and scheduler is not None:
        raise UsageError("give --workers or --scheduler, not both")
    experiment = configs.load(config_file(Path(config)), profile).only(only)
    folder = out or Path("results") / experiment.name
    if dry_run:
        rows = {} if force else read_rows(folder / "runs.csv", [])
        add_lent(rows, lenders, [])
        # as far as the rows of earlier runs tell; no data is loaded
        seen = {data: info_of_rows(data, rows.values()) for data in experiment.datasets}
        planned = planned_runs(experiment, seen, rows)
        echo(describe(planned), err=True)
        for run in planned:
            echo(f"{run.cell.label}  {'open: parameters to be chosen' if run.state == 'open' else run.state}")
        return
    executor = _executor(
        workers or experiment.workers, scheduler, Resources(threads, cache_mib, offline=offline)
    )
    part = "".join(f", only {condition}" for condition in only)
    part += f", profile {experiment.profile}" if experiment.profile else ""
    with contextlib.closing(executor), open_results(folder, lenders) as store:
        known = _load_all(experiment, offline=offline)
        planned = planned_runs(experiment, known, {} if force else store.rows)
        store.write_config(experiment.resolved, config + part)
        store.log("start", config=config + part, profile=experiment.profile, runs=len(planned))
        work = [run.is_left for run in planned if run.state != "missing"]
        for notice in (*store.notices, f"{experiment.name}{part}: {describe(planned)}"):
            note(notice)
        with RunsDisplay(len(work), work.count(False)) as display:
            runner = Runner(experiment, known, store, executor, display, force, fail_fast)
            runner.run()
        store.log("end", exit_code=runner.exit_code, statuses=dict(runner.counts))
        click.echo(summary(folder, {cell.run_id for cell in runner.finals}, columns()), nl=False)
        ended = ", ".join(f"{number} {status}" for status, number in runner.counts.most_common())
        note(f"{folder / 'runs.csv'}: {ended or 'nothing'}")
    if runner.interrupted:
        click.echo("interrupted; the same command again goes on from here", err=True)
    elif set(runner.counts) - {"error", "missing"}:
        note(f"next: fwsvm report {shlex.quote(str(folder))} makes one page of all results")
    sys.exit(runner.exit_code)


def _list_shipped() -> None:
    """Print the experiments that come with fwsvm."""
    from fwsvm.experiments.config_files import first_sentence, read_config_file, shipped_files

    for name, file in shipped_files().items():
        profiles = read_config_file(file).profile_names
        click.echo(f"{name}  (profiles: {', '.join(profiles) or 'none'})")
        echo(f"  {first_sentence(file)} [{file}]")


def _executor(workers: int, scheduler: str | None, resources: "Resources") -> "Executor":
    """Return what runs the chains."""
    from fwsvm.experiments.run import Inline

    if scheduler is not None:
        from fwsvm.experiments.executors import ClusterExecutor

        return ClusterExecutor(scheduler, resources)
    if workers > 1:
        from fwsvm.experiments.executors import Workers

        return Workers(workers, resources)
    return Inline(resources)


def _load_all(experiment: "Experiment", *, offline: bool) -> "dict[DataSpec, DataInfo]":
    """Load every data set once, and print its shape and notices, or why it is missing."""
    from fwsvm.cli._progress import Display
    from fwsvm.experiments.samples import DataInfo, load, name_in_rows

    known: dict[DataSpec, DataInfo] = {}
    with Display() as display:
        for data in experiment.datasets:
            display.count("data", len(known), len(experiment.datasets))
            display.begin(data.name)
            display.enter(Phase.LOAD)
            try:
                found = load(data, offline=offline)
            except DataError as error:
                known[data] = DataInfo(name_in_rows(data.name), missing=str(error))
                echo(f"missing: {error}", err=True)
                continue
            train = found.train
            test = found.test
            known[data] = DataInfo(found.name, found.fingerprint, train.rows)
            tested = f" + {test.rows:,} to test" if test is not None and test.rows else ""
            shape = f"{counted(train.rows, 'row')}{tested}, {counted(train.features, 'feature')}"
            note(f"{data.name}: {shape}, {len(found.classes)} classes")
            for notice in found.notices:
                note(f"  {notice}", 4)
    return known
