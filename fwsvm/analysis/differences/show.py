"""A comparison of two results as a table."""

import math
from collections import Counter

from fwsvm.analysis.differences.evaluate import ALPHA, Comparison, Difference
from fwsvm.analysis.tables.model import Table, TableEntry, TableRow

HEADS = ("old", "new", "change", "pairs", "p", "r", "verdict")


def table(comparison: Comparison, measure: str, margin: float) -> Table:
    """Return the differences of one measure, a line for each data set and method."""
    found = [one for one in comparison.differences if one.measure == measure]
    depth = max((len(one.labels) for one in found), default=2)
    counts = Counter(one.verdict for one in found)
    counted = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("better", "same", "worse"))
    least = f"a factor of {margin:g}" if measure == "time" else f"{100 * margin:g} points"
    tested = sum(not math.isnan(one.p) for one in found)
    notes = [
        f"{counted}; a change below {least} counts as same",
        f"r: rank-biserial correlation of the pairs; p: signed-rank test of {tested} of {len(found)} lines, Holm",
        f"a change counts if p < {ALPHA:g}; in a line of too few pairs to be tested, by its size alone",
    ]
    title = (
        "test accuracy (%), new against old"
        if measure == "accuracy"
        else "training time (s), new against old"
    )
    rows = tuple(
        TableRow((*one.labels, *[""] * (depth - len(one.labels))), tuple(map(TableEntry, _texts(one))))
        for one in found
    )
    heads = ("data set", "method", "setting")[:depth]
    return Table(title, heads, HEADS, rows, tuple(notes), tuple(_record(one) for one in found))


def _texts(one: Difference) -> tuple[str, ...]:
    if one.measure == "accuracy":
        numbers = (f"{100 * one.old:.2f}", f"{100 * one.new:.2f}", f"{100 * one.effect:+.2f}")
    else:
        numbers = (f"{one.old:.3g}", f"{one.new:.3g}", f"x{one.effect:.3g}")
    p = "" if math.isnan(one.p) else f"{one.p:.3f}"
    return (*numbers, str(one.pairs), p, f"{one.rank_biserial:+.2f}", one.verdict)


def _record(one: Difference) -> dict[str, object]:
    labels = dict(zip(("dataset", "method", "setting"), one.labels, strict=False))
    return {**labels, "measure": one.measure, "old": one.old, "new": one.new, "effect": one.effect,
            "pairs": one.pairs, "p": one.p, "rank_biserial": one.rank_biserial, "verdict": one.verdict}  # fmt: skip
