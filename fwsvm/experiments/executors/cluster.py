"""The executor of a Dask cluster.

Dask schedules the tasks and moves those of a dead worker to another. A worker loads data by name from its own cache or
mirror, without the network, and checks the fingerprint; if it has no such data, the rows are sent to it.
"""

import contextlib
import functools
import queue
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.data.dataset import Dataset
from fwsvm.distributed.cluster import TIMEOUT_SECONDS, connect, distributed, errors, patiently
from fwsvm.errors import FwsvmError, UsageError
from fwsvm.experiments import samples
from fwsvm.experiments.execute import Record, Resources, failure_record, interrupted_record, run_task
from fwsvm.experiments.executors import CellReporter, Deliver, Task
from fwsvm.experiments.plan import Cell
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress

PATIENCE = 3600.0  # seconds without a worker: jobs of a batch system may wait in its queue


@dataclass(frozen=True)
class _Attempt:
    """A task, or a prefix of a chain whose worker died: its first ``survived`` cells killed no worker before."""

    cells: Task
    survived: int = 0
    remaining: Task = ()

    def extended(self) -> list["_Attempt"]:
        """Return the prefix that is one cell longer, to run if this one succeeds."""
        cells = [*self.cells, *self.remaining[:1]]
        return [_Attempt(cells, len(self.cells), self.remaining[1:])] if self.remaining else []


def _run(
    task: Task, resources: Resources, stop: str, machines: Mapping[str, int], dataset: Dataset | None = None
) -> list[Record] | None:
    """Run a task on a worker of the cluster; None asks for the data.

    ``machines`` says of each host how many runs it can have at once, which share its memory.
    """
    cell, asked_to_stop = task[0], distributed().Event(stop)
    beside = min(resources.parallel_cells, machines.get(_own_host(), 1))
    whole = resources.cache_mib or _free_at_first(stop)
    resources = replace(resources, cache_mib=shared_cache_mib(whole, beside), offline=True)
    if dataset is None:
        try:
            if samples.load(cell.data, offline=resources.offline).fingerprint != cell.fingerprint:
                return None
        except FwsvmError:  # no such file or name on this worker, or a damaged file
            return None

    def watch(_cell: Cell, _progress: Progress) -> None:
        if asked_to_stop.is_set():
            raise KeyboardInterrupt

    records: list[Record] = []
    with contextlib.suppress(KeyboardInterrupt):
        for record in run_task(task, resources, watch, dataset):
            records.append(record)  # noqa: PERF402 - records before an interrupt are kept
    return records


@functools.lru_cache(maxsize=1)
def _free_at_first(_stop: str) -> int:
    """Return this machine's default as the first run of a process finds it: later ones find less free."""
    return default_cache_mib()


def _host(address: str) -> str:
    return str(distributed().comm.get_address_host(address))


def _own_host() -> str:
    """Return the host of the worker that this runs on, as the client knows it."""
    return _host(distributed().get_worker().address)


