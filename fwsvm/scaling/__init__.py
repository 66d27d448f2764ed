"""Scaling features to an interval by their ranges over the training rows, as LIBSVM's svm-scale does.

ranges          the ranges of training rows, and the interval they are mapped to
scaled_rows     rows scaled by ranges
out_of_range    rows that ranges of other rows do not suit: far outside them, or scaled already
uneven_ranges   rows whose features' ranges differ by orders of magnitude
"""

from fwsvm.scaling.out_of_range import FAR, Outside, outside, seem_scaled
from fwsvm.scaling.ranges import SCALINGS, TARGETS, Ranges, extremes, fit
from fwsvm.scaling.scaled_rows import apply
from fwsvm.scaling.uneven_ranges import UNEVEN, Seen, Uneven, uneven, uneven_widths

__all__ = [
    "FAR", "SCALINGS", "TARGETS", "UNEVEN", "Outside", "Ranges", "Seen", "Uneven", "apply", "extremes", "fit",
    "outside", "seem_scaled", "uneven", "uneven_widths",
]  # fmt: skip
