"""Runs cells in processes of this machine, each with a pipe to this one.

A pool that only returns futures cannot say which cell killed a process, nor hand over a group's rows one by
one. With one pipe a worker both are plain: records come as they are made, and the cell that was begun last is the one
that was running when the pipe broke.
"""

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from fwsvm.experiments.execute import Record, Resources, Watch, failed, run_task
from fwsvm.experiments.executors import Deliver, Task
from fwsvm.experiments.executors.forkserver import nursery
from fwsvm.experiments.plan import Cell
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress
from fwsvm.solvers.resolve import default_cache_mib

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

PATIENCE = 5.0  # seconds that a worker has to hand over what it has done, and an interrupted run
TRIES = 2  # times that a cell is begun before the death of its worker counts as its error


def _serve(pipe: Connection, variables: dict[str, str]) -> None:
    """Run tasks in a worker until the pipe closes; anything that arrives during a run means: stop.

    ``variables`` are the environment as it is now: a server of forks has that of when it was started.
    """
    os.environ.clear()
    os.environ.update(variables)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which says what to do

    def watch(cell: Cell, progress: Progress) -> None:
        pipe.send((cell, progress))
        if pipe.poll():
            raise KeyboardInterrupt

    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while (order := pipe.recv()) is not None:
            cells, resources = order
            for record in run_task(cells, resources, watch, begins=pipe.send):
                pipe.send(record)


@dataclass
class Worker:
    """A process, our end of its pipe, its task, the cells of it that it still owes, and the one begun last."""

    process: multiprocessing.process.BaseProcess
    pipe: Connection
    task: list[Cell] = field(default_factory=list)
    owes: list[Cell] = field(default_factory=list)
    begun: Cell | None = None

    @property
    def at(self) -> Cell:
        """The cell of those owed that it is at work on."""
        return next((cell for cell in self.owes if cell == self.begun), self.owes[0])

    @classmethod
    def start(cls) -> "Worker":
        """Start a process that waits for work."""
        try:
            return cls._from(nursery())
        except (OSError, EOFError):  # the server of forks has died
            return cls._from(multiprocessing.get_context("spawn"))

    @classmethod
    def _from(cls, context: "ForkServerContext | SpawnContext") -> "Worker":
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, dict(os.environ)), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def end(self) -> None:
        """End the process, at once if it is at work."""
        self.pipe.close()
        if self.owes:
            self.process.kill()
        self.process.join()


class Workers:
    """The executor of one machine: ``count`` processes, memory shared out; runs beside others have one thread each.

    That is, unless told otherwise; a run that goes on alone has those it would have without workers.
    """

    def __init__(self, count: int, resources: Resources) -> None:
        self.slots = count
        self.resources = resources
        self.idle: list[Worker] = []
        self.busy: list[Worker] = []
        self.begun: dict[str, int] = {}

    def run(self, tasks: Sequence[Task], deliver: Deliver, watch: Watch, *, at_once: int) -> None:
        """Run all tasks; see `Executor.run`."""
        at_once = max(1, min(at_once, self.slots))
        resources = self._shared_out(at_once)
        waiting = deque(list(task) for task in tasks)
        try:
            while waiting or self.busy:
                while waiting and len(self.busy) < at_once:
                    self._give(waiting.popleft(), resources)
                for worker in self._ready():
                    self._hear(worker, waiting, deliver, watch)
        except KeyboardInterrupt:
            self._interrupt(deliver)
            raise
        finally:
            self._end(self.busy)

    def close(self) -> None:
        """End all workers."""
        self._end(self.busy)
        self._end(self.idle)

    def _shared_out(self, at_once: int) -> Resources:
        """Return each run's share: a power of two of MiB, so that it does not wander."""
        whole = self.resources.cache_mib or default_cache_mib()
        share = max(1, whole // at_once)
        return replace(
            self.resources,
            threads=self.resources.threads or (1 if at_once > 1 else None),
            cache_mib=1 << (share.bit_length() - 1),
            parallel_cells=at_once,
        )

    def _give(self, cells: list[Cell], resources: Resources) -> None:
        worker = self.idle.pop() if self.idle else Worker.start()
        worker.task, worker.owes = cells, list(cells)
        self.busy.append(worker)
        with contextlib.suppress(OSError):  # one that died meanwhile is noticed when it is heard
            worker.pipe.send((cells, resources))

    def _ready(self, timeout: float | None = None) -> list[Worker]:
        pipes = {worker.pipe: worker for worker in self.busy}
        return [pipes[pipe] for pipe in wait(list(pipes), timeout)]  # type: ignore[index]

    def _hear(self, worker: Worker, waiting: deque[list[Cell]], deliver: Deliver, watch: Watch) -> None:
        try:
            said = worker.pipe.recv()
        except (EOFError, OSError):
            self._bury(worker, waiting, deliver)
            return
        if isinstance(said, Cell):
            worker.begun = said
            return
        if not isinstance(said, Record):
            watch(*said)
            return
        worker.owes.pop(0)
        if not worker.owes:
            self.busy.remove(worker)
            self.idle.append(worker)
        deliver(said)

    def _bury(self, worker: Worker, waiting: deque[list[Cell]], deliver: Deliver) -> None:
        """See to the cells of a worker that died: the one it was at is tried once more, the others go on.

        Those of a chain start where others end, so that it begins again, without one that is not to be tried again.
        """
        worker.process.join(PATIENCE)
        self.busy.remove(worker)
        cell = worker.at
        others = [other for other in worker.owes if other is not cell]
        code, worker.owes = worker.process.exitcode or 0, []
        worker.end()
        self.begun[cell.run_id] = self.begun.get(cell.run_id, 0) + 1
        again = self.begun[cell.run_id] < TRIES
        if cell.after is None:
            rest = [others, [cell]] if again else [others]
        else:
            rest = [[other for other in worker.task if again or other is not cell] if again or others else []]
        waiting.extendleft(task for task in rest if task)
        if again:
            return
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        why = "; signal 9 often means that memory ran out: use fewer workers" if code == -9 else ""
        deliver(failed(cell, Status.ERROR, f"its worker process died {TRIES} times ({how}){why}"))

    def _interrupt(self, deliver: Deliver) -> None:
        """Ask the workers to stop, and deliver what they hand over in time: what was done, then what was going on."""
        for worker in self.busy:
            with contextlib.suppress(OSError):
                worker.pipe.send(None)
        deadline = time.monotonic() + PATIENCE
        while self.busy and time.monotonic() < deadline:
            for worker in self._ready(max(0.0, deadline - time.monotonic())):
                try:
                    said = worker.pipe.recv()
                except (EOFError, OSError):
                    self._stopped(worker, deliver)
                    continue
                if isinstance(said, Cell):
                    worker.begun = said
                if not isinstance(said, Record):
                    continue
                worker.owes.pop(0)
                deliver(said)
                if said.status is Status.INTERRUPTED or not worker.owes:
                    worker.owes = []
                    self._stopped(worker, deliver)
        for worker in list(self.busy):
            self._stopped(worker, deliver)

    def _stopped(self, worker: Worker, deliver: Deliver) -> None:
        """End a worker; the run that it was at and has not handed over was interrupted."""
        self.busy.remove(worker)
        cell = worker.at if worker.owes else None
        worker.end()
        if cell is not None:
            deliver(failed(cell, Status.INTERRUPTED, Status.INTERRUPTED.sentence))

    @staticmethod
    def _end(workers: list[Worker]) -> None:
        while workers:
            workers.pop().end()
