"""Tables 5, 6 and 7 of Frandi et al. (2013): statistics, p-values and conclusions of its tests, printed and recomputed.

`tables` sets ours beside the printed ones. `recomputed_table` compares the printed ones with what the paper's own
Tables 2 and 3 give; where they differ, `EXPLANATIONS` says how the printed number arises.
"""

import math

from fwsvm.analysis import published
from fwsvm.analysis.comparisons import LEVELS, Evaluation, decisions, evaluate, p_entry
from fwsvm.analysis.names import method_names
from fwsvm.analysis.papers.p003 import DESIGN
from fwsvm.analysis.tables import Entry, Row, Table

#: The tests, and the column of Tables 5 (statistic, with W_ or F_ before it) and 6 (p) that has each.
TESTS = ("FW vs CVM", "MFW vs CVM", "FW vs MFW", "Friedman")
COLUMNS = {
    "statistic": ("W_FW_vs_CVM", "W_MFW_vs_CVM", "W_FW_vs_MFW", "F_FW_MFW_CVM"),
    "p": ("p_FW_vs_CVM", "p_MFW_vs_CVM", "p_FW_vs_MFW", "p_Friedman"),
}
TABLES = {"statistic": "003-table5", "p": "003-table6"}

#: Why a printed number differs from what the printed means give, by measure, test and quantity.
EXPLANATIONS = {
    ("time", "Friedman", "p"): (
        "printed is twice the right tail: 2 x 8.619e-06 = 1.72e-05; the F test has one tail"
    ),
    ("accuracy", "Friedman", "statistic"): (
        "F = 11.879 if the tie on a1a is broken as CVM > FW > MFW, as unrounded means would; the printed means, with "
        "mid-ranks, give 10.748, or 11.542 with the correction for ties"
    ),
    ("accuracy", "Friedman", "p"): (
        "twice the right tail if the tie on a1a is broken as CVM > FW > MFW, as unrounded means would: "
        "2 x 6.010e-05 = 1.20e-04"
    ),
    ("accuracy", "MFW vs CVM", "p"): (
        "W agrees, but no convention gives the printed p from the rounded means: Pratt 3.58e-04, zeros dropped "
        "2.84e-04, null distribution without ties 3.32e-04, tie on a1a broken 3.39e-04; it was presumably computed "
        "from unrounded accuracies"
    ),
    ("accuracy", "FW vs MFW", "statistic"): (
        "the printed p belongs to W = 59, which the printed means give; W = 63.5 would need the sign of a3a or a5a "
        "(both -0.02, mid-rank 4.5) reversed, and then p = 1.89e-03"
    ),
}


def tables(evaluation: Evaluation) -> dict[str, Table]:
    """Return Tables 5, 6 and 7 by number, of an evaluation of the design of Frandi et al."""
    five = "Frandi et al. (2013), Table 5: W of Wilcoxon's signed-rank test, F of Friedman's"
    return {
        "5": _beside(evaluation, "statistic", five),
        "6": _beside(evaluation, "p", "Frandi et al. (2013), Table 6: p-values"),
        "7": _conclusions(evaluation),
    }


def _printed(quantity: str) -> dict[str, dict[str, str]]:
    """Return the printed statistics or p-values by measure and test."""
    records = published.table(TABLES[quantity]).to_dict("records")
    columns = dict(zip(TESTS, COLUMNS[quantity], strict=True))
    return {row["measure"].lower(): {test: row[name] for test, name in columns.items()} for row in records}


def recomputed_table() -> Table:
    """Return the entries of Tables 5 and 6, printed and recomputed, with explanations in the notes."""
    cells = published.cells("frandi")
    evaluation = evaluate(DESIGN, cells[cells["kernel"] == "rbf"])
    rows: list[Row] = []
    notes: list[str] = []
    for quantity in TABLES:
        for measure, tests in _printed(quantity).items():
            for test, printed in tests.items():
                entry, verdict = _ours(evaluation, measure, test, quantity), "agrees"
                if not agrees(printed, entry.value):
                    why = EXPLANATIONS[measure, test, quantity]
                    notes.append(f"[{len(notes) + 1}] {measure} {test} {quantity}: {why}")
                    verdict = f"differs [{len(notes)}]"
                rows.append(Row((measure, test, quantity), (Entry(printed), entry, Entry(verdict))))
    title = "Frandi et al. (2013), Tables 5 and 6: as printed, and as they follow from its Tables 2 and 3"
    heads = ("printed", "recomputed", "verdict")
    return Table(title, ("measure", "test", ""), heads, tuple(rows), tuple(notes))


def agrees(printed: str, ours: float) -> bool:
    """Return whether ``ours`` is within half a unit of the last digit of ``printed``.

    >>> agrees("3.085e-06", 3.0849e-06), agrees("17", 18.0)
    (True, False)
    """
    mantissa, _, exponent = printed.lower().partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return math.isclose(float(printed), ours, rel_tol=0, abs_tol=unit * 0.5 * (1 + 1e-9))


def _ours(evaluation: Evaluation, measure: str, test: str, quantity: str) -> Entry:
    """Return W or F (``statistic``) or ``p`` of a test of `TESTS`; a hyphen if it was not carried out."""
    found = {
        f"{h.first} vs {h.second}": (result.W, p)
        for h, result, p, *_ in evaluation.tested
        if h.measure == measure
    }
    for one in evaluation.compared:
        if one.measure == measure:
            found["friedman"] = one.friedman.F, one.friedman.p_F
    if test.lower() not in found:
        return Entry("-")
    statistic, p = found[test.lower()]
    return p_entry(p) if quantity == "p" else Entry(f"{round(statistic, 4):g}", value=statistic)


def _beside(evaluation: Evaluation, quantity: str, title: str) -> Table:
    """Return a table of statistics or p-values: a line of ours and a line of the paper's for each measure."""
    rows = []
    for measure, printed in _printed(quantity).items():
        ours = (_ours(evaluation, measure, test, quantity) for test in TESTS)
        rows.append(Row((measure.capitalize(), "ours"), tuple(ours)))
        rows.append(Row(("", "paper"), tuple(map(Entry, printed.values())), first=False))
    heads = (*TESTS[:-1], "all three")
    return Table(title, ("measure", ""), heads, tuple(rows), _coverage(evaluation))


def _conclusions(evaluation: Evaluation) -> Table:
    """Return which null hypotheses are rejected at which level, by our p-values and by the printed ones."""
    printed, rows = _printed("p"), []
    for h, _, p, *_ in evaluation.tested:
        test = " vs ".join(method_names([h.first, h.second]).values())
        rows.append(Row((h.measure, h.sentence(), "ours"), decisions(p)))
        rows.append(Row(("", "", "paper"), decisions(float(printed[h.measure][test])), first=False))
    notes = ("whether H0 (no difference) is rejected in favour of H1, at each level", *_coverage(evaluation))
    heads = tuple(f"{level:g}" for level in LEVELS)
    title = "Frandi et al. (2013), Table 7: conclusions"
    return Table(title, ("measure", "H1", ""), heads, tuple(rows), notes)


def _coverage(evaluation: Evaluation) -> tuple[str, ...]:
    """Return notes: on how many data sets ours are based, and which were left out for what reason."""
    notes = []
    for compared in evaluation.compared:
        left = ", ".join(f"{published.title(name)} ({reason})" for name, reason in compared.left_out.items())
        without = f"; without {left}" if left else ""
        notes.append(
            f"{compared.measure}: ours on {compared.friedman.n} data sets, the paper's on 26{without}"
        )
    return (*notes, *evaluation.lacking)
