"""The executor of a Dask cluster: one future a chain.

Dask schedules the chains and makes those of a dead worker again on another. Each data set is sent to the cluster once.
"""

import contextlib
import os
import secrets
from dataclasses import replace
from functools import partial
from typing import Any

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.data.dataset import Dataset
from fwsvm.distributed.cluster import TIMEOUT_SECONDS, Cluster, distributed, errors, patiently
from fwsvm.errors import UsageError
from fwsvm.experiments import samples
from fwsvm.experiments.executors import Parallel
from fwsvm.experiments.experiment import Resources
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import CellWatch, Deliver, Record, failure_record, run_cells
from fwsvm.files.lock import held_back
from fwsvm.phases import Phase
from fwsvm.solvers.loop import Progress

PATIENCE = 3600.0  # seconds without a worker: jobs of a batch system may wait in its queue
AGAIN = "run the command again, which goes on from here"


def _run(chain: Chain, resources: Resources, stop: str, dataset: Dataset) -> list[Record]:
    """Run a chain on a worker of the cluster, beside as many others as its machine has processors."""
    asked_to_stop = distributed().Event(stop)
    whole = resources.cache_mib or default_cache_mib()
    beside = min(resources.parallel_cells, os.cpu_count() or 1)
    resources = replace(resources, cache_mib=shared_cache_mib(whole, beside))

    def watch(_cell: Cell, inside: Progress | Phase) -> None:
        if isinstance(inside, Progress) and asked_to_stop.is_set():
            raise KeyboardInterrupt

    return list(run_cells(chain, resources, watch, dataset))


class ClusterExecutor(Parallel):
    """The executor of a Dask cluster at an address, see `fwsvm.distributed.cluster.connect`.

    Runs share the cache memory of a machine equally: what ``resources`` say, or else the default of each machine. The
    cluster reports no progress from inside a run. The keys of chains are futures.
    """

    def __init__(self, address: str, resources: Resources) -> None:
        super().__init__(replace(resources, threads=resources.threads or 1))
        self.cluster = Cluster(address)
        self.client = self.cluster.client
        self.stop = distributed().Event(f"fwsvm-{secrets.token_hex(8)}", client=self.client)
        self.sent: dict[str, Any] = {}  # data by fingerprint

    @property
    def slots(self) -> int:
        """How many chains the cluster's workers can take at once."""
        with errors(self.client):
            return sum(self.client.nthreads().values())

    def begin(self, chain: Chain, resources: Resources) -> Any:
        """Have the cluster run a chain."""
        if (name := chain[0].fingerprint) not in self.sent:
            self.sent[name] = self.cluster.send(samples.load(chain[0].data, offline=resources.offline))
        return self.cluster.each(_run, [chain], resources, self.stop.name, self.sent[name])[0]

    def receive(self, deliver: Deliver, watch: CellWatch) -> list[Chain]:  # noqa: ARG002
        """Wait until a chain has ended.

        Raises
        ------
        UsageError
            There has been no worker for a while, or the connection to the scheduler was lost.
        """
        with errors(self.client):
            patiently(self.client, partial(self._wait, "FIRST_COMPLETED"), AGAIN, PATIENCE)
        self._deliver_done(deliver)
        return []

    def interrupt(self, deliver: Deliver) -> None:
        """Interrupt the running chains, and deliver what they come to in time."""
        with contextlib.suppress(UsageError), errors(self.client):
            self.stop.set()
            with contextlib.suppress(TimeoutError):
                self._wait("ALL_COMPLETED", TIMEOUT_SECONDS)
            self._deliver_done(deliver)

    def close(self) -> None:
        """Stop what runs, disconnect, and release the data sent to the cluster."""
        with contextlib.suppress(UsageError), errors(self.client):
            self.stop.set()
        self.sent.clear()
        self.cluster.close()

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
                records = [failure_record(cell, why) for cell in chain]
            with held_back():  # else these would count as interrupted, too
                del self.running[future]
                for record in records:
                    deliver(record)
