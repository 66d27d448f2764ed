"""The executors on this computer: in this process, and in worker processes, each connected by a pipe.

A pool of futures can neither tell which cell killed a process nor deliver a chain's records one by one. Over a pipe a
worker names each cell that it starts and sends each record as it is made, so the cell named last is the one that was
running when the pipe broke.
"""

import contextlib
import multiprocessing
import signal
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.experiments.executors import CellReporter, Deliver
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import Record, Resources, failure_record, interrupted_record, run_cells
from fwsvm.files.lock import held_back
from fwsvm.phases import Phase, listening
from fwsvm.solvers import Status
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.loop import Progress

GRACE_SECONDS = 1.0  # for workers to send their last records after an interrupt
MAX_ATTEMPTS = 2  # of a cell whose worker dies


class Inline:
    """The executor without workers."""

    slots = 1

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.columns = ColumnStore()  # of a search, whose memory the next chain takes

    def run(self, chains: Sequence[Chain], deliver: Deliver, watch: CellReporter, *, at_once: int) -> None:  # noqa: ARG002
        """Run all chains; see `Executor.run`."""
        present = chains[0][0]

        def start(cell: Cell) -> None:
            nonlocal present
            present = cell

        with listening(lambda phase: watch(present, phase)):
            for chain in chains:
                for record in run_cells(chain, self.resources, watch, on_start=start, columns=self.columns):
                    deliver(record)

    def close(self) -> None:
        """Release the memory."""
        self.columns.release()


def _serve(pipe: Connection) -> None:
    """Run chains in a worker process until the pipe closes; a message that arrives during a run interrupts it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    present: list[Cell] = []
    sending = threading.Lock()  # functions are compiled, and phases announced, in threads of a run, too
    columns = ColumnStore()  # of a search, whose memory the next chain takes

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
            for record in run_cells(chain, resources, watch, on_start=start, columns=columns):
                send(record)


@dataclass
class Worker:
    """A worker process, this end of its pipe, its chain, the cells without record yet, and the cell started last."""

    process: multiprocessing.process.BaseProcess
    pipe: Connection
    chain: Chain = field(default_factory=list)
    pending: Chain = field(default_factory=list)
    started: Cell | None = None

    @property
    def current(self) -> Cell:
        """The cell that it is running."""
        return next((cell for cell in self.pending if cell == self.started), self.pending[0])

    @classmethod
    def start(cls) -> "Worker":
        """Start a process that waits for chains."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def end(self) -> None:
        """End the process; kill it if it is running a cell."""
        self.pipe.close()
        if self.pending:
            self.process.kill()
        self.process.join()


class Workers:
    """The executor of ``count`` local processes, which share the cache memory equally.

    Parallel runs have one thread each unless ``resources`` says otherwise; a run on its own has all threads.
    """

    def __init__(self, count: int, resources: Resources) -> None:
        self.slots = count
        self.resources = resources
        self.idle: list[Worker] = []
        self.busy: list[Worker] = []
        self.attempts: dict[str, int] = {}

    def run(self, chains: Sequence[Chain], deliver: Deliver, watch: CellReporter, *, at_once: int) -> None:
        """Run all chains; see `Executor.run`."""
        at_once = max(1, min(at_once, self.slots))
        whole = self.resources.cache_mib or default_cache_mib()
        resources = replace(
            self.resources,
            threads=self.resources.threads or (1 if at_once > 1 else None),
            cache_mib=shared_cache_mib(whole, at_once),
            parallel_cells=at_once,
        )
        waiting = deque(list(chain) for chain in chains)
        try:
            while waiting or self.busy:
                while waiting and len(self.busy) < at_once:
                    worker = self.idle.pop() if self.idle else Worker.start()
                    worker.chain = waiting.popleft()
                    worker.pending = list(worker.chain)
                    self.busy.append(worker)
                    with contextlib.suppress(OSError):  # a dead worker is handled when its pipe is read
                        worker.pipe.send((worker.chain, resources))
                for worker in self._ready():
                    if not self._receive(worker, deliver, watch):
                        waiting.extendleft(self._chains_left(worker, deliver))
        except KeyboardInterrupt:
            self._interrupt(deliver)
            raise
        finally:
            self._end(self.busy)

    def close(self) -> None:
        """End all workers."""
        self._end(self.busy)
        self._end(self.idle)

    def _ready(self, timeout: float | None = None) -> list[Worker]:
        pipes = {worker.pipe: worker for worker in self.busy}
        return [pipes[pipe] for pipe in wait(list(pipes), timeout)]  # type: ignore[index]

    def _receive(self, worker: Worker, deliver: Deliver, watch: CellReporter | None) -> bool:
        """Take a message of a worker; return whether there was one, for a dead worker sends none."""
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError):
            return False
        if isinstance(message, Cell):
            worker.started = message
        elif isinstance(message, Record):
            with held_back():  # else the run would count as interrupted, too
                deliver(message)
                # an interrupted worker ends, and the cells after that one were not begun
                worker.pending = [] if message.status is Status.INTERRUPTED else worker.pending[1:]
                if not worker.pending:
                    self.busy.remove(worker)
                    self.idle.append(worker)
        elif watch is not None:
            watch(*message)
        return True

    def _chains_left(self, worker: Worker, deliver: Deliver) -> list[Chain]:
        """Return the chain of a dead worker to run again, whole, without a cell that killed `MAX_ATTEMPTS` workers."""
        worker.process.join(GRACE_SECONDS)
        self.busy.remove(worker)
        cell, code = worker.current, worker.process.exitcode or 0
        worker.end()
        self.attempts[cell.run_id] = self.attempts.get(cell.run_id, 0) + 1
        if self.attempts[cell.run_id] < MAX_ATTEMPTS:
            return [worker.chain]
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        why = "; signal 9 often means that memory ran out: use fewer workers" if code == -9 else ""
        message = f"its worker process died {MAX_ATTEMPTS} times ({how}){why}"
        deliver(failure_record(cell, Status.ERROR, message))
        left = [other for other in worker.chain if other is not cell]
        return [left] if left else []

    def _interrupt(self, deliver: Deliver) -> None:
        """Interrupt the workers, and deliver the records that they send within the grace period."""
        for worker in self.busy:
            with contextlib.suppress(OSError):
                worker.pipe.send(None)
        deadline = time.monotonic() + GRACE_SECONDS
        while self.busy and (left := deadline - time.monotonic()) > 0:
            for worker in self._ready(left):
                if not self._receive(worker, deliver, None):
                    self._end_interrupted(worker, deliver)
        for worker in list(self.busy):
            self._end_interrupted(worker, deliver)

    def _end_interrupted(self, worker: Worker, deliver: Deliver) -> None:
        """End a worker that sent no record of the cell that it was running."""
        self.busy.remove(worker)
        cell = worker.current
        worker.end()
        deliver(interrupted_record(cell))

    @staticmethod
    def _end(workers: list[Worker]) -> None:
        while workers:
            workers.pop().end()
