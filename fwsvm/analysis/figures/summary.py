"""How far each method is behind the best, over all problems."""

from fwsvm.analysis.contests import contest
from fwsvm.analysis.figures.data import FigureData
from fwsvm.analysis.figures.style import INK, Drawing, panels, scale_axis, set_titles, style_of

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
