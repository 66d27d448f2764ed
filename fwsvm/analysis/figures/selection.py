"""The parameter search: accuracy over C and sigma^2 (a curve if only one was searched), the choice marked."""

import numpy as np
import pandas as pd

from fwsvm.analysis.figures.data import FigureData, label_of
from fwsvm.analysis.figures.registry import Asked, figure
from fwsvm.analysis.figures.style import INK, Drawing, keep_within, panels, plain_label, set_titles, tick_text
from fwsvm.analysis.measures import measure, named
from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.analysis.results import DONE
from fwsvm.errors import ResultsError

MAX_GRID_POINTS = 10_000
#: Rows alike in these are of one search.
SEARCH = ["experiment", "profile", "dataset", "method"]


@figure("selection", 5)
def draw(data: FigureData, asked: Asked) -> list[Drawing]:  # noqa: ARG001
    """Draw one picture per experiment, profile, data set and method with ``role=select`` rows.

    Of a race these are the runs that decided, of candidates that ran on all folds, at the smallest tolerance; where a
    single one did, all candidates' first runs.
    """
    if data.runs.empty:
        return []
    runs = data.selected(data.runs)
    searched = runs[(runs["role"] == "select") & runs["status"].isin(DONE)]
    data.datasets_in(searched)
    drawings = []
    several = searched.groupby(SEARCH[2:])[SEARCH[:2]].transform("nunique") > 1
    for key, every in searched.groupby(SEARCH, sort=False):
        of = dict(zip(SEARCH, map(str, key), strict=True))
        table, first = _table(every, every["tolerance"].min()), ""
        if table.size < 2 and every["tolerance"].nunique() > 1:
            table, first = _table(every, every["tolerance"].max()), ", first runs of a race"
        if table.size < 2:
            continue
        same = (runs[SEARCH[:3]] == [of[name] for name in SEARCH[:3]]).all(axis=1)
        choice = _choice(runs[same & (runs["role"] == "final")], table)
        method = METHOD_NAMES.get(of["method"], plain_label(of["method"]))
        where = "".join(
            f", {name} {plain_label(named(of[name]))}"
            for name in SEARCH[:2]
            if several.loc[every.index[0], name]
        )
        name = f"{label_of(of['dataset'])}, searched with {method}{where}{first}"
        draw_one = _heat_map if min(table.shape) > 1 else _curve
        drawings.append(draw_one(f"selection-{of['dataset']}-{of['method']}", name, table, choice))
    return drawings


def _table(searched: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """Return the mean accuracies over width and C of the candidates that ran to the tolerance on most folds."""
    rows = searched[searched["tolerance"].isna() | (searched["tolerance"] == tolerance)]
    # a width derived from the rows differs a little from fold to fold: it was not searched
    width = rows["sigma2"].where(rows["width_rule"] == "", rows["sigma2"].median()).fillna(0)
    if (size := width.nunique() * rows["C"].nunique()) > MAX_GRID_POINTS:
        raise ResultsError(
            f"a search over {size:,} pairs of C and sigma², and at most {MAX_GRID_POINTS:,} are drawn; "
            "choose with --where COLUMN=VALUE"
        )
    rows = rows.assign(width=width)
    folds = rows.groupby(["width", "C"])["fold"].transform("nunique")
    complete = rows[folds == folds.max()]
    table = complete.pivot_table(index="width", columns="C", values="test_accuracy", dropna=False)
    found: pd.DataFrame = table.dropna(how="all").dropna(how="all", axis=1)
    return found


def _choice(final: pd.DataFrame, table: pd.DataFrame) -> tuple[float, float] | None:
    """Return (sigma^2, C) of the reported runs if they are a cell of the search."""
    for row in final.to_dict("records"):
        sigma2 = [s for s in table.index if len(table.index) == 1 or np.isclose(s, row["sigma2"])]
        C = [c for c in table.columns if np.isclose(c, row["C"])]
        if sigma2 and C:
            return float(sigma2[0]), float(C[0])
    return None


#: Words on cells of a heat map. Black and white themselves change with a page's colours, and the cells do not.
ON_DARK, ON_LIGHT = "#fefefe", "#111111"


def _heat_map(file: str, name: str, table: pd.DataFrame, choice: tuple[float, float] | None) -> Drawing:
    figure, axes = panels(1, width=0.42 * table.shape[1] + 2.2, height=0.36 * table.shape[0] + 1.2)
    panel = axes[0]
    panel.grid(visible=False)
    values = 100 * table.to_numpy(dtype=float)
    image = panel.imshow(values, cmap="cividis", aspect="auto", origin="lower")
    bar = figure.colorbar(image, ax=panel, pad=0.02)
    bar.set_label("accuracy (%)", fontsize=8, color=INK)
    bar.ax.tick_params(labelsize=7)
    panel.set_xticks(range(table.shape[1]), [tick_text(float(c)) for c in table.columns])
    panel.set_yticks(range(table.shape[0]), [tick_text(s) for s in table.index])
    middle = (np.nanmin(values) + np.nanmax(values)) / 2
    if values.size <= 150:
        for (i, j), value in np.ndenumerate(values):
            if not np.isnan(value):
                panel.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=6,
                           color=ON_DARK if value < middle else ON_LIGHT)  # fmt: skip
    said = ""
    if choice is not None:
        from matplotlib.patches import Rectangle

        i, j = int(np.argmax(table.index == choice[0])), int(np.argmax(table.columns == choice[1]))
        for colour, width in ((ON_DARK, 4.0), ("#D55E00", 2.2)):
            panel.add_patch(
                Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=colour, linewidth=width)
            )
        said = f"; the frame marks the choice, C = {choice[1]:g}, sigma² = {choice[0]:g}"
    set_titles(panel, name, "C", "sigma²")
    return Drawing(file, f"{name}: accuracy on held-out rows over C and sigma²{said}.", figure)


def _curve(file: str, name: str, table: pd.DataFrame, choice: tuple[float, float] | None) -> Drawing:
    figure, axes = panels(1)
    panel = axes[0]
    over_C = table.shape[0] == 1
    line = table.iloc[0] if over_C else table.iloc[:, 0]
    panel.plot(line.index, 100 * line, color=INK, marker="o", markersize=4, linewidth=1.2)
    said = ""
    if choice is not None:
        at = choice[1] if over_C else choice[0]
        panel.plot([at], [100 * line[at]], marker="o", markersize=11, markerfacecolor="none",
                   markeredgecolor="#D55E00", markeredgewidth=2)  # fmt: skip
        said = f"; the ring marks the choice, {'C' if over_C else 'sigma²'} = {at:g}"
    panel.set_xscale("log", base=2)
    keep_within(panel, "y", measure("accuracy"))
    set_titles(panel, name, "C" if over_C else "sigma²", "accuracy (%)")
    return Drawing(file, f"{name}: accuracy on held-out rows{said}.", figure)
