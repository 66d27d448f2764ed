"""Stopping rules: the largest gap at which a run may stop, as a line a + b R of its objective R."""


def stopping_line(stop: str, level: float, widest: float) -> tuple[float, float]:
    """Return a and b of the largest gap a + b R at which a run by this rule to this tolerance may stop.

    ``stop`` is relative (gap <= level R), gap (000 eq. 8: gap <= level), or meb: gamma_i^2 <= (1 + level)^2 r^2 (003
    section 4.3) with Delta^2 = ``widest`` = max K~_ii.
    """
    if stop == "relative":
        return 0.0, level
    if stop == "gap":
        return level, 0.0
    slack = 2.0 * level + level * level
    return slack * widest, -slack


def largest_gap(stop: str, level: float, widest: float, R: float) -> float:
    """Return the gap at which a run with the objective R may stop."""
    constant, slope = stopping_line(stop, level, widest)
    return constant + slope * R
