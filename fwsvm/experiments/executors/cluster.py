"""The executor of a Dask cluster: one future a chain.

Dask schedules the chains and moves those of a dead worker to another. A worker loads data by name from its own cache or
mirror, without the network, and checks the fingerprint; if it has no such data, the rows are sent to it.
"""

import contextlib
import queue
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.data.dataset import Dataset
from fwsvm.distributed.cluster import TIMEOUT_SECONDS, connect, distributed, errors, patiently
from fwsvm.errors import FwsvmError, UsageError
from fwsvm.experiments import samples
from fwsvm.experiments.executors import CellReporter, Deliver
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import Record, Resources, failure_record, interrupted_record, run_cells
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress

PATIENCE = 3600.0  # seconds without a worker: jobs of a batch system may wait in its queue


def _run(
    chain: Chain, resources: Resources, stop: str, machines: Mapping[str, int], dataset: Dataset | None = None
) -> list[Record] | None:
    """Run a chain on a worker of the cluster; None asks for the data.

    ``machines`` says of each host how many runs it can have at once, which share its memory.
    """
    asked_to_stop = distributed().Event(stop)
    beside = min(resources.parallel_cells, machines.get(_host(distributed().get_worker().address), 1))
    whole = resources.cache_mib or default_cache_mib()
    resources = replace(resources, cache_mib=shared_cache_mib(whole, beside), offline=True)
    if dataset is None:
        try:
            if samples.load(chain[0].data, offline=True).fingerprint != chain[0].fingerprint:
                return None
        except FwsvmError:  # no such file or name on this worker, or a damaged file
            return None

    def watch(_cell: Cell, _progress: Progress) -> None:
        if asked_to_stop.is_set():
            raise KeyboardInterrupt

    records: list[Record] = []
    with contextlib.suppress(KeyboardInterrupt):
        for record in run_cells(chain, resources, watch, dataset):
            records.append(record)  # noqa: PERF402 - records before an interrupt are kept
    return records


def _host(address: str) -> str:
    return str(distributed().comm.get_address_host(address))


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
        """How many chains the cluster's workers can take at once."""
        return self._machines().total()

    def _machines(self) -> Counter[str]:
        """Return how many chains the workers of each machine can take at once."""
        found: Counter[str] = Counter()
        with errors(self.client):
            for address, threads in self.client.nthreads().items():
                found[_host(address)] += threads
        return found

    def run(self, chains: Sequence[Chain], deliver: Deliver, watch: CellReporter, *, at_once: int) -> None:  # noqa: ARG002
        """Run all chains; see `Executor.run`. The cluster reports no progress from inside a run.

        Raises
        ------
        UsageError
            There has been no worker for a while, or the connection to the scheduler was lost.
        """
        machines = self._machines()
        at_once = max(1, min(at_once, machines.total()))
        resources = replace(self.resources, parallel_cells=at_once)
        stop = distributed().Event(f"fwsvm-{secrets.token_hex(8)}", client=self.client)
        waiting = list(reversed(chains))
        running: dict[Any, Chain] = {}
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def submit(chain: Chain, data: Any = None) -> None:
            with errors(self.client):
                future = self.client.submit(_run, chain, resources, stop.name, machines, data, pure=False)
                future.add_done_callback(done.put)
            running[future] = chain

        try:
            while waiting or running:
                while waiting and len(running) < at_once:
                    submit(waiting.pop())
                future = self._next(done)
                chain = running[future]  # until its records are delivered: an interrupt collects them
                records = self._records(future, chain)
                if records is None:
                    submit(chain, self._scatter(chain[0]))
                for record in records or ():
                    deliver(record)
                del running[future]
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

    def _records(self, future: Any, chain: Chain) -> list[Record] | None:
        """Return the records of a chain that ended, or None if it is to run again, with its data."""
        if future.status in {"lost", "cancelled"}:  # a worker died that held the records, or the data
            self.scattered.pop(chain[0].fingerprint, None)
            return None
        if future.status == "finished":
            with errors(self.client):
                found: list[Record] | None = future.result()
            return found
        why = f"its worker on the cluster failed: {future.exception()}; the worker's log says why"
        return [failure_record(cell, Status.ERROR, why) for cell in chain]

    def _next(self, done: queue.SimpleQueue[Any]) -> Any:
        """Return the next future that is done; `UsageError` where there has been no worker for a while."""

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

    def _collect(self, running: dict[Any, Chain], deliver: Deliver) -> None:
        """Deliver what interrupted runs come to in time."""
        with self.client.as_current():
            self._if_there(distributed().wait, list(running), TIMEOUT_SECONDS)
        for future, chain in list(running.items()):
            found: list[Record] = []
            with contextlib.suppress(UsageError), errors(self.client):
                found = (future.result() if future.status == "finished" else None) or []
            for record in found or [interrupted_record(chain[0])]:
                deliver(record)
