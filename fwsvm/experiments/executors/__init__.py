"""Where cells run: in this process, in worker processes of this machine, or on a Dask cluster.

All three are used alike: `Executor.run` takes tasks (cells that share kernel values) and delivers each record
to the caller as its run ends, so that there is one writer whatever runs where. A chain whose worker died begins again
from its beginning, so a record may come twice.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from fwsvm.experiments.execute import Record, Watch
from fwsvm.experiments.plan import Cell

Task = Sequence[Cell]
Deliver = Callable[[Record], None]


class Executor(Protocol):
    """Runs tasks."""

    @property
    def slots(self) -> int:
        """How many tasks can go on beside each other."""

    def run(self, tasks: Sequence[Task], deliver: Deliver, watch: Watch, *, at_once: int) -> None:
        """Run all tasks, at most ``at_once`` beside each other, and deliver every record.

        Threads and memory are shared out for so many, though there be fewer tasks: a run has the same, whatever is
        left to do beside it.

        Raises
        ------
        KeyboardInterrupt
            After the runs going on were asked to stop and their records, as far as they came, were delivered.
        Exception
            Whatever ``deliver`` raises, after the runs going on were stopped.
        """

    def close(self) -> None:
        """Give back what was taken."""
