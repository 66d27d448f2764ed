"""Methods over all data sets: how far each is behind the best, and the critical-difference diagram of Demsar (2006)."""

from fwsvm.analysis.comparisons import OverallComparison, comparable, compare_methods
from fwsvm.analysis.contests import contest
from fwsvm.analysis.figures.data import FigureData
from fwsvm.analysis.figures.style import INK, Drawing, panels, scale_axis, set_titles, style_of
from fwsvm.analysis.measures import measure
from fwsvm.analysis.names import short_name
from fwsvm.errors import ResultsError, listed

STEP = 0.32  # from one label to the next, in inches
BEHIND = {"time": "time over the shortest", "accuracy": "accuracy below the highest (points)"}


def draw_summary(data: FigureData) -> list[Drawing]:
    """Draw a dot for each method and problem, a panel each for time and accuracy; a stroke marks the mean."""
    contests = [found for name in BEHIND if (found := contest(data.cells, name)) is not None]
    methods = list(dict.fromkeys(str(method) for one in contests for method in one.behind))
    if data.measures or len(methods) < 2:
        return []
    figure, axes = panels(len(contests), height=0.32 * len(methods) + 0.8)
    labels = [style_of(method, methods)["label"] for method in methods]
    for panel, one in zip(axes, contests, strict=True):
        for place, method in enumerate(methods):
            if method in one.behind:
                style = style_of(method, methods) | {"linestyle": "none", "alpha": 0.75}
                behind = one.behind[method].dropna()
                panel.plot(behind, [float(place)] * len(behind), **style)
            if method in one.typical:
                panel.plot([one.typical[method]] * 2, [place - 0.35, place + 0.35], color=INK, linewidth=1.6)
        panel.set_yticks(range(len(methods)), labels)
        panel.set_ylim(len(methods) - 0.5, -0.5)
        if one.measure.name == "time":
            scale_axis(panel, "x", one.measure)
        set_titles(panel, "", BEHIND[one.measure.name], "")
    problems = max(len(one.behind) for one in contests)
    caption = (
        f"How far each method is behind the best, a dot for each problem ({problems}); strokes are means "
        "(geometric for times) over the problems that all methods finished in time."
    )
    return [Drawing("summary", caption, figure)]


def draw_ranks(data: FigureData) -> list[Drawing]:
    """Draw the diagram of each measure that three data sets or more have for three methods or more.

    A measure that compares with a baseline has none: it has the ranks of the one that it is made of.
    """
    cells = comparable(data.cells)
    methods = list(dict.fromkeys(map(str, cells["method"])))
    drawings = []
    for kind in data.kinds("accuracy", "time"):
        if len(methods) > 2 and not kind.derived and cells[kind.column].notna().any():
            try:
                compared = compare_methods(cells, methods, kind.name, alpha=data.alpha)
            except ResultsError:
                if data.measures:
                    raise
                continue  # not requested by name, and too few data sets have all methods
            if compared.friedman.n > 2:
                drawings.append(_diagram(compared))
    return drawings


def _diagram(compared: OverallComparison) -> Drawing:
    ranks, k, groups = compared.friedman.mean_ranks, compared.friedman.k, compared.groups
    order = sorted(range(k), key=lambda place: ranks[place])
    left, right = order[: (k + 1) // 2], order[(k + 1) // 2 :][::-1]
    depth = 0.25 + 0.14 * len(groups)
    figure, (panel,) = panels(1, width=5.6, height=STEP * len(left) + depth + 0.75)
    panel.set_axis_off()
    panel.set_xlim(1 - 0.3 * k, 1.3 * k)
    panel.set_ylim(-(depth + STEP * len(left)), 0.75)
    panel.hlines(0, 1, k, color=INK, linewidth=1)
    for rank in range(1, k + 1):
        panel.vlines(rank, 0, 0.08, color=INK, linewidth=1)
        panel.text(rank, 0.12, f"{rank}", ha="center", va="bottom", fontsize=8)
    difference = compared.difference
    panel.hlines(0.5, 1, 1 + difference, color=INK, linewidth=1.5)
    panel.text(1 + difference / 2, 0.56, f"CD = {difference:.2f}", ha="center", va="bottom", fontsize=8)
    for members, side, end in ((left, "right", 1 - 0.08 * k), (right, "left", 1.08 * k)):
        for line, place in enumerate(members):
            y, name = (
                -(depth + STEP * (line + 0.3)),
                style_of(compared.methods[place], [*compared.methods])["label"],
            )
            mean = float(ranks[place])
            panel.plot([mean, mean, end], [0, y, y], color="#777777", linewidth=0.8)
            text = f"{name}  {mean:.2f} " if side == "right" else f" {mean:.2f}  {name}"
            panel.text(end, y, text, va="center", ha=side, fontsize=8.5)
    for line, group in enumerate(groups):
        ends = ranks[group[0]] - 0.03, ranks[group[-1]] + 0.03
        panel.hlines(-0.12 - 0.14 * line, *ends, color=INK, linewidth=4)
    kind = measure(compared.measure)
    panel.set_title(kind.title, fontsize=9, color=INK, loc="left")
    left_out = listed(map(short_name, compared.left_out), most=12)
    caption = (
        f"Mean ranks in {kind.title} on {compared.friedman.n} data sets (1 is best); bars join methods "
        f"within the critical difference {difference:.3f} (Nemenyi, alpha {compared.alpha:g})"
        f"{left_out and f'; left out: {left_out}'}."
    )
    return Drawing(f"ranks-{compared.measure}", caption, figure)
