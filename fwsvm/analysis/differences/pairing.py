"""Which run of one result is set against which run of another."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from fwsvm.analysis.reported import REPEATED
from fwsvm.analysis.results import DONE

GROUP = ["dataset", "method", "kernel", "tolerance", "search", "stop", "width_rule", "degree", "coef0"]
SIDES = ("old", "new")
#: What a run and its partner have in common; the last two are made here.
KEYS = [*GROUP, *REPEATED, "place", "number"]


class PairedRuns(NamedTuple):
    """Runs in pairs, with suffixes ``_old`` and ``_new``, and all runs of either side with the columns of `KEYS`."""

    both: pd.DataFrame
    sides: tuple[pd.DataFrame, pd.DataFrame]


def paired_runs(old: pd.DataFrame, new: pd.DataFrame) -> PairedRuns:
    """Pair reported runs by data set, method, setting, seed and repetition.

    A run that never started has only the settings that were asked for: it is the partner of a run that agrees in these.
    A chosen C may differ between two results; runs of several C are paired by C and gamma.
    """
    one, other = _filled(old), _filled(new)
    one, other = _completed(one, other), _completed(other, one)
    several = _with_several_settings(one) | _with_several_settings(other)
    one, other = _numbered(one, several), _numbered(other, several)
    return PairedRuns(one.merge(other, on=KEYS, suffixes=("_old", "_new")), (one, other))


def _filled(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with '' where a setting has no value, which is unlike itself as NaN."""
    return rows.assign(**{name: rows[name].astype(object).where(rows[name].notna(), "") for name in GROUP})


def _completed(rows: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return the rows, unfinished ones with all settings of a run of the other side that agrees in what they have."""
    rows, names = rows.copy(), [*GROUP, *REPEATED, "C", "gamma_set"]
    known: dict[tuple[str, ...], dict[tuple[object, ...], list[int]]] = {}  # places by what is said
    taken: set[int] = set()
    for index, row in rows.loc[~rows["status"].isin(DONE), names].to_dict("index").items():
        said = tuple(str(name) for name, value in row.items() if value != "" and not pd.isna(value))
        if said not in known:
            places = known[said] = {}
            for place, *what in others[list(said)].itertuples(name=None):
                places.setdefault(tuple(what), []).append(place)
        found = [
            place for place in known[said].get(tuple(row[name] for name in said), ()) if place not in taken
        ]
        if found:
            taken.add(found[0])
            partner: Any = others.loc[found[0]]
            at: Any = index
            for name in names:
                rows.loc[at, name] = partner[name]
    return rows


def _with_several_settings(rows: pd.DataFrame) -> set[Sequence[object]]:
    """Return the groups in which a repetition has runs of several C or gamma."""
    settings = rows.drop_duplicates([*GROUP, *REPEATED, "C", "gamma_set"])
    counts = settings.groupby([*GROUP, *REPEATED], dropna=False).size()
    return {key[: len(GROUP)] for key in counts[counts > 1].index}


def _numbered(rows: pd.DataFrame, several: set[Sequence[object]]) -> pd.DataFrame:
    """Return the rows with ``place``, C and gamma in words where there are several, and a number among equals."""
    groups = rows[GROUP].itertuples(index=False, name=None)
    places = [
        _place(C, gamma) if group in several else ""
        for group, C, gamma in zip(groups, rows["C"], rows["gamma_set"], strict=True)
    ]
    rows = rows.assign(place=places).sort_values(["C", "gamma_set"], kind="stable")
    return rows.assign(number=rows.groupby([*GROUP, *REPEATED, "place"], dropna=False).cumcount())


def _place(C: float, gamma: float) -> str:
    return f"C {C:.9g}" + ("" if pd.isna(gamma) else f", gamma {gamma:.9g}")
