"""The reported runs of a frame: each repetition of a cell once, and under which load they were timed."""

from collections.abc import Hashable

import numpy as np
import pandas as pd

from fwsvm.analysis.results import DONE
from fwsvm.errors import ResultsError, listed, shortened

#: Columns that identify a cell; ``gamma_set`` is gamma if no rule derives it from the data, ``protocol`` is that of
#: `fwsvm.analysis.results.protocols`.
SETTING = (  # noqa: SIM905 - a list of names reads better unquoted
    "experiment profile dataset method kernel C lambda tolerance search stop width_rule degree coef0 "
    "gamma_set protocol time_limit max_iterations"
).split()
#: Columns that identify a run within its cell.
REPEATED = ["seed", "fold", "repetition"]


def final_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the reported runs (``role`` final), each repetition of a cell once.

    Of repeated runs the latest finished row counts, or the latest if none finished. The row of a run that never
    started (no data, no parameters selected) has only the requested settings: any finished row with the same values in
    these columns replaces it.
    """
    rows = frame[frame["role"] == "final"].copy()
    if "protocol" not in rows:
        rows["protocol"] = ""
    derived = rows["width_rule"].astype(str) != ""
    rows["gamma_set"] = rows["gamma"].where(~derived)
    rows["_finished"] = rows["status"].isin(DONE)
    rows = rows.sort_values("_finished", kind="stable")
    rows = rows.drop_duplicates([*SETTING, *REPEATED], keep="last").sort_index()
    return rows[~_superseded(rows)].drop(columns="_finished")


def _superseded(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return which unfinished rows have a finished one with the same values in all columns that they fill."""
    names = [*SETTING, *REPEATED]
    finished, unfinished = rows[rows["_finished"]], rows[~rows["_finished"]]
    said = (unfinished[names].notna() & (unfinished[names] != "")).to_numpy(dtype=bool)
    replaced: set[Hashable] = set()
    # row by row against all that finished would take hours for a large folder; few sets of columns occur
    for pattern in np.unique(said, axis=0):
        columns = [name for name, there in zip(names, pattern, strict=True) if there]
        alike = unfinished[(said == pattern).all(axis=1)]
        known = set(finished[columns].itertuples(index=False, name=None))
        asked = alike[columns].itertuples(index=False, name=None)
        replaced |= {index for index, what in zip(alike.index, asked, strict=True) if what in known}
    return pd.Series(rows.index.isin(list(replaced)), index=rows.index)


def refuse_mixed_load(frame: pd.DataFrame) -> None:
    """Raise `ResultsError` if the reported runs were not timed under the same load."""
    rows = final_rows(frame)
    rows = rows[rows["status"].isin(DONE)]
    for column in ("parallel_cells", "threads"):
        counts = rows[column].value_counts(dropna=False)
        if len(counts) > 1:
            held = listed((f"{value:g} ({count} runs)" for value, count in counts.items()), ", ", 8)
            raise ResultsError(
                f"times were measured under different loads: {column} is {held}; "
                "run them again under the same load, choose with --where, or accept with --mixed-load"
            )
    if rows["shared"].any():
        first = rows[rows["shared"]].iloc[0]
        raise ResultsError(
            f"{int(rows['shared'].sum())} runs took kernel values or a warm start from another cell "
            f"(first {shortened(first['dataset'])}, {shortened(first['method'])}), so their times mean little; "
            "accept with --mixed-load"
        )
    for dataset, here in rows.groupby("dataset"):
        machines = sorted({f"{m} ({c})" for m, c in zip(here["machine"], here["cpu"], strict=True)})
        if len(machines) > 1:
            raise ResultsError(
                f"the times on {shortened(str(dataset))} come from different machines: "
                f"{listed(map(shortened, machines), ', ', 8)}; "
                "choose with --where machine=NAME, or accept with --mixed-load"
            )
