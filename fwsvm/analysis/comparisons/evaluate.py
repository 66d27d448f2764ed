"""Carry out a design on cells: Friedman and Nemenyi over all methods, Wilcoxon and Holm over the pairs."""

from dataclasses import dataclass

import pandas as pd

from fwsvm.analysis.comparisons.design import Design, Hypothesis
from fwsvm.analysis.measures import measure
from fwsvm.analysis.method_matrix import method_matrix
from fwsvm.analysis.published import without_made_here
from fwsvm.analysis.statistics import Friedman, Nemenyi, Wilcoxon, friedman, holm, nemenyi, wilcoxon
from fwsvm.analysis.sweeps import without_sweeps
from fwsvm.errors import ResultsError, listed, shortened

#: Exact tests of more take minutes: the distribution of ranks grows with the square of the data sets.
MAX_METHODS, MAX_DATASETS = 40, 1000


@dataclass(frozen=True, slots=True)
class TestedHypothesis:
    """One hypothesis with its test; ``p`` is for its alternative, ``p_holm`` adjusted over its measure."""

    hypothesis: Hypothesis
    test: Wilcoxon
    p: float
    p_holm: float
    left_out: dict[str, str]


@dataclass(frozen=True, slots=True)
class OverallComparison:
    """All methods of a design in one measure."""

    measure: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    left_out: dict[str, str]
    friedman: Friedman
    nemenyi: Nemenyi


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The tests of a design: an `OverallComparison` for each measure, a `TestedHypothesis` for each hypothesis.

    A measure that fewer than two data sets have for all methods (times cut short do not count) is left out, and
    ``lacking`` says why.
    """

    design: Design
    compared: tuple[OverallComparison, ...]
    tested: tuple[TestedHypothesis, ...]
    lacking: tuple[str, ...] = ()


def evaluate(design: Design, cells: pd.DataFrame, *, alpha: float = 0.05) -> Evaluation:
    """Carry out the tests of a design; data sets that lack a method are left out of its tests, and named.

    Each test of a pair uses every data set that has these two. Raises ResultsError if in no measure two data
    sets have all methods.
    """
    plain = without_sweeps(cells)
    cells = cells if plain.empty else plain
    compared, lacking = [], []
    for name in design.measures:
        try:
            compared.append(compare_methods(cells, list(design.methods), name, alpha=alpha))
        except ResultsError as error:
            lacking.append(error)
    if not compared:
        raise lacking[0]
    tested = tuple(t for name in design.measures for t in _tested(design, cells, name))
    return Evaluation(design, tuple(compared), tested, tuple(map(str, lacking)))


def comparable(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that tests over data sets can compare, of folders of several kernels and kinds of sets.

    Those without sweeps over C and without data sets that are made here; where a method ran with the rbf kernel and
    with others, those of rbf alone.
    """
    plain = without_made_here(without_sweeps(cells))
    several = (plain.groupby("method")["kernel"].nunique() > 1).any()
    rbf = plain[plain["kernel"] == "rbf"]
    return rbf if several and len(rbf) else plain


def compare_methods(
    cells: pd.DataFrame, methods: list[str], name: str, *, alpha: float = 0.05
) -> OverallComparison:
    """Compare all methods at once in one measure."""
    kind = measure(name)
    number = cells["dataset"].nunique()
    if len(methods) > MAX_METHODS or number > MAX_DATASETS:
        raise ResultsError(
            f"{len(methods)} methods on {number} data sets, and at most {MAX_METHODS} on {MAX_DATASETS:,} are "
            "compared; choose some with --where COLUMN=VALUE, or with --methods of fwsvm stats"
        )
    values, left_out = method_matrix(cells, kind.column, methods)
    if len(values) < 2:
        reasons = "; ".join(
            f"{shortened(str(dataset))}: {shortened(reason, 200)}"
            for dataset, reason in list(left_out.items())[:5]
        )
        raise ResultsError(
            f"fewer than two data sets have {name} for all of {listed(map(shortened, methods))}"
            + (
                f" ({reasons}); run the rest, or leave methods out with --methods of fwsvm stats"
                if reasons
                else "; the tests need runs of these on more data sets"
            )
        )
    largest_first = kind.better == "more"
    return OverallComparison(
        name,
        tuple(methods),
        tuple(str(dataset) for dataset in values.index),
        left_out,
        friedman(values, largest_first=largest_first),
        nemenyi(values, largest_first=largest_first, alpha=alpha),
    )


def _tested(design: Design, cells: pd.DataFrame, name: str) -> list[TestedHypothesis]:
    hypotheses = [hypothesis for hypothesis in design.hypotheses if hypothesis.measure == name]
    found = []
    for hypothesis in hypotheses:
        pair = [hypothesis.first, hypothesis.second]
        try:
            values, left_out = method_matrix(cells, measure(name).column, pair)
        except ResultsError:  # which the comparison of all methods has said
            continue
        if values.empty:
            continue
        test = wilcoxon(values[hypothesis.first], values[hypothesis.second])
        found.append((hypothesis, test, p_value(test, hypothesis), left_out))
    adjusted = holm([p for _, _, p, _ in found])
    return [
        TestedHypothesis(hypothesis, test, p, float(p_holm), left_out)
        for (hypothesis, test, p, left_out), p_holm in zip(found, adjusted, strict=True)
    ]


def p_value(test: Wilcoxon, hypothesis: Hypothesis) -> float:
    """Return the p-value for the hypothesis's own alternative."""
    return {"less": test.p_less, "greater": test.p_greater, "two-sided": test.p_two_sided}[
        hypothesis.alternative
    ]
