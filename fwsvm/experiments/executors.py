"""Executors of chains in parallel: local worker processes, or a Dask cluster.

`fwsvm.experiments.run.Inline` runs chains in this process. `run` of each executor delivers every record to the caller
as it is made, so one process writes all results. A chain whose worker died starts again, so a record may be delivered
twice.
"""

import contextlib
import multiprocessing
import os
import secrets
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.data.dataset import Dataset
from fwsvm.distributed.cluster import TIMEOUT_SECONDS, Cluster, distributed, errors, patiently
from fwsvm.errors import UsageError
from fwsvm.experiments import samples
from fwsvm.experiments.experiment import Resources
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import CellWatch, Deliver, Record, failure_record, run_here
from fwsvm.files.lock import held_back
from fwsvm.phases import Phase
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress

GRACE_SECONDS = 1.0  # for workers to send their last records after an interrupt
PATIENCE = 3600.0  # seconds without a worker: jobs of a batch system may wait in its queue
AGAIN = "run the command again, which goes on from here"


def run_chains(
    executor: "Workers | ClusterExecutor",
    chains: Sequence[Chain],
    deliver: Deliver,
    watch: CellWatch,
    *,
    at_once: int,
) -> None:
    """Run all chains on an executor, at most ``at_once`` in parallel, and deliver every record.

    Threads and memory are divided by ``at_once`` even if there are fewer chains, so that a run has the same resources
    whatever else is left to do. ``executor.running`` holds each chain that runs and its present cell.

    Raises
    ------
    KeyboardInterrupt
        After the running cells were interrupted and the records that they sent in time were delivered.
    Exception
        Whatever ``deliver`` raises; ``executor.close`` then stops the running cells.
    """
    at_once = max(1, min(at_once, executor.slots))
    waiting = list(chains)
    try:
        while waiting or executor.running:
            while waiting and len(executor.running) < at_once:
                chain = waiting.pop(0)
                key = executor.begin(chain, replace(executor.resources, parallel_cells=at_once))
                executor.running[key] = chain, chain[0]
            waiting[:0] = executor.receive(deliver, watch)
    except KeyboardInterrupt as error:
        executor.interrupt(deliver)
        for _, present in executor.running.values():
            deliver(failure_record(present, error))
        raise


