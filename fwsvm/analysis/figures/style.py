"""The style of all figures: colours safe for the colour-blind, markers and dashes that differ in grey print."""

import hashlib
import io
import math
import re
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.errors import ResultsError, UsageError, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fwsvm.analysis.measures import Measure

PICTURE_FORMATS = ("png", "svg", "pdf")
MAX_NAME_BYTES = 120  # bytes of a file's name; systems take 255, with the ending
MAX_LABEL = 40
MAX_INCHES = 200.0  # 30,000 pixels
#: Colour (Okabe and Ito), marker and dashes of the known methods; unknown ones take the spare styles in turn.
STYLES: dict[str, tuple[str, str, Any]] = {
    "cvm": ("#000000", "o", "-"),
    "fw": ("#E69F00", "s", (0, (5, 1.5))),
    "mfw": ("#0072B2", "^", (0, (3, 1, 1, 1))),
    "swap": ("#D55E00", "D", "-"),
    "swap-2o": ("#009E73", "v", (0, (1.2, 1))),
    "liblinear": ("#000000", "o", "-"),
    "avsf": ("#D55E00", "s", "-"),
    "wolfe": ("#000000", "o", "-"),
    "pegasos": ("#0072B2", "^", (0, (3, 1, 1, 1))),
    "scs": ("#D55E00", "D", "-"),
}
SPARE: tuple[tuple[str, str, Any], ...] = (
    ("#CC79A7", "P", "-"),
    ("#56B4E9", "X", (0, (5, 1.5))),
    ("#7F6000", "*", (0, (1.2, 1))),
    ("#555555", "h", (0, (3, 1, 1, 1))),
)
INK, GRID = "#222222", "#DDDDDD"


#: For lines of a figure, what is to be said of each of their points.
PointRows = dict[Any, list[dict[str, str]]]
#: What the captions of pictures with `hollow` markers end with.
HOLLOW_NOTE = "; hollow markers have runs cut short by a limit: a time there is a lower bound"
CUT_SHORT = "cut short by a limit"
BAND = 0.18


def hollow(panel: "Axes", x: Any, y: Any, style: dict[str, Any]) -> None:
    """Mark points, in their method's style, as those of runs that were cut short."""
    panel.plot(x, y, marker=style["marker"], linestyle="none", label=owned(style["label"]), markersize=6,
               markerfacecolor="white", markeredgecolor=style["color"], markeredgewidth=1.2)  # fmt: skip


def band(panel: "Axes", x: Any, low: Any, high: Any, style: dict[str, Any]) -> None:
    """Fill between two curves in a method's colour."""
    panel.fill_between(
        x, low, high, color=style["color"], alpha=BAND, linewidth=0, label=owned(style["label"])
    )


def owned(label: str) -> str:
    """Return the label of what belongs to the line of a label: it is in no legend, and hidden with the line."""
    return f"_{label}"


@dataclass(frozen=True)
class Drawing:
    """A finished picture: the name of its file, what it shows in a sentence, and the figure.

    ``rows`` has, for lines of the figure, what is to be said of each of their points (`fwsvm.analysis.figures.data`).
    """

    name: str
    caption: str
    figure: "Figure"
    rows: PointRows = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Make the name fit for files: a data set may be a path, or synthetic; take label's escapes off the caption."""
        name = re.sub(r"[^\w.-]+", "-", self.name).strip("-.")
        if len(name.encode()) > MAX_NAME_BYTES:
            digest = hashlib.sha256(name.encode()).hexdigest()[:8]
            name = f"{name.encode()[: MAX_NAME_BYTES - 9].decode(errors='ignore')}-{digest}"
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "caption", self.caption.replace(r"\$", "$"))

    def content(self, form: str) -> bytes:
        """Return the picture as a png, svg or pdf file; the same picture gives the same bytes."""
        matplotlib = require_matplotlib()
        stream = io.BytesIO()
        metadata: dict[str, Any] = {
            "png": {"Software": None},
            "svg": {"Date": None},
            "pdf": {"CreationDate": None},
        }[form]
        with matplotlib.rc_context({"svg.hashsalt": self.name, "pdf.fonttype": 42, "svg.fonttype": "none"}):
            self.figure.savefig(stream, format=form, dpi=150, metadata=metadata)
        return stream.getvalue()


