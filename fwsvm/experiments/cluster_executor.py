"""The executor of a Dask cluster: one future a chain.

Dask schedules the chains and makes those of a dead worker again on another. Each data set is sent to the cluster once.
"""

import contextlib
import os
import secrets
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.data.dataset import Dataset
from fwsvm.distributed.cluster import TIMEOUT_SECONDS, Cluster, distributed, errors, patiently
from fwsvm.errors import UsageError
from fwsvm.experiments import samples
from fwsvm.experiments.experiment import Resources
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import CellReporter, Deliver, Record, error_record, failure_record, run_cells
from fwsvm.files.lock import held_back
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress

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


class ClusterExecutor:
    """The executor of a Dask cluster at an address, see `fwsvm.distributed.cluster.connect`.

    Runs share the cache memory of a machine equally: what ``resources`` say, or else the default of each machine. The
    cluster reports no progress from inside a run.
    """

    def __init__(self, address: str, resources: Resources) -> None:
        self.resources = replace(resources, threads=resources.threads or 1)
        self.cluster = Cluster(address)
        self.client = self.cluster.client
        self.stop = distributed().Event(f"fwsvm-{secrets.token_hex(8)}", client=self.client)
        self.running: dict[Any, Chain] = {}  # by future
        self.sent: dict[str, Any] = {}  # data by fingerprint

    @property
    def slots(self) -> int:
        """How many chains the cluster's workers can take at once."""
        with errors(self.client):
            return sum(self.client.nthreads().values())

    def close(self) -> None:
        """Disconnect, and release the data sent to the cluster."""
        self.sent.clear()
        self.cluster.close()

    def run(self, chains: Sequence[Chain], deliver: Deliver, _watch: CellReporter, *, at_once: int) -> None:
        """Run all chains; see `fwsvm.experiments.executors.Workers.run`.

        Raises
        ------
        UsageError
            There has been no worker for a while, or the connection to the scheduler was lost.
        """
        at_once, waiting = max(1, min(at_once, self.slots)), list(chains)
        try:
            while waiting or self.running:
                while waiting and len(self.running) < at_once:
                    self._submit(waiting.pop(0), at_once)
                with errors(self.client):
                    patiently(self.client, partial(self._wait, "FIRST_COMPLETED"), AGAIN, PATIENCE)
                self._deliver_done(deliver)
        except BaseException as error:
            with contextlib.suppress(UsageError), errors(self.client):
                self.stop.set()
                if isinstance(error, KeyboardInterrupt):
                    with contextlib.suppress(TimeoutError):
                        self._wait("ALL_COMPLETED", TIMEOUT_SECONDS)
                    self._deliver_done(deliver)
                self.client.cancel(list(self.running))
            for chain in self.running.values() if isinstance(error, KeyboardInterrupt) else ():
                deliver(error_record(chain[0], error))
            raise

    def _submit(self, chain: Chain, at_once: int) -> None:
        """Have the cluster run a chain, beside so many others."""
        if (name := chain[0].fingerprint) not in self.sent:
            self.sent[name] = self.cluster.send(samples.load(chain[0].data, offline=self.resources.offline))
        resources = replace(self.resources, parallel_cells=at_once)
        (future,) = self.cluster.each(_run, [chain], resources, self.stop.name, self.sent[name])
        self.running[future] = chain

    def _wait(self, until: str, seconds: float) -> None:
        with self.client.as_current():
            distributed().wait(list(self.running), timeout=seconds, return_when=until)

    def _deliver_done(self, deliver: Deliver) -> None:
        """Deliver the records of the chains that have ended."""
        for future in [each for each in self.running if each.done()]:
            chain = self.running[future]
            try:
                (records,) = self.cluster.gather([future], AGAIN, PATIENCE)
            except UsageError as error:
                if error.__cause__ is None or self.client.status != "running":
                    raise
                why = f"its worker on the cluster failed: {error.__cause__}; the worker's log says why"
                records = [failure_record(cell, Status.ERROR, why) for cell in chain]
            with held_back():  # else these would count as interrupted, too
                del self.running[future]
                for record in records or [error_record(chain[0], KeyboardInterrupt())]:
                    deliver(record)
