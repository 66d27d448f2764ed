"""003's Tables 5, 6 and 7 from results of our own, each beside what the paper prints."""

import math
from collections.abc import Callable

from fwsvm.analysis import published
from fwsvm.analysis.comparisons.against_003 import statistic
from fwsvm.analysis.comparisons.evaluate import Evaluation
from fwsvm.analysis.comparisons.show import LEVELS, probability
from fwsvm.analysis.tables.layouts import HEADS
from fwsvm.analysis.tables.model import Entry, Row, Table

#: Columns of the printed tables: head here, test, and the ending of the printed column's name.
COLUMNS = (
    ("FW vs CVM", "FW vs CVM", "FW_vs_CVM"),
    ("MFW vs CVM", "MFW vs CVM", "MFW_vs_CVM"),
    ("FW vs MFW", "FW vs MFW", "FW_vs_MFW"),
)
FRIEDMAN = ("all three", "Friedman")


def tables(evaluation: Evaluation) -> dict[str, Table]:
    """Return Tables 5, 6 and 7 by number, of an evaluation of 003's design."""
    return {
        "5": _numbers(evaluation, "statistic", "003-table5", "W", "F_FW_MFW_CVM",
                      "003, Table 5: W of Wilcoxon's signed-rank test, F of Friedman's", "{:g}".format),
        "6": _numbers(evaluation, "p", "003-table6", "p", "p_Friedman",
                      "003, Table 6: p-values", probability),
        "7": _conclusions(evaluation),
    }  # fmt: skip


def _numbers(
    evaluation: Evaluation,
    quantity: str,
    table: str,
    prefix: str,
    friedman: str,
    title: str,
    shown: Callable[[float], str],
) -> Table:
    """Return a table of statistics or p-values: a line of ours and a line of the paper's for each measure."""
    columns = [(head, test, f"{prefix}_{ending}") for head, test, ending in COLUMNS]
    columns.append((*FRIEDMAN, friedman))
    rows, tidy = [], []
    for printed in published.table(table).to_dict("records"):
        measure = str(printed["measure"])
        ours = [statistic(evaluation, measure.lower(), test, quantity) for _, test, _ in columns]
        paper = [str(printed[name]) for _, _, name in columns]
        rounded = [round(value, 4) if prefix == "W" else value for value in ours]
        rows.append(
            Row(
                (measure, "ours"),
                tuple(Entry("-" if math.isnan(value) else shown(value)) for value in rounded),
            )
        )
        rows.append(Row(("", "paper"), tuple(map(Entry, paper)), first=False))
        tidy += [
            {"measure": measure.lower(), "test": test, "quantity": quantity, "ours": value, "printed": there}
            for (_, test, _), value, there in zip(columns, ours, paper, strict=True)
        ]
    return Table(title, ("", ""), tuple(head for head, _, _ in columns), tuple(rows),
                 _coverage(evaluation), tuple(tidy))  # fmt: skip


def _conclusions(evaluation: Evaluation) -> Table:
    """Return which null hypotheses fall at which level, by our p-values and by the printed ones."""
    printed = {str(row["measure"]).lower(): row for row in published.table("003-table6").to_dict("records")}
    rows, tidy = [], []
    for tested in evaluation.tested:
        h = tested.hypothesis
        theirs = float(printed[h.measure][f"p_{HEADS[h.first]}_vs_{HEADS[h.second]}"])
        for who, p in (("ours", tested.p), ("paper", theirs)):
            entries = tuple(Entry("rejected" if p <= level else "stands") for level in LEVELS)
            labels = (h.measure, h.said(HEADS)) if who == "ours" else ("", "")
            rows.append(Row((*labels, who), entries, first=who == "ours"))
        tidy.append({"measure": h.measure, "first": h.first, "second": h.second,
                     "alternative": h.alternative, "ours": tested.p, "printed": theirs})  # fmt: skip
    notes = ("whether H0, no difference, is rejected in favour of what is said, at each level",)
    return Table("003, Table 7: conclusions", ("measure", "H1", ""), tuple(f"{level:g}" for level in LEVELS),
                 tuple(rows), (*notes, *_coverage(evaluation)), tuple(tidy))  # fmt: skip


def _coverage(evaluation: Evaluation) -> tuple[str, ...]:
    """Say on how many data sets ours rests, and which were left out for what reason."""
    notes = []
    for compared in evaluation.compared:
        left = [f"{published.title(name)} ({reason})" for name, reason in compared.left_out.items()]
        without = f"; without {', '.join(left)}" if left else ""
        notes.append(
            f"{compared.measure}: ours on {compared.friedman.n} data sets, the paper's on 26{without}"
        )
    return (*notes, *evaluation.lacking)
