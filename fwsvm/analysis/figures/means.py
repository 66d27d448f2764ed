"""A measure of cells: along a series of data sets, over the penalty C, on single data sets; how far behind the best.

Series are Figures 3 and 4 of Frandi et al. and 2 to 4 of Nanculef et al.; C is that of Figure 1 of Glasmachers and
Dogan, and of Figures 7 and 8 of Frandi et al.; single data sets are Figures 5 and 6 of Frandi et al. These are dots,
not bars: bars from zero hide differences between accuracies of 97 and 98, and have no meaning on a log axis.
"""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from fwsvm.analysis.cells import against_cvm, in_sweeps, setting_labels, unique_cells
from fwsvm.analysis.contests import behind_best
from fwsvm.analysis.figures.style import (
    DASHED,
    GRID,
    HOLLOW,
    INK,
    Drawing,
    FigureData,
    footnote,
    labels_of,
    legend,
    log_axis,
    panels,
    scale_axis,
    set_titles,
    style_of,
)
from fwsvm.analysis.measures import Measure, measure
from fwsvm.analysis.published import made_here, series, standing_in, title, unlike_published
from fwsvm.analysis.reported import SETTING
from fwsvm.errors import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SERIES = {"web": "Web", "adult": "Adult"}
COMPARED = ("accuracy", "time", "speedup", "size")
MAX_TICKS = 7
BEHIND = {"time": "time over the shortest", "accuracy": "accuracy below the highest (points)"}


def draw_series(data: FigureData) -> Iterator[Drawing]:
    """Yield each measure in one picture, a panel per series of which two data sets or more were measured."""
    cells = against_cvm(data.cells[~in_sweeps(data.cells)])
    for kind, said, here, known in _settings_apart(cells, data.kinds(*COMPARED)):
        parts = {name: known[known["dataset"].isin(of)] for name, of in _members(known).items()}
        if parts:
            sizes = here.groupby("dataset")["rows"].max().sort_values(kind="stable")
            labels = {str(dataset): f"{title(str(dataset))}\n{size:,.0f}" for dataset, size in sizes.items()}
            of_series = here[here["dataset"].isin([name for each in SERIES for name in series(each)])]
            what = f"against the number of training rows{said}"
            yield _picture("series", what, kind, parts, of_series, labels)


def _members(known: pd.DataFrame) -> dict[str, set[str]]:
    """Return the data sets of each series that has two or more, with stand-ins where a set is lacking."""
    measured = set(known["dataset"])
    places = {name: name for name in measured} | standing_in(measured)
    found = {
        label: {name for name, of in places.items() if of in series(each)} for each, label in SERIES.items()
    }
    return {label: names for label, names in found.items() if len(names) > 1}


def draw_sweeps(data: FigureData) -> Iterator[Drawing]:
    """Yield each measure over C in one picture, a panel per data set; dashed lines have the smaller tolerance."""
    lacking = data.cells[data.cells.groupby("dataset")["used"].transform("max") == 0]
    kinds = data.kinds("accuracy", "time", "steps")
    for kind, said, here, known in _settings_apart(
        data.cells[in_sweeps(data.cells)], kinds, "tolerance", "C"
    ):
        linear = here["method"].isin(["liblinear", "avsf"]).all()
        if linear or data.measures or kind.name != "steps":
            parts = {label: known[known["dataset"] == name] for name, label in labels_of(known).items()}
            what = f"against the penalty C{said}"
            yield _picture("sweep", what, kind, parts, pd.concat([known, lacking]))


def draw_datasets(data: FigureData) -> Iterator[Drawing]:
    """Yield each measure in one picture of the data sets that are in no series: these are down, values across."""
    cells = data.cells[~in_sweeps(data.cells)]
    drawn = [name for label in _members(cells[cells["used"] > 0]) for name in series(label.lower())]
    cells = cells[~cells["dataset"].replace(made_here()).isin(drawn)]
    for kind, said, here, known in _settings_apart(against_cvm(cells), data.kinds(*COMPARED)):
        what = f"on single data sets{said}"
        labels = labels_of(known)
        yield _picture("datasets", what, kind, {"": known}, here, labels, across=True)


