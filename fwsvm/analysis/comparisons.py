"""Compare methods over data sets: designs of tests, their evaluation, and the tables that show it.

Friedman and Nemenyi compare all methods, Wilcoxon and Holm pairs of them (`fwsvm.analysis.statistics`). The papers'
designs are in `fwsvm.analysis.papers`.
"""

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import pandas as pd

from fwsvm.analysis import published, statistics
from fwsvm.analysis.cells import unique_cells, without_sweeps
from fwsvm.analysis.measures import BOUND_COLUMNS, Measure, measure
from fwsvm.analysis.names import method_names, short_name
from fwsvm.analysis.statistics import Friedman, Wilcoxon, friedman, holm, wilcoxon
from fwsvm.analysis.tables import Entry, Row, Table
from fwsvm.errors import ResultsError, listed, shortened

Alternative = Literal["less", "greater", "two-sided"]
LEVELS, ALPHA = (0.01, 0.05, 0.1), 0.05
#: H1 less, greater and two-sided, and H0, in words.
_WORDS = {
    "time": ("faster than", "slower than", "not equally fast", "equally fast"),
    "accuracy": ("less accurate than", "more accurate than", "not equally accurate", "equally accurate"),
    "size": ("smaller than", "larger than", "not of one size", "of one size"),
}
_H1 = (
    "H1 less: the first of the pair has the smaller values; where H1 is two-sided, p one-sided is the smaller of the "
    "two; Holm adjusts the p of H1 over the hypotheses of one measure"
)
_OTHER = ("below", "above", "different", "equally good")


class Hypothesis(NamedTuple):
    """H0: ``first`` and ``second`` perform alike in ``measure``; H1: first is less, greater, or different."""

    measure: str
    first: str
    second: str
    alternative: Alternative

    def sentence(self, *, stands: bool = False) -> str:
        """Return H1 as a sentence, or H0 where it ``stands``."""
        a, b = method_names([self.first, self.second]).values()
        place = 3 if stands else ("less", "greater", "two-sided").index(self.alternative)
        words = _WORDS.get(self.measure, _OTHER)[place]
        return f"{a} is {words} {b}" if place < 2 else f"{a} and {b} are {words}"


@dataclass(frozen=True, slots=True)
class Design:
    """A set of hypotheses about some methods; ``place`` says where it comes from."""

    place: str
    methods: tuple[str, ...]
    measures: tuple[str, ...]
    hypotheses: tuple[Hypothesis, ...]


def two_hypotheses(
    first: str, second: str, time: Alternative, accuracy: Alternative
) -> tuple[Hypothesis, Hypothesis]:
    """Return the hypotheses about two methods in time and in accuracy."""
    return Hypothesis("time", first, second, time), Hypothesis("accuracy", first, second, accuracy)


def all_pairs(methods: Sequence[str], measures: Sequence[str]) -> Design:
    """Return every pair of methods, two-sided, in every measure: no expectation at all."""
    hypotheses = (
        Hypothesis(name, *pair, "two-sided")
        for name in measures
        for pair in itertools.combinations(methods, 2)
    )
    return Design("all pairs, two-sided", tuple(methods), tuple(measures), tuple(hypotheses))


class TestedHypothesis(NamedTuple):
    """One hypothesis with its test; ``p`` is for its alternative, ``p_holm`` adjusted over its measure."""

    hypothesis: Hypothesis
    test: Wilcoxon
    p: float
    p_holm: float
    left_out: dict[str, str]


