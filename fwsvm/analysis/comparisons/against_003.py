"""The statistics that 003 prints in Tables 5 and 6, beside those that follow from its own Tables 2 and 3.

Where they differ, the explanation is computed, not asserted: the variant that gives the printed number is
carried out, and its result stands in the sentence.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import matrix
from fwsvm.analysis.comparisons.design import design
from fwsvm.analysis.comparisons.evaluate import Evaluation, evaluate
from fwsvm.analysis.comparisons.show import probability
from fwsvm.analysis.statistics import friedman, wilcoxon
from fwsvm.analysis.statistics.wilcoxon import signed_rank_distribution
from fwsvm.analysis.tables.model import Entry, Row, Table

METHODS = ["fw", "mfw", "cvm"]


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed statistic or p-value with ours; ``explanation`` is empty where they agree."""

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


def compare() -> list[Printed]:
    """Return every entry of Tables 5 and 6 with what Tables 2 and 3 give."""
    evaluation = evaluate(design("003"), rbf_cells())
    explained = _explanations()
    found = []
    for table, quantity, prefix in (("003-table5", "statistic", "W"), ("003-table6", "p", "p")):
        for row in published.table(table).to_dict("records"):
            for name, printed in row.items():
                if name != "measure":
                    test = (
                        str(name)
                        .removeprefix(f"{prefix}_")
                        .replace("F_FW_MFW_CVM", "Friedman")
                        .replace("_", " ")
                    )
                    ours = statistic(evaluation, row["measure"].lower(), test, quantity)
                    key = (row["measure"].lower(), test, quantity)
                    explanation = "" if agrees(printed, ours) else explained[key]
                    found.append(Printed(*key, printed, ours, explanation))
    return found


def table() -> Table:
    """Return the comparison as a table; the explanations stand below it."""
    entries = compare()
    rows: list[Row] = []
    notes: list[str] = []
    for entry in entries:
        if entry.explanation:
            notes.append(
                f"[{len(notes) + 1}] {entry.measure} {entry.test} {entry.quantity}: {entry.explanation}"
            )
        verdict = "agrees" if entry.agrees else f"differs [{len(notes)}]"
        shown = f"{entry.ours:.6g}" if entry.quantity == "statistic" else probability(entry.ours)
        rows.append(Row((entry.measure, entry.test, entry.quantity),
                        (Entry(entry.printed), Entry(shown), Entry(verdict))))  # fmt: skip
    tidy = tuple(
        {"test": e.test, "measure": e.measure, "quantity": e.quantity, "printed": e.printed,
         "recomputed": e.ours, "agrees": e.agrees, "explanation": e.explanation}
        for e in entries
    )  # fmt: skip
    title = "003, Tables 5 and 6: as printed, and as they follow from its Tables 2 and 3"
    return Table(
        title, ("measure", "test", ""), ("printed", "recomputed", ""), tuple(rows), tuple(notes), tidy
    )


def statistic(evaluation: Evaluation, measure: str, test: str, quantity: str) -> float:
    """Return W or F (``statistic``) or ``p`` of a test, such as ``FW vs CVM`` or ``Friedman``; NaN without it."""
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


def _explanations() -> dict[tuple[str, str, str], str]:
    """Return why a printed number differs; the variant that gives it is carried out on the printed means."""
    times, _ = matrix(rbf_cells(), "train_seconds", METHODS)
    accuracies, _ = matrix(rbf_cells(), "test_accuracy", METHODS)
    time = friedman(times, largest_first=False)
    return {
        (
            "time",
            "Friedman",
            "p",
        ): f"printed is twice the right tail: 2 x {time.p_F:.3e} = {2 * time.p_F:.2e}; "
        "the F test has one tail",
        **_accuracy_friedman(accuracies),
        ("accuracy", "MFW vs CVM", "p"): _mfw_cvm(accuracies),
        ("accuracy", "FW vs MFW", "statistic"): _fw_mfw(accuracies),
    }


def _accuracy_friedman(accuracies: pd.DataFrame) -> dict[tuple[str, str, str], str]:
    untied = accuracies.copy()
    untied.loc["a1a"] += pd.Series({"cvm": 2e-6, "fw": 1e-6, "mfw": 0.0})
    variant = friedman(untied, largest_first=True)
    plain = friedman(accuracies, largest_first=True)
    where = "if the tie on a1a is broken as CVM > FW > MFW, as unrounded means would"
    return {
        (
            "accuracy",
            "Friedman",
            "statistic",
        ): f"F = {variant.F:.3f} {where}; the printed means, with mid-ranks, "
        f"give {plain.F:.3f}, or {plain.F_tie:.3f} with the correction for ties",
        (
            "accuracy",
            "Friedman",
            "p",
        ): f"twice the right tail {where}: 2 x {variant.p_F:.3e} = {2 * variant.p_F:.2e}",
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
