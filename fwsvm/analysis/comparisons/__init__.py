"""Compare methods over data sets: a design says what is tested, `evaluate` tests it, `show` makes tables."""

from fwsvm.analysis.comparisons.design import Design, Hypothesis, all_pairs
from fwsvm.analysis.comparisons.evaluate import (
    Evaluation,
    OverallComparison,
    TestedHypothesis,
    comparable,
    compare_methods,
    evaluate,
)
from fwsvm.analysis.comparisons.show import tables

__all__ = [
    "Design",
    "Evaluation",
    "Hypothesis",
    "OverallComparison",
    "TestedHypothesis",
    "all_pairs",
    "comparable",
    "compare_methods",
    "evaluate",
    "tables",
]
