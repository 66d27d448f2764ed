"""The critical-difference diagram of Demsar (2006): mean ranks on a line, bars over methods alike."""

from fwsvm.analysis.comparisons import OverallComparison, comparable, compare_methods
from fwsvm.analysis.figures.data import MOST_NAMED, FigureData, label_of, methods_of
from fwsvm.analysis.figures.registry import Asked, figure
from fwsvm.analysis.figures.style import INK, Drawing, panels, plain_label
from fwsvm.analysis.measures import measure
from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.errors import ResultsError, listed

STEP = 0.32  # from one label to the next, in inches


@figure("ranks", 6)
def draw(data: FigureData, asked: Asked) -> list[Drawing]:
    """Draw the diagram of each measure that three data sets or more have for three methods or more.

    A measure that compares with a baseline has none: it has the ranks of the one that it is made of.
    """
    cells = comparable(data.selected(data.cells))
    methods = methods_of(cells)
    drawings = []
    for name in asked.plain or ("accuracy", "time"):
        if len(methods) > 2 and not measure(name).derived and cells[measure(name).column].notna().any():
            try:
                compared = compare_methods(cells, methods, name, alpha=asked.alpha)
            except ResultsError:
                if asked.plain:
                    raise
                continue  # not requested by name, and too few data sets have all methods
            if compared.friedman.n > 2:
                drawings.append(_diagram(compared))
    return drawings


def _diagram(compared: OverallComparison) -> Drawing:
    k, ranks = len(compared.methods), compared.friedman.mean_ranks
    order = sorted(range(k), key=lambda i: ranks[i])
    left = order[: (k + 1) // 2]
    groups = compared.groups
    lines = max(len(left), k - len(left))
    depth = 0.25 + 0.14 * len(groups)
    figure, axes = panels(1, width=5.6, height=STEP * lines + depth + 0.75)
    panel = axes[0]
    panel.set_axis_off()
    panel.set_xlim(1 - 0.3 * k, k + 0.3 * k)
    panel.set_ylim(-(depth + STEP * lines), 0.75)
    panel.hlines(0, 1, k, color=INK, linewidth=1)
    for rank in range(1, k + 1):
        panel.vlines(rank, 0, 0.08, color=INK, linewidth=1)
        panel.text(rank, 0.12, f"{rank}", ha="center", va="bottom", fontsize=8)
    _critical_difference(panel, compared)
    for side, members in (("left", left), ("right", order[len(left) :][::-1])):
        for line, i in enumerate(members):
            _label(panel, compared.methods[i], float(ranks[i]), -(depth + STEP * (line + 0.3)), k, side)
    for line, group in enumerate(groups):
        y = -0.12 - 0.14 * line
        panel.hlines(y, ranks[group[0]] - 0.03, ranks[group[-1]] + 0.03, color=INK, linewidth=4)
    kind = measure(compared.measure)
    caption = (
        f"Mean ranks in {kind.title} on {compared.friedman.n} data sets (1 is best); bars join methods "
        f"within the critical difference {compared.difference:.3f} (Nemenyi, alpha "
        f"{compared.alpha:g})"
    )
    if compared.left_out:
        caption += f"; left out: {listed(map(label_of, compared.left_out), most=MOST_NAMED)}"
    panel.set_title(kind.title, fontsize=9, color=INK, loc="left")
    return Drawing(f"ranks-{compared.measure}", f"{caption}.", figure)


def _critical_difference(panel, compared: OverallComparison) -> None:  # type: ignore[no-untyped-def]
    cd = compared.difference
    panel.hlines(0.5, 1, 1 + cd, color=INK, linewidth=1.5)
    panel.vlines([1, 1 + cd], 0.45, 0.55, color=INK, linewidth=1.5)
    panel.text(1 + cd / 2, 0.56, f"CD = {cd:.2f}", ha="center", va="bottom", fontsize=8)


def _label(panel, method: str, rank: float, y: float, k: int, side: str) -> None:  # type: ignore[no-untyped-def]
    end = 1 - 0.08 * k if side == "left" else k + 0.08 * k
    panel.plot([rank, rank, end], [0, y, y], color="#777777", linewidth=0.8)
    text = (
        f"{METHOD_NAMES.get(method, plain_label(method))}  {rank:.2f}"
        if side == "left"
        else f"{rank:.2f}  {METHOD_NAMES.get(method, plain_label(method))}"
    )
    panel.text(end + (-0.03 if side == "left" else 0.03) * k / 3, y, text, va="center", fontsize=8.5,
               ha="right" if side == "left" else "left")  # fmt: skip
