"""``python -m tests.experiments.kills --kills 200 --executor workers``: kill searches at random, and compare.

An experiment whose runs start where others end is made once without interruption. Then it is begun again and again in
folders of its own; its whole group of processes is killed with signal 9, or gets Ctrl-C, at a random moment, and the
same command goes on, until the folder is complete. The latest row of each run must then be the uninterrupted one but
for volatile columns, and `fwsvm merge` must take both folders.

A command is a copy of this process (a fork), which has everything imported and compiled: what is killed is the
experiment, not the start of Python. This process runs with one thread, so that a copy finds no other's locks held.
"""

import contextlib
import csv
import io
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from fwsvm.cli import main as main_command
from fwsvm.results.columns import COLUMNS
from fwsvm.results.reading import keep_latest
from tests import clusters
from tests.cli.running import differing

EXPERIMENT = """\
name: kills
datasets:
  - wdbc
  - {name: "synthetic:gaussians?rows=600&features=6&test=0&seed=1", methods: [swap-2o, newton]}
tolerance: 1e-4
methods:
  - {name: swap-2o, select: {method: swap-2o, folds: 3, C: [0.5, 2, 8, 32, 128], sigma2: [1, 4, 16]}}
  - {name: newton, select: {method: newton, folds: 3, C: [0.5, 2, 8, 32, 128], sigma2: [1, 4, 16]}}
  - {name: avsf, C: [1e-8, 1e-7, 1e-6], warm_start: true}
"""
GRID = ("grid", "kills.yaml", "--offline", "--cache-mb", "64")
PIECES = 3  # a command is killed after a random part of such a piece of the time that the whole takes
SLOWEST = 600.0  # seconds that a command may take before it counts as hanging


class Command:
    """An experiment under way, in a group of processes of its own."""

    def __init__(self, place: Path, out: str, *options: str) -> None:
        self.log, self.code = place / f"{out}.log", None
        self.pid = os.fork()
        if self.pid == 0:
            _become(self.log, place, (*GRID, "--out", out, *options))

    def poll(self) -> int | None:
        """Return the exit code, minus the signal's number for a killed process, or None while it runs."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code

    def wait(self, seconds: float) -> int | None:
        """Return what `poll` does, as soon as it is a code or so many seconds have gone by."""
        deadline = time.monotonic() + seconds
        while self.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        return self.code

    def finished(self) -> None:
        """Wait for the end, which must be a good one."""
        assert self.wait(SLOWEST) == 0, self.log.read_text("utf-8")[-3000:]

    def stop(self, number: signal.Signals) -> None:
        """Send a signal to the whole group, and wait for its end; after Ctrl-C that is a good one."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)
        code = self.wait(SLOWEST)
        assert number == signal.SIGKILL or code in {0, 130}, self.log.read_text("utf-8")[-3000:]


def _become(log: Path, place: Path, arguments: tuple[str, ...]) -> None:
    """Be ``fwsvm`` with these arguments, in a new session, and end."""
    code = 1
    try:
        os.setsid()
        number = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(number, 1)
        os.dup2(number, 2)
        os.chdir(place)
        code = run(*arguments)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run(*arguments: str) -> int:
    """Run ``fwsvm`` in this process and return its exit code."""
    try:
        main_command(list(arguments), prog_name="fwsvm")
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@contextlib.contextmanager
def in_silence(place: Path) -> Iterator[None]:
    """Be in a folder, and print nothing, for the block."""
    nowhere = io.StringIO()
    with contextlib.chdir(place), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


def lines(folder: Path) -> tuple[list[dict[str, str]], bool]:
    """Return the whole rows of a folder, and whether a torn line follows them."""
    runs = folder / "runs.csv"
    content = runs.read_text("utf-8") if runs.exists() else ""
    whole = content[: content.rfind("\n") + 1]
    found = list(csv.DictReader(whole.splitlines()))
    assert all(list(row) == list(COLUMNS) and None not in row.values() for row in found), (
        f"{runs}: a row is damaged"
    )
    return found, len(whole) < len(content)


