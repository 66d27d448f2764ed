"""An evaluation as tables: ranks and Friedman, pairs and Wilcoxon, and 003's Table 7 of conclusions."""

from collections.abc import Iterable

from fwsvm.analysis import published
from fwsvm.analysis.comparisons.evaluate import Evaluation, OverallComparison, TestedHypothesis
from fwsvm.analysis.measures import measure
from fwsvm.analysis.published import METHOD_NAMES
from fwsvm.analysis.tables.model import Table, TableEntry, TableRow

LEVELS = (0.01, 0.05, 0.1)


def tables(evaluation: Evaluation, source: str) -> list[Table]:
    """Return the tables of an evaluation; ``source`` says whose numbers went in."""
    return [
        *(friedman_table(compared, source) for compared in evaluation.compared),
        wilcoxon_table(evaluation.tested, evaluation.design.place, source, evaluation.lacking),
        conclusions(evaluation.tested, evaluation.design.place),
    ]


def friedman_table(compared: OverallComparison, source: str) -> Table:
    """Return mean ranks, Friedman's chi2 and F without and with the correction for ties, and Nemenyi's CD."""
    f, n = compared.friedman, compared.nemenyi
    heads = tuple(METHOD_NAMES.get(method, method) for method in compared.methods)
    rows = [
        TableRow((f"mean rank of {head}",), (TableEntry(f"{rank:.3f}"), TableEntry("")))
        for head, rank in zip(heads, f.mean_ranks, strict=True)
    ]
    for label, value, p in (
        ("Friedman's chi2", f.chi2, f.p_chi2),
        ("Iman-Davenport's F", f.F, f.p_F),
        ("chi2, corrected for ties", f.chi2_tie, f.p_chi2_tie),
        ("F, corrected for ties", f.F_tie, f.p_F_tie),
    ):
        rows.append(TableRow((label,), (TableEntry(f"{value:.4f}"), TableEntry(probability(p)))))
    groups = ["{" + ", ".join(heads[i] for i in group) + "}" for group in n.groups()]
    notes = (
        f"N = {f.n} data sets, k = {f.k} methods; {source}",
        f"critical difference of mean ranks (Nemenyi, alpha {n.alpha:g}): {n.critical_difference:.4f}; "
        + (f"not told apart: {', '.join(groups)}" if groups else "all methods are told apart"),
        f"Friedman: {f.convention}",
        f"Nemenyi: {n.convention}",
        *_left_out(compared.left_out),
    )
    tidy = [
        {"test": "friedman", "measure": compared.measure, "n": f.n, "k": f.k, "chi2": f.chi2,
         "p_chi2": f.p_chi2,
         "F": f.F, "p": f.p_F, "chi2_tie": f.chi2_tie, "F_tie": f.F_tie, "p_F_tie": f.p_F_tie,
         "critical_difference": n.critical_difference, "alpha": n.alpha}
    ] + [{"test": "mean rank", "measure": compared.measure, "method": method, "rank": float(rank)}
         for method, rank in zip(compared.methods, f.mean_ranks, strict=True)]  # fmt: skip
    title = f"Friedman test, {measure(compared.measure).title}"
    return Table(title, ("",), ("value", "p"), tuple(rows), notes, tuple(tidy))


def wilcoxon_table(
    tested: Iterable[TestedHypothesis], place: str, source: str, lacking: tuple[str, ...] = ()
) -> Table:
    """Return one line per hypothesis: rank sums, p-values one- and two-sided, and Holm's adjustment."""
    rows, tidy = [], []
    left_out: dict[str, str] = {}
    convention = ""
    for t in tested:
        h, w = t.hypothesis, t.test
        pair = f"{METHOD_NAMES.get(h.first, h.first)} - {METHOD_NAMES.get(h.second, h.second)}"
        one_sided = min(w.p_less, w.p_greater) if h.alternative == "two-sided" else t.p
        numbers = (
            f"{w.n}",
            f"{w.zeros}",
            f"{w.W:g}",
            h.alternative,
            *map(probability, (one_sided, w.p_two_sided, t.p_holm)),
        )
        rows.append(TableRow((h.measure, pair), tuple(map(TableEntry, numbers))))
        tidy.append({"test": "wilcoxon", "measure": h.measure, "first": h.first, "second": h.second, "n": w.n,
                     "zeros": w.zeros, "W": w.W, "rank_sum_positive": w.rank_sum_positive,
                     "rank_sum_negative": w.rank_sum_negative, "p_less": w.p_less, "p_greater": w.p_greater,
                     "p_two_sided": w.p_two_sided, "alternative": h.alternative, "p": t.p,
                     "p_holm": t.p_holm})  # fmt: skip
        left_out |= t.left_out
        convention = w.convention
    notes = (
        f"{place}; {source}",
        (
            "H1 less: the first of the pair has the smaller values; where H1 is two-sided, p one-sided is "
            "the smaller of the two; Holm adjusts the p of H1 over the hypotheses of one measure"
        ),
        f"Wilcoxon signed ranks: {convention}",
        *_left_out(left_out),
        *lacking,
    )
    heads = ("N", "zeros", "W", "H1", "p one-sided", "p two-sided", "p Holm")
    return Table("Wilcoxon signed-rank tests", ("measure", "pair"), heads, tuple(rows), notes, tuple(tidy))


def conclusions(tested: Iterable[TestedHypothesis], place: str) -> Table:
    """Return what follows at the levels 0.01, 0.05 and 0.1, without adjustment (003 Table 7)."""
    rows, tidy = [], []
    for t in tested:
        rejected = [level for level in LEVELS if t.p <= level]
        said = (
            t.hypothesis.sentence(METHOD_NAMES)
            if rejected
            else f"H0 stands: {t.hypothesis.equality(METHOD_NAMES)}"
        )
        entries = [TableEntry("rejected" if level in rejected else "stands") for level in LEVELS]
        rows.append(TableRow((t.hypothesis.measure, said), tuple(entries)))
        tidy.append({"test": "conclusion", "measure": t.hypothesis.measure, "first": t.hypothesis.first,
                     "second": t.hypothesis.second, "alternative": t.hypothesis.alternative, "p": t.p,
                     "smallest_level_rejected": min(rejected, default="")})  # fmt: skip
    heads = tuple(f"{level:g}" for level in LEVELS)
    notes = (
        f"H0 at significance levels {', '.join(heads)}; {place}; p-values not adjusted, as in the papers",
    )
    return Table("Conclusions", ("measure", "conclusion"), heads, tuple(rows), notes, tuple(tidy))


def probability(p: float) -> str:
    """Return a p-value to four digits, as papers print it: 3.085e-06, 0.6893."""
    return f"{p:.4f}" if p >= 1e-2 else f"{p:.3e}"


def _left_out(reasons: dict[str, str]) -> tuple[str, ...]:
    listed = [f"{published.title(dataset)} ({reason})" for dataset, reason in reasons.items()]
    return (f"left out: {', '.join(listed)}",) if listed else ()
