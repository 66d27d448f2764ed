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


def differing(a: Row, b: Row) -> list[str]:
    """Return the columns, none of them volatile, that two rows of one run do not have alike."""
    return [name for name in _said(a, b) if name not in VOLATILE and a[name] != b[name]]


def contradictions(a: Row, b: Row) -> list[str]:
    """Return in words what cannot be true of both rows, though each says that it is of the same finished run.

    Settings and data must be alike, but for the rounding of numbers that follow from the data (the kernel's width).
    Where both gaps are exact, the intervals [objective - gap, objective] and [dual, primal] must meet; where one is
    not, objectives must be alike but for rounding. What the clock cut short is only held to the gaps that it has.
    Accuracies follow from the point: where that is the same, they must be.
    """
    found = [
        _of(name, a, b) for name in _said(a, b) if name not in VOLATILE | FOUND and not _alike(name, a, b)
    ]
    cut = CUT in {a["status"], b["status"]}
    if cut and _number(a, "subproblems") > 1:
        return found  # the sums are over the subproblems that were reached
    if _exact(a) and _exact(b):
        for low, high, said in (
            (_lowest(a), _number(b, "objective"), _of_gaps(a, b)),
            (_lowest(b), _number(a, "objective"), _of_gaps(a, b)),
            (_number(a, "dual"), _number(b, "primal"), _of_bounds(a, b)),
            (_number(b, "dual"), _number(a, "primal"), _of_bounds(b, a)),
        ):
            if low - high > ROUNDING * max(abs(low), abs(high)) and said not in found:
                found.append(said)
    elif not cut and "objective" in _said(a, b) and not _alike("objective", a, b):
        found.append(_of("objective", a, b))
    if all(_alike(name, a, b) for name in POINT):
        found += [_of(name, a, b) for name in FOLLOWING if not _alike(name, a, b)]
    return found


def _said(a: Row, b: Row) -> list[str]:
    """Return the columns in which both rows could have said something."""
    schema = min(float(row.get("schema") or 1) for row in (a, b))
    return [name for name in a if name in b and (name not in COLUMNS or COLUMNS[name].since <= schema)]


def _of(name: str, a: Row, b: Row) -> str:
    return f"{name} {shortened(a.get(name, ''))} and {shortened(b.get(name, ''))}"


def _of_gaps(a: Row, b: Row) -> str:
    apart = f"farther apart than the gaps {a['gap']} and {b['gap']} allow"
    return f"{_of('objective', a, b)}, {apart}"


def _of_bounds(a: Row, b: Row) -> str:
    return f"dual {a.get('dual', '')} is above primal {b.get('primal', '')}"


def _exact(row: Row) -> bool:
    """Whether the row's gap bounds how far its objective is from the optimum."""
    return row.get("gap_kind") == "exact" and all(
        math.isfinite(_number(row, name)) for name in ("objective", "gap")
    )


def _lowest(row: Row) -> float:
    """Return what the optimum is at least; a gap below zero is one of rounding."""
    return _number(row, "objective") - max(0.0, _number(row, "gap"))


def _number(row: Row, name: str) -> float:
    try:
        return float(row[name])
    except (KeyError, ValueError):
        return math.nan


def _alike(name: str, a: Row, b: Row) -> bool:
    """Whether two fields are the same, or numbers that are but for rounding."""
    one, other = a.get(name, ""), b.get(name, "")
    try:
        return one == other or math.isclose(float(one), float(other), rel_tol=ROUNDING)
    except ValueError:
        return False
