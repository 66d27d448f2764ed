"""What `fwsvm grid --scheduler` gives to workers and waits for; its client carries it out in this process."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from fwsvm import data
from fwsvm.distributed import cluster as connection
from fwsvm.errors import UsageError
from fwsvm.experiments import plan, samples
from fwsvm.experiments.execute import Record, Resources
from fwsvm.experiments.executors import cluster
from fwsvm.experiments.experiment import DataSpec
from fwsvm.experiments.plan import FINAL, Cell
from fwsvm.solvers import Settings, Status

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of dask's own
DATA = DataSpec("synthetic:gaussians?rows=200&features=4&test=0&seed=1")
THREADS = {"tcp://10.0.0.1:1": 2, "tcp://10.0.0.1:2": 2, "tcp://10.0.0.2:1": 1}


class Flag:
    """An event that is never set, or cannot be."""

    lost = False

    def __init__(self, name: str, **_more: Any) -> None:
        self.name = name

    def set(self) -> None:
        if self.lost:
            raise AttributeError("there is no scheduler")

    def is_set(self) -> bool:
        return False


class Future:
    """A future that is done from the start, or never."""

    def __init__(self, found: Any, status: str = "finished") -> None:
        self.found, self.status = found, status

    def result(self) -> Any:
        return self.found

    def add_done_callback(self, function: Callable[["Future"], None]) -> None:
        if self.status != "pending":
            function(self)


class Client:
    """A client whose workers are this process."""

    status = "running"

    def __init__(self) -> None:
        self.threads = THREADS

    def nthreads(self) -> dict[str, int]:
        return self.threads

    def submit(self, function: Callable[..., Any], *given: Any, **_more: Any) -> Future:
        return Future(function(*given))

    def cancel(self, _futures: Sequence[Future]) -> None:
        pass

    def close(self) -> None:
        pass


class Deserted(Client):
    """A client whose workers are gone once there is something to do."""

    def submit(self, *_given: Any, **_more: Any) -> Future:
        self.threads = {}
        return Future(None, "pending")


class Lost(Client):
    """A client whose scheduler is gone once there is something to do."""

    def submit(self, *_given: Any, **_more: Any) -> Future:
        self.status = "closed"
        raise RuntimeError("Client is closed. Can't send update-graph message.")


def cells(count: int) -> list[Cell]:
    fingerprint = samples.load(DATA).fingerprint
    each = [Settings("fw", tolerance=0.1, seed=seed) for seed in range(count)]
    return [
        Cell(
            plan.run_id("", fingerprint, "", settings, repetition=0),
            "trial", "", FINAL, DATA, fingerprint, settings, repetition=0,
        )
        for settings in each
    ]  # fmt: skip


@pytest.fixture(autouse=True)
def events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distributed.Event", Flag)


def run(
    monkeypatch: pytest.MonkeyPatch, client: Client, tasks: list[Cell], resources: Resources, at_once: int,
    host: str = "10.0.0.1",
) -> list[Record]:  # fmt: skip
    monkeypatch.setattr(cluster, "connect", lambda _address: client)
    monkeypatch.setattr(cluster, "_own_host", lambda: host)
    found: list[Record] = []
    executor = cluster.ClusterExecutor("tcp://10.0.0.1:8786", resources)
    try:
        executor.run([[one] for one in tasks], found.append, lambda *_: None, at_once=at_once)
    finally:
        executor.close()
    return found


@pytest.mark.parametrize(
    ("at_once", "host", "share"),
    [(1, "10.0.0.1", 64), (3, "10.0.0.1", 32), (5, "10.0.0.1", 16), (5, "10.0.0.2", 64)],
)
def test_runs_share_the_memory_of_a_machine(
    monkeypatch: pytest.MonkeyPatch, at_once: int, host: str, share: int
) -> None:
    """The first machine has four at a time, the second one."""
    found = run(monkeypatch, Client(), cells(3), Resources(cache_mib=100), at_once, host)
    assert {record.status for record in found} == {Status.CONVERGED}
    assert {record.row["cache_mib"] for record in found} == {share}
    assert {record.row["parallel_cells"] for record in found} == {at_once}


def test_runs_share_what_was_free_on_their_machine_before_the_first_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free = iter([1024, 512, 256])
    monkeypatch.setattr(cluster, "default_cache_mib", lambda: next(free))
    found = run(monkeypatch, Client(), cells(3), Resources(), at_once=5)
    assert [record.row["cache_mib"] for record in found] == [256, 256, 256]
    found = run(monkeypatch, Client(), cells(1), Resources(), at_once=5)
    assert [record.row["cache_mib"] for record in found] == [128]


def test_a_task_reads_its_data_once_and_asks_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks, load, asked = cells(1), data.load, []

    def noted(name: str, *, offline: bool, **more: Any) -> Any:
        asked.append(offline)
        return load(name, offline=offline, **more)

    samples.load.cache_clear()
    monkeypatch.setattr(data, "load", noted)
    (record,) = run(monkeypatch, Client(), tasks, Resources(), at_once=1)
    assert record.status is Status.CONVERGED
    assert asked == [True]


def test_an_experiment_that_has_no_worker_left_does_not_wait_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(cluster, "PATIENCE", 0.02)
    said = r"has had no worker for 0\.02 s; start some with `dask worker`, and run the command again"
    with pytest.raises(UsageError, match=said):
        run(monkeypatch, Deserted(), cells(1), Resources(), at_once=1)


def test_a_scheduler_that_is_lost_under_an_experiment_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Flag, "lost", True)
    with pytest.raises(UsageError, match=r"^the connection to the cluster's scheduler was lost"):
        run(monkeypatch, Lost(), cells(1), Resources(), at_once=1)