class OverallComparison(NamedTuple):
    """All methods of a design in one measure; ``left_out`` says which data sets do not count, and why."""

    measure: str
    methods: tuple[str, ...]
    left_out: dict[str, str]
    friedman: Friedman


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The tests of a design; ``lacking`` says which measures fewer than two data sets have for all methods."""

    design: Design
    compared: list[OverallComparison]
    tested: list[TestedHypothesis]
    lacking: list[str]


def evaluate(design: Design, cells: pd.DataFrame) -> Evaluation:
    """Carry out the tests of a design; data sets that lack a method are left out of its tests, and named.

    Each test of a pair uses every data set that has these two. Raises ResultsError if in no measure two data
    sets have all methods.
    """
    plain = without_sweeps(cells)
    cells = cells if plain.empty else plain
    compared: list[OverallComparison] = []
    tested: list[TestedHypothesis] = []
    lacking: list[str] = []
    for name in design.measures:
        try:
            compared.append(compare_methods(cells, list(design.methods), name))
        except ResultsError as error:
            lacking.append(str(error))
        tested += _tested(design, cells, name)
    if not compared:
        raise ResultsError(lacking[0])
    return Evaluation(design, compared, tested, lacking)


def compare_methods(cells: pd.DataFrame, methods: list[str], name: str) -> OverallComparison:
    """Compare all methods at once in one measure."""
    kind = measure(name)
    values, left_out = method_matrix(cells, kind, methods)
    if len(values) < 2:
        reasons = [f"{shortened(one)}: {shortened(why, 200)}" for one, why in left_out.items()]
        raise ResultsError(
            f"fewer than two data sets have {name} for all of {listed(map(shortened, methods))}; run the rest, or "
            f"choose by --where method=NAME{' (' * bool(reasons)}{listed(reasons, '; ')}{')' * bool(reasons)}"
        )
    test = friedman(values, largest_first=kind.better == "more")
    return OverallComparison(name, tuple(methods), left_out, test)


def _tested(design: Design, cells: pd.DataFrame, name: str) -> list[TestedHypothesis]:
    found = []
    for hypothesis in design.hypotheses:
        if hypothesis.measure == name:
            try:
                values, left_out = method_matrix(cells, measure(name), [hypothesis.first, hypothesis.second])
            except ResultsError:  # which the comparison of all methods has said
                continue
            if len(values):
                test = wilcoxon(values[hypothesis.first], values[hypothesis.second])
                found.append(
                    TestedHypothesis(hypothesis, test, test.p(hypothesis.alternative), math.nan, left_out)
                )
    adjusted = holm([one.p for one in found])
    return [one._replace(p_holm=float(p)) for one, p in zip(found, adjusted, strict=True)]


def method_matrix(
    cells: pd.DataFrame, kind: Measure, methods: list[str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the data sets x methods table of one measure, and the data sets left out, each with the reason.

    A data set counts only if every method has a finished, uncensored value on it, and if it is not made here.
    """
    chosen = unique_cells(cells[cells["method"].isin(methods)], ["dataset", "method"])
    if kind.name == "objective" and len({*chosen["minimised"]} - {""}) > 1:
        raise ResultsError(
            "some of these methods minimise R on the simplex and some the primal, so their objectives do not compare; "
            "choose methods of one kind, or accuracy or time"
        )
    left_out: dict[str, str] = {}
    for dataset, here in chosen.groupby("dataset", sort=False):
        by_method = {cell["method"]: cell for cell in here.to_dict("records")}
        reasons = ["made here, no published data set"] * (dataset in published.made_here())
        reasons += filter(None, (_unusable(by_method.get(method), method, kind) for method in methods))
        if reasons:
            left_out[str(dataset)] = reasons[0]
    usable = chosen[~chosen["dataset"].isin(left_out)]
    values = usable.set_index(["dataset", "method"])[kind.column].unstack(sort=False)
    return values.reindex(columns=methods).astype(float), left_out


def _unusable(cell: Mapping[Hashable, Any] | None, method: str, kind: Measure) -> str:
    """Return why a cell cannot be compared, or ''."""
    if cell is None:
        return f"{method} was not run"
    value = cell[kind.column]
    if pd.isna(value):
        ended = cell["used"] and not cell["censored"]
        return f"{method}: " + (f"no {kind.title.partition(' (')[0]}" if ended else str(cell["statuses"]))
    if not math.isfinite(value) or not cell["finite"]:
        return f"{method}: numbers that are not finite"
    return f"{method} stopped at its time limit" * bool(kind.column in BOUND_COLUMNS and cell["censored"])


def tables(evaluation: Evaluation, source: str) -> list[Table]:
    """Return the tables of an evaluation; ``source`` says whose numbers went in."""
    overall = [_friedman_table(compared, source) for compared in evaluation.compared]
    return [*overall, _wilcoxon_table(evaluation, source), conclusions(evaluation, "Conclusions")]


