"""Bars of a progress display on a terminal, by rich, which other commands do not wait for."""

import sys
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

WIDTH = 77  # columns of a line at most, so that ^C begins no other on a terminal of 80
LINES = 2  # of runs, and of the phase of one
WORDS = 25  # columns beside the bar


class Bars(Progress):
    """The bars, and the name of the present run below them."""

    run_name = ""

    def __init__(self) -> None:
        said = Column(width=WORDS, no_wrap=True, overflow="ellipsis")
        super().__init__(
            TextColumn("{task.description:<8}", markup=False),
            BarColumn(18, complete_style="cyan", finished_style="cyan"),
            TextColumn("{task.fields[said]}", markup=False, table_column=said),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=Console(stderr=True, highlight=False, emoji=False),
            transient=True,
            redirect_stdout=sys.stdout.isatty(),
        )
        for _ in range(LINES):
            self.add_task("", total=None, visible=False, said="")

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield what is shown."""
        yield from super().get_renderables()
        if self.run_name:
            name = Text(f"{'':9}{self.run_name}", no_wrap=True, end="")
            name.truncate(min(WIDTH, self.console.width), overflow="ellipsis")
            yield name

    def show(self, line: int, label: str, done: float | None, said: str) -> None:
        """Show a line's label, the part that is done (0 to 1, or None) and its words; a new label has a new clock."""
        task = self.tasks[line]
        if task.description != label:
            self.reset(task.id, total=None, description=label, visible=True)
        self.update(task.id, total=None if done is None else 1.0, completed=done or 0.0, said=said)
