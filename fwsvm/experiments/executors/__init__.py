"""Executors: where chains run, in this process, in local worker processes, or on a Dask cluster.

`Executor.run` delivers each record to the caller when it is made, so one process writes all results. A chain whose
worker died starts again, so a record may be delivered twice.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import Record
from fwsvm.phases import Phase
from fwsvm.solvers.loop import Progress

Deliver = Callable[[Record], None]
CellReporter = Callable[[Cell, Progress | Phase], None]


class Executor(Protocol):
    """Runs chains."""

    @property
    def slots(self) -> int:
        """How many chains can run in parallel."""

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

    def close(self) -> None:
        """End worker processes and connections."""