def compare(place: Path, out: str, whole: dict[str, dict[str, str]]) -> int:
    """Assert that a folder has the rows of the uninterrupted one, and that both merge; return how many."""
    found, torn = lines(place / out)
    assert not torn
    latest: dict[str, dict[str, str]] = {}
    for row in found:
        keep_latest(latest, row)
    assert not (lost := sorted({*whole} - {*latest})), f"{out}: lost {lost}"
    assert not (more := sorted({*latest} - {*whole})), f"{out}: not of this experiment: {more}"
    for row in latest.values():
        unlike = {
            name: (whole[row["run_id"]][name], row[name]) for name in differing(whole[row["run_id"]], row)
        }
        assert not unlike, (
            f"{out}: {row['method']} C={row['C']} sigma2={row['sigma2']} fold {row['fold']}: {unlike}"
        )
    for one, two in (("whole", out), (out, "whole")):
        with in_silence(place):
            assert run("merge", one, two, "--out", "joined") == 0, f"{one} and {two} do not merge"
        assert len(lines(place / "joined")[0]) == len(whole)
        shutil.rmtree(place / "joined")
    return len(latest)


def attack(
    place: Path, kills: int, seed: int, *options: str, disturb: Callable[[], None] = lambda: None
) -> str:
    """Kill the experiment so many times, completing one folder after another, compare each, and return the figures.

    ``disturb`` is called when a command was begun, to do harm of its own.
    """
    chance, tally = random.Random(seed), Counter[str]()
    (place / "kills.yaml").write_text(EXPERIMENT, "utf-8")
    with in_silence(place):
        assert run(*GRID, "--out", "warm", "--threads", "1") == 0
    started = time.monotonic()
    Command(place, "whole", *options).finished()
    span = (time.monotonic() - started) / PIECES
    whole = {row["run_id"]: row for row in lines(place / "whole")[0]}
    while tally["kills"] < kills:
        tally["folders"] += 1
        out, complete = f"killed-{tally['folders']}", False
        while not complete:
            command = Command(place, out, *options)
            disturb()
            if tally["kills"] == kills or _ended(command, place / out, chance, span):
                command.finished()
                complete = True
                continue
            command.stop(chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT]))
            found, torn = lines(place / out)
            tally += Counter(kills=1, torn=torn, inside=bool(found))
        tally["rows"] += compare(place, out, whole)
    return (
        f"{kills} kills ({tally['inside']} with rows written, {tally['torn']} left a torn line), {tally['folders']} "
        f"folders completed, {tally['rows']} rows compared with the uninterrupted ones: all alike, merged"
    )


def _ended(command: Command, folder: Path, chance: random.Random, span: float) -> bool:
    """Wait for a random moment; return whether the command ended before it.

    Half of the moments lie after the first row that this command writes, so that it comes forward.
    """
    before, deadline = len(lines(folder)[0]), time.monotonic() + SLOWEST
    if chance.random() < 0.5:
        while command.poll() is None and len(lines(folder)[0]) == before:
            assert time.monotonic() < deadline, "the command hangs"
            time.sleep(0.002)
    return command.wait(chance.uniform(0.0, span)) is not None


class Disturber:
    """Replaces a worker of a cluster now and then, while the other goes on."""

    def __init__(self, cluster: clusters.LocalCluster, place: Path, seed: int) -> None:
        self.cluster, self.place, self.chance, self.killed = cluster, place, random.Random(seed), 0

    def __call__(self) -> None:
        """Start a worker and kill the oldest, one time in five."""
        if self.chance.random() < 0.2:
            self.cluster.workers.append(clusters.registered_worker(self.place, self.cluster.address))
            oldest = self.cluster.workers.pop(0)
            oldest.kill()
            oldest.wait()
            self.killed += 1


@click.command()
@click.option("--kills", default=200, show_default=True)
@click.option(
    "--executor", type=click.Choice(["inline", "workers", "dask"]), default="inline", show_default=True
)
@click.option(
    "--seed", default=None, type=int, help="Draws the moments; the default is today's, and printed."
)
def main(kills: int, executor: str, seed: int | None) -> None:
    """Kill an experiment at random and compare what becomes of it with an uninterrupted one."""
    seed = int(time.time()) if seed is None else seed
    click.echo(f"{executor}, {kills} kills, seed {seed}")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if executor == "dask":
            with clusters.started(place) as cluster:
                disturb = Disturber(cluster, place, seed)
                click.echo(attack(place, kills, seed, "--scheduler", cluster.address, disturb=disturb))
                click.echo(f"and {disturb.killed} Dask workers killed")
                for process in cluster.workers:
                    process.kill()
        else:
            click.echo(attack(place, kills, seed, *(("--workers", "2") if executor == "workers" else ())))
    click.echo(f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
