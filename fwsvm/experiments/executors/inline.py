"""The executor that runs cells in this process, one after another."""

from collections.abc import Sequence

from fwsvm.experiments.execute import CellWatch, Resources, run_task
from fwsvm.experiments.executors import Deliver, Task


class Inline:
    """The executor without workers."""

    slots = 1

    def __init__(self, resources: Resources) -> None:
        self.resources = resources

    def run(self, tasks: Sequence[Task], deliver: Deliver, watch: CellWatch, *, at_once: int) -> None:  # noqa: ARG002
        """Run all tasks; see `Executor.run`."""
        for task in tasks:
            for record in run_task(task, self.resources, watch):
                deliver(record)

    def close(self) -> None:
        """Return: there is nothing to end."""