def _friedman_table(compared: OverallComparison, source: str) -> Table:
    """Return mean ranks, Friedman's chi2 and F without and with the correction for ties, and Nemenyi's CD."""
    f = compared.friedman
    ranks = zip(method_names(compared.methods).values(), f.mean_ranks, strict=True)
    lines = [
        *((f"mean rank of {head}", f"{rank:.3f}", rank, None) for head, rank in ranks),
        *(
            (label, f"{value:.4f}", value, p)
            for label, value, p in (
                ("Friedman's chi2", f.chi2, f.p_chi2),
                ("Iman-Davenport's F", f.F, f.p_F),
                ("chi2, corrected for ties", f.chi2_tie, f.p_chi2_tie),
                ("F, corrected for ties", f.F_tie, f.p_F_tie),
            )
        ),
    ]
    rows = tuple(
        Row((label,), (Entry(text, value=value), Entry("") if p is None else p_entry(p)))
        for label, text, value, p in lines
    )
    difference = statistics.critical_difference(f.n, f.k, ALPHA)
    notes = (
        f"N = {f.n} data sets, k = {f.k} methods; {source}",
        f"mean ranks differ by the test of Nemenyi (alpha {ALPHA:g}) if they are {difference:.4f} apart",
        f"Friedman: {statistics.FRIEDMAN}",
        f"Nemenyi: {statistics.NEMENYI}",
        *_left_out(compared.left_out),
    )
    title = f"Friedman test, {measure(compared.measure).title}"
    return Table(title, ("",), ("value", "p"), rows, notes)


def _wilcoxon_table(evaluation: Evaluation, source: str) -> Table:
    """Return one line per hypothesis: rank sum, p-values one- and two-sided, and Holm's adjustment."""
    rows = []
    for h, test, p, p_holm, _ in evaluation.tested:
        one_sided = min(test.p_less, test.p_greater) if h.alternative == "two-sided" else p
        texts = (str(test.n), str(test.zeros), f"{test.W:g}", h.alternative)
        entries = (*map(Entry, texts), *map(p_entry, (one_sided, test.p("two-sided"), p_holm)))
        rows.append(Row((h.measure, " - ".join(method_names([h.first, h.second]).values())), entries))
    notes = (
        f"{evaluation.design.place}; {source}",
        _H1,
        f"Wilcoxon signed ranks: {statistics.WILCOXON}",
        *left_out(evaluation),
        *evaluation.lacking,
    )
    heads = ("N", "zeros", "W", "H1", "p one-sided", "p two-sided", "p Holm")
    return Table("Wilcoxon signed-rank tests", ("measure", "pair"), heads, tuple(rows), notes)


def conclusions(evaluation: Evaluation, title: str) -> Table:
    """Return what becomes of each null hypothesis at the levels 0.01, 0.05 and 0.1, without adjustment."""
    rows = []
    for h, _, p, *_ in evaluation.tested:
        stands = p > max(LEVELS)
        entries = tuple(Entry("rejected" if p <= level else "stands") for level in LEVELS)
        rows.append(Row((h.measure, "H0 stands: " * stands + h.sentence(stands=stands)), entries))
    heads = tuple(f"{level:g}" for level in LEVELS)
    note = f"H0 at significance levels {', '.join(heads)}; {evaluation.design.place}; p-values not adjusted"
    return Table(title, ("measure", "conclusion"), heads, tuple(rows), (f"{note}, as in the papers",))


def p_entry(p: float) -> Entry:
    """Return a p-value as an entry."""
    return Entry(probability(p), value=p)


def probability(p: float) -> str:
    """Return a p-value to four digits, as papers print it: 3.085e-06, 0.6893."""
    return f"{p:.4f}" if p >= 1e-2 else f"{p:.3e}"


def left_out(evaluation: Evaluation) -> list[str]:
    """Return which data sets the tests of pairs left out, in words."""
    return _left_out(dict(item for one in evaluation.tested for item in one.left_out.items()))


def _left_out(left_out: Mapping[str, str]) -> list[str]:
    said = ", ".join(f"{short_name(name)} ({reason})" for name, reason in left_out.items())
    return [f"left out: {said}"] * bool(said)
