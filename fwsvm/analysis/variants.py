"""Runs in which one setting of the authors' program was changed at a time, as ``configs/why.yaml`` makes them.

A cell is a variant of one setting, or has all as the authors ran them (protocol fw-svms). A method whose program knows
no such setting, as FW has no tolerance inside a core set, stands beside a variant as it was run.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

EXPERIMENT = "why"  # the experiment that the runs are of
ALL_ROWS, PAPER_WIDTH = "all rows", "1/(2D)"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name among the parameters of a cell, its name in words, and its value as run, in words."""

    name: str
    title: str
    as_run: Callable[[float], str]  # of the tolerance of the run


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("inner", "tolerance inside CVM's core set", lambda tolerance: f"{0.1 * tolerance:g}"),
        Setting("candidates", "what CVM draws its samples from", lambda _: "balanced"),
        Setting("retries", "samples without a violator before a stop", lambda _: "1"),
        Setting("first_level", "first tolerance of the schedule", lambda _: "0.005"),
        Setting("gradient", "where q of candidates comes from", lambda _: "cheaper"),
        Setting("width_rule", "width of the kernel", lambda _: "2/D"),
    )
}
_NAME = re.compile(r"([^(]*)(?:\((.*)\))?")


def of_why(cells: pd.DataFrame) -> "pd.Series[bool]":
    """Return which cells are runs of `EXPERIMENT`."""
    return cells["experiment"] == EXPERIMENT


def variants(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of `EXPERIMENT` that change one setting or none, by method alone.

    Columns besides those of cells: ``setting`` ('' where all is as run) and ``value`` of it, in words.
    """
    found = []
    for cell in cells[of_why(cells)].to_dict("records"):
        changed = _changed({str(key): value for key, value in cell.items()})
        if changed is not None:
            method = _NAME.fullmatch(str(cell["method"]))
            setting, value = changed
            found.append(cell | {"method": method[1] if method else "", "setting": setting, "value": value})
    return pd.DataFrame(found, columns=[*cells.columns, "setting", "value"])


def _changed(cell: dict[str, object]) -> tuple[str, str] | None:
    """Return the setting that a cell changes, with its value; None if it changes several, or others."""
    inside = _NAME.fullmatch(str(cell["method"]))
    text = (inside[2] if inside else "") or str(cell.get("parameters") or "")
    pairs = [part.partition("=") for part in text.split(", ") if part]
    changed = {name: value for name, _, value in pairs}
    if cell["search"] == "full":
        changed["retries"] = ALL_ROWS
    if cell["width_rule"] == "paper":
        changed["width_rule"] = PAPER_WIDTH
    if len(changed) > 1 or not changed.keys() <= SETTINGS.keys():
        return None
    return next(iter(changed.items()), ("", ""))


def values(varied: pd.DataFrame, setting: Setting) -> list[str]:
    """Return the values of a setting that were run, in order, with the one as run among them."""
    mine = varied.loc[varied["setting"] == setting.name, "value"]
    if mine.empty:
        return []
    return sorted({*mine, *map(setting.as_run, varied["tolerance"].dropna().unique())}, key=_order)


def _order(value: str) -> tuple[bool, float, str]:
    """Numbers by size, then words."""
    try:
        return False, float(value), value
    except ValueError:
        return True, 0.0, value


def at(varied: pd.DataFrame, setting: Setting, value: str) -> pd.DataFrame:
    """Return the cells at a value of a setting, one of each data set and method: as run where there is no variant."""
    as_run = varied[varied["setting"] == ""]
    changed = varied[(varied["setting"] == setting.name) & (varied["value"] == value)]
    return pd.concat([changed, as_run]).drop_duplicates(["dataset", "method"])


def measured_at(varied: pd.DataFrame, setting: Setting, value: str) -> pd.DataFrame:
    """Return the cells of `at` without those as run of a method that has variants of the setting, but not this one.

    Methods of which no run changes the setting, as FW and the tolerance inside CVM's core set, are as run.
    """
    found, of_setting = at(varied, setting, value), varied[varied["setting"] == setting.name]
    unchanged = ~found["method"].isin(of_setting["method"].unique())
    same = found["tolerance"].map(setting.as_run) == value
    return found[(found["setting"] != "") | unchanged | same]
