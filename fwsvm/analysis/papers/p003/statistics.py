"""Tables 5, 6 and 7 of 003: statistics, p-values and conclusions of its tests, printed and recomputed.

`tables` sets ours beside the printed ones. `recomputed_table` compares the printed ones with what the paper's own
Tables 2 and 3 give; where they differ, the variant that gives the printed number is computed, and its result stands in
the explanation.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.comparisons import Evaluation, evaluate
from fwsvm.analysis.comparisons.show import LEVELS, probability
from fwsvm.analysis.method_matrix import method_matrix
from fwsvm.analysis.papers.p003.design import DESIGN
from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.analysis.statistics import friedman, wilcoxon
from fwsvm.analysis.statistics.wilcoxon import signed_rank_distribution
from fwsvm.analysis.tables.model import Table, TableEntry, TableRow

METHODS = ["fw", "mfw", "cvm"]
#: The tests, and the columns of Tables 5 (statistic) and 6 (p) that have them.
TESTS = {
    "FW vs CVM": {"statistic": "W_FW_vs_CVM", "p": "p_FW_vs_CVM"},
    "MFW vs CVM": {"statistic": "W_MFW_vs_CVM", "p": "p_MFW_vs_CVM"},
    "FW vs MFW": {"statistic": "W_FW_vs_MFW", "p": "p_FW_vs_MFW"},
    "Friedman": {"statistic": "F_FW_MFW_CVM", "p": "p_Friedman"},
}
TABLES = {"statistic": "003-table5", "p": "003-table6"}

Key = tuple[str, str, str]  # measure, test, quantity


@dataclass(frozen=True, slots=True)
class Recomputed:
    """One printed statistic or p-value with ours; ``explanation`` is empty if they agree."""

    measure: str
    test: str
    quantity: str
    printed: str
    ours: float
    explanation: str

    @property
    def agrees(self) -> bool:
        """Return whether ours, rounded to the printed digits, is the printed number."""
        return agrees(self.printed, self.ours)


def agrees(printed: str, ours: float) -> bool:
    """Return whether ``ours`` is within half a unit of the last digit of ``printed`` (such as 3.085e-06)."""
    mantissa, _, exponent = printed.lower().partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return math.isclose(float(printed), ours, rel_tol=0, abs_tol=unit * 0.5 * (1 + 1e-9))


def rbf_cells() -> pd.DataFrame:
    """Return the printed cells of Tables 2 and 3."""
    cells = published.cells("003")
    return cells[cells["kernel"] == "rbf"]


def statistic(evaluation: Evaluation, measure: str, test: str, quantity: str) -> float:
    """Return W or F (``statistic``) or ``p`` of a test of `TESTS`; NaN if it was not carried out."""
    if test == "Friedman":
        for compared in evaluation.compared:
            if compared.measure == measure:
                return compared.friedman.F if quantity == "statistic" else compared.friedman.p_F
    first, _, second = test.lower().partition(" vs ")
    for tested in evaluation.tested:
        h = tested.hypothesis
        if (h.measure, h.first, h.second) == (measure, first, second):
            return tested.test.W if quantity == "statistic" else tested.p
    return math.nan


def tables(evaluation: Evaluation) -> dict[str, Table]:
    """Return Tables 5, 6 and 7 by number, of an evaluation of 003's design."""
    five = "003, Table 5: W of Wilcoxon's signed-rank test, F of Friedman's"
    return {
        "5": _beside(evaluation, "statistic", five, lambda value: f"{round(value, 4):g}"),
        "6": _beside(evaluation, "p", "003, Table 6: p-values", probability),
        "7": _conclusions(evaluation),
    }


