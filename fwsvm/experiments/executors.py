"""Executors: where chains run, in local worker processes, or on a Dask cluster (`cluster_executor`).

In this process `fwsvm.experiments.run.Inline` runs them.

`run` of an executor delivers each record to the caller when it is made, so one process writes all results. A chain
whose worker died starts again, so a record may be delivered twice.
"""

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import (
    CellReporter,
    Deliver,
    Inline,
    Record,
    Resources,
    error_record,
    failure_record,
    run_here,
)
from fwsvm.files.lock import held_back
from fwsvm.phases import Phase
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress

GRACE_SECONDS = 1.0  # for workers to send their last records after an interrupt
MAX_ATTEMPTS = 2  # of a cell whose worker dies

Executor: TypeAlias = "Inline | FuturesExecutor"


class FuturesExecutor(ABC):
    """Runs each chain as a future of a pool, and delivers what is told of it by the run id of its first cell."""

    pool: futures.Executor
    grace_seconds = 0.0  # for running cells to end after an interrupt

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.stopping = False
        self.told: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self.waiting: list[Chain] = []
        self.running: dict[str, Chain] = {}
        self.present: dict[str, Cell] = {}

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many chains can run in parallel."""

    @abstractmethod
    def shared(self, at_once: int) -> Resources:
        """Return the resources of each of so many runs in parallel."""

    @abstractmethod
    def submit(self, chain: Chain, resources: Resources) -> "futures.Future[None]":
        """Begin a chain, which tells its progress and, in order, its records."""

    @abstractmethod
    def close(self) -> None:
        """End worker processes and connections."""

    @abstractmethod
    def interrupt(self) -> None:
        """Interrupt the running cells."""

    @abstractmethod
    def kill(self) -> None:
        """Stop the running cells at once."""

    def recover(self, error: BaseException) -> None:
        """Let the running chains begin again after an error of the pool, or raise it."""
        raise error

    def run(self, chains: Sequence[Chain], deliver: Deliver, watch: CellReporter, *, at_once: int) -> None:
        """Run all chains, at most ``at_once`` in parallel, and deliver every record.

        Threads and memory are divided by ``at_once`` even if there are fewer chains, so that a run has the same
        resources whatever else is left to do.

        Raises
        ------
        KeyboardInterrupt
            After the running cells were interrupted and the records that they sent in time were delivered.
        Exception
            Whatever ``deliver`` raises, after the running cells were stopped.
        """
        at_once = max(1, min(at_once, self.slots))
        resources = self.shared(at_once)
        self.stopping, self.waiting = False, list(chains)
        try:
            while self.waiting or self.running:
                while self.waiting and len(self.running) < at_once:
                    chain = self.waiting.pop(0)
                    future, name = self.submit(chain, resources), chain[0].run_id
                    future.add_done_callback(partial(self._ended, name, self.pool))
                    self.running[name], self.present[name] = chain, chain[0]  # last: this one is waited for
                self._pass_on(deliver, watch)
        except BaseException as error:
            self.stopping = True
            self.interrupt()
            if isinstance(error, KeyboardInterrupt):
                deadline = time.monotonic() + self.grace_seconds
                with contextlib.suppress(queue.Empty):
                    while self.running:
                        self._pass_on(deliver, watch, max(0.0, deadline - time.monotonic()))
            self.kill()
            while isinstance(error, KeyboardInterrupt) and self.running:
                self._pass_on(deliver, watch)
            raise

    def _ended(self, name: str, pool: futures.Executor, future: "futures.Future[None]") -> None:
        if (error := future.exception()) is not None:
            self.told.put((name, (pool, error)))

    def _pass_on(self, deliver: Deliver, watch: CellReporter, timeout: float | None = None) -> None:
        """Wait for what is told next, and pass it on."""
        name, said = self.told.get(timeout=timeout)
        if isinstance(said, Record):
            chain = self.running.get(name)
            if chain and (said.status is Status.INTERRUPTED or said.cell.run_id == chain[-1].run_id):
                del self.running[name]
            with held_back():  # else the run would count as interrupted, too
                deliver(said)
        elif said[0] is self.pool:
            self.recover(said[1])
        elif isinstance(said[0], Cell):  # else it is of a pool that has ended
            self.present[name] = said[0]
            if not self.stopping:
                watch(*said)


_parent: dict[str, Any] = {}  # what a worker process has of its parent: a queue, and whether it is to stop


def _initialize(queue: Any, stop: Any) -> None:
    """Make this process a worker, which ends when its parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    _parent.update(queue=queue, stop=stop)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _work(chain: Chain, resources: Resources) -> None:
    """Run a chain in a worker."""

    def tell(said: Any) -> None:
        _parent["queue"].put((chain[0].run_id, said))

    def watch(cell: Cell, inside: Progress | Phase) -> None:
        tell((cell, inside))
        if _parent["stop"].value and isinstance(inside, Progress):
            raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        run_here(chain, resources, tell, watch)