class ClusterExecutor:
    """The executor of a Dask cluster at an address, see `fwsvm.distributed.cluster.connect`.

    Runs share the cache memory of a machine equally: what ``resources`` say, or else the default of each machine.
    """

    def __init__(self, address: str, resources: Resources) -> None:
        self.client = connect(address)
        self.resources = replace(resources, threads=resources.threads or 1)
        self.scattered: dict[str, Any] = {}

    @property
    def slots(self) -> int:
        """How many tasks the cluster's workers can take at once."""
        return self._machines().total()

    def _machines(self) -> Counter[str]:
        """Return how many tasks the workers of each machine can take at once."""
        found: Counter[str] = Counter()
        with errors(self.client):
            for address, threads in self.client.nthreads().items():
                found[_host(address)] += threads
        return found

    def run(self, tasks: Sequence[Task], deliver: Deliver, watch: CellReporter, *, at_once: int) -> None:  # noqa: ARG002
        """Run all tasks; see `Executor.run`. The cluster reports no progress from inside a run.

        Raises
        ------
        UsageError
            There has been no worker for a while, or the connection to the scheduler was lost.
        """
        machines = self._machines()
        at_once = max(1, min(at_once, machines.total()))
        resources = replace(self.resources, parallel_cells=at_once)
        stop = distributed().Event(f"fwsvm-{secrets.token_hex(8)}", client=self.client)
        waiting = [_Attempt(task) for task in reversed(tasks)]
        running: dict[Any, _Attempt] = {}
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def submit(attempt: _Attempt, data: Any = None) -> None:
            with errors(self.client):
                future = self.client.submit(
                    _run, attempt.cells, resources, stop.name, machines, data, pure=False
                )
                future.add_done_callback(done.put)
            running[future] = attempt

        try:
            while waiting or running:
                while waiting and len(running) < at_once:
                    submit(waiting.pop())
                future = self._next(done)
                attempt = running[future]  # until its records are delivered: an interrupt collects them
                if future.status in {"lost", "cancelled"}:
                    # a worker died that held finished records, or the data; the attempt itself has not failed
                    self.scattered.pop(attempt.cells[0].fingerprint, None)
                    del running[future]
                    submit(attempt)
                    continue
                if future.status != "finished":
                    del running[future]
                    waiting.extend(self._retry(attempt, future, deliver))
                    continue
                with errors(self.client):
                    records = future.result()
                if records is None:
                    del running[future]
                    submit(attempt, self._scatter(attempt.cells[0]))
                    continue
                for record in records:
                    deliver(record)
                del running[future]
                waiting.extend(attempt.extended())
        except KeyboardInterrupt:
            self._if_there(stop.set)
            self._collect(running, deliver)
            raise
        finally:
            self._if_there(stop.set)
            self._if_there(self.client.cancel, list(running))

    def close(self) -> None:
        """Disconnect, and release the data sent to the cluster."""
        self.scattered.clear()
        self.client.close()

    def _next(self, done: queue.SimpleQueue[Any]) -> Any:
        """Return the next future that is done; `UsageError` where there has been no worker for a while.

        It is no `distributed.as_completed`, whose time-out counts once, from its construction on.
        """

        def look(seconds: float) -> Any:
            try:
                return done.get(timeout=seconds)
            except queue.Empty:
                raise TimeoutError from None

        with errors(self.client):
            return patiently(self.client, look, "run the command again, which goes on from here", PATIENCE)

    def _if_there(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function of the cluster at the end of a run, when nothing is to be done where it is lost, or late."""
        with contextlib.suppress(UsageError), errors(self.client):
            function(*arguments)

    def _scatter(self, cell: Cell) -> Any:
        """Send the cell's data set to the cluster, once; return its future."""
        if cell.fingerprint not in self.scattered:
            data = samples.load(cell.data, offline=self.resources.offline)
            with errors(self.client):
                self.scattered[cell.fingerprint] = self.client.scatter(data, hash=False)
        return self.scattered[cell.fingerprint]

    @staticmethod
    def _retry(attempt: _Attempt, future: Any, deliver: Deliver) -> list[_Attempt]:
        """Return what to run again of a task whose workers died, to find the cell that kills them.

        Cold cells run alone; of a chain, whose cells start where others end, ever longer prefixes.
        """
        cells, survived = attempt.cells, attempt.survived
        if len(cells) == survived + 1:
            message = f"its worker on the cluster failed: {future.exception()}; the worker's log says why"
            deliver(failure_record(cells[-1], Status.ERROR, message))
            return replace(attempt, cells=cells[:-1]).extended()
        if cells[0].predecessors is None:
            return [_Attempt([cell]) for cell in reversed(cells)]
        return [_Attempt(cells[:1], 0, [*cells[1:], *attempt.remaining])]

    def _collect(self, running: dict[Any, _Attempt], deliver: Deliver) -> None:
        """Deliver what interrupted runs come to in time."""
        with self.client.as_current():
            self._if_there(distributed().wait, list(running), TIMEOUT_SECONDS)
        for future, attempt in list(running.items()):
            found: list[Record] = []
            with contextlib.suppress(UsageError), errors(self.client):
                found = (future.result() if future.status == "finished" else None) or []
            for record in found or [interrupted_record(attempt.cells[0])]:
                deliver(record)
