"""The executor that runs cells in this process, one after another."""

from collections.abc import Sequence

from fwsvm.experiments.execute import Resources, run_task
from fwsvm.experiments.executors import CellReporter, Deliver, Task
from fwsvm.experiments.plan import Cell
from fwsvm.phases import listening
from fwsvm.solvers.column_store import ColumnStore


class Inline:
    """The executor without workers."""

    slots = 1

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.columns = ColumnStore()  # of a search, whose memory the next task takes

    def run(self, tasks: Sequence[Task], deliver: Deliver, watch: CellReporter, *, at_once: int) -> None:  # noqa: ARG002
        """Run all tasks; see `Executor.run`."""
        for task in tasks:
            self._run_task(task, deliver, watch)

    def _run_task(self, task: Task, deliver: Deliver, watch: CellReporter) -> None:
        present, interrupted = task[0], False

        def start(cell: Cell) -> None:
            nonlocal present
            present = cell
            if interrupted:
                raise KeyboardInterrupt

        with listening(lambda phase: watch(present, phase)):
            for record in run_task(task, self.resources, watch, on_start=start, columns=self.columns):
                try:
                    deliver(record)
                except KeyboardInterrupt:  # the record is stored, and so are those that are made with it
                    interrupted = True
        if interrupted:
            raise KeyboardInterrupt

    def close(self) -> None:
        """Let go of the memory."""
        self.columns.release()
