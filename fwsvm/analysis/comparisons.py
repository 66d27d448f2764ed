"""Compare methods over data sets: designs of tests, their evaluation, and the tables that show it.

Friedman and Nemenyi compare all methods, Wilcoxon and Holm pairs of them (`fwsvm.analysis.statistics`). The papers'
designs are in `fwsvm.analysis.papers`.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from fwsvm.analysis import published, statistics
from fwsvm.analysis.cells import in_sweeps, unique_cells
from fwsvm.analysis.measures import BOUND_COLUMNS, Measure, measure
from fwsvm.analysis.names import method_names, short_name
from fwsvm.analysis.statistics import Friedman, Wilcoxon, friedman, holm, wilcoxon
from fwsvm.analysis.tables import Entry, Row, Table
from fwsvm.errors import ResultsError, listed

Alternative = Literal["less", "greater", "two-sided"]
LEVELS, ALPHA = (0.01, 0.05, 0.1), 0.05
#: H1 less, greater and two-sided, and H0, in words.
_WORDS = {
    "time": ("faster than", "slower than", "not equally fast", "equally fast"),
    "accuracy": ("less accurate than", "more accurate than", "not equally accurate", "equally accurate"),
}
_H1 = (
    "H1 less: the first of the pair has the smaller values; where H1 is two-sided, p one-sided is the smaller of the "
    "two; Holm adjusts the p of H1 over the hypotheses of one measure"
)


class Hypothesis(NamedTuple):
    """H0: ``first`` and ``second`` perform alike in ``measure``; H1: first is less, greater, or different."""

    measure: str
    first: str
    second: str
    alternative: Alternative

    @property
    def pair(self) -> list[str]:
        """Return what tables call the two methods."""
        return [*method_names([self.first, self.second]).values()]


class Design(NamedTuple):
    """A set of hypotheses about some methods; ``place`` says where it comes from."""

    place: str
    methods: tuple[str, ...]
    measures: tuple[str, ...]
    hypotheses: tuple[Hypothesis, ...]


def two_hypotheses(*pairs: tuple[str, str, Alternative, Alternative]) -> tuple[Hypothesis, ...]:
    """Return the hypotheses about each two methods in time and in accuracy."""
    return tuple(
        Hypothesis(name, first, second, alternative)
        for first, second, *alternatives in pairs
        for name, alternative in zip(("time", "accuracy"), alternatives, strict=True)
    )


def all_pairs(methods: Sequence[str], measures: Sequence[str]) -> Design:
    """Return every pair of methods, two-sided, in every measure: no expectation at all."""
    pairs = itertools.product(measures, itertools.combinations(methods, 2))
    hypotheses = (Hypothesis(name, *pair, "two-sided") for name, pair in pairs)
    return Design("all pairs, two-sided", tuple(methods), tuple(measures), tuple(hypotheses))


class TestedHypothesis(NamedTuple):
    """One hypothesis with its test; ``p`` is for its alternative, ``p_holm`` adjusted over its measure."""

    hypothesis: Hypothesis
    test: Wilcoxon
    p: float
    p_holm: float


class Evaluation(NamedTuple):
    """The tests of a design.

    Attributes
    ----------
    design : Design
        What was tested.
    overall : dict of str to Friedman
        All methods in each measure that they have on two data sets or more.
    tested : list of TestedHypothesis
        Pairs of methods.
    notes : list of str
        Which data sets do not count for all methods, and why.
    """

    design: Design
    overall: dict[str, Friedman]
    tested: list[TestedHypothesis]
    notes: list[str]


def evaluate(design: Design, cells: pd.DataFrame) -> Evaluation:
    """Carry out the tests of a design; data sets that lack a method are left out of its tests, and named.

    Each test of a pair uses every data set that has these two. Raises ResultsError if in no measure two data
    sets have all methods.
    """
    swept = in_sweeps(cells)
    cells = cells if swept.all() else cells[~swept]
    found = Evaluation(design, {}, [], [])
    for name in design.measures:
        kind = measure(name)
        values, left_out = method_matrix(cells, kind, design.methods)
        if left_out:
            each = (f"{short_name(dataset)} ({why})" for dataset, why in left_out.items())
            found.notes.append(f"{name} of all methods: left out {listed(each, ', ', 30)}")
        if len(values) > 1:
            found.overall[name] = friedman(values, largest_first=kind.better == "more")
        pairs = [
            (h, wilcoxon(both[h.first], both[h.second]))
            for h in design.hypotheses
            if h.measure == name
            for both in [method_matrix(cells, kind, (h.first, h.second))[0]]
            if len(both)
        ]
        p_values = [test.p(h.alternative) for h, test in pairs]
        adjusted = map(float, holm(p_values))
        found.tested.extend(
            TestedHypothesis(*pair, p, p_holm)
            for pair, p, p_holm in zip(pairs, p_values, adjusted, strict=True)
        )
    if not found.overall:
        some = listed(design.methods)
        raise ResultsError(
            f"statistical tests compare methods over data sets, and fewer than two have {' or '.join(design.measures)} "
            f"for all of {some}; run more data sets, or choose methods by --where method=NAME"
            + "".join(f"; {note}" for note in found.notes[:1])
        )
    return found


def method_matrix(
    cells: pd.DataFrame, kind: Measure, methods: Sequence[str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the data sets x methods table of one measure, and the data sets left out, each with the reason.

    A data set counts only if every method has a finished, uncensored value on it, and if it is not made here.
    """
    chosen = unique_cells(cells[cells["method"].isin(methods)], ["dataset", "method"])
    usable = np.isfinite(chosen[kind.column].astype(float)) & chosen["finite"].astype(bool)
    if kind.column in BOUND_COLUMNS:
        usable &= ~chosen["censored"].astype(bool)
    values = chosen[usable].pivot(index="dataset", columns="method", values=kind.column)
    values = values.reindex(chosen["dataset"].unique(), columns=[*methods]).astype(float)
    statuses = chosen.set_index(["dataset", "method"])["statuses"]
    left_out = {
        str(dataset): f"{method}: no usable {kind.name} ({statuses.get((dataset, method), 'not run')})"
        for dataset, lacking in values.isna().iterrows()
        if lacking.any()
        for method in [lacking.idxmax()]
    }
    made = values.index.intersection([*published.made_here()])
    left_out |= dict.fromkeys(made, "made here, no published data set")
    return values.drop(index=[*left_out]), left_out


