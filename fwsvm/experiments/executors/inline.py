"""The executor that runs chains in this process, one after another."""

from collections.abc import Sequence

from fwsvm.experiments.executors import CellReporter, Deliver
from fwsvm.experiments.plan import Cell, Chain
from fwsvm.experiments.run import Resources, run_cells
from fwsvm.phases import listening
from fwsvm.solvers.column_store import ColumnStore


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
