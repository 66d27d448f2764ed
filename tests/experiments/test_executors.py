"""Workers and clusters of real processes, some of which are killed."""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fwsvm.data.formats import svmlight
from fwsvm.errors import UsageError
from fwsvm.experiments import plan, samples
from fwsvm.experiments.execute import Record, Resources, run_task
from fwsvm.experiments.executors.workers import Workers
from fwsvm.experiments.experiment import DataSpec
from fwsvm.experiments.forkserver import start_forkserver
from fwsvm.experiments.plan import FINAL, SELECT, Cell
from fwsvm.results.agreement import differing
from fwsvm.results.writing import csv_fields
from fwsvm.solvers import Settings, Status
from fwsvm.solvers.loop import Progress
from tests.clusters import LocalCluster, started, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
DATA = DataSpec("wdbc", test_fraction=0.25)


#: Steps for some seconds: a run of so many is killed while it is at work, and ends where nothing kills it.
LONG = 3_000_000
#: Steps for longer than any test waits: a run of so many ends as it is interrupted or killed.
ENDLESS = 10**10


def cell(tolerance: float, seed: int = 0, steps: int | None = None, data: DataSpec = DATA) -> Cell:
    settings = Settings("fw", {}, tolerance=tolerance, seed=seed, max_iterations=steps)
    fingerprint = samples.load(data).fingerprint
    identity = plan.run_id("", fingerprint, "", settings, repetition=0)
    return Cell(identity, "trial", "", FINAL, data, fingerprint, settings, repetition=0)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile what the runs need here, once, rather than in every process."""
    assert next(run_task([cell(0.1)], Resources(threads=1))).status is Status.CONVERGED


class Killer:
    """Watches runs, and kills the process of a cell's run as soon as it is at work, so many times."""

    def __init__(self, victim: Cell, times: int) -> None:
        self.victim, self.times = victim, times

    def __call__(self, at: Cell, _inside: Progress) -> None:
        if at.run_id == self.victim.run_id and self.times:
            self.times -= 1
            for child in multiprocessing.active_children():
                os.kill(child.pid or 0, signal.SIGKILL)


def run(cells: list[Cell], watch: Killer) -> dict[str, Record]:
    found: dict[str, Record] = {}
    workers = Workers(1, Resources())
    try:
        workers.run([[one] for one in cells], lambda r: found.update({r.cell.run_id: r}), watch, at_once=1)
    finally:
        workers.close()
    assert not multiprocessing.active_children()
    return found


@pytest.mark.slow
def test_a_worker_that_dies_once_is_replaced_and_its_cell_tried_again() -> None:
    short, long = cell(0.1), cell(1e-12, steps=LONG)
    found = run([short, long, cell(0.1, seed=1)], Killer(long, 1))
    assert found[long.run_id].status is Status.MAX_ITERATIONS
    assert sorted(record.status for record in found.values()) == ["converged", "converged", "max_iterations"]


def test_a_cell_whose_worker_dies_twice_is_an_error_and_the_others_go_on() -> None:
    short, long = cell(0.1), cell(1e-12, steps=ENDLESS)
    found = run([long, short], Killer(long, 2))
    assert (found[long.run_id].status, found[short.run_id].status) == (Status.ERROR, Status.CONVERGED)
    assert "worker process died 2 times (signal 9)" in found[long.run_id].row["message"]


def test_the_rows_of_a_group_come_one_by_one_and_only_the_guilty_cell_is_tried_again() -> None:
    cells = [cell(0.1), cell(1e-12, steps=LONG), cell(0.1, seed=1)]
    order: list[str] = []
    workers = Workers(1, Resources())
    try:
        workers.run([cells], lambda r: order.append(r.cell.run_id), Killer(cells[1], 1), at_once=1)
    finally:
        workers.close()
    assert sorted(order) == sorted(one.run_id for one in cells)
    assert order[0] == cells[0].run_id


