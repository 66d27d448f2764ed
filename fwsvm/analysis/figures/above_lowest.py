"""Objectives above the lowest of all runs of a problem, on a log axis: what the lowest is, and where curves end."""

import math
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Key = TypeVar("Key")
#: Objectives whose difference is a smaller part of them are alike: kernel values may be of single precision, and runs
#: of scs end up to 6e-6 from the objective computed anew.
ALIKE = 1e-5
#: Part of the lowest median at which a band that goes lower ends: a log axis has no zero.
BELOW_MEDIAN = 0.1
SAMPLED = (
    "the lowest is that of the final models, recomputed on all rows; during a run a stochastic method tracks the "
    "objective on its sample, which may be lower"
)
ENDS = "a curve ends where its median reaches the lowest; a band ends at a tenth of the lowest median drawn"


def ends_as_reported(trace: pd.DataFrame, reported: float) -> bool:
    """Return whether a trace ends at the objective of the run, which is computed anew; without either it does."""
    known = trace["objective"].dropna()
    if known.empty or math.isnan(reported):
        return True
    return math.isclose(known.iloc[-1], reported, rel_tol=ALIKE)


def lowest_of(runs: list[tuple[pd.DataFrame, float]], *, reported: bool) -> float:
    """Return the lowest objective of runs: of those reported at their ends, or along their traces; NaN of none."""
    values = [end if reported else trace["objective"].min() for trace, end in runs]
    return float(np.fmin.reduce(values))


class Curve(NamedTuple):
    """Median and range of runs at each x, and whether one of them ends there, see `ENDS`."""

    x: NDArray[np.float64]
    middle: NDArray[np.float64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    ended: bool


def curves_of(
    found: dict[Key, tuple[NDArray[np.float64], NDArray[np.float64]]], column: str
) -> dict[Key, Curve]:
    """Return the curves of runs' values ``(r, g)`` at ``(g,)`` places; see `ENDS` for those above the lowest."""
    medians = {key: np.nanmedian(values, axis=0) for key, (_, values) in found.items()}
    bottom = -math.inf
    if column == "suboptimality" and medians:
        every = np.concatenate(list(medians.values()))
        bottom = BELOW_MEDIAN * min(every[every > 0], default=-math.inf)
    curves = {}
    for key, (x, values) in found.items():
        middle, least = medians[key], np.nanmin(values, axis=0)
        ended = bool((least < bottom).any())
        most = np.maximum(np.nanmax(values, axis=0), bottom)
        curves[key] = Curve(
            x, np.where(middle > bottom, middle, np.nan), np.maximum(least, bottom), most, ended
        )
    return curves