def require_matplotlib() -> ModuleType:
    """Return matplotlib; without it UsageError says how to get it."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise UsageError("drawing needs matplotlib: pip install 'fwsvm[plots]'") from None
    return mpl


def panels(
    columns: int, rows: int = 1, *, width: float = 3.6, height: float = 3.0
) -> tuple["Figure", list["Axes"]]:
    """Return a figure with a row-major list of equal panels, with room for a legend at the top."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = width * columns, height * rows + 0.45
    if max(size) > MAX_INCHES:
        raise ResultsError(
            f"a picture of {size[0]:,.0f} x {size[1]:,.0f} inches, and at most {MAX_INCHES:g} are drawn; "
            "choose with --dataset NAME or --where COLUMN=VALUE"
        )
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes = [figure.add_subplot(rows, columns, place + 1) for place in range(rows * columns)]
    for panel in axes:
        panel.grid(visible=True, which="major", color=GRID, linewidth=0.6)
        panel.set_axisbelow(True)
        panel.tick_params(labelsize=8, colors=INK)
        panel.spines[["top", "right"]].set_visible(False)
    return figure, axes


def texts(drawing: Drawing) -> list[str]:
    """Return all that is written in a picture: caption, titles, labels of axes and ticks, legends."""
    from matplotlib.text import Text

    written = [text.get_text() for text in drawing.figure.findobj(Text) if isinstance(text, Text)]
    return [drawing.caption, *written]


def plain_label(text: str) -> str:
    """Return a name as a label: escaped for matplotlib's mathematics, visible in legends, shortened."""
    label = shortened(text, MAX_LABEL).replace("$", r"\$")
    return f" {label}" if label.startswith("_") else label  # what begins so is left out of legends


def footnote(figure: "Figure", *said: str) -> None:
    """Write sentences below the panels, in the picture itself, each on a line of its own below what stands there."""
    before = figure.get_supxlabel()
    lines = [*before.splitlines(), *filter(None, said)]
    if lines:
        figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=6, color=INK, wrap=True)


def style_of(method: str, among: list[str]) -> dict[str, Any]:
    """Return colour, marker, dashes and label of a method, the same in every picture of these methods.

    Unknown methods take the colours that are free in turn, then these with each other's markers: no two of sixteen
    are alike, and where no method is known no two of eighty.
    """
    unknown = [name for name in among if name not in STYLES]
    used = {STYLES[name][0] for name in among if name in STYLES}
    free: dict[str, tuple[str, str, Any]] = {}
    for style in (*SPARE, *STYLES.values()):
        if style[0] not in used:
            free.setdefault(style[0], style)
    spare = list(free.values())
    if method in STYLES:
        colour, marker, dashes = STYLES[method]
    else:
        turn, place = divmod(unknown.index(method), len(spare))
        colour, _, dashes = spare[place]
        marker = spare[(place + turn) % len(spare)][1]
    return {
        "color": colour,
        "marker": marker,
        "linestyle": dashes,
        "label": METHOD_NAMES.get(method, plain_label(method)),
        "markersize": 5,
        "linewidth": 1.4,
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
    }


#: First digits that a log axis of more decades than these labels, the fewest first.
LABELLED_DIGITS = ((2.4, (1,)), (0.6, (1, 2, 5)), (math.inf, tuple(range(1, 10))))
BARE = 0.45  # part of a log axis that may be without a label, if another choice has fewer such
LINES_OF_LEGEND = 4  # that a figure has room for as it is
LINE_OF_LEGEND = 0.18  # inches


