"""Whether two rows of one run can both be honest: the columns that may differ, and what certificates allow.

A run's identity fixes its numbers to the last bit on one machine with the same threads and memory. Elsewhere sums are
rounded otherwise and kernel columns are evicted at other times, so a run may take other steps and end at another point
within its tolerance. Its certificate says how far from the optimum that may be: an exact gap leaves an interval for the
optimum, and the intervals of two honest runs have the optimum in common. Rows are those of runs.csv, fields as text.
"""

import math
from collections.abc import Mapping

from fwsvm.errors import shortened
from fwsvm.results.columns import COLUMNS

Row = Mapping[str, str]

VOLATILE, FOUND = (
    frozenset(name for name, column in COLUMNS.items() if column.variability == variability)
    for variability in ("volatile", "found")
)
#: Follow from the point that a run ended at, which these three tell.
POINT, FOLLOWING = ("objective", "gap", "support_vectors"), ("test_accuracy", "train_accuracy")
ROUNDING = 1e-9  # of the larger number
CUT = "time_limit"


def contradictions(a: Row, b: Row) -> list[str]:
    """Return in words what cannot be true of both rows, though each says that it is of the same finished run.

    Settings and data must be alike, but for the rounding of numbers that follow from the data (the kernel's width).
    Where both gaps are exact, the intervals [objective - gap, objective] and [dual, primal] must meet; where one is
    not, objectives must be alike but for rounding. What the clock cut short is only held to the gaps that it has.
    Accuracies follow from the point: where that is the same, they must be.
    """
    common = _said(a, b)
    unlike = [name for name in common if not _alike(name, a, b)]
    found = [_of(name, a, b) for name in unlike if name not in VOLATILE | FOUND]
    cut = CUT in {a["status"], b["status"]}
    if cut and _number(a, "subproblems") > 1:
        return found  # the sums are over the subproblems that were reached
    if _exact(a) and _exact(b):
        apart = f"farther apart than the gaps {a['gap']} and {b['gap']} allow"
        for one, other in ((a, b), (b, a)):
            lowest = _number(one, "objective") - max(
                0.0, _number(one, "gap")
            )  # a gap below zero is one of rounding
            if _above(lowest, _number(other, "objective")):
                found.append(f"{_of('objective', a, b)}, {apart}")
            if _above(_number(one, "dual"), _number(other, "primal")):
                found.append(f"dual {one['dual']} is above primal {other['primal']}")
    elif not cut and "objective" in unlike:
        found.append(_of("objective", a, b))
    if not set(POINT) & set(unlike):
        found += [_of(name, a, b) for name in FOLLOWING if name in unlike]
    return found


def _said(a: Row, b: Row) -> list[str]:
    """Return the columns in which both rows could have said something."""
    schema = min(float(row.get("schema") or 1) for row in (a, b))
    return [name for name in a if name in b and (name not in COLUMNS or COLUMNS[name].since <= schema)]


def _of(name: str, a: Row, b: Row) -> str:
    return f"{name} {shortened(a[name])} and {shortened(b[name])}"


def _exact(row: Row) -> bool:
    """Whether the row's gap bounds how far its objective is from the optimum."""
    finite = math.isfinite(_number(row, "objective")) and math.isfinite(_number(row, "gap"))
    return row.get("gap_kind") == "exact" and finite


def _number(row: Row, name: str) -> float:
    return float(row.get(name) or "nan")


def _above(low: float, high: float) -> bool:
    return low - high > ROUNDING * max(abs(low), abs(high))


def _alike(name: str, a: Row, b: Row) -> bool:
    """Whether two fields are the same, or numbers that are but for rounding."""
    try:
        return a[name] == b[name] or math.isclose(float(a[name]), float(b[name]), rel_tol=ROUNDING)
    except ValueError:
        return False
