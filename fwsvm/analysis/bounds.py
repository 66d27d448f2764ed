"""What a time limit leaves of a run's numbers: lower bounds, or nothing."""

import pandas as pd


def cut_in_part(status: "pd.Series[str]", subproblems: "pd.Series[float]") -> "pd.Series[bool]":
    """Return which runs a time limit ended before all pairs of classes were solved, so that they have no machine."""
    return (status == "time_limit") & (subproblems > 1)


def is_certain(a: float, a_cut: bool, b: float, b_cut: bool) -> bool:
    """Return whether it is certain which time is shorter, given that one that was cut short is a lower bound."""
    return not ((a_cut and (b_cut or a < b)) or (b_cut and b < a))
