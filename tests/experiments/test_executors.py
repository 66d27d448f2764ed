"""Workers and clusters of real processes, some of which are killed."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fwsvm._memory import shared_cache_mib
from fwsvm.errors import UsageError
from fwsvm.experiments import executors, samples
from fwsvm.experiments.executors import Workers
from fwsvm.experiments.experiment import DataSpec, Resources
from fwsvm.experiments.plan import Cell
from fwsvm.experiments.run import Record, run_cells
from fwsvm.results.writing import csv_fields
from fwsvm.solvers import Settings, Status
from fwsvm.solvers.loop import Progress
from tests import svmlight_files
from tests.cli.running import differing
from tests.clusters import LocalCluster, started, wait_until
from tests.experiments import cells

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's"),
    pytest.mark.filterwarnings("ignore"),  # of dask's own
]
DATA = DataSpec("wdbc", test_fraction=0.25)
#: Steps for some seconds: a run of so many is killed while it is at work, and ends where nothing kills it.
LONG = 3_000_000
#: Steps for longer than any test waits: a run of so many ends as it is interrupted or killed.
ENDLESS = 10**10


def cell(tolerance: float, seed: int = 0, steps: int | None = None, data: DataSpec = DATA) -> Cell:
    return cells.cell(Settings("fw", tolerance=tolerance, seed=seed, max_iterations=steps), data)


def chain(steps: int = LONG) -> list[Cell]:
    """Return three runs each of which starts where the one before ended, the second a long one."""
    first, middle, last = (Settings("fw", tolerance=1e-2, C=C) for C in (0.5, 2.0, 8.0))
    return cells.chain([first, replace(middle, tolerance=1e-12, max_iterations=steps), last], DATA)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile what the runs need here, once, rather than in every process."""
    assert next(run_cells([cell(0.1)], Resources(threads=1))).status is Status.CONVERGED


class Killer:
    """Watches runs, and kills the process of a cell's run as soon as it is at work, so many times."""

    def __init__(self, victim: Cell, times: int) -> None:
        self.victim = victim
        self.times = times

    def __call__(self, at: Cell, _inside: Progress) -> None:
        if at.run_id == self.victim.run_id and self.times:
            self.times -= 1
            for child in multiprocessing.active_children():
                os.kill(child.pid or 0, signal.SIGKILL)


def run(chains: list[list[Cell]], watch: Killer) -> dict[str, Record]:
    found: dict[str, Record] = {}
    workers = Workers(1, Resources())
    try:
        workers.run(chains, lambda r: found.update({r.cell.run_id: r}), watch, at_once=1)
    finally:
        workers.close()
    assert not multiprocessing.active_children()
    assert not watch.times, "nothing was killed"
    return found


def test_a_chain_whose_worker_dies_begins_again_and_comes_to_the_same_rows() -> None:
    every = chain()
    found = run([every], Killer(every[1], 1))
    assert [found[one.run_id].status for one in every] == ["converged", "max_iterations", "converged"]
    alone = list(run_cells(every, Resources()))
    assert not any(differing(csv_fields(one.row), csv_fields(found[one.cell.run_id].row)) for one in alone)


def test_a_cell_whose_worker_dies_twice_is_named_as_an_error_and_the_others_go_on() -> None:
    every = chain(ENDLESS)
    short = cell(0.1)
    found = run([every, [short]], Killer(every[1], 2))
    assert [found[one.run_id].status for one in every] == ["converged", "error", "converged"]
    assert found[short.run_id].status is Status.CONVERGED
    assert "worker process died 2 times (signal 9)" in found[every[1].run_id].row["message"]