def _beside(evaluation: Evaluation, quantity: str, title: str, shown: Callable[[float], str]) -> Table:
    """Return a table of statistics or p-values: a line of ours and a line of the paper's for each measure."""
    rows, tidy = [], []
    for printed in published.table(TABLES[quantity]).to_dict("records"):
        measure = str(printed["measure"])
        ours = [statistic(evaluation, measure.lower(), test, quantity) for test in TESTS]
        paper = [str(printed[columns[quantity]]) for columns in TESTS.values()]
        texts = ["-" if math.isnan(value) else shown(value) for value in ours]
        rows += [
            TableRow((measure, "ours"), tuple(map(TableEntry, texts))),
            TableRow(("", "paper"), tuple(map(TableEntry, paper)), first=False),
        ]
        tidy += [
            {"measure": measure.lower(), "test": test, "quantity": quantity, "ours": value, "printed": there}
            for test, value, there in zip(TESTS, ours, paper, strict=True)
        ]
    heads = tuple("all three" if test == "Friedman" else test for test in TESTS)
    return Table(title, ("", ""), heads, tuple(rows), _coverage(evaluation), tuple(tidy))


def _conclusions(evaluation: Evaluation) -> Table:
    """Return which null hypotheses are rejected at which level, by our p-values and by the printed ones."""
    printed = {str(row["measure"]).lower(): row for row in published.table(TABLES["p"]).to_dict("records")}
    rows, tidy = [], []
    for tested in evaluation.tested:
        h = tested.hypothesis
        test = f"{METHOD_NAMES[h.first]} vs {METHOD_NAMES[h.second]}"
        theirs = float(printed[h.measure][TESTS[test]["p"]])
        for who, p in (("ours", tested.p), ("paper", theirs)):
            entries = tuple(TableEntry("rejected" if p <= level else "stands") for level in LEVELS)
            labels = (h.measure, h.sentence(METHOD_NAMES)) if who == "ours" else ("", "")
            rows.append(TableRow((*labels, who), entries, first=who == "ours"))
        tidy.append({"measure": h.measure, "first": h.first, "second": h.second,
                     "alternative": h.alternative, "ours": tested.p, "printed": theirs})  # fmt: skip
    notes = ("whether H0 (no difference) is rejected in favour of H1, at each level",)
    return Table("003, Table 7: conclusions", ("measure", "H1", ""), tuple(f"{level:g}" for level in LEVELS),
                 tuple(rows), (*notes, *_coverage(evaluation)), tuple(tidy))  # fmt: skip


def _coverage(evaluation: Evaluation) -> tuple[str, ...]:
    """Return notes: on how many data sets ours are based, and which were left out for what reason."""
    notes = []
    for compared in evaluation.compared:
        left = [f"{published.title(name)} ({reason})" for name, reason in compared.left_out.items()]
        without = f"; without {', '.join(left)}" if left else ""
        notes.append(
            f"{compared.measure}: ours on {compared.friedman.n} data sets, the paper's on 26{without}"
        )
    return (*notes, *evaluation.lacking)


def recomputed() -> list[Recomputed]:
    """Return every entry of Tables 5 and 6 with what Tables 2 and 3 give."""
    evaluation, explanations = evaluate(DESIGN, rbf_cells()), _explanations()
    found = []
    for quantity, table in TABLES.items():
        for row in published.table(table).to_dict("records"):
            for test, columns in TESTS.items():
                key = (str(row["measure"]).lower(), test, quantity)
                printed, ours = str(row[columns[quantity]]), statistic(evaluation, *key)
                explanation = "" if agrees(printed, ours) else explanations[key]
                found.append(Recomputed(*key, printed, ours, explanation))
    return found


def recomputed_table() -> Table:
    """Return the entries of Tables 5 and 6, printed and recomputed, with explanations in the notes."""
    entries = recomputed()
    rows: list[TableRow] = []
    notes: list[str] = []
    for entry in entries:
        if entry.explanation:
            notes.append(
                f"[{len(notes) + 1}] {entry.measure} {entry.test} {entry.quantity}: {entry.explanation}"
            )
        verdict = "agrees" if entry.agrees else f"differs [{len(notes)}]"
        shown = f"{entry.ours:.6g}" if entry.quantity == "statistic" else probability(entry.ours)
        rows.append(TableRow((entry.measure, entry.test, entry.quantity),
                        (TableEntry(entry.printed), TableEntry(shown), TableEntry(verdict))))  # fmt: skip
    tidy = tuple(
        {"test": e.test, "measure": e.measure, "quantity": e.quantity, "printed": e.printed,
         "recomputed": e.ours, "agrees": e.agrees, "explanation": e.explanation}
        for e in entries
    )  # fmt: skip
    title = "003, Tables 5 and 6: as printed, and as they follow from its Tables 2 and 3"
    return Table(
        title, ("measure", "test", ""), ("printed", "recomputed", ""), tuple(rows), tuple(notes), tidy
    )


