"""The executor of a Dask cluster: one future a chain.

Dask schedules the chains and moves those of a dead worker to another. A worker loads data by name from its own cache or
mirror, without the network, and checks the fingerprint; if it has no such data, the rows are sent to it.
"""

import concurrent.futures
import contextlib
import secrets
import threading
from asyncio import CancelledError
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.data.dataset import Dataset
from fwsvm.distributed.cluster import TIMEOUT_SECONDS, connect, distributed, errors, patiently
from fwsvm.errors import FwsvmError, UsageError
from fwsvm.experiments import samples
from fwsvm.experiments.executors import FuturesExecutor, Tell
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import Record, Resources, error_record, failure_record, run_cells
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


class ClusterExecutor(FuturesExecutor):
    """The executor of a Dask cluster at an address, see `fwsvm.distributed.cluster.connect`.

    Runs share the cache memory of a machine equally: what ``resources`` say, or else the default of each machine. The
    cluster reports no progress from inside a run.
    """

    grace_seconds = TIMEOUT_SECONDS

    def __init__(self, address: str, resources: Resources) -> None:
        super().__init__(replace(resources, threads=resources.threads or 1))
        self.client = connect(address)
        self.stop = distributed().Event(f"fwsvm-{secrets.token_hex(8)}", client=self.client)
        self.machines: Counter[str] = Counter()
        self.running: list[Any] = []
        self.sent: dict[str, Any] = {}  # data by fingerprint
        self.sending = threading.Lock()

    @property
    def slots(self) -> int:
        """How many chains the cluster's workers can take at once."""
        found: Counter[str] = Counter()
        with errors(self.client):
            for address, threads in self.client.nthreads().items():
                found[_host(address)] += threads
        self.machines = found
        return found.total()

    def shared(self, at_once: int) -> Resources:
        """Return the resources of each of so many runs in parallel, before each machine divides its memory."""
        return replace(self.resources, parallel_cells=at_once)

    def close(self) -> None:
        """Disconnect, and release the data sent to the cluster."""
        self.sent.clear()
        self.client.close()

    def interrupt(self) -> None:
        """Interrupt the running cells by an event."""
        if self.running:
            with contextlib.suppress(UsageError), errors(self.client):
                self.stop.set()

    def kill(self) -> None:
        """Cancel the running chains."""
        with contextlib.suppress(UsageError), errors(self.client):
            self.client.cancel(list(self.running))

    def run_chain(self, chain: Chain, resources: Resources, tell: Tell) -> None:
        """Have the cluster run a chain, with its data where a worker lacks it.

        Raises
        ------
        UsageError
            There has been no worker for a while, or the connection to the scheduler was lost.
        """
        data = None
        while not self.stopping:
            with errors(self.client):
                future = self.client.submit(
                    _run, chain, resources, self.stop.name, self.machines, data, pure=False
                )
                self.running.append(future)
                try:
                    again = "run the command again, which goes on from here"
                    patiently(self.client, partial(self._wait, future), again, PATIENCE)
                    records = future.result() if future.status == "finished" else None
                finally:
                    self.running.remove(future)
            if future.status == "error":
                why = f"its worker on the cluster failed: {future.exception()}; the worker's log says why"
                records = [failure_record(cell, Status.ERROR, why) for cell in chain]
            elif records is None and not self.stopping:
                data = self._send(chain[0], anew=future.status != "finished")
                continue
            for record in records or [error_record(chain[0], KeyboardInterrupt())]:
                tell(record)
            return

    def _wait(self, future: Any, seconds: float) -> None:
        """Wait for the end of a future, whatever it is."""
        with (
            self.client.as_current(),
            contextlib.suppress(CancelledError, concurrent.futures.CancelledError),
        ):
            distributed().wait([future], seconds)

    def _send(self, cell: Cell, *, anew: bool) -> Any:
        """Return a future of the cell's data on the cluster, sent once, or again where a worker with it died."""
        with self.sending:
            if anew:
                self.sent.pop(cell.fingerprint, None)
            if cell.fingerprint not in self.sent:
                data = samples.load(cell.data, offline=self.resources.offline)
                with errors(self.client):
                    self.sent[cell.fingerprint] = self.client.scatter(data, hash=False)
            return self.sent[cell.fingerprint]
