"""Draw the choice of a method as a few questions, with figures from the reference measurements."""

import pandas as pd
from drawing import BLUE, GREEN, GREY, NARROW, ORANGE, ROOT, new, save
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
    ("More rows than\nthe time allows?", "nested, or scs",
     "nested: the exact model of a sample;\nscs: an estimated gap", GREEN),
    ("Anything else", "auto, the default", "goes over to one\nof the three below", BLUE),
]  # fmt: skip
INSIDE = [
    ("few support vectors\namong many rows", "chunking",
     f"mushrooms: {ten.loc['mushrooms', 'svc_ratio']:.1f} times SVC"),
    ("large C", "newton", f"a5a, C = {large.C:,.0f}: {large.ratio:.0f} times swap-2o"),
    ("the rest", "swap-2o", f"letter: {ten.loc['letter', 'svc_ratio']:.1f} times SVC"),
]  # fmt: skip


def draw(narrow: bool) -> Figure:
    """Return the questions from top to bottom; what was measured stands beside the answer, or, narrow, below it."""
    return narrow_one() if narrow else wide_one()


def wide_one() -> Figure:
    """Return the questions with answers to their right."""
    axes, top = canvas(7.2, 5.4), 93
    for number, (question, method, measured, colour) in enumerate(QUESTIONS):
        y = top - 17 * number
        axes.text(14, y, question, ha="center", va="center", wrap=False)
        arrow(axes, (27, y), (36, y))
        boxed(axes, 50, y, method, colour)
        axes.text(66, y, measured, ha="left", va="center", fontsize=8.5)
        if number + 1 < len(QUESTIONS):
            arrow(axes, (14, y - 5.5), (14, y - 12.5), "no")
    for number, (when, method, measured) in enumerate(INSIDE):
        x = 17 + 33 * number
        arrow(axes, (50, 37), (x, 24), colour=BLUE)
        axes.text(x, 18, when, ha="center", va="center", fontsize=8.5)
        boxed(axes, x, 8.5, method, BLUE)
        axes.text(x, 0, measured, ha="center", va="center", fontsize=8.5)
    return axes.figure


def narrow_one() -> Figure:
    """Return the questions on the left, each with its answer and what was measured on the right."""
    axes, top = canvas(NARROW, 6.6), 95
    for number, (question, method, measured, colour) in enumerate(QUESTIONS):
        y = top - 15 * number
        axes.text(19, y, question, ha="center", va="center", fontsize=8.5)
        arrow(axes, (38, y + 1), (46, y + 1))
        boxed(axes, 76, y + 1, method, colour)
        axes.text(76, y - 6.5, measured, ha="center", va="center", fontsize=8)
        if number + 1 < len(QUESTIONS):
            arrow(axes, (19, y - 4), (19, y - 10.5), "no")
    for number, (when, method, measured) in enumerate(INSIDE):
        y = 27 - 13 * number
        axes.text(19, y, when, ha="center", va="center", fontsize=8.5)
        arrow(axes, (38, y), (58, y), colour=BLUE)
        boxed(axes, 76, y, method, BLUE)
        axes.text(76, y - 5.5, measured, ha="center", va="center", fontsize=8)
    arrow(axes, (76, 39), (76, 31.5), colour=BLUE)
    return axes.figure


def canvas(width: float, height: float) -> Axes:
    """Return axes without lines, of a hundred units each way."""
    axes = new(width, height).subplots()
    axes.set_axis_off()
    axes.set_xlim(0, 100)
    axes.set_ylim(-4, 100)
    return axes


def boxed(axes: Axes, x: float, y: float, method: str, colour: str) -> None:
    """Write a method in a box."""
    axes.text(x, y, method, ha="center", va="center", fontweight="bold",
              bbox={"boxstyle": "round,pad=0.4", "facecolor": "none", "edgecolor": colour, "lw": 1.4})  # fmt: skip


def arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], said: str = "", colour: str = GREY
) -> None:
    """Draw an arrow, with a word at its end."""
    axes.annotate(said, end, start, ha="center", va="center", fontsize=8.5,
                  arrowprops={"arrowstyle": "->", "color": colour})  # fmt: skip


save(draw, __file__)
