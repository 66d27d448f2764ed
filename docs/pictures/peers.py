"""Draw how much faster fwsvm is, as shipped, than scikit-learn's SVC and scikit-learn-intelex, from measurements."""

import pandas as pd
from drawing import BLUE, GREY, NARROW, ORANGE, ROOT, new, save
from matplotlib.figure import Figure
from scipy.stats import gmean

runs = (
    pd.read_csv(ROOT / "results" / "reference" / "bench" / "training-as-shipped.csv")
    .dropna(subset="C")
    .iloc[::-1]
)


def draw(narrow: bool) -> Figure:
    """Return the ratios of each set."""
    figure = new(NARROW if narrow else 7.2, 4.8 if narrow else 4.4)
    axes = figure.subplots()
    places = range(len(runs))
    for column, name, colour, marker in (
        ("svc_ratio", "SVC", BLUE, "o"),
        ("intelex_ratio", "scikit-learn-intelex", ORANGE, "s"),
    ):
        mean = gmean(runs[column])
        label = f"{name}, mean {mean:.2f}"
        axes.scatter(runs[column], places, s=36, color=colour, marker=marker, label=label, zorder=3)
        axes.axvline(mean, color=colour, linewidth=1, linestyle=":")
    axes.axvline(1.0, color=GREY, linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks([1, 2, 5, 10, 20], ["1" if narrow else "1 (as fast)", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set_yticks(places, [f"{row.set}, C = {row.C:g}" for row in runs.itertuples()])
    axes.set_xlabel("their seconds / ours" if narrow else "their seconds / seconds of fwsvm")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=1 if narrow else 2)
    axes.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
    return figure


save(draw, __file__)