def _settings_apart(
    cells: pd.DataFrame, kinds: list[Measure], *within: str
) -> Iterator[tuple[Measure, str, pd.DataFrame, pd.DataFrame]]:
    """Yield each measure, cells with one for each data set and method, and those of them that have a value.

    The settings that set the cells apart come second, in words. Settings ``within`` a picture are its own business, as
    are C and lambda, which belong to the data set.
    """
    names = [name for name in SETTING if name not in {"dataset", "method", "kernel", "C", "lambda", *within}]
    for kernel, of_kernel in cells.groupby("kernel", sort=False):
        labels = setting_labels(of_kernel, names, ["dataset", "method"])
        for said, here in of_kernel.groupby(labels, sort=False):
            words = [f"{kernel} kernel"] * (cells["kernel"].nunique() > 1) + [str(said)] * bool(said)
            alone = unique_cells(here, ["dataset", "method", *within])
            for kind in kinds:
                if kind.column in alone and alone[kind.column].notna().any():
                    known = alone.dropna(subset=kind.column)
                    yield kind, "".join(f", {word}" for word in words), alone, known


def _picture(
    name: str,
    what: str,
    kind: Measure,
    parts: Mapping[str, pd.DataFrame],
    cells: pd.DataFrame,
    labels: Mapping[str, str] | None = None,
    *,
    across: bool = False,
) -> Drawing:
    """Draw means with whiskers of one standard deviation, a panel for each part.

    Places on the axis are data sets with their ``labels``, or values of C; ``across`` puts values on the x axis. Of
    ``cells`` the data sets without a number are named in a note.
    """
    known = pd.concat(parts.values())
    methods = [m for m in dict.fromkeys(known["method"]) if (kind.name, m) != ("speedup", "cvm")]
    several = not labels and known["tolerance"].nunique() > 1
    height = (0.12 + 0.09 * len(methods)) * known["dataset"].nunique() + 0.45 if across else 3.0
    figure, axes = panels(len(parts), math.ceil(len(parts) / 3), width=5.4 if across else 3.6, height=height)
    for panel, (label, points) in zip(axes, parts.items(), strict=True):
        if labels:
            order = [dataset for dataset in labels if dataset in set(points["dataset"])]
            ticks: dict[Any, str] = dict(enumerate(labels[dataset] for dataset in order))
            places = points["dataset"].map(order.index)
        else:
            values = sorted(points["C"].unique())
            ticks = {C: f"{C:g}" for C in values[:: math.ceil(len(values) / MAX_TICKS)]}
            places = points["C"]
        for number, method in enumerate(methods):
            shift = 0.8 * (number - (len(methods) - 1) / 2) / len(methods) if across else 0.0
            mine = points.loc[places[points["method"] == method].sort_values(kind="stable").index]
            for tolerance, line in mine.groupby(mine["tolerance"] if several else "method", sort=False):
                style = style_of(method, methods)
                if several:
                    style["label"] += f", tolerance {tolerance:g}"
                    style["linestyle"] = (
                        DASHED if tolerance < known["tolerance"].max() else style["linestyle"]
                    )
                _draw_means(panel, line, kind, places[line.index] + shift, style, across=across)
        head = "training rows m" if labels else "C"
        if across:
            panel.grid(visible=False, axis="y")
            for line in range(len(ticks) - 1):
                panel.axhline(line + 0.5, color=GRID, linewidth=0.6)
            panel.set_yticks([*ticks], [*ticks.values()])
            panel.set_ylim(len(ticks) - 0.5, -0.5)
        else:
            if not labels:
                log_axis(panel, "x")
            panel.set_xticks([*ticks], [*ticks.values()], fontsize=6)
        if kind.name == "speedup":
            (panel.axvline if across else panel.axhline)(1, color=INK, linewidth=0.8)
        scale_axis(panel, "x" if across else "y", kind)
        set_titles(panel, label, kind.title if across else head, "" if across else kind.title)
    legend(figure, axes)
    notes = _notes(cells, known, kind)
    footnote(figure, *notes)
    caption = "; ".join([f"{kind.title} {what}", *notes])
    return Drawing(f"{name}-{kind.name}", f"{caption}.", figure)


