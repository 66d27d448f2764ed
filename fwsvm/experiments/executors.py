"""Executors: where chains run, in this process, in local worker processes, or on a Dask cluster (`cluster_executor`).

`run` of an executor delivers each record to the caller when it is made, so one process writes all results. A chain
whose worker died starts again, so a record may be delivered twice.
"""

import contextlib
import multiprocessing
import queue
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import Record, Resources, error_record, failure_record, run_cells
from fwsvm.files.lock import held_back
from fwsvm.phases import Phase, listening
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress

GRACE_SECONDS = 1.0  # for workers to send their last records after an interrupt
MAX_ATTEMPTS = 2  # of a cell whose worker dies

Deliver = Callable[[Record], None]
CellReporter = Callable[[Cell, Progress | Phase], None]
Tell = Callable[[Any], None]
Executor: TypeAlias = "Inline | FuturesExecutor"


class Inline:
    """The executor without workers."""

    slots = 1

    def __init__(self, resources: Resources) -> None:
        self.resources = resources

    def run(self, chains: Sequence[Chain], deliver: Deliver, watch: CellReporter, *, at_once: int) -> None:  # noqa: ARG002
        """Run all chains, one after another; see `FuturesExecutor.run`."""
        present = [chains[0][0]]

        def start(cell: Cell) -> None:
            present[0] = cell

        with listening(lambda phase: watch(present[0], phase)):
            for chain in chains:
                for record in run_cells(chain, self.resources, watch, on_start=start):
                    deliver(record)

    def close(self) -> None:
        """Do nothing: there are no workers."""


class FuturesExecutor(ABC):
    """Runs each chain as a future in a pool of threads; a thread waits for the process that runs the chain."""

    grace_seconds = 0.0  # for running cells to end after an interrupt

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.stopping = False

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many chains can run in parallel."""

    @abstractmethod
    def shared(self, at_once: int) -> Resources:
        """Return the resources of each of so many runs in parallel."""

    @abstractmethod
    def run_chain(self, chain: Chain, resources: Resources, tell: Tell) -> None:
        """Run a chain elsewhere, and tell its records, and progress; this is called in a thread."""

    @abstractmethod
    def close(self) -> None:
        """End worker processes and connections."""

    @abstractmethod
    def interrupt(self) -> None:
        """Interrupt the running cells."""

    @abstractmethod
    def kill(self) -> None:
        """Stop the running cells at once."""

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
        told: queue.SimpleQueue[Any] = queue.SimpleQueue()
        left: set[Future[None]] = set()

        def pass_on(timeout: float | None = None) -> None:
            message = told.get(timeout=timeout)
            if isinstance(message, Future):
                left.discard(message)
                if not message.cancelled():
                    message.result()
            elif isinstance(message, Record):
                with held_back():  # else the run would count as interrupted, too
                    deliver(message)
            elif not self.stopping:
                watch(*message)

        def stop() -> None:
            self.stopping = True
            for future in list(left):
                future.cancel()
            self.interrupt()

        self.stopping = False
        with ThreadPoolExecutor(at_once) as pool:
            try:
                for chain in chains:
                    future = pool.submit(self.run_chain, chain, resources, told.put)
                    future.add_done_callback(told.put)
                    left.add(future)  # last, for each of these is waited for, whenever Ctrl-C comes
                while left:
                    pass_on()
            except KeyboardInterrupt:
                stop()
                deadline = time.monotonic() + self.grace_seconds
                with contextlib.suppress(queue.Empty):
                    while left:
                        pass_on(max(0.0, deadline - time.monotonic()))
                self.kill()
                while left:
                    pass_on()
                raise
            finally:
                stop()
                self.kill()


def _serve(pipe: Connection) -> None:
    """Run chains in a worker process until the pipe closes; a message that arrives during a run interrupts it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    present: list[Cell] = []
    sending = threading.Lock()  # functions are compiled, and phases announced, in threads of a run, too

    def send(message: object) -> None:
        with sending:
            pipe.send(message)

    def watch(cell: Cell, progress: Progress) -> None:
        send((cell, progress))
        if pipe.poll():
            raise KeyboardInterrupt

    def start(cell: Cell) -> None:
        present[:] = [cell]
        send(cell)

    def enter(phase: Phase) -> None:
        if present:
            send((present[0], phase))

    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt), listening(enter):
        while (message := pipe.recv()) is not None:
            chain, resources = message
            for record in run_cells(chain, resources, watch, on_start=start):
                send(record)