def _serve(pipe: Connection) -> None:
    """Run each chain that the parent sends, until it sends None or has ended.

    Anything that it sends during a run interrupts the run.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent

    def watch(cell: Cell, inside: Progress | Phase) -> None:
        pipe.send((cell, inside))
        if isinstance(inside, Progress) and pipe.poll():
            raise KeyboardInterrupt

    with contextlib.suppress(EOFError, OSError):  # the parent has ended
        while (job := pipe.recv()) is not None:
            with contextlib.suppress(KeyboardInterrupt):
                chain, resources = job
                run_here(chain, resources, pipe.send, watch)


class Workers:
    """The executor of ``slots`` local processes, which share the cache memory equally.

    Parallel runs have one thread each unless ``resources`` says otherwise; a run on its own has all threads. The keys
    of chains are pipes to the processes.
    """

    run = run_chains

    def __init__(self, slots: int, resources: Resources) -> None:
        self.slots = slots
        self.resources = resources
        self.running: dict[Any, tuple[Chain, Cell]] = {}
        self.fatal: set[str] = set()  # runs with which a worker died
        self.processes: dict[Any, BaseProcess] = {}  # by pipe
        for _ in range(slots):  # they get ready while data is loaded here
            self._start()

    def _start(self) -> None:
        """Start a worker process."""
        spawn = multiprocessing.get_context("spawn")
        pipe, theirs = spawn.Pipe()
        process = spawn.Process(target=_serve, args=(theirs,), daemon=True)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process inherits that
        process.start()
        signal.signal(signal.SIGINT, before)
        theirs.close()
        self.processes[pipe] = process

    def begin(self, chain: Chain, resources: Resources) -> Any:
        """Send a chain to an idle worker, and return the key of both."""
        beside = resources.parallel_cells
        threads = resources.threads or (1 if beside > 1 else None)
        cache_mib = shared_cache_mib(resources.cache_mib or default_cache_mib(), beside)
        pipe = next(each for each in self.processes if each not in self.running)
        with contextlib.suppress(OSError):  # a worker that died is met in `receive`
            pipe.send((chain, replace(resources, threads=threads, cache_mib=cache_mib)))
        return pipe

    def receive(self, deliver: Deliver, watch: CellWatch, seconds: float | None = None) -> list[Chain]:
        """Pass on what workers sent, for which at most some seconds are waited; return chains to begin again."""
        again: list[Chain] = []
        ready: list[Any] = wait(list(self.running), seconds)
        for pipe in ready:
            # half a message would be lost, and a run be told of as interrupted after its record
            with held_back():
                try:
                    said = pipe.recv()
                except (EOFError, OSError):
                    again += self._left_by_dead(pipe, deliver)
                    continue
                chain = self.running[pipe][0]
                if isinstance(said, Record):
                    if said.status is Status.INTERRUPTED or said.cell == chain[-1]:
                        del self.running[pipe]
                    deliver(said)
                else:
                    self.running[pipe] = chain, said[0]
                    watch(*said)
        return again

    def _left_by_dead(self, pipe: Any, deliver: Deliver) -> list[Chain]:
        """Start another worker in the place of one that died, and return what it leaves to do.

        A cell that was running when two workers died is an error, and the others of its chain go on.
        """
        (chain, present), process = self.running.pop(pipe), self.processes.pop(pipe)
        process.join()
        self._start()
        if present.run_id not in self.fatal:
            self.fatal.add(present.run_id)
            return [chain]
        code = process.exitcode or 0
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        died = f"its worker process died 2 times ({how}); often memory has run out: use fewer workers"
        deliver(failure_record(present, died))
        left = [cell for cell in chain if cell != present]
        return [left] if left else []

    def interrupt(self, deliver: Deliver) -> None:
        """Interrupt the running cells, and deliver what they send in time."""
        for pipe in self.running:
            with contextlib.suppress(OSError):
                pipe.send(None)
        deadline = time.monotonic() + GRACE_SECONDS
        while self.running and (left := deadline - time.monotonic()) > 0:
            self.receive(deliver, lambda *_: None, left)

    def close(self) -> None:
        """End all workers."""
        for process in self.processes.values():
            process.kill()
            process.join()


def _run_chain(chain: Chain, resources: Resources, stop: str, dataset: Dataset) -> list[Record]:
    """Run a chain on a worker of the cluster, beside as many others as its machine has processors."""
    asked_to_stop = distributed().Event(stop)
    whole = resources.cache_mib or default_cache_mib()
    beside = min(resources.parallel_cells, os.cpu_count() or 1)
    resources = replace(resources, cache_mib=shared_cache_mib(whole, beside))

    def watch(_cell: Cell, inside: Progress | Phase) -> None:
        if isinstance(inside, Progress) and asked_to_stop.is_set():
            raise KeyboardInterrupt

    records: list[Record] = []
    with contextlib.suppress(KeyboardInterrupt):
        run_here(chain, resources, records.append, watch, dataset)
    return records


class ClusterExecutor:
    """The executor of a Dask cluster at an address, see `fwsvm.distributed.cluster.connect`.

    Dask schedules the chains, each a future, and makes those of a dead worker again on another. Each data set is sent
    to the cluster once. Runs share the cache memory of a machine equally: what ``resources`` say, or else the default
    of each machine. The cluster reports no progress from inside a run. The keys of chains are futures.
    """

    run = run_chains

    def __init__(self, address: str, resources: Resources) -> None:
        self.resources = replace(resources, threads=resources.threads or 1)
        self.running: dict[Any, tuple[Chain, Cell]] = {}
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
        """Have the cluster run a chain, and return its key."""
        if (name := chain[0].fingerprint) not in self.sent:
            self.sent[name] = self.cluster.send(samples.load(chain[0].data, offline=resources.offline))
        return self.cluster.each(_run_chain, [chain], resources, self.stop.name, self.sent[name])[0]

    def receive(self, deliver: Deliver, watch: CellWatch) -> list[Chain]:  # noqa: ARG002
        """Wait until a chain has ended; Dask itself begins chains again, so none is returned.

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
            chain, _ = self.running[future]
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
