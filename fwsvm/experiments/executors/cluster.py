"""The executor of a Dask cluster.

Dask schedules the tasks and moves those of a dead worker to another. A worker loads data by name from its own cache or
mirror, without the network, and checks the fingerprint; if it has no such data, the rows are sent to it.
"""

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fwsvm.data.dataset import Dataset
from fwsvm.distributed.cluster import TIMEOUT_SECONDS, connect, distributed
from fwsvm.errors import FwsvmError
from fwsvm.experiments import samples
from fwsvm.experiments.execute import Record, Resources, failure_record, interrupted_record, run_task
from fwsvm.experiments.executors import CellReporter, Deliver, Task
from fwsvm.experiments.plan import Cell
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress


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


def _run(task: Task, resources: Resources, stop: str, dataset: Dataset | None = None) -> list[Record] | None:
    """Run a task on a worker of the cluster; None asks for the data."""
    cell, asked_to_stop = task[0], distributed().Event(stop)
    if dataset is None:
        try:
            if samples.load(cell.data, offline=True).fingerprint != cell.fingerprint:
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


class ClusterExecutor:
    """The executor of a Dask cluster at an address, see `fwsvm.distributed.cluster.connect`."""

    def __init__(self, address: str, resources: Resources) -> None:
        self.client = connect(address)
        self.resources = replace(resources, threads=resources.threads or 1)
        self.scattered: dict[str, Any] = {}

    @property
    def slots(self) -> int:
        """How many tasks the cluster's workers can take at once."""
        return sum(self.client.nthreads().values())

    def run(self, tasks: Sequence[Task], deliver: Deliver, watch: CellReporter, *, at_once: int) -> None:  # noqa: ARG002
        """Run all tasks; see `Executor.run`. The cluster reports no progress from inside a run."""
        at_once = max(1, min(at_once, self.slots))
        resources = replace(self.resources, parallel_cells=at_once)
        stop = distributed().Event(f"fwsvm-{secrets.token_hex(8)}", client=self.client)
        waiting = [_Attempt(task) for task in reversed(tasks)]
        running: dict[Any, _Attempt] = {}
        done = distributed().as_completed(loop=self.client.loop)

        def submit(attempt: _Attempt, data: Any = None) -> None:
            future = self.client.submit(_run, attempt.cells, resources, stop.name, data, pure=False)
            running[future] = attempt
            done.add(future)

        try:
            while waiting or running:
                while waiting and len(running) < at_once:
                    submit(waiting.pop())
                future = next(done)
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
            stop.set()
            self._collect(running, deliver)
            raise
        finally:
            stop.set()
            self.client.cancel(list(running))

    def close(self) -> None:
        """Disconnect, and release the data sent to the cluster."""
        self.scattered.clear()
        self.client.close()

    def _scatter(self, cell: Cell) -> Any:
        """Send the cell's data set to the cluster, once; return its future."""
        if cell.fingerprint not in self.scattered:
            self.scattered[cell.fingerprint] = self.client.scatter(samples.load(cell.data), hash=False)
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

    @staticmethod
    def _collect(running: dict[Any, _Attempt], deliver: Deliver) -> None:
        with contextlib.suppress(TimeoutError):
            distributed().wait(list(running), timeout=TIMEOUT_SECONDS)
        for future, attempt in list(running.items()):
            records = (future.result() if future.status == "finished" else None) or [
                interrupted_record(attempt.cells[0])
            ]
            for record in records:
                deliver(record)