def test_ctrl_c_loses_no_run_that_waits_for_its_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short runs of a chain hand over their rows several at a time: the first is done, but not recorded."""
    monkeypatch.setattr(executors, "GRACE_SECONDS", 100.0)  # the machine may be busy
    every = chain(ENDLESS)
    found: dict[str, Record] = {}

    def impatient(at: Cell, inside: object) -> None:
        if at.run_id == every[1].run_id and isinstance(inside, Progress):
            raise KeyboardInterrupt

    workers = Workers(1, Resources())
    try:
        with pytest.raises(KeyboardInterrupt):
            workers.run([every], lambda r: found.update({r.cell.run_id: r}), impatient, at_once=1)
    finally:
        workers.close()
    assert not multiprocessing.active_children()
    assert [record.status for record in found.values()] == ["converged", "interrupted"]
    assert found[every[0].run_id].row["certified"]
    assert np.isfinite(found[every[1].run_id].row["objective"]), "with the point that it had reached"


def test_a_worker_that_does_not_answer_an_interrupt_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "GRACE_SECONDS", 0.0)
    long = cell(1e-12, steps=ENDLESS)
    found: list[Record] = []

    def impatient(_at: Cell, inside: object) -> None:
        if isinstance(inside, Progress):
            raise KeyboardInterrupt

    workers = Workers(1, Resources())
    with pytest.raises(KeyboardInterrupt):
        workers.run([[long]], found.append, impatient, at_once=1)
    workers.close()
    assert not multiprocessing.active_children()
    assert [(record.status, record.row["objective"]) for record in found] == [("interrupted", None)]


def test_a_record_that_is_being_delivered_is_not_interrupted_too() -> None:
    """Ctrl-C while a row is written: it is whole, and the run is not told of as interrupted besides."""
    told: list[Record] = []

    def deliver(record: Record) -> None:
        if not told:
            os.kill(os.getpid(), signal.SIGINT)
        told.append(record)

    every = [cell(0.1), cell(1e-12, seed=1, steps=ENDLESS)]
    workers = Workers(1, Resources())
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            workers.run([[each] for each in every], deliver, lambda *_: None, at_once=1)
    finally:
        signal.signal(signal.SIGINT, before)
        workers.close()
    assert (told[0].cell, told[0].status) == (every[0], Status.CONVERGED)
    assert every[0] not in [record.cell for record in told[1:]]


def test_data_other_than_planned_is_refused() -> None:
    record = next(run_cells([replace(cell(0.1), fingerprint="0" * 64)], Resources()))
    assert record.status is Status.MISSING
    assert "is not what was planned (000000000000)" in record.row["message"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LocalCluster]:
    """Start a Dask scheduler and two workers, each in a process of its own."""
    pytest.importorskip("distributed")
    with started(tmp_path) as found:
        yield found


def test_a_cluster_is_sent_data_it_lacks_and_goes_on_when_a_worker_is_killed(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fwsvm.experiments.executors import ClusterExecutor

    client = tmp_path / "client"  # where the workers are not: they know no such file
    client.mkdir()
    monkeypatch.chdir(client)
    rows = samples.load(DATA).train
    svmlight_files.write("own.svm", rows.X, rows.labels)
    own = cell(0.1, data=DataSpec("own.svm"))
    every = [cell(0.1, seed=seed) for seed in range(3)] + [own, cell(1e-12, seed=9, steps=LONG)]
    found: dict[str, Record] = {}

    def deliver(record: Record) -> None:
        if not found:
            cluster.workers[0].kill()
        found[record.cell.run_id] = record

    executor = ClusterExecutor(cluster.address, Resources(cache_mib=100))
    try:
        assert executor.slots == 2
        executor.run([[one] for one in every], deliver, Killer(every[0], 0), at_once=2)
    finally:
        executor.close()
    assert [found[one.run_id].status for one in every] == ["converged"] * 4 + ["max_iterations"]
    assert {record.row["parallel_cells"] for record in found.values()} == {2}
    share = shared_cache_mib(100, min(2, os.cpu_count() or 1))
    assert {record.row["cache_mib"] for record in found.values()} == {share}


def test_ctrl_c_ends_the_runs_of_a_cluster_and_each_has_its_row(cluster: LocalCluster) -> None:
    from fwsvm.experiments.executors import ClusterExecutor

    short = cell(0.1)
    long = cell(1e-12, steps=ENDLESS)
    found: dict[str, Record] = {}

    def impatient(record: Record) -> None:
        first = not found
        found[record.cell.run_id] = record
        if first:
            raise KeyboardInterrupt

    executor = ClusterExecutor(cluster.address, Resources())
    try:
        with pytest.raises(KeyboardInterrupt):
            executor.run([[short], [long]], impatient, Killer(short, 0), at_once=2)
    finally:
        executor.close()
    assert found[short.run_id].status is Status.CONVERGED
    assert found[long.run_id].status is Status.INTERRUPTED


def test_a_cluster_that_is_gone_under_an_experiment_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    from fwsvm.distributed import cluster as connection
    from fwsvm.experiments import executors
    from fwsvm.experiments.executors import ClusterExecutor

    short = cell(0.1)
    long = cell(1e-12, steps=ENDLESS)
    found: list[Record] = []
    monkeypatch.setattr(connection, "LOOK_SECONDS", 0.2)
    with started(tmp_path, 1) as there:
        executor = ClusterExecutor(there.address, Resources())

        def deliver(record: Record) -> None:
            found.append(record)
            there.scheduler.kill()
            there.scheduler.wait()

        try:
            with pytest.raises(UsageError, match="the connection to the cluster's scheduler was lost"):
                executor.run([[short], [long]], deliver, Killer(short, 0), at_once=1)
        finally:
            executor.close()
    assert [record.cell.run_id for record in found] == [short.run_id]
    monkeypatch.setattr(executors, "PATIENCE", 0.2)
    with started(tmp_path, 1) as there:
        executor = ClusterExecutor(there.address, Resources())
        there.workers[0].kill()
        try:
            wait_until(lambda: not executor.slots)
            with pytest.raises(UsageError, match="the cluster has had no worker for"):
                executor.run([[short]], found.append, Killer(short, 0), at_once=1)
        finally:
            executor.close()
