"""Carry out a design on cells: Friedman and Nemenyi over all methods, Wilcoxon and Holm over the pairs."""

from dataclasses import dataclass

import pandas as pd

from fwsvm.analysis.cells import matrix, without_sweeps
from fwsvm.analysis.comparisons.design import Design, Hypothesis
from fwsvm.analysis.measures import measure
from fwsvm.analysis.statistics import Friedman, Nemenyi, Wilcoxon, friedman, holm, nemenyi, wilcoxon
from fwsvm.errors import ResultsError
from fwsvm.results.kinds import listed, shortened

#: Exact tests of more take minutes: the distribution of ranks grows with the square of the data sets.
MOST_METHODS, MOST_DATASETS = 40, 1000


@dataclass(frozen=True, slots=True)
class Tested:
    """One hypothesis with its test; ``p`` is for its alternative, ``p_holm`` adjusted over its measure."""

    hypothesis: Hypothesis
    test: Wilcoxon
    p: float
    p_holm: float
    left_out: dict[str, str]


@dataclass(frozen=True, slots=True)
class Compared:
    """All methods of a design in one measure."""

    measure: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    left_out: dict[str, str]
    friedman: Friedman
    nemenyi: Nemenyi


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came of a design: a `Compared` per measure and a `Tested` per hypothesis.

    What too few data sets have the numbers for (times cut short are none) is left out, and ``lacking`` says why.
    """

    design: Design
    compared: tuple[Compared, ...]
    tested: tuple[Tested, ...]
    lacking: tuple[str, ...] = ()


def evaluate(design: Design, cells: pd.DataFrame, *, alpha: float = 0.05) -> Evaluation:
    """Carry out the design; data sets lacking a method are left out of the tests that need it, and named.

    Each test of a pair uses every data set that has these two. Raises ResultsError if in no measure two data
    sets have all methods.
    """
    plain = without_sweeps(cells)
    cells = cells if plain.empty else plain
    compared, lacking = [], []
    for name in design.measures:
        try:
            compared.append(compare(cells, list(design.methods), name, alpha=alpha))
        except ResultsError as error:
            lacking.append(error)
    if not compared:
        raise lacking[0]
    tested = tuple(t for name in design.measures for t in _tested(design, cells, name))
    return Evaluation(design, tuple(compared), tested, tuple(map(str, lacking)))


def compare(cells: pd.DataFrame, methods: list[str], name: str, *, alpha: float = 0.05) -> Compared:
    """Compare all methods at once in one measure."""
    kind = measure(name)
    number = cells["dataset"].nunique()
    if len(methods) > MOST_METHODS or number > MOST_DATASETS:
        raise ResultsError(
            f"{len(methods)} methods on {number} data sets, and at most {MOST_METHODS} on {MOST_DATASETS:,} are "
            "compared; choose with --methods, or with --where COLUMN=VALUE"
        )
    values, left_out = matrix(cells, kind.column, methods)
    if len(values) < 2:
        reasons = "; ".join(
            f"{shortened(str(dataset))}: {shortened(reason, 200)}"
            for dataset, reason in list(left_out.items())[:5]
        )
        raise ResultsError(
            f"fewer than two data sets have {name} for all of {listed(map(shortened, methods))}"
            + (f" ({reasons})" if reasons else "")
            + "; run the rest, or choose methods with --methods"
        )
    largest_first = kind.better == "more"
    return Compared(
        name,
        tuple(methods),
        tuple(str(dataset) for dataset in values.index),
        left_out,
        friedman(values, largest_first=largest_first),
        nemenyi(values, largest_first=largest_first, alpha=alpha),
    )


def _tested(design: Design, cells: pd.DataFrame, name: str) -> list[Tested]:
    hypotheses = [hypothesis for hypothesis in design.hypotheses if hypothesis.measure == name]
    found = []
    for hypothesis in hypotheses:
        pair = [hypothesis.first, hypothesis.second]
        values, left_out = matrix(cells, measure(name).column, pair)
        if values.empty:
            continue
        test = wilcoxon(values[hypothesis.first], values[hypothesis.second])
        found.append((hypothesis, test, p_value(test, hypothesis), left_out))
    adjusted = holm([p for _, _, p, _ in found])
    return [
        Tested(hypothesis, test, p, float(p_holm), left_out)
        for (hypothesis, test, p, left_out), p_holm in zip(found, adjusted, strict=True)
    ]


def p_value(test: Wilcoxon, hypothesis: Hypothesis) -> float:
    """Return the p-value for the hypothesis's own alternative."""
    return {"less": test.p_less, "greater": test.p_greater, "two-sided": test.p_two_sided}[
        hypothesis.alternative
    ]
