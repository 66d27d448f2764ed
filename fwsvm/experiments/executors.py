"""Executors of chains in parallel: local worker processes, or a Dask cluster (`cluster_executor`).

`fwsvm.experiments.run.Inline` runs chains in this process. `run` of each executor delivers every record to the caller
as it is made, so one process writes all results. A chain whose worker died starts again, so a record may be delivered
twice.
"""

import contextlib
import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from fwsvm._memory import default_cache_mib, shared_cache_mib
from fwsvm.experiments.experiment import Resources
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import CellReporter, Deliver, Record, error_record, failure_record, run_here
from fwsvm.files.lock import held_back
from fwsvm.phases import Phase
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress

GRACE_SECONDS = 1.0  # for workers to send their last records after an interrupt
MAX_ATTEMPTS = 2  # of a cell whose worker dies


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


class _Run(NamedTuple):
    """A worker process, the chain that it runs, and the present cell of it."""

    process: BaseProcess
    chain: Chain
    present: Cell


class Workers:
    """The executor of ``count`` local processes, which share the cache memory equally.

    Parallel runs have one thread each unless ``resources`` says otherwise; a run on its own has all threads.
    """

    def __init__(self, count: int, resources: Resources) -> None:
        self.slots, self.resources = count, resources
        self.deaths: Counter[str] = Counter()  # of workers, by run
        self.idle: dict[Any, BaseProcess] = {}  # by pipe
        self.running: dict[Any, _Run] = {}  # by pipe
        for _ in range(count):  # they get ready while data is loaded here
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
        self.idle[pipe] = process

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
        at_once, waiting = max(1, min(at_once, self.slots)), list(chains)
        resources = replace(
            self.resources,
            threads=self.resources.threads or (1 if at_once > 1 else None),
            cache_mib=shared_cache_mib(self.resources.cache_mib or default_cache_mib(), at_once),
            parallel_cells=at_once,
        )
        try:
            while waiting or self.running:
                while waiting and len(self.running) < at_once:
                    pipe, process = self.idle.popitem()
                    chain = waiting.pop(0)
                    self.running[pipe] = _Run(process, chain, chain[0])
                    with contextlib.suppress(OSError):  # a worker that died is met below
                        pipe.send((chain, resources))
                for pipe in wait(list(self.running)):
                    try:
                        self._pass_on(pipe, deliver, watch)
                    except EOFError:
                        waiting[:0] = self._begun_again(pipe, deliver)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                self._interrupt(deliver)
            self.close()
            for run in self.running.values() if isinstance(error, KeyboardInterrupt) else ():
                deliver(error_record(run.present, error))
            raise

    def _pass_on(self, pipe: Any, deliver: Deliver, watch: CellReporter) -> None:
        """Pass on what a worker sent; `EOFError` where it has died."""
        run = self.running[pipe]
        with (
            held_back()
        ):  # half a message would be lost, and a run be told of as interrupted after its record
            try:
                said = pipe.recv()
            except OSError:  # it died within a message
                raise EOFError from None
            if not isinstance(said, Record):
                self.running[pipe] = run._replace(present=said[0])
                watch(*said)
                return
            if said.status is Status.INTERRUPTED or said.cell.run_id == run.chain[-1].run_id:
                self.idle[pipe] = self.running.pop(pipe).process
            deliver(said)

    def _begun_again(self, pipe: Any, deliver: Deliver) -> list[Chain]:
        """Start another worker in the place of one that died, and return the chains to begin again.

        A cell that was running when `MAX_ATTEMPTS` workers died is an error, and the others of its chain go on.
        """
        run = self.running.pop(pipe)
        run.process.join()
        self._start()
        self.deaths[run.present.run_id] += 1
        if self.deaths[run.present.run_id] == MAX_ATTEMPTS:
            code = run.process.exitcode or 0
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            died = f"its worker process died {MAX_ATTEMPTS} times ({how})"
            if code == -signal.SIGKILL:
                died += "; signal 9 often means that memory ran out: use fewer workers"
            deliver(failure_record(run.present, Status.ERROR, died))
        left = [cell for cell in run.chain if self.deaths[cell.run_id] < MAX_ATTEMPTS]
        return [left] if left else []

    def _interrupt(self, deliver: Deliver) -> None:
        """Interrupt the running cells, and deliver what they send in time."""
        for pipe in self.running:
            with contextlib.suppress(OSError):
                pipe.send(None)
        deadline = time.monotonic() + GRACE_SECONDS
        with contextlib.suppress(EOFError):
            while self.running and (ready := wait(list(self.running), max(0.0, deadline - time.monotonic()))):
                for pipe in ready:
                    self._pass_on(pipe, deliver, lambda *_: None)

    def close(self) -> None:
        """End all workers."""
        for process in [*self.idle.values(), *(run.process for run in self.running.values())]:
            process.kill()
            process.join()
