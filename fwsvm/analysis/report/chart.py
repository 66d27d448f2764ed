"""The numbers of a matplotlib figure: curves, bands and ticks, from which the page draws it anew, to be zoomed.

What is read back is what `fwsvm.analysis.figures` and plug-ins draw with: lines with or without markers, filled bands,
whiskers, straight lines across a panel. A figure with anything else (images, texts) has none, and stays a picture.
"""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fwsvm.analysis.figures import Drawing
from fwsvm.analysis.figures.style import SPARE, STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D

MARKERS = {"o": "circle", "s": "square", "^": "triangle", "v": "inverted_triangle", "D": "diamond", "P": "plus",
           "*": "star", "h": "hex", "X": "x"}  # fmt: skip
DASHES = {
    colour: [5 * d for d in dashes[1]] for colour, _, dashes in (*STYLES.values(), *SPARE) if dashes != "-"
}
DASHED = [6, 3]
PIXELS = 4 / 3  # of a point


def chart(drawing: Drawing) -> dict[str, Any] | None:
    """Return a figure as numbers for JSON, or None if it has parts that are not known here."""
    axes = [panel for panel in drawing.figure.axes if panel.get_visible()]
    if not axes or not all(map(_known, axes)):
        return None
    return {"caption": drawing.caption, "panels": [_panel(panel, drawing.rows) for panel in axes]}


def _known(panel: "Axes") -> bool:
    """Return whether a panel has axes, curves, and only what `_panel` reads."""
    from matplotlib.collections import LineCollection, PolyCollection

    plain = panel.axison and panel.lines and not (panel.images or panel.patches or panel.texts)
    return bool(plain) and all(isinstance(c, LineCollection | PolyCollection) for c in panel.collections)


def _panel(panel: "Axes", rows: Mapping[Any, list[dict[str, str]]]) -> dict[str, Any]:
    curves, rules = [], []
    for line in panel.lines:
        if not line.get_visible():
            continue
        in_x, in_y = line.get_transform().contains_branch_seperately(panel.transData)
        if in_x and in_y:
            curves.append(_curve(line, rows.get(line)))
        else:
            along = line.get_ydata() if in_y else line.get_xdata()
            rules.append({"at": _number(np.ravel(along)[0]), "across": "x" if in_y else "y"})
    return {
        "title": _text(panel.get_title(loc="left")),
        "x": _axis(panel.xaxis, panel.get_xlabel(), panel.get_xlim()),
        "y": _axis(panel.yaxis, panel.get_ylabel(), panel.get_ylim()),
        "curves": [curve for curve in curves if curve["turns"][0] or curve["marks"][0]],
        "areas": _areas(panel),
        "rules": rules,
    }


def _curve(line: "Line2D", rows: list[dict[str, str]] | None) -> dict[str, Any]:
    from matplotlib.colors import to_hex

    colour = to_hex(line.get_color()).upper()
    style, marker = line.get_linestyle(), str(line.get_marker())
    every = line.get_markevery()
    points = np.column_stack(
        [np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)]
    )
    marks = points[::every] if isinstance(every, int) else points
    has_line = style not in {"None", ""}
    has_marks = marker not in {"None", "", " "}
    curve: dict[str, Any] = {
        "name": _name(line.get_label()),
        "colour": colour,
        "line": None if not has_line else [] if style == "-" else DASHES.get(colour, DASHED),
        "turns": [*map(_numbers, _corners(points).T)] if has_line else [[], []],
        "marker": MARKERS.get(marker, "circle") if has_marks else None,
        "marks": [*map(_numbers, marks.T)] if has_marks else [[], []],
        "hollow": to_hex(line.get_markerfacecolor()) == "#ffffff",
        "ring": round(PIXELS * line.get_markersize()) if line.get_markerfacecolor() == "none" else None,
    }
    if curve["hollow"] or curve["ring"]:
        curve["colour"] = to_hex(line.get_markeredgecolor()).upper()
    if rows is not None and len(rows) == len(marks):
        fields = list(dict.fromkeys(field for row in rows for field in row))
        curve |= {"fields": fields, "rows": [[row.get(field, "") for field in fields] for row in rows]}
    return curve


def _areas(panel: "Axes") -> list[dict[str, Any]]:
    """Return the filled bands, and whiskers as bands without a height, by their corners."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_hex

    areas = []
    for collection in panel.collections:
        line = isinstance(collection, LineCollection)
        colours = np.atleast_2d(collection.get_edgecolor() if line else collection.get_facecolor())
        if not colours.size:
            continue
        paths = [np.asarray(path.vertices, dtype=float) for path in collection.get_paths()]
        areas.append(
            {
                "name": _name(collection.get_label()),
                "colour": to_hex(tuple(colours[0])).upper(),
                "whiskers": line,
                "paths": [[*map(_numbers, _corners(path).T)] for path in paths if len(path)],
            }
        )
    return areas


def _corners(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the points (n, 2) of a path without those between two of the same height: traces are level for long."""
    if len(points) < 3:
        return points
    same = np.diff(points[:, 1]) == 0
    keep = np.ones(len(points), dtype=bool)
    keep[1:-1] = ~(same[:-1] & same[1:])
    corners: NDArray[np.float64] = points[keep]
    return corners


def _axis(axis: "Axis", label: str, limits: tuple[float, float]) -> dict[str, Any]:
    from matplotlib.ticker import FixedLocator

    ticks = None
    if isinstance(axis.get_major_locator(), FixedLocator):
        texts = [_text(tick.get_text()) for tick in axis.get_ticklabels()]
        ticks = [_numbers(axis.get_ticklocs()), texts]
    return {
        "label": _text(label),
        "log": axis.get_scale() == "log",
        "limits": _numbers(limits),
        "ticks": ticks,
    }


def _name(label: object) -> str:
    """Return the name that a curve or what belongs to it is hidden by; '' if it has none."""
    text = str(label)
    own = text.removeprefix("_")
    return "" if text.startswith("_child") else _text(own).strip()


def _text(text: str) -> str:
    return text.replace(r"\$", "$")


def _numbers(values: Iterable[Any]) -> list[float | None]:
    return [_number(value) for value in np.asarray(values, dtype=float)]


def _number(value: float) -> float | None:
    """Return a number of six digits, which is more than a screen shows; None for what JSON has no numeral for."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