class Workers(FuturesExecutor):
    """The executor of ``count`` local processes, which share the cache memory equally.

    Parallel runs have one thread each unless ``resources`` says otherwise; a run on its own has all threads.
    """

    slots = 0

    def __init__(self, count: int, resources: Resources) -> None:
        super().__init__(resources)
        self.slots = count
        self.deaths: Counter[str] = Counter()  # of workers, by run
        self._open()

    def _open(self) -> None:
        """Start the worker processes; they get ready while data is loaded here."""
        self.grace_seconds = GRACE_SECONDS
        # after Ctrl-C this process ends at once: Python's tracker removes the semaphores, and would print a warning
        os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker")
        spawn = multiprocessing.get_context("spawn")
        told, self.stop = spawn.SimpleQueue(), spawn.RawValue("b")
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the workers inherit that
        self.pool = futures.ProcessPoolExecutor(self.slots, spawn, _initialize, (told, self.stop))
        for _ in range(self.slots):
            self.pool.submit(int)
        signal.signal(signal.SIGINT, before)
        self.processes = set(multiprocessing.active_children())
        threading.Thread(target=self._receive, args=(told,), daemon=True).start()

    def _receive(self, told: Any) -> None:
        """Pass on what workers tell; a thread does, for ever where a worker was killed within a message."""
        while True:
            self.told.put(told.get())

    def shared(self, at_once: int) -> Resources:
        """Return the resources of each of so many runs in parallel."""
        return replace(
            self.resources,
            threads=self.resources.threads or (1 if at_once > 1 else None),
            cache_mib=shared_cache_mib(self.resources.cache_mib or default_cache_mib(), at_once),
            parallel_cells=at_once,
        )

    def submit(self, chain: Chain, resources: Resources) -> "futures.Future[None]":
        """Have a worker run a chain."""
        future = self.pool.submit(_work, chain, resources)
        self.processes.update(multiprocessing.active_children())  # it may start another one
        return future

    def recover(self, error: BaseException) -> None:
        """Let other workers run the chains again after one died, which ends its pool.

        A cell that was running when `MAX_ATTEMPTS` workers died is an error, and the others of its chain go on.
        """
        if not isinstance(error, BrokenProcessPool):
            raise error
        self.pool.shutdown()
        at = [self.present[name] for name in self.running]
        if self.stopping:
            for name, cell in zip(self.running, at, strict=True):
                self.told.put((name, error_record(cell, KeyboardInterrupt())))
            return
        ends = (each.exitcode or 0 for each in self.processes)
        code = next((code for code in ends if code != -signal.SIGTERM), 0)  # the pool sends it to the others
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        why = (
            "; signal 9 often means that memory ran out: use fewer workers" if code == -signal.SIGKILL else ""
        )
        self._open()
        for cell in at:
            self.deaths[cell.run_id] += 1
            if self.deaths[cell.run_id] == MAX_ATTEMPTS:
                died = f"its worker process died {MAX_ATTEMPTS} times ({how}){why}"
                self.told.put(("", failure_record(cell, Status.ERROR, died)))
        again = [
            [c for c in chain if self.deaths[c.run_id] < MAX_ATTEMPTS] for chain in self.running.values()
        ]
        self.waiting[:0] = filter(None, again)
        self.running.clear()

    def close(self) -> None:
        """End all workers."""
        self.kill()
        self.pool.shutdown()

    def interrupt(self) -> None:
        """Interrupt the running cells by a flag in memory that the workers share."""
        self.stop.value = True

    def kill(self) -> None:
        """Kill the workers."""
        for process in self.processes:
            process.kill()
