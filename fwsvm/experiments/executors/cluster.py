"""Runs cells on a Dask cluster.

Scheduling, and moving the tasks of a dead worker to another, are Dask's matter. A worker loads data by name
from its own cache or mirror, without the network, and checks the digest; one that has not got it says so, and
is sent the rows from here.
"""

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fwsvm.data.dataset import Dataset
from fwsvm.errors import FwsvmError, UsageError
from fwsvm.experiments import samples
from fwsvm.experiments.execute import Record, Resources, Watch, failed, run_task
from fwsvm.experiments.executors import Deliver, Task
from fwsvm.experiments.plan import Cell
from fwsvm.solvers import Status
from fwsvm.solvers.loop import Progress

PATIENCE = 5.0  # seconds to connect in, and to hand over interrupted runs in


@dataclass(frozen=True)
class _Piece:
    """A task, or the beginning of a chain whose worker died: ``sure`` of its cells killed none, ``rest`` follow."""

    cells: Task
    sure: int = 0
    rest: Task = ()

    def longer(self) -> list["_Piece"]:
        """Return what to run once this was run."""
        cells = [*self.cells, *self.rest[:1]]
        return [_Piece(cells, len(self.cells), self.rest[1:])] if self.rest else []


def _run(task: Task, resources: Resources, stop: str, dataset: Dataset | None = None) -> list[Record] | None:
    """Run a task on a cluster's worker; None means that the data is wanted."""
    cell, asked_to_stop = task[0], _distributed().Event(stop)
    if dataset is None:
        try:
            if samples.load(cell.data, offline=True).fingerprint != cell.fingerprint:
                return None
        except FwsvmError:  # no such file or name here, or damaged
            return None

    def watch(_cell: Cell, _progress: Progress) -> None:
        if asked_to_stop.is_set():
            raise KeyboardInterrupt

    records: list[Record] = []
    with contextlib.suppress(KeyboardInterrupt):
        for record in run_task(task, resources, watch, dataset):
            records.append(record)  # noqa: PERF402 - what came before an interrupt is kept
    return records


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise UsageError("--scheduler needs Dask: pip install 'fwsvm[distributed]'") from None
    return distributed


class Cluster:
    """The executor of a Dask cluster at an address such as ``tcp://10.0.0.1:8786``."""

    def __init__(self, address: str, resources: Resources) -> None:
        try:
            self.client = _distributed().Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"--scheduler {address}: no scheduler answers there: {error}") from None
        self.resources = replace(resources, threads=resources.threads or 1)
        self.at_hand: dict[str, Any] = {}
        if not self.slots:
            self.close()
            raise UsageError(
                f"--scheduler {address}: the cluster has no workers; start some with `dask worker`"
            )

    @property
    def slots(self) -> int:
        """How many tasks the cluster's workers can take at once."""
        return sum(self.client.nthreads().values())

    def run(self, tasks: Sequence[Task], deliver: Deliver, watch: Watch, *, at_once: int) -> None:  # noqa: ARG002
        """Run all tasks; see `Executor.run`. The cluster reports no progress from inside a run."""
        at_once = max(1, min(at_once, self.slots))
        resources = replace(self.resources, parallel_cells=at_once)
        stop = _distributed().Event(f"fwsvm-{secrets.token_hex(8)}", client=self.client)
        waiting = [_Piece(task) for task in reversed(tasks)]
        going: dict[Any, _Piece] = {}
        done = _distributed().as_completed(loop=self.client.loop)

        def begin(piece: _Piece, data: Any = None) -> None:
            future = self.client.submit(_run, piece.cells, resources, stop.name, data, pure=False)
            going[future] = piece
            done.add(future)

        try:
            while waiting or going:
                while waiting and len(going) < at_once:
                    begin(waiting.pop())
                future = next(done)
                piece = going.pop(future)
                if future.status in {"lost", "cancelled"}:
                    # a worker died that held what was computed, or the data; the piece itself has not failed
                    self.at_hand.pop(piece.cells[0].fingerprint, None)
                    begin(piece)
                    continue
                if future.status != "finished":
                    waiting.extend(self._lost(piece, future, deliver))
                    continue
                records = future.result()
                if records is None:
                    begin(piece, self._sent(piece.cells[0]))
                    continue
                for record in records:
                    deliver(record)
                waiting.extend(piece.longer())
        except KeyboardInterrupt:
            stop.set()
            self._collect(going, deliver)
            raise
        finally:
            stop.set()
            self.client.cancel(list(going))

    def close(self) -> None:
        """Leave the cluster, and let it forget the data sent to it."""
        self.at_hand.clear()
        self.client.close()

    def _sent(self, cell: Cell) -> Any:
        """Return the cell's rows as a value that the cluster holds."""
        if cell.fingerprint not in self.at_hand:
            self.at_hand[cell.fingerprint] = self.client.scatter(samples.load(cell.data), hash=False)
        return self.at_hand[cell.fingerprint]

    @staticmethod
    def _lost(piece: _Piece, future: Any, deliver: Deliver) -> list[_Piece]:
        """Return what to try again of a task whose workers died, to find the guilty cell.

        Each cell alone, and of a chain, whose cells start where others end, each beginning.
        """
        cells, sure = piece.cells, piece.sure
        if len(cells) == sure + 1:
            said = f"it came to nothing on the cluster: {future.exception()}"
            deliver(failed(cells[-1], Status.ERROR, said))
            return replace(piece, cells=cells[:-1]).longer()
        if cells[0].after is None:
            return [_Piece([cell]) for cell in reversed(cells)]
        return [_Piece(cells[:1], 0, [*cells[1:], *piece.rest])]

    @staticmethod
    def _collect(going: dict[Any, _Piece], deliver: Deliver) -> None:
        with contextlib.suppress(TimeoutError):
            _distributed().wait(list(going), timeout=PATIENCE)
        for future, piece in list(going.items()):
            records = (future.result() if future.status == "finished" else None) or [
                failed(piece.cells[0], Status.INTERRUPTED, Status.INTERRUPTED.sentence)
            ]
            for record in records:
                deliver(record)
