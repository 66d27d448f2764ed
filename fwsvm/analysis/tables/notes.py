"""Notes below a table: runs that are lacking, results that promise little, other sizes, and the setting of the runs."""

import pandas as pd

from fwsvm.analysis import published
from fwsvm.analysis.cells import cell_names, setting_words, several_kinds
from fwsvm.analysis.measures import plain


def incomplete(shown: pd.DataFrame, settings: list[str]) -> list[str]:
    """Return notes that name the cells of this table with failed or missing runs, or fewer than their rivals."""
    bad = shown[shown["status"].isin(["error", "missing", "interrupted"])]
    listed: list[str] = []
    for statuses, some in bad.groupby("statuses", sort=False):
        listed.append(f"{statuses} in {', '.join(cell_names(some, shown, settings))}")
    most = shown.groupby(["dataset", *settings], sort=False, dropna=False)["runs"].transform("max")
    few = shown.assign(most=most)[(shown["runs"] < most) & (shown["used"] > 0)]
    fewer = [
        f"{', '.join(cell_names(some, shown, settings))} ({runs} of {of})"
        for (runs, of), some in few.groupby(["runs", "most"], sort=False)
    ]
    return [f"not complete: {'; '.join(listed)}"] * bool(listed) + [f"fewer runs: {'; '.join(fewer)}"] * bool(
        fewer
    )


def weak_promises(shown: pd.DataFrame, settings: list[str]) -> list[str]:
    """Return a note that names the cells of this table whose results promise little, and why."""
    said = [
        f"{cell['dataset']}/{cell['method']}{setting_words(cell, settings)} ({cell['void']})"
        for cell in shown[shown["void"] != ""].to_dict("records")
    ]
    return [f"§ weak guarantee for {'; '.join(said)}"] if said else []


def other_sizes(shown: pd.DataFrame, theirs: pd.DataFrame | None) -> list[str]:
    """Return a note of training sets whose size is not the published one."""
    if theirs is None:
        return []
    sizes = theirs.drop_duplicates("dataset").set_index("dataset")["rows"]
    ours = shown.drop_duplicates("dataset").set_index("dataset")["rows"].dropna()
    unlike = [
        f"{published.title(str(dataset))} {rows:.0f} of {sizes[str(dataset)]:.0f}"
        for dataset, rows in ours.items()
        if dataset in sizes.index and rows != sizes[str(dataset)]
    ]
    return [f"training rows, ours of published: {', '.join(unlike)}"] if unlike else []


def setting_of(cells: pd.DataFrame) -> str:
    """Return the settings that all these cells have in common (kernel, C, tolerance, profile), for a note.

    A setting with one value for each method is given with the methods that differ.
    """
    words = []
    for name in ("profile", "kernel", "C", "tolerance", "search", "stop", "width_rule", "protocol"):
        per_method = cells.groupby("method", sort=False)[name]
        if (per_method.nunique(dropna=False) > 1).any():
            continue  # it varies within a method: a label of the table, or a selected parameter
        shown = {str(method): plain(values.iloc[0]) for method, values in per_method}
        usual = max(shown.values(), key=list(shown.values()).count)
        others = [f"{value or 'none'} for {method}" for method, value in shown.items() if value != usual]
        if usual not in {"", "nan"}:
            words.append(f"{name} {usual}" + (f" ({', '.join(others)})" if others else ""))
    words += [several] if (several := several_kinds(cells)) else []
    if "parameters" in cells:
        named = cells.loc[cells["parameters"] != "", ["method", "parameters"]].drop_duplicates()
        words += [f"{row.method} with {row.parameters}" for row in named.itertuples()]
    return ", ".join(words)
