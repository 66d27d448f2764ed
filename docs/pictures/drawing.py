"""How the drawings of the documentation look, and how they are written.

Black is drawn as the colour of the text around; the other colours are told apart on
white and on black, and by people who do not see red or green. Text stays text.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, GREY = "#3b82c4", "#d9772b", "#2a9d78", "#8a8f98"
ROOT = Path(__file__).parents[2]
NARROW = 3.5
STYLE = {
    "font.family": "sans-serif", "font.sans-serif": ["Arial", "Helvetica", "DejaVu Sans"], "font.size": 10,
    "svg.fonttype": "none", "svg.hashsalt": "fwsvm", "axes.spines.top": False, "axes.spines.right": False,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "legend.frameon": False,
}  # fmt: skip


#: What a drawing looks like by itself, outside a page that has colours; `docs/_extensions/pictures.py` takes it out.
ALONE = (
    '<style id="alone">svg { color: #1a1a1a } text { fill: currentColor } '
    "@media (prefers-color-scheme: dark) { svg { color: #d8d8d8 } }</style>"
)


def new(width: float = 7.2, height: float = 3.6) -> Figure:
    """Return an empty figure of so many inches."""
    mpl.rcParams.update(STYLE)
    return Figure(figsize=(width, height), layout="constrained")


def save(draw: Callable[[bool], Figure], script: str) -> None:
    """Write a drawing, and a narrow one for telephones, beside their script or where the command line says.

    ``draw`` is told whether the drawing is to be narrow: `NARROW` inches, which a window of 360 pixels has room for.
    """
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    beside = Path(script).with_suffix(".svg")
    parser.add_argument(
        "--out", type=Path, default=beside, help="file to write [default: beside this script]"
    )
    out = parser.parse_args().out
    _write(draw(False), out)
    _write(draw(True), out.with_stem(f"{out.stem}-narrow"))


def _write(figure: Figure, out: Path) -> None:
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    drawn = (
        out.read_text("utf-8")
        .replace("#000000", "currentColor")
        .replace("</metadata>", f"</metadata>\n {ALONE}", 1)
    )
    lines = (line.rstrip() for line in drawn.splitlines())
    out.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
