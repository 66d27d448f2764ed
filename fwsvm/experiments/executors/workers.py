"""The executor of local worker processes, each connected by a pipe.

A process pool that returns futures can neither tell which cell killed a process nor deliver a task's records one by
one. Over a pipe, a worker reports each cell that it starts and sends each record as it is made, so the cell reported
last is the one that was running when the pipe broke.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.experiments.execute import Record, Resources, failure_record, interrupted_record, run_task
from fwsvm.experiments.executors import CellReporter, Deliver, Task
from fwsvm.experiments.forkserver import worker_context
from fwsvm.experiments.plan import Cell
from fwsvm.files.interrupts import held_back
from fwsvm.phases import Phase, listening
from fwsvm.solvers import Status
from fwsvm.solvers.column_store import ColumnStore
from fwsvm.solvers.loop import Progress

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

GRACE_SECONDS = 5.0  # seconds for a worker to send its last records after an interrupt
MAX_ATTEMPTS = 2  # of a cell whose worker dies
RELEASE = "release"  # the message to a worker whose memory no task is waiting for


def _serve(pipe: Connection, variables: dict[str, str]) -> None:
    """Run tasks in a worker process until the pipe closes; a message that arrives during a run interrupts it.

    ``variables`` are the parent's current environment; a forkserver keeps that of its start.
    """
    os.environ.clear()
    os.environ.update(variables)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent

    present: list[Cell] = []
    sending = threading.Lock()  # functions are compiled, and phases announced, in threads of a run, too
    columns = ColumnStore()  # of a search, whose memory the next task takes

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
            if message == RELEASE:
                columns.release()
                continue
            cells, resources = message
            for record in run_task(cells, resources, watch, on_start=start, columns=columns):
                send(record)


@dataclass
class Worker:
    """A worker process, this end of its pipe, its task, the cells without record yet, and the cell started last."""

    process: multiprocessing.process.BaseProcess
    pipe: Connection
    task: list[Cell] = field(default_factory=list)
    pending: list[Cell] = field(default_factory=list)
    started: Cell | None = None

    @property
    def current(self) -> Cell:
        """The cell that it is running."""
        return next((cell for cell in self.pending if cell == self.started), self.pending[0])

    @classmethod
    def start(cls) -> "Worker":
        """Start a process that waits for tasks."""
        try:
            return cls._from(worker_context())
        except (OSError, EOFError):  # the forkserver has died
            return cls._from(multiprocessing.get_context("spawn"))

    @classmethod
    def _from(cls, context: "ForkServerContext | SpawnContext") -> "Worker":
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, dict(os.environ)), daemon=True)
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

    def run(self, tasks: Sequence[Task], deliver: Deliver, watch: CellReporter, *, at_once: int) -> None:
        """Run all tasks; see `Executor.run`."""
        at_once = max(1, min(at_once, self.slots))
        resources = self._share(at_once)
        waiting = deque(list(task) for task in tasks)
        try:
            while waiting or self.busy:
                while waiting and len(self.busy) < at_once:
                    self._assign(waiting.popleft(), resources)
                for worker in self._ready():
                    self._receive(worker, waiting, deliver, watch)
        except KeyboardInterrupt:
            self._interrupt(deliver)
            raise
        finally:
            self._end(self.busy)

    def close(self) -> None:
        """End all workers."""
        self._end(self.busy)
        self._end(self.idle)

    def _share(self, at_once: int) -> Resources:
        """Return each run's resources, which has an equal part of the cache memory."""
        whole = self.resources.cache_mib or default_cache_mib()
        return replace(
            self.resources,
            threads=self.resources.threads or (1 if at_once > 1 else None),
            cache_mib=shared_cache_mib(whole, at_once),
            parallel_cells=at_once,
        )

    def _assign(self, cells: list[Cell], resources: Resources) -> None:
        worker = self.idle.pop() if self.idle else Worker.start()
        worker.task, worker.pending = cells, list(cells)
        self.busy.append(worker)
        with contextlib.suppress(OSError):  # a dead worker is handled when its pipe is read
            worker.pipe.send((cells, resources))

    def _ready(self, timeout: float | None = None) -> list[Worker]:
        pipes = {worker.pipe: worker for worker in self.busy}
        return [pipes[pipe] for pipe in wait(list(pipes), timeout)]  # type: ignore[index]

    def _receive(
        self, worker: Worker, waiting: deque[list[Cell]], deliver: Deliver, watch: CellReporter
    ) -> None:
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError):
            self._handle_death(worker, waiting, deliver)
            return
        if isinstance(message, Cell):
            worker.started = message
            return
        if not isinstance(message, Record):
            watch(*message)
            return
        with held_back():  # else the run would count as interrupted, too
            deliver(message)
            worker.pending.pop(0)
            if not worker.pending:
                self.busy.remove(worker)
                self.idle.append(worker)
                if not waiting:
                    with contextlib.suppress(OSError):  # a dead worker is replaced when it has a task
                        worker.pipe.send(RELEASE)

    def _handle_death(self, worker: Worker, waiting: deque[list[Cell]], deliver: Deliver) -> None:
        """Put the cells of a dead worker back into the queue, the one it was running up to `MAX_ATTEMPTS` times.

        A chain is put back whole, since its cells start where others end, but without a cell of too many attempts.
        """
        worker.process.join(GRACE_SECONDS)
        self.busy.remove(worker)
        cell = worker.current
        others = [other for other in worker.pending if other is not cell]
        code, worker.pending = worker.process.exitcode or 0, []
        worker.end()
        self.attempts[cell.run_id] = self.attempts.get(cell.run_id, 0) + 1
        again = self.attempts[cell.run_id] < MAX_ATTEMPTS
        if cell.predecessors is None:
            rest = [others, [cell]] if again else [others]
        else:
            rest = [[other for other in worker.task if again or other is not cell] if again or others else []]
        waiting.extendleft(task for task in rest if task)
        if again:
            return
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        why = "; signal 9 often means that memory ran out: use fewer workers" if code == -9 else ""
        deliver(
            failure_record(cell, Status.ERROR, f"its worker process died {MAX_ATTEMPTS} times ({how}){why}")
        )

    def _interrupt(self, deliver: Deliver) -> None:
        """Interrupt the workers, and deliver the records that they send within the grace period."""
        for worker in self.busy:
            with contextlib.suppress(OSError):
                worker.pipe.send(None)
        deadline = time.monotonic() + GRACE_SECONDS
        while self.busy and time.monotonic() < deadline:
            for worker in self._ready(max(0.0, deadline - time.monotonic())):
                try:
                    message = worker.pipe.recv()
                except (EOFError, OSError):
                    self._end_interrupted(worker, deliver)
                    continue
                if isinstance(message, Cell):
                    worker.started = message
                if not isinstance(message, Record):
                    continue
                worker.pending.pop(0)
                deliver(message)
                if message.status is Status.INTERRUPTED or not worker.pending:
                    worker.pending = []
                    self._end_interrupted(worker, deliver)
        for worker in list(self.busy):
            self._end_interrupted(worker, deliver)

    def _end_interrupted(self, worker: Worker, deliver: Deliver) -> None:
        """End a worker; a cell that it was running and has no record of was interrupted."""
        self.busy.remove(worker)
        cell = worker.current if worker.pending else None
        worker.end()
        if cell is not None:
            deliver(interrupted_record(cell))

    @staticmethod
    def _end(workers: list[Worker]) -> None:
        while workers:
            workers.pop().end()