def tables(evaluation: Evaluation, source: str) -> list[Table]:
    """Return the tables of an evaluation; ``source`` says whose numbers went in."""
    design = evaluation.design
    found = [_friedman_table(design, name, test, source) for name, test in evaluation.overall.items()]
    conventions = (f"Friedman: {statistics.FRIEDMAN}", f"Nemenyi: {statistics.NEMENYI}")
    found[-1] = found[-1]._replace(notes=found[-1].notes + conventions)
    rows = []
    for h, test, p, p_holm in evaluation.tested:
        one_sided = min(test.p_less, test.p_greater) if h.alternative == "two-sided" else p
        texts = (str(test.n), str(test.zeros), f"{test.W:g}", h.alternative)
        entries = (*map(Entry, texts), *map(p_entry, (one_sided, test.p("two-sided"), p_holm)))
        rows.append(Row((h.measure, " - ".join(h.pair)), entries))
    said = f"Wilcoxon signed ranks: {statistics.WILCOXON}"
    notes = (f"{design.place}; {source}", _H1, said, *evaluation.notes)
    heads = ("N", "zeros", "W", "H1", "p one-sided", "p two-sided", "p Holm")
    pairs = Table("Wilcoxon signed-rank tests", ("measure", "pair"), heads, tuple(rows), notes)
    return [*found, pairs, conclusions(evaluation, "Conclusions")]


def _friedman_table(design: Design, name: str, test: Friedman, source: str) -> Table:
    """Return mean ranks, Friedman's chi2, Iman and Davenport's F where it is defined, and Nemenyi's CD."""
    heads = method_names(design.methods).values()
    rows = [
        Row((f"mean rank of {head}",), (Entry(f"{rank:.3f}", value=rank), Entry("")))
        for head, rank in zip(heads, test.mean_ranks, strict=True)
    ]
    defined = math.isfinite(test.F)
    for label, value, p in [
        ("Friedman's chi2", test.chi2, test.p_chi2),
        ("Iman-Davenport's F", test.F, test.p_F),
    ][: 1 + defined]:
        rows.append(Row((label,), (Entry(f"{value:.4f}", value=value), p_entry(p))))
    difference = statistics.critical_difference(test.n, test.k, ALPHA)
    notes = (
        f"N = {test.n} data sets, k = {test.k} methods; {source}",
        f"mean ranks differ by the test of Nemenyi (alpha {ALPHA:g}) if they are {difference:.4f} apart",
        *["Iman-Davenport's F is not defined: all data sets rank the methods alike"] * (not defined),
    )
    return Table(f"Friedman test, {measure(name).title}", ("",), ("value", "p"), tuple(rows), notes)


def conclusions(evaluation: Evaluation, title: str) -> Table:
    """Return what becomes of each null hypothesis at the levels 0.01, 0.05 and 0.1, without adjustment."""
    rows = []
    for h, _, p, _ in evaluation.tested:
        stands = p > max(LEVELS)
        place = 3 if stands else ("less", "greater", "two-sided").index(h.alternative)
        words = _WORDS[h.measure][place]
        said = f" is {words} ".join(h.pair) if place < 2 else f"{' and '.join(h.pair)} are {words}"
        entries = tuple(Entry("rejected" if p <= level else "stands") for level in LEVELS)
        rows.append(Row((h.measure, "H0 stands: " * stands + said), entries))
    heads = tuple(f"{level:g}" for level in LEVELS)
    source = evaluation.design.place
    note = f"H0 at significance levels {', '.join(heads)}; {source}; p-values not adjusted, as in the papers"
    return Table(title, ("measure", "conclusion"), heads, tuple(rows), (note,))


def p_entry(p: float) -> Entry:
    """Return a p-value as an entry."""
    return Entry(probability(p), value=p)


def probability(p: float) -> str:
    """Return a p-value to four digits, as papers print it: 3.085e-06, 0.6893."""
    return f"{p:.4f}" if p >= 1e-2 else f"{p:.3e}"
