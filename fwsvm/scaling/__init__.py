"""Scaling features to an interval by their ranges over the training rows, as LIBSVM's svm-scale does.

ranges          the ranges of training rows, and rows scaled by them
notices         rows that ranges do not suit: far outside, scaled already, or uneven by orders of magnitude
"""

from fwsvm.scaling.notices import FAR, UNEVEN, Outside, outside, seem_scaled, uneven
from fwsvm.scaling.ranges import SCALINGS, TARGETS, Ranges, apply, extremes, fit

__all__ = [
    "FAR",
    "SCALINGS",
    "TARGETS",
    "UNEVEN",
    "Outside",
    "Ranges",
    "apply",
    "extremes",
    "fit",
    "outside",
    "seem_scaled",
    "uneven",
]
