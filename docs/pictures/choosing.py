"""Draw the choice of a method as a few questions, with figures from the reference measurements."""

import pandas as pd
from drawing import BLUE, GREEN, GREY, ORANGE, ROOT, new, save

BENCH = ROOT / "results" / "reference" / "bench"
large = pd.read_csv(BENCH / "large-c.csv").iloc[-1]
ten = pd.read_csv(BENCH / "training-ten-sets.csv").set_index("set")
gap = pd.read_csv(BENCH / "linear-gap-text.csv")
news = gap[gap.set == "news20"][["linear_svc_seconds", "avsf_seconds"]].astype(float).sum()

QUESTIONS = [  # question, what follows, how the answer was measured, colour
    ("Do you want the\npublished method itself?", "fw, mfw, cvm, swap\nwith --protocol paper",
     "the papers' tables:\nsee Gallery", GREY),
    ("Text, or more\nfeatures than rows?", "avsf, the linear kernel",
     f"news20, C = 0.01 to 1000:\n{news.linear_svc_seconds / news.avsf_seconds:.0f} times LinearSVC", ORANGE),
    ("Rows that do not\nfit into memory?", "scs by train_blocks",
     "3,500,000 x 28 rows: 7 s of training,\n305 MiB of memory", GREEN),
    ("Anything else", "auto, the default", "goes over to one\nof the three below", BLUE),
]  # fmt: skip
INSIDE = [
    ("few support vectors\namong many rows", "chunking",
     f"mushrooms: {ten.loc['mushrooms', 'svc_ratio']:.1f} times SVC"),
    ("large C", "newton", f"a5a, C = {large.C:,.0f}: {large.ratio:.0f} times swap-2o"),
    ("the rest", "swap-2o", f"letter: {ten.loc['letter', 'svc_ratio']:.1f} times SVC"),
]  # fmt: skip

figure = new(7.2, 5.4)
axes = figure.subplots()
axes.set_axis_off()
axes.set_xlim(0, 100)
axes.set_ylim(-4, 100)
top = 93
for number, (question, method, measured, colour) in enumerate(QUESTIONS):
    y = top - 17 * number
    axes.text(14, y, question, ha="center", va="center", wrap=False)
    axes.annotate("", (36, y), (27, y), arrowprops={"arrowstyle": "->", "color": GREY})
    axes.text(50, y, method, ha="center", va="center", fontweight="bold",
              bbox={"boxstyle": "round,pad=0.5", "facecolor": "none", "edgecolor": colour, "lw": 1.6})  # fmt: skip
    axes.text(66, y, measured, ha="left", va="center", fontsize=8.5)
    if number + 1 < len(QUESTIONS):
        axes.annotate("no", (14, y - 12.5), (14, y - 5.5), ha="center", va="center", fontsize=8.5,
                      arrowprops={"arrowstyle": "->", "color": GREY})  # fmt: skip
for number, (when, method, measured) in enumerate(INSIDE):
    x = 17 + 33 * number
    axes.annotate("", (x, 24), (50, 37), arrowprops={"arrowstyle": "->", "color": BLUE})
    axes.text(x, 18, when, ha="center", va="center", fontsize=8.5)
    axes.text(x, 8.5, method, ha="center", va="center", fontweight="bold",
              bbox={"boxstyle": "round,pad=0.4", "facecolor": "none", "edgecolor": BLUE})  # fmt: skip
    axes.text(x, 0, measured, ha="center", va="center", fontsize=8.5)
save(figure, __file__)