def legend(figure: "Figure", axes: list["Axes"], *, cut_short: bool = False) -> None:
    """Put one legend for all panels above them, of what has a point; ``cut_short`` explains hollow markers in it."""
    entries: dict[str, Any] = {
        label: handle
        for panel in axes
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
        if _has_points(handle)
    }
    if entries and cut_short:
        from matplotlib.lines import Line2D

        entries[CUT_SHORT] = Line2D([], [], marker="o", linestyle="none", markersize=6,
                                    markerfacecolor="white", markeredgecolor=INK)  # fmt: skip
    if entries:
        longest = max(map(len, entries))  # a letter takes a fifteenth of an inch, a sample line half an inch
        room = max(1, int(figure.get_figwidth() / (0.55 + longest / 15)))
        columns = min(room, 6, len(entries))
        lines = -(-len(entries) // columns)
        figure.set_figheight(figure.get_figheight() + LINE_OF_LEGEND * max(0, lines - LINES_OF_LEGEND))
        figure.legend(
            list(entries.values()), list(entries), loc="outside upper center", ncols=columns,
            frameon=False, fontsize=8, handlelength=2.6,
        )  # fmt: skip


def _has_points(handle: Any) -> bool:
    """Return whether what a legend would name is drawn: lines without a finite point are not."""
    from matplotlib.lines import Line2D

    return not isinstance(handle, Line2D) or bool(
        np.isfinite(np.asarray(handle.get_ydata(), dtype=float)).any()
    )


def keep_within(panel: "Axes", which: Literal["x", "y"], kind: "Measure") -> None:
    """End the axis of accuracies at 0 and 100 %. Call it after drawing."""
    if kind.name != "accuracy":
        return
    low, high = sorted(panel.get_xlim() if which == "x" else panel.get_ylim())
    (panel.set_xlim if which == "x" else panel.set_ylim)(max(0.0, low), min(100.0, high))


def say_noise(panel: "Axes") -> None:
    """Write into a panel that what it shows of the methods is no difference."""
    panel.text(0.02, 0.02, "differences below the noise (one standard deviation)", transform=panel.transAxes,
               fontsize=6, color=INK)  # fmt: skip


def set_titles(panel: "Axes", title: str, x: str, y: str) -> None:
    """Set a panel's title and axis labels."""
    panel.set_title(title, fontsize=9, color=INK, loc="left")
    panel.set_xlabel(x, fontsize=8, color=INK)
    panel.set_ylabel(y, fontsize=8, color=INK)


def log_axis(panel: "Axes", which: Literal["x", "y"]) -> None:
    """Make an axis logarithmic, with at least two labels on it and none that overlap.

    Call it after drawing, lines across the panel included: they change what the axis spans.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    axis, least = (
        (panel.xaxis, panel.dataLim.minposx) if which == "x" else (panel.yaxis, panel.dataLim.minposy)
    )
    if not math.isfinite(least):  # no number on it is above zero
        return
    (panel.set_xscale if which == "x" else panel.set_yscale)("log")
    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high) - math.log10(low)
    axis.set_minor_formatter(NullFormatter())
    for widest, subs in LABELLED_DIGITS:
        axis.set_major_locator(LogLocator(subs=subs, numticks=12))
        labelled = [place for place in axis.get_majorticklocs() if low <= place <= high]
        bare = np.diff(np.log10([low, *labelled, high])).max() > BARE * decades
        if decades > widest and len(labelled) > 1 and not bare:
            break
    else:
        if bare:  # no two whole digits, or all at one end
            even = np.asarray(MaxNLocator(nbins=8, steps=[1, 2, 5, 10]).tick_values(low, high))
            axis.set_major_locator(FixedLocator(even[even > 0].tolist()))
    plain = low > 5e-4 and high < 5e4
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if plain else _power(value)))


def tick_text(value: float) -> str:
    """Return a tick's label: a power of two or ten as a power, another number as it is."""
    for base in (10, 2):
        power = math.log(value, base) if value > 0 else 0.5
        if math.isclose(power, round(power), abs_tol=1e-9) and abs(round(power)) > (3 if base == 10 else 4):
            return f"${base}^{{{round(power)}}}$"
    return f"{value:.3g}"


def _power(value: float) -> str:
    """Return a number of a log axis as 10^7 or 2 x 10^7, set as mathematics."""
    exponent = math.floor(math.log10(value) + 1e-9)
    digit = f"{value / 10**exponent:.3g}"
    return f"$10^{{{exponent}}}$" if digit == "1" else f"${digit}\\times 10^{{{exponent}}}$"
