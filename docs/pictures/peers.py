"""Draw training times of other packages divided by those of fwsvm, from the table that `make bench` writes."""

import pandas as pd
from drawing import BLUE, GREEN, GREY, NARROW, ORANGE, ROOT, new, save
from matplotlib.figure import Figure
from scipy.stats import gmean

LOOKS = {
    ("SVC", 1): (BLUE, "o"),
    ("scikit-learn-intelex", 1): (ORANGE, "s"),
    ("scikit-learn-intelex", 2): (GREEN, "D"),
}

runs = pd.read_csv(ROOT / "results" / "reference" / "bench" / "peers.csv")
seconds = runs.pivot(index=["data", "C"], columns=["package", "threads"], values="seconds")
seconds = seconds.reindex(pd.MultiIndex.from_frame(runs[["data", "C"]].drop_duplicates())).iloc[::-1]


def draw(narrow: bool) -> Figure:
    """Return the ratios of each data set, to fwsvm with as many threads where that was measured."""
    figure = new(NARROW if narrow else 7.2, 5.0 if narrow else 4.6)
    axes = figure.subplots()
    places = range(len(seconds))
    for (package, threads), (colour, marker) in LOOKS.items():
        if (package, threads) not in seconds:
            continue
        ours = threads if ("fwsvm", threads) in seconds else max(seconds["fwsvm"].columns)
        ratios = seconds[package, threads] / seconds["fwsvm", ours]
        label = f"{package}, {threads} / {ours} threads, mean {gmean(ratios.dropna()):.1f}"
        axes.scatter(ratios, places, s=30, color=colour, marker=marker, label=label, zorder=3)
    axes.axvline(1.0, color=GREY, linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20], ["0.5", "1" if narrow else "1 (as fast)", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set_yticks(places, [f"{data}, C = {C:g}" for data, C in seconds.index])
    axes.set_xlabel("training time / that of fwsvm")
    figure.legend(loc="outside upper center", fontsize=9 if narrow else 10, handletextpad=0.2)
    axes.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
    return figure


save(draw, __file__)
