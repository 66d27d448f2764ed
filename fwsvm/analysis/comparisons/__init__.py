"""Compare methods over data sets: a design says what is tested, `evaluate` tests it, `show` prints it."""

from fwsvm.analysis.comparisons.design import DESIGNS, Design, Hypothesis, all_pairs, design
from fwsvm.analysis.comparisons.evaluate import Compared, Evaluation, Tested, compare, evaluate
from fwsvm.analysis.comparisons.show import tables

__all__ = [
    "DESIGNS",
    "Compared",
    "Design",
    "Evaluation",
    "Hypothesis",
    "Tested",
    "all_pairs",
    "compare",
    "design",
    "evaluate",
    "tables",
]