def _explanations() -> dict[Key, str]:
    """Return why a printed number differs; the variant that gives it is computed from the printed means."""
    times, _ = method_matrix(rbf_cells(), "train_seconds", METHODS)
    accuracies, _ = method_matrix(rbf_cells(), "test_accuracy", METHODS)
    p = friedman(times, largest_first=False).p_F
    return {
        (
            "time",
            "Friedman",
            "p",
        ): f"printed is twice the right tail: 2 x {p:.3e} = {2 * p:.2e}; the F test has one tail",
        **_accuracy_friedman(accuracies),
        ("accuracy", "MFW vs CVM", "p"): _mfw_cvm(accuracies),
        ("accuracy", "FW vs MFW", "statistic"): _fw_mfw(accuracies),
    }


def _accuracy_friedman(accuracies: pd.DataFrame) -> dict[Key, str]:
    untied = accuracies.copy()
    untied.loc["a1a"] += pd.Series({"cvm": 2e-6, "fw": 1e-6, "mfw": 0.0})
    variant, plain = (friedman(table, largest_first=True) for table in (untied, accuracies))
    where = "if the tie on a1a is broken as CVM > FW > MFW, as unrounded means would"
    return {
        ("accuracy", "Friedman", "statistic"): (
            f"F = {variant.F:.3f} {where}; the printed means, with mid-ranks, give {plain.F:.3f}, or "
            f"{plain.F_tie:.3f} with the correction for ties"
        ),
        ("accuracy", "Friedman", "p"): (
            f"twice the right tail {where}: 2 x {variant.p_F:.3e} = {2 * variant.p_F:.2e}"
        ),
    }


def _mfw_cvm(accuracies: pd.DataFrame) -> str:
    """Return the p-values of W = 48.5 under the conventions in use: none is the printed one."""
    pratt = wilcoxon(accuracies["mfw"], accuracies["cvm"])
    dropped = wilcoxon(accuracies["mfw"], accuracies["cvm"], zeros="wilcox")
    tie_free = signed_rank_distribution(2 * np.arange(1, pratt.n + 1))
    no_ties = float(tie_free[: round(2 * pratt.W) + 1].sum())
    untied = accuracies["mfw"].copy()
    untied["a1a"] -= 1e-6
    broken = wilcoxon(untied, accuracies["cvm"])
    return (
        f"W agrees, but no convention gives the printed p from the rounded means: Pratt {pratt.p_less:.2e}, "
        f"zeros dropped {dropped.p_less:.2e}, null distribution without ties {no_ties:.2e}, tie on a1a "
        f"broken {broken.p_less:.2e}; it was presumably computed from unrounded accuracies"
    )


def _fw_mfw(accuracies: pd.DataFrame) -> str:
    """Return how the printed W arises: with the sign of one of two tied differences reversed."""
    ours = wilcoxon(accuracies["fw"], accuracies["mfw"])
    reversed_sign = accuracies.copy()
    reversed_sign.loc["a3a", ["fw", "mfw"]] = accuracies.loc["a3a", ["mfw", "fw"]].to_numpy()
    variant = wilcoxon(reversed_sign["fw"], reversed_sign["mfw"])
    return (
        f"the printed p belongs to W = {ours.W:g}, which the printed means give; W = {variant.W:g} would "
        f"need the sign of a3a or a5a (both -0.02, mid-rank 4.5) reversed, and then p = {variant.p_less:.2e}"
    )
