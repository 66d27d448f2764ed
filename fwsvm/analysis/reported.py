"""The reported runs of a frame: each repetition of a cell once, and under which load they were timed."""

import pandas as pd

from fwsvm.analysis.results import DONE
from fwsvm.errors import ResultsError, counted, listed

#: Columns that identify a cell; ``gamma_set`` is gamma if no rule derives it from the data, ``protocol`` is that of
#: `fwsvm.analysis.results.protocols`.
SETTING = (  # noqa: SIM905 - a list of names reads better unquoted
    "experiment profile dataset method kernel C lambda tolerance search stop width_rule degree coef0 "
    "gamma_set protocol time_limit max_iterations"
).split()
#: Columns that identify a run within its cell.
REPEATED = ["seed", "fold", "repetition"]
#: Columns that identify a run, also one that was interrupted before its settings were known.
RUN = ["experiment", "profile", "run_id"]
#: What is known of a run that never started.
ASKED = ["experiment", "profile", "dataset", "method", "kernel", "tolerance", "degree", "coef0", *REPEATED]


def final_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the reported runs (``role`` final), each repetition of a cell once.

    Of repeated runs the latest finished row counts, or the latest if none finished. The row of a run that never
    started (no data, no parameters selected) has no C or lambda: any finished row of its method and repetition
    replaces it.
    """
    rows = frame[frame["role"] == "final"]
    rows = rows.assign(
        gamma_set=rows["gamma"].where(rows["width_rule"] == ""), _finished=rows["status"].isin(DONE)
    )
    rows = rows.sort_values("_finished", kind="stable")
    for identity in (RUN, [*SETTING, *REPEATED]):
        rows = rows.drop_duplicates(identity, keep="last")
    rows = rows.sort_index()
    ran = rows.groupby(ASKED, dropna=False)["_finished"].transform("any")
    never_started = ~rows["_finished"] & rows["C"].isna() & rows["lambda"].isna()
    return rows[~(never_started & ran)].drop(columns="_finished")


def refuse_mixed_load(frame: pd.DataFrame) -> None:
    """Raise `ResultsError` if the reported runs were not timed under the same load."""
    rows = final_rows(frame)
    rows = rows[rows["status"].isin(DONE)]
    for column in ("parallel_cells", "threads"):
        counts = rows[column].value_counts(dropna=False)
        if len(counts) > 1:
            held = listed(f"{value:g} ({counted(count, 'run')})" for value, count in counts.items())
            raise ResultsError(
                f"times were measured under different loads: {column} is {held}; "
                "run them again under the same load, choose with --where, or accept with --mixed-load"
            )
    shared = rows[rows["shared"].astype(bool)]
    if len(shared):
        raise ResultsError(
            f"{counted(len(shared), 'run')} took kernel values or a warm start from another cell (first "
            f"{shared['dataset'].iloc[0]}), so their times mean little; accept with --mixed-load"
        )
    machines = (rows["machine"] + " (" + rows["cpu"] + ")").groupby(rows["dataset"]).unique()
    for dataset, some in machines[machines.map(len) > 1].items():
        raise ResultsError(
            f"the times on {dataset} come from different machines: {listed(some)}; "
            "choose with --where machine=NAME, or accept with --mixed-load"
        )
