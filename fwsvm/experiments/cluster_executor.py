"""The executor of a Dask cluster: one future a chain.

Dask schedules the chains and makes those of a dead worker again on another. Each data set is sent to the cluster once.
"""

import concurrent.futures
import contextlib
import os
import secrets
import threading
from dataclasses import replace
from typing import Any

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.data.dataset import Dataset
from fwsvm.distributed.cluster import TIMEOUT_SECONDS, Cluster, distributed, errors
from fwsvm.errors import UsageError
from fwsvm.experiments import samples
from fwsvm.experiments.executors import FuturesExecutor
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import Record, Resources, error_record, failure_record, run_cells
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress

MAX_THREADS = 1000  # each waits for a chain
PATIENCE = 3600.0  # seconds without a worker: jobs of a batch system may wait in its queue
AGAIN = "run the command again, which goes on from here"


def _run(chain: Chain, resources: Resources, stop: str, dataset: Dataset) -> list[Record]:
    """Run a chain on a worker of the cluster, beside as many others as its machine has processors."""
    asked_to_stop = distributed().Event(stop)
    whole = resources.cache_mib or default_cache_mib()
    beside = min(resources.parallel_cells, os.cpu_count() or 1)
    resources = replace(resources, cache_mib=shared_cache_mib(whole, beside))

    def watch(_cell: Cell, _progress: Progress) -> None:
        if asked_to_stop.is_set():
            raise KeyboardInterrupt

    records: list[Record] = []
    with contextlib.suppress(KeyboardInterrupt):
        for record in run_cells(chain, resources, watch, dataset):
            records.append(record)  # noqa: PERF402 - records before an interrupt are kept
    return records


class ClusterExecutor(FuturesExecutor):
    """The executor of a Dask cluster at an address, see `fwsvm.distributed.cluster.connect`.

    Runs share the cache memory of a machine equally: what ``resources`` say, or else the default of each machine. The
    cluster reports no progress from inside a run.
    """

    grace_seconds = TIMEOUT_SECONDS

    def __init__(self, address: str, resources: Resources) -> None:
        super().__init__(replace(resources, threads=resources.threads or 1))
        self.cluster = Cluster(address)
        self.client = self.cluster.client
        self.pool = concurrent.futures.ThreadPoolExecutor(MAX_THREADS)
        self.stop = distributed().Event(f"fwsvm-{secrets.token_hex(8)}", client=self.client)
        self.futures: list[Any] = []
        self.sent: dict[str, Any] = {}  # data by fingerprint
        self.sending = threading.Lock()

    @property
    def slots(self) -> int:
        """How many chains the cluster's workers can take at once."""
        with errors(self.client):
            return sum(self.client.nthreads().values())

    def shared(self, at_once: int) -> Resources:
        """Return the resources of each of so many runs in parallel, before each machine divides its memory."""
        return replace(self.resources, parallel_cells=at_once)

    def close(self) -> None:
        """Disconnect, and release the data sent to the cluster."""
        self.pool.shutdown()
        self.sent.clear()
        self.cluster.close()

    def interrupt(self) -> None:
        """Interrupt the running cells by an event."""
        if self.futures:
            with contextlib.suppress(UsageError), errors(self.client):
                self.stop.set()

    def kill(self) -> None:
        """Cancel the running chains."""
        with contextlib.suppress(UsageError), errors(self.client):
            self.client.cancel(list(self.futures))

    def submit(self, chain: Chain, resources: Resources) -> "concurrent.futures.Future[None]":
        """Have the cluster run a chain."""
        return self.pool.submit(self._run_chain, chain, resources)

    def _run_chain(self, chain: Chain, resources: Resources) -> None:
        """Have the cluster run a chain, and wait for it.

        Raises
        ------
        UsageError
            There has been no worker for a while, or the connection to the scheduler was lost.
        """
        with self.sending:
            if (name := chain[0].fingerprint) not in self.sent:
                self.sent[name] = self.cluster.send(
                    samples.load(chain[0].data, offline=self.resources.offline)
                )
        (future,) = self.cluster.each(_run, [chain], [resources], [self.stop.name], [self.sent[name]])
        self.futures.append(future)
        try:
            (records,) = self.cluster.gather([future], AGAIN, PATIENCE)
        except UsageError as error:
            if not self.stopping and (error.__cause__ is None or self.client.status != "running"):
                raise
            why = f"its worker on the cluster failed: {error.__cause__}; the worker's log says why"
            records = [] if self.stopping else [failure_record(cell, Status.ERROR, why) for cell in chain]
        finally:
            self.futures.remove(future)
        for record in records or [error_record(chain[0], KeyboardInterrupt())]:
            self.told.put((chain[0].run_id, record))