def _draw_means(
    panel: "Axes",
    cells: pd.DataFrame,
    kind: Measure,
    place: "pd.Series[float]",
    style: dict[str, Any],
    *,
    across: bool,
) -> None:
    """Draw one method's means with their deviations, those of runs that were cut short hollow."""
    values, spread = (cells[name].fillna(0) * kind.factor for name in (kind.column, f"{kind.column}_sd"))
    x, y = (values, place) if across else (place, values)
    error: dict[str, Any] = {"xerr" if across else "yerr": spread}
    cut = _cut_short(cells, kind)
    look = {"linestyle": "none"} if across else {}
    white = {
        "linestyle": "none",
        "label": "_hollow",
        "markerfacecolor": "white",
        "markeredgecolor": style["color"],
    }
    panel.errorbar(x, y, **error, fmt="none", ecolor=style["color"], elinewidth=1)
    panel.plot(x, y, **style | look)
    panel.plot(x[cut], y[cut], **style | white | {"markersize": 6, "markeredgewidth": 1.2})


def _cut_short(cells: pd.DataFrame, kind: Measure) -> "pd.Series[bool]":
    """Return which cells are drawn hollow: of speed-ups also those where CVM was cut short."""
    return cells["cut_short" if "cut_short" in cells and not kind.derived else "censored"].astype(bool)


def _notes(cells: pd.DataFrame, known: pd.DataFrame, kind: Measure) -> list[str]:
    """Return what is to be said below a picture of the ``known`` ones of these cells."""
    said = ["whiskers: one standard deviation"] * bool(known[f"{kind.column}_sd"].gt(0).any())
    said += [HOLLOW] * bool(_cut_short(known, kind).any())
    measured = set(known["dataset"])
    replaced = {*measured, *standing_in(measured).values()}
    lacking = [label for name, label in labels_of(cells).items() if name not in replaced]
    said += [f"no number for {listed(lacking, most=12)}"] * bool(lacking)
    return said + unlike_published(known)


def draw_summary(data: FigureData) -> Iterator[Drawing]:
    """Yield a picture with a dot for each method and problem, a panel for time and one for accuracy."""
    measures = [(measure(name), behind_best(data.cells, name)) for name in BEHIND]
    methods = list(dict.fromkeys(str(method) for _, behind in measures for method in behind))
    if data.measures or len(methods) < 2:
        return
    parts = [(kind, behind.reindex(columns=methods)) for kind, behind in measures if len(behind)]
    figure, axes = panels(len(parts), height=0.32 * len(methods) + 0.8)
    styles = [style_of(method, methods) | {"linestyle": "none", "alpha": 0.75} for method in methods]
    for panel, (kind, behind) in zip(axes, parts, strict=True):
        medians = behind.median()
        for place, (method, style) in enumerate(zip(methods, styles, strict=True)):
            panel.plot(behind[method], [place] * len(behind), **style)
            panel.plot([medians[method]] * 2, [place - 0.35, place + 0.35], color=INK, linewidth=1.6)
        panel.set_yticks(range(len(methods)), [style["label"] for style in styles])
        panel.set_ylim(len(methods) - 0.5, -0.5)
        if kind.name == "time":
            scale_axis(panel, "x", kind)
        set_titles(panel, "", BEHIND[kind.name], "")
    problems = max(len(behind) for _, behind in parts)
    caption = (
        f"How far each method is behind the best, a dot for each problem ({problems}); strokes are medians."
    )
    yield Drawing("summary", caption, figure)