def chain(*, long: bool = True) -> list[Cell]:
    """Return three runs each of which starts where the one before ended, the second a long one."""
    cells = []
    for number, C in enumerate(penalties := (0.5, 2.0, 8.0)):
        made = replace(cell(1e-2).settings, C=C)
        if long and number == 1:
            made = replace(made, tolerance=1e-12, max_iterations=LONG)
        after = penalties[:number]
        identity = plan.run_id("", cell(1e-2).fingerprint, "", made, predecessors=after)
        cells.append(
            Cell(identity, "trial", "", SELECT, DATA, cell(1e-2).fingerprint, made, predecessors=after)
        )
    return cells


def memory_of_children() -> int:
    """Return the resident bytes of the worker processes."""
    pages = [
        int(Path(f"/proc/{child.pid}/statm").read_text().split()[1])
        for child in multiprocessing.active_children()
    ]
    return sum(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read in /proc")
def test_a_worker_without_a_next_task_keeps_no_kernel_columns() -> None:
    data = DataSpec("synthetic:gaussians?rows=4000&features=20&test=0")
    settings = Settings("swap", {}, C=10.0, gamma=2.0, tolerance=1e-3)
    columns = 4 * 4000**2  # kernel values of rows that nearly all are support vectors, in float32
    fingerprint = samples.load(data).fingerprint
    tasks = [
        [
            replace(
                cell(0.1),
                role=SELECT,
                run_id=f"{number}{at}",
                data=data,
                fingerprint=fingerprint,
                settings=replace(settings, C=C),
                predecessors=(1.0, 2.0)[:at],
            )
            for at, C in enumerate((1.0, 2.0))
        ]
        for number in range(2)
    ]
    workers, before = Workers(1, Resources(cache_mib=200, threads=1)), []

    def deliver(record: Record) -> None:
        assert record.status is Status.CONVERGED, record.row["message"]
        before.append(memory_of_children())

    try:
        workers.run(tasks, deliver, lambda *_: None, at_once=1)
        assert len(before) == 4
        wait_until(lambda: memory_of_children() < min(before[2:]) - columns // 2)
    finally:
        workers.close()


def same_rows(found: dict[str, Record], cells: list[Cell]) -> bool:
    """Whether records are those that the cells have where nothing dies."""
    alone = {record.cell.run_id: record for record in run_task(cells, Resources())}
    rows = [{run_id: csv_fields(record.row) for run_id, record in some.items()} for some in (alone, found)]
    return all(not differing(row, rows[1][run_id]) for run_id, row in rows[0].items())


def run_chain(cells: list[Cell], watch: Killer) -> dict[str, Record]:
    found: dict[str, Record] = {}
    workers = Workers(1, Resources())
    try:
        workers.run([cells], lambda r: found.update({r.cell.run_id: r}), watch, at_once=1)
    finally:
        workers.close()
    assert not watch.times, "nothing was killed"
    return found


@pytest.mark.slow
def test_a_chain_whose_worker_dies_begins_again_and_comes_to_the_same_rows() -> None:
    cells = chain()
    found = run_chain(cells, Killer(cells[1], 1))
    assert [found[one.run_id].status for one in cells] == ["converged", "max_iterations", "converged"]
    assert same_rows(found, cells)


def test_a_chain_goes_on_without_a_cell_whose_worker_dies_twice() -> None:
    cells = chain()
    found = run_chain(cells, Killer(cells[1], 2))
    assert found.pop(cells[1].run_id).status is Status.ERROR
    assert same_rows(found, [cells[0], cells[2]])


@pytest.mark.parametrize("length", [1, 2, 5])
def test_the_cell_of_a_chain_that_kills_a_clusters_workers_is_found(length: int) -> None:
    """As `ClusterExecutor.run` does: a piece with the guilty cell is lost, any other is run."""
    from fwsvm.experiments.executors.cluster import ClusterExecutor, _Attempt

    cells = [replace(one, run_id=f"{number}") for number, one in enumerate((chain() * 2)[:length])]
    lost = SimpleNamespace(exception=lambda: "killed")
    for guilty in cells:
        waiting, errors, done = [_Attempt(cells)], [], []
        while waiting:
            piece = waiting.pop()
            if guilty in piece.cells:
                waiting.extend(ClusterExecutor._retry(piece, lost, errors.append))
            else:
                done.append(list(piece.cells))
                waiting.extend(piece.extended())
        assert [record.cell for record in errors] == [guilty]
        assert all(record.status is Status.ERROR for record in errors)
        assert (done or [[]])[-1] == [one for one in cells if one is not guilty]


def test_ctrl_c_loses_no_run_that_waits_for_its_certificate() -> None:
    """Runs of a group hand over their rows several at a time: the first two are done, but not recorded."""
    cells = [cell(0.1), cell(0.1, seed=1), cell(1e-12, steps=ENDLESS), cell(0.1, seed=2)]
    found: dict[str, Record] = {}

    def impatient(at: Cell, _inside: Progress) -> None:
        if at.run_id == cells[2].run_id:
            raise KeyboardInterrupt

    workers = Workers(1, Resources())
    try:
        with pytest.raises(KeyboardInterrupt):
            workers.run([cells], lambda r: found.update({r.cell.run_id: r}), impatient, at_once=1)
    finally:
        workers.close()
    assert not multiprocessing.active_children()
    assert [found[one.run_id].status for one in cells[:3]] == ["converged", "converged", "interrupted"]
    assert all(found[one.run_id].row["certified"] for one in cells[:2])
    assert np.isfinite(found[cells[2].run_id].row["objective"]), "with the point that it had reached"
    assert cells[3].run_id not in found


def test_a_worker_has_the_folder_and_the_environment_of_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the server that it is a copy of began before."""
    start_forkserver()
    monkeypatch.chdir(tmp_path)
    rows = samples.load(DATA).train
    svmlight.write("own.svm", rows.X, rows.labels)
    own = cell(0.1, data=DataSpec("own.svm"))
    monkeypatch.setenv("FWSVM_CACHE", str(tmp_path / "cache"))
    assert run([own], Killer(own, 0))[own.run_id].status is Status.CONVERGED
    assert list((tmp_path / "cache").rglob("*")), "it keeps its parsed copy there"


def test_what_delivery_raises_ends_the_workers() -> None:
    workers = Workers(2, Resources())

    def refuse(_record: Record) -> None:
        raise RuntimeError("no room")

    with pytest.raises(RuntimeError, match="no room"):
        workers.run([[cell(0.1)], [cell(1e-12)]], refuse, Killer(cell(0.1), 0), at_once=2)
    workers.close()
    assert not multiprocessing.active_children()


def test_data_other_than_planned_is_refused() -> None:
    record = next(run_task([replace(cell(0.1), fingerprint="0" * 64)], Resources()))
    assert record.status is Status.MISSING
    assert "is not what was planned (000000000000)" in record.row["message"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LocalCluster]:
    """Start a Dask scheduler and two workers, each in a process of its own."""
    pytest.importorskip("distributed")
    with started(tmp_path) as found:
        yield found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of dask's own
def test_a_cluster_is_sent_data_it_lacks_and_goes_on_when_a_worker_is_killed(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fwsvm.experiments.executors.cluster import ClusterExecutor

    address, workers = cluster.address, cluster.workers
    client = tmp_path / "client"  # where the workers are not: they know no such file
    client.mkdir()
    monkeypatch.chdir(client)
    rows = samples.load(DATA).train
    svmlight.write("own.svm", rows.X, rows.labels)
    own = cell(0.1, data=DataSpec("own.svm"))
    cells = [cell(0.1, seed=seed) for seed in range(3)] + [own, cell(1e-12, seed=9, steps=LONG)]
    found: dict[str, Record] = {}

    def deliver(record: Record) -> None:
        if not found:
            workers[0].kill()
        found[record.cell.run_id] = record

    executor = ClusterExecutor(address, Resources())
    try:
        assert executor.slots == 2
        executor.run([[one] for one in cells], deliver, Killer(cells[0], 0), at_once=2)
    finally:
        executor.close()
    assert [found[one.run_id].status for one in cells] == ["converged"] * 4 + ["max_iterations"]
    assert {record.row["parallel_cells"] for record in found.values()} == {2}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of dask's own
def test_a_chain_whose_finished_rows_die_with_a_clusters_worker_is_made_again_whole(
    cluster: LocalCluster,
) -> None:
    import distributed

    from fwsvm.experiments.executors.cluster import ClusterExecutor

    executor = ClusterExecutor(cluster[0], Resources())
    pids = executor.client.run(os.getpid)
    chains = [[replace(one, run_id=f"{k}{one.run_id}") for one in chain(long=False)] for k in range(2)]
    delivered: list[Record] = []

    def deliver(record: Record) -> None:
        if not delivered:
            wait_until(lambda: {f.status for f in executor.client.futures.values()} == {"finished"})
            held = executor.client.who_has()
            for key in [
                key for key, future in executor.client.futures.items() if future.status == "finished"
            ]:
                first = distributed.Future(key, executor.client).result()[0]
                if first.cell.run_id[0] != record.cell.run_id[0]:
                    os.kill(pids[held[key][0]], signal.SIGKILL)
                    wait_until(lambda key=key: executor.client.futures[key].status == "lost")
        delivered.append(record)

    try:
        executor.run(chains, deliver, Killer(chains[0][0], 0), at_once=2)
    finally:
        executor.close()
    found = {record.cell.run_id: record for record in delivered}
    assert len(delivered) == len(found) == 6, "once each"
    assert same_rows(found, chains[0])
    assert same_rows(found, chains[1])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of dask's own
def test_ctrl_c_ends_the_runs_of_a_cluster_and_each_has_its_row(cluster: LocalCluster) -> None:
    from fwsvm.experiments.executors.cluster import ClusterExecutor

    short, long = cell(0.1), cell(1e-12, steps=ENDLESS)
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of dask's own
def test_a_cluster_that_is_gone_under_an_experiment_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    from fwsvm.distributed import cluster as connection
    from fwsvm.experiments.executors import cluster
    from fwsvm.experiments.executors.cluster import ClusterExecutor

    short, long = cell(0.1), cell(1e-12, steps=ENDLESS)
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
    monkeypatch.setattr(cluster, "PATIENCE", 0.2)
    with started(tmp_path, 1) as there:
        executor = ClusterExecutor(there.address, Resources())
        there.workers[0].kill()
        try:
            wait_until(lambda: not executor.slots)
            with pytest.raises(UsageError, match="the cluster has had no worker for"):
                executor.run([[short]], found.append, Killer(short, 0), at_once=1)
        finally:
            executor.close()


def test_where_there_can_be_no_server_of_forks_workers_are_made_one_by_one(tmp_path: Path) -> None:
    """The path of its socket may have about a hundred letters."""
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    script = """
from fwsvm.experiments.forkserver import start_forkserver, worker_context
assert not start_forkserver()
assert worker_context().get_start_method() == "spawn"
"""
    subprocess.run([sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(folder)}, check=True)


def test_a_record_that_is_being_delivered_is_not_interrupted_too() -> None:
    """Ctrl-C while a row is written: it is whole, and the run is not told of as interrupted besides."""
    told: list[Record] = []

    def deliver(record: Record) -> None:
        if not told:
            os.kill(os.getpid(), signal.SIGINT)
        told.append(record)

    cells, workers = [cell(0.1), cell(1e-12, seed=1, steps=ENDLESS)], Workers(1, Resources())
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            workers.run([[each] for each in cells], deliver, lambda *_: None, at_once=1)
    finally:
        signal.signal(signal.SIGINT, before)
        workers.close()
    statuses = [(record.cell.run_id, record.status) for record in told]
    assert statuses[0] == (cells[0].run_id, Status.CONVERGED)
    assert cells[0].run_id not in {run_id for run_id, _ in statuses[1:]}
