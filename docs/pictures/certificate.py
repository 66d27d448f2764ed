"""Draw a run of swap-2o on wdbc: its objective from above, what its gap proves from below, and where they meet."""

import numpy as np
from drawing import BLUE, GREY, NARROW, ORANGE, new, save
from matplotlib.figure import Figure

import fwsvm

STEPS = [10, 20, 30, 40, 60, 80, 100, 130, 160, 200, 250, 300, 350, 400]
runs = [fwsvm.train("wdbc", method="swap-2o", threads=1, max_iterations=steps) for steps in STEPS]
end = fwsvm.train("wdbc", method="swap-2o", threads=1)
runs.append(end)
at = [run.iterations for run in runs]
above = np.array([run.objective for run in runs])
below = above - np.array([run.gap for run in runs])


def draw(narrow: bool) -> Figure:
    """Return both bounds over the steps."""
    figure = new(NARROW if narrow else 7.2, 3.9 if narrow else 3.4)
    axes = figure.subplots()
    axes.fill_between(at, below, above, color=GREY, alpha=0.25, linewidth=0)
    upper = "objective R" if narrow else "objective R: the optimum is not above it"
    lower = "R minus the gap" if narrow else "R minus the gap: the optimum is not below it"
    axes.plot(at, above, color=BLUE, marker="o", markersize=4, label=upper)
    axes.plot(at, below, color=ORANGE, marker="s", markersize=4, label=lower)
    axes.set_ylim(0, 3 * end.objective)
    axes.set_xlabel("steps of swap-2o on wdbc, C = 1")
    axes.set_ylabel("R")
    axes.annotate("stop: gap / R below 1e-3", (end.iterations, end.objective), (at[-6], 1.9 * end.objective),
                  arrowprops={"arrowstyle": "->", "color": GREY}, ha="center")  # fmt: skip
    axes.legend(loc="upper right")
    return figure


save(draw, __file__)
