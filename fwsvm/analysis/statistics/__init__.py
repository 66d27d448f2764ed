"""Non-parametric tests for several methods on several data sets, as Demsar (JMLR 7, 2006) recommends them.

Each test is one file and one function from numbers to a frozen result; every result says in ``convention``
how zeros, ties and tails were treated, because published p-values differ more by that than by data.
"""

from fwsvm.analysis.statistics.friedman import Friedman, friedman
from fwsvm.analysis.statistics.holm import holm
from fwsvm.analysis.statistics.nemenyi import Nemenyi, nemenyi
from fwsvm.analysis.statistics.wilcoxon import Wilcoxon, wilcoxon

__all__ = ["Friedman", "Nemenyi", "Wilcoxon", "friedman", "holm", "nemenyi", "wilcoxon"]
