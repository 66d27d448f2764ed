"""The parameter search: accuracy over C and sigma^2 with the choice marked."""

import numpy as np
import pandas as pd

from fwsvm.analysis.figures.data import FigureData, labels_of
from fwsvm.analysis.figures.style import (
    INK,
    Drawing,
    panels,
    plain_label,
    set_titles,
    style_of,
    tick_text,
)
from fwsvm.analysis.measures import named
from fwsvm.analysis.results import DONE

#: Rows alike in these are of one search.
SEARCH = ["dataset", "method", "experiment", "profile"]
MARK = "#D55E00"
MAX_WRITTEN = 150  # cells of a heat map with their number


def draw_selection(data: FigureData) -> list[Drawing]:
    """Draw one picture per experiment, profile, data set and method with ``role=select`` rows.

    Of a race these are the runs that decided, of candidates that ran on all folds, at the smallest tolerance.
    """
    if data.runs.empty:
        return []
    runs = data.selected(data.runs)
    searched = runs[(runs["role"] == "select") & runs["status"].isin(DONE)]
    labels = labels_of(searched)
    several = searched.groupby(SEARCH[:2])[SEARCH[2:]].nunique().gt(1).any()
    drawings = []
    for key, every in searched.groupby(SEARCH, sort=False):
        dataset, method, *of = map(str, key)
        table = _accuracies(every)
        if table.size > 1:
            here = (runs[["dataset", *SEARCH[2:]]] == [dataset, *of]).all(axis=1) & (runs["role"] == "final")
            where = "".join(
                f", {name} {plain_label(named(value))}"
                for name, value in zip(SEARCH[2:], of, strict=True)
                if several[name]
            )
            name = f"{labels[dataset]}, searched with {style_of(method, [method])['label']}{where}"
            drawings.append(
                _heat_map(f"selection-{dataset}-{method}", name, table, _choice(runs[here], table))
            )
    return drawings


def _accuracies(searched: pd.DataFrame) -> pd.DataFrame:
    """Return the mean accuracies over width and C of the candidates that ran to the tolerance on most folds."""
    rows = searched[searched["tolerance"].isna() | (searched["tolerance"] == searched["tolerance"].min())]
    # a width derived from the rows differs a little from fold to fold: it was not searched
    width = rows["sigma2"].where(rows["width_rule"] == "", rows["sigma2"].median()).fillna(0)
    rows = rows.assign(width=width)
    folds = rows.groupby(["width", "C"])["fold"].transform("nunique")
    whole = rows[folds == folds.max()]
    table: pd.DataFrame = whole.pivot_table(index="width", columns="C", values="test_accuracy")
    return table


def _choice(final: pd.DataFrame, table: pd.DataFrame) -> tuple[float, float] | None:
    """Return (sigma^2, C) of the reported runs if they are a cell of the search."""
    for row in final.to_dict("records"):
        sigma2 = [s for s in table.index if len(table.index) == 1 or np.isclose(s, row["sigma2"])]
        C = [c for c in table.columns if np.isclose(c, row["C"])]
        if sigma2 and C:
            return float(sigma2[0]), float(C[0])
    return None


def _heat_map(file: str, name: str, table: pd.DataFrame, choice: tuple[float, float] | None) -> Drawing:
    from matplotlib.patches import Rectangle

    figure, (panel,) = panels(1, width=0.42 * table.shape[1] + 2.2, height=0.36 * table.shape[0] + 1.2)
    panel.grid(visible=False)
    values = 100 * table.to_numpy(dtype=float)
    image = panel.imshow(values, cmap="cividis", aspect="auto", origin="lower")
    bar = figure.colorbar(image, ax=panel, pad=0.02)
    bar.set_label("accuracy (%)", fontsize=8, color=INK)
    bar.ax.tick_params(labelsize=7)
    panel.set_xticks(range(table.shape[1]), [tick_text(float(c)) for c in table.columns])
    panel.set_yticks(range(table.shape[0]), [tick_text(float(s)) for s in table.index])
    middle = (np.nanmin(values) + np.nanmax(values)) / 2
    for (i, j), value in np.ndenumerate(values):
        if values.size <= MAX_WRITTEN and not np.isnan(value):
            colour = "white" if value < middle else "black"
            panel.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=6, color=colour)
    said = ""
    if choice is not None:
        i, j = [*table.index].index(choice[0]), [*table.columns].index(choice[1])
        panel.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=MARK, linewidth=2.5))
        said = f"; the frame marks the choice, C = {choice[1]:g}, sigma² = {choice[0]:g}"
    set_titles(panel, name, "C", "sigma²")
    return Drawing(file, f"{name}: accuracy on held-out rows over C and sigma²{said}.", figure)
