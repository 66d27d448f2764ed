"""What figures are drawn from, and the style of all.

Colours are safe for the colour-blind; markers and dashes differ in grey print.
"""

import io
import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from fwsvm.analysis.measures import MEASURES, Measure
from fwsvm.analysis.names import short_names
from fwsvm.analysis.published import in_order
from fwsvm.errors import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_LABEL = 40
SOLID, LONG, DASHED, DOTTED = "-", (0, (5, 1.5)), (0, (3, 1, 1, 1)), (0, (1.2, 1))
#: Colour (Okabe and Ito), marker and dashes of the known methods; unknown ones take the spare styles.
STYLES: dict[str, tuple[str, str, Any]] = {
    "cvm": ("#000000", "o", SOLID),
    "fw": ("#E69F00", "s", LONG),
    "mfw": ("#0072B2", "^", DASHED),
    "swap": ("#D55E00", "D", SOLID),
    "swap-2o": ("#009E73", "v", DOTTED),
    "liblinear": ("#000000", "o", SOLID),
    "avsf": ("#D55E00", "s", SOLID),
    "wolfe": ("#000000", "o", SOLID),
    "pegasos": ("#0072B2", "^", DASHED),
    "scs": ("#D55E00", "D", SOLID),
}
SPARE = (
    ("#CC79A7", "P", SOLID),
    ("#56B4E9", "X", LONG),
    ("#7F6000", "<", DOTTED),
    ("#555555", "h", DASHED),
    ("#882255", "p", LONG),
    ("#44AA99", "d", DOTTED),
)
INK = "#222222"
GRID = "#DDDDDD"
HOLLOW = "hollow: cut short by a limit, a time there is a lower bound"


#: Columns of traces and what they are called on an axis.
TRACED = {
    "objective": "objective",
    "suboptimality": "objective above the lowest of all runs",
    "gap": "duality gap",
    "support_vectors": "support vectors",
}


@dataclass(frozen=True)
class FigureData:
    """Cells and runs, and what a user asks of figures.

    Attributes
    ----------
    cells, runs : DataFrame
        ``runs`` (rows of runs.csv, with their folder) is empty for printed numbers.
    measures : tuple of str
        What to draw; empty means what each kind draws by default.
    against : {"seconds", "iteration"}
        What traces are drawn against.
    window : int
        The first and last so many iterations of traces; 0 means all.
    """

    cells: pd.DataFrame
    runs: pd.DataFrame = field(default_factory=pd.DataFrame)
    measures: tuple[str, ...] = ()
    against: Literal["seconds", "iteration"] = "seconds"
    window: int = 0

    def kinds(self, *default: str) -> list[Measure]:
        """Return the measures of cells that were asked for, or the default ones."""
        return [MEASURES[name] for name in self.measures or default if name in MEASURES]


class Drawing(NamedTuple):
    """A finished picture: the name of its file, what it shows in a sentence, and the figure."""

    name: str
    caption: str
    figure: "Figure"

    def content(self, form: str) -> bytes:
        """Return the picture as a png, svg or pdf file; the same picture gives the same bytes."""
        from matplotlib import rc_context

        stream = io.BytesIO()
        unstable = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[form]
        with rc_context({"svg.hashsalt": self.name, "pdf.fonttype": 42, "svg.fonttype": "none"}):
            self.figure.savefig(stream, format=form, dpi=150, metadata={unstable: None})
        return stream.getvalue()


def panels(
    count: int, rows: int = 1, *, width: float = 3.6, height: float = 3.0
) -> tuple["Figure", list["Axes"]]:
    """Return a figure with so many equal panels, row by row, with room for a legend at the top."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = math.ceil(count / rows)
    figure = Figure(figsize=(width * columns, height * rows + 0.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = [figure.add_subplot(rows, columns, place + 1) for place in range(count)]
    for panel in axes:
        panel.grid(visible=True, which="major", color=GRID, linewidth=0.6)
        panel.set_axisbelow(True)
        panel.tick_params(labelsize=8, colors=INK)
        panel.spines[["top", "right"]].set_visible(False)
    return figure, axes


def plain_label(text: str) -> str:
    """Return a name as a label: shortened, and escaped for matplotlib's mathematics."""
    return shortened(text, MAX_LABEL).replace("$", r"\$")


def labels_of(cells: pd.DataFrame) -> dict[str, str]:
    """Return the labels of data sets that stand in one picture, in the papers' order, no two alike."""
    return {dataset: plain_label(name) for dataset, name in short_names(in_order(cells["dataset"])).items()}


def footnote(figure: "Figure", *said: str) -> None:
    """Write sentences below the panels, each on a line of its own."""
    if said:
        figure.supxlabel("\n".join(said), x=0.01, ha="left", fontsize=6, color=INK, wrap=True)


def style_of(method: str, among: list[str]) -> dict[str, Any]:
    """Return colour, marker, dashes and label of a method, the same in every picture of these methods.

    Unknown methods, and those whose colour another one of ``among`` has, take the spare styles in turn.
    """
    spare = itertools.cycle(SPARE)
    styles = dict[str, tuple[str, str, Any]]()
    for name in among:
        known = STYLES.get(name)
        free = known is not None and known[0] not in {colour for colour, *_ in styles.values()}
        styles[name] = STYLES[name] if free else next(spare)
    colour, marker, dashes = styles[method]
    return {
        "color": colour,
        "marker": marker,
        "linestyle": dashes,
        "markersize": 5,
        "linewidth": 1.4,
        "label": plain_label(method),
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
    }


def legend(figure: "Figure", axes: list["Axes"]) -> None:
    """Put one legend for all panels above them."""
    entries = {
        label: handle
        for panel in axes
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    if entries:
        # a letter takes a fifteenth of an inch, a sample line half an inch
        columns = max(1, int(figure.get_figwidth() / (0.55 + max(map(len, entries)) / 15)))
        figure.set_figheight(figure.get_figheight() + 0.18 * math.ceil(len(entries) / columns))
        figure.legend(
            [*entries.values()],
            [*entries],
            loc="outside upper center",
            ncols=columns,
            frameon=False,
            fontsize=8,
            handlelength=2.6,
        )


def set_titles(panel: "Axes", title: str, x: str, y: str) -> None:
    """Set a panel's title and axis labels."""
    panel.set_title(title, fontsize=9, color=INK, loc="left")
    panel.set_xlabel(x, fontsize=8, color=INK)
    panel.set_ylabel(y, fontsize=8, color=INK)


def scale_axis(panel: "Axes", which: Literal["x", "y"], kind: Measure) -> None:
    """Make a measure's axis logarithmic, or end it at 0 and 100 % for accuracies. Call it after drawing."""
    if kind.decimals is None:
        log_axis(panel, which)
    elif kind.name == "accuracy":
        low, high = sorted(getattr(panel, f"get_{which}lim")())
        panel.set(**{f"{which}lim": (max(0.0, low), min(100.0, high))})


def log_axis(panel: "Axes", which: Literal["x", "y"]) -> None:
    """Make an axis logarithmic, with two to eight labels; call it after drawing."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    axis = getattr(panel, f"{which}axis")
    least = getattr(panel.dataLim, f"minpos{which}")
    if math.isfinite(least):
        panel.set(**{f"{which}scale": "log"})
        low, high = sorted(axis.get_view_interval())
        digits = (1.0,) if high > 300 * low else (1.0, 2.0, 5.0)
        narrow = high < 5 * low
        axis.set_major_locator(MaxNLocator(6) if narrow else LogLocator(subs=digits, numticks=8))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter("{x:g}")