@dataclass
class Worker:
    """A worker process, and this end of its pipe."""

    process: multiprocessing.process.BaseProcess
    pipe: Connection

    @classmethod
    def start(cls) -> "Worker":
        """Start a process that waits for chains."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def end(self) -> int:
        """Wait for the end of a process that has none to talk to, and return its exit code."""
        self.pipe.close()
        self.process.join(GRACE_SECONDS)
        self.process.kill()
        self.process.join()
        return self.process.exitcode or 0


class Workers(FuturesExecutor):
    """The executor of ``count`` local processes, each connected by a pipe, which share the cache memory equally.

    Over the pipe a worker names each cell that it starts, tells its progress, and sends each record as it is made, so
    the cell named last is the one that was running when the pipe broke. Parallel runs have one thread each unless
    ``resources`` says otherwise; a run on its own has all threads.
    """

    slots = 0

    def __init__(self, count: int, resources: Resources) -> None:
        super().__init__(resources)
        self.slots = count
        self.grace_seconds = GRACE_SECONDS
        self.idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self.busy: list[Worker] = []
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the workers inherit that
        for _ in range(count):  # they get ready while data is loaded here
            self.idle.put(Worker.start())
        signal.signal(signal.SIGINT, before)

    def shared(self, at_once: int) -> Resources:
        """Return the resources of each of so many runs in parallel."""
        return replace(
            self.resources,
            threads=self.resources.threads or (1 if at_once > 1 else None),
            cache_mib=shared_cache_mib(self.resources.cache_mib or default_cache_mib(), at_once),
            parallel_cells=at_once,
        )

    def close(self) -> None:
        """End all workers."""
        while not self.idle.empty():
            self.idle.get().end()

    def interrupt(self) -> None:
        """Interrupt the running cells by a message."""
        for worker in list(self.busy):
            with contextlib.suppress(OSError):
                worker.pipe.send(None)

    def kill(self) -> None:
        """Kill the workers that run cells."""
        for worker in list(self.busy):
            worker.process.kill()

    def run_chain(self, chain: Chain, resources: Resources, tell: Tell) -> None:
        """Have a worker run a chain, another one from its beginning where that dies; tell what they send.

        A cell that killed `MAX_ATTEMPTS` workers is an error, and the others of the chain go on.
        """
        deaths: Counter[str] = Counter()
        while chain:
            try:
                worker = self.idle.get_nowait()
            except queue.Empty:
                worker = Worker.start()
            self.busy.append(worker)
            pending = {cell.run_id: cell for cell in chain}
            current = chain[0]
            try:
                if self.stopping:
                    self.idle.put(worker)
                    return
                worker.pipe.send((chain, resources))
                while pending:
                    message = worker.pipe.recv()
                    if isinstance(message, Cell):
                        current = message
                        continue
                    tell(message)
                    if isinstance(message, Record):
                        del pending[message.cell.run_id]
                        pending = {} if message.status is Status.INTERRUPTED else pending
            except (EOFError, OSError):
                code = worker.end()
            else:
                self.idle.put(worker)
                return
            finally:
                self.busy.remove(worker)
            current = pending.get(current.run_id) or next(iter(pending.values()))
            if self.stopping:
                tell(error_record(current, KeyboardInterrupt()))
                return
            deaths[current.run_id] += 1
            if deaths[current.run_id] == MAX_ATTEMPTS:
                how = f"signal {-code}" if code < 0 else f"exit code {code}"
                why = "; signal 9 often means that memory ran out: use fewer workers" if code == -9 else ""
                died = f"its worker process died {MAX_ATTEMPTS} times ({how}){why}"
                tell(failure_record(current, Status.ERROR, died))
                chain = [cell for cell in chain if cell.run_id != current.run_id]
