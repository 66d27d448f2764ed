"""The papers' printed numbers, as cells, and their names of data sets.

`cells` returns what a paper prints of its runs, from cells.csv, with the columns of `fwsvm.analysis.cells`;
``<column>_text`` has the printed digits. Nanculef et al. print their results as figures: they have no numbers here.
"""

import functools
from collections.abc import Collection, Iterable
from importlib.resources import files

import numpy as np
import pandas as pd

from fwsvm.analysis.measures import MEASURED_COLUMNS
from fwsvm.analysis.reported import SETTING
from fwsvm.papers import PAPERS, by_author
from fwsvm.plugins import entry_of

#: Columns of cells.csv that hold numbers; a * behind a time says that it was cut short.
NUMBERS = (  # noqa: SIM905 - a list of names reads better unquoted
    "tolerance C rows test_accuracy test_accuracy_sd train_seconds train_seconds_sd steps"
).split()
#: Explains, below tables and pictures, the mark of the names of data sets that are made here.
MADE_HERE = (
    "† made here by seed, no published set: counted only in claims about growth with m and in those of "
    "Glasmachers and Dogan"
)


@functools.cache
def read_table(name: str) -> pd.DataFrame:
    """Return a CSV file of `fwsvm.analysis`, such as ``published/003-table5``, every entry as text."""
    with files("fwsvm.analysis").joinpath(f"{name}.csv").open(encoding="utf-8") as stream:
        return pd.read_csv(stream, comment="#", dtype=str, keep_default_na=False)


@functools.cache
def names() -> pd.DataFrame:
    """Return names.csv by lock name: series, the name that is printed; how others are made, and for which."""
    return read_table("published/names").set_index("lock")


def title(lock: str) -> str:
    """Return the name our tables print for a data set: the papers', or its own if no paper has it."""
    return str(names()["printed"].get(lock, lock))


def in_order(datasets: Iterable[str]) -> list[str]:
    """Return the distinct data sets in the papers' order, then the others as they come."""
    order = {lock: place for place, lock in enumerate(names().index)}
    return sorted(dict.fromkeys(datasets), key=lambda name: order.get(name, len(order)))


def unlike_published(cells: pd.DataFrame) -> list[str]:
    """Return a sentence each on data sets with fewer training rows than the papers have, and on those made here."""
    printed = read_table("published/cells")
    sizes = pd.to_numeric(printed["rows"]).groupby(printed["dataset"]).last()
    rows = cells.groupby("dataset")["rows"].max()
    fewer = [
        f"{title(name)} {rows[name]:,.0f} of {sizes[name]:,.0f}"
        for name in in_order(cells["dataset"])
        if rows[name] < sizes.get(name, 0)
    ]
    said = [f"fewer training rows than published: {', '.join(fewer)}"] * bool(fewer)
    return said + [MADE_HERE] * bool(cells["dataset"].isin(made_here()).any())


def series(name: str) -> list[str]:
    """Return the lock names of a series (adult, web, medium, protein, large, linear, uci) in order."""
    return names().index[names()["series"] == name].tolist()


@functools.cache
def made_here() -> dict[str, str]:
    """Return the data sets that are made here by seed, each with the published one whose place it takes, or ''."""
    made = names()[names()["made"] != ""]
    return dict(zip(made.index, made["stands_for"], strict=True))


def without_made_here(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of data sets that count in comparisons of methods; all if no run on such a set finished."""
    counted = cells[~cells["dataset"].isin(made_here())]
    return counted if counted["used"].any() else cells


def standing_in(datasets: Collection[str]) -> dict[str, str]:
    """Return which of these data sets stand for published ones that are not among them, and for which."""
    return {name: of for name, of in made_here().items() if name in datasets and of and of not in datasets}


@functools.cache
def cells(paper: str) -> pd.DataFrame:
    """Return what the paper prints as cells; UsageError for a paper without numbers."""
    name = by_author(paper)
    papers = {str(one): lines for one, lines in read_table("published/cells").groupby("paper", sort=False)}
    frame = entry_of(papers, "paper with printed numbers", name).reset_index(drop=True)
    texts = frame[["test_accuracy", "train_seconds", "steps"]]
    numbers = frame[NUMBERS].apply(lambda column: pd.to_numeric(column.str.rstrip("*").replace("", None)))
    numbers[["test_accuracy", "test_accuracy_sd"]] *= 0.01
    censored = texts["train_seconds"].str.endswith("*")
    lacking = (texts[["train_seconds", "test_accuracy"]] == "").all(axis=1)
    status = np.where(censored | lacking, "time_limit", "converged")
    columns = [*SETTING, *MEASURED_COLUMNS, *(f"{column}_sd" for column in MEASURED_COLUMNS)]
    known = frame.reindex(columns=[*columns, "rows", "underlined", "classes", "subproblems"])
    return known.assign(
        **dict.fromkeys(("search", "stop", "width_rule", "protocol", "minimised", "void", "parameters"), ""),
        **numbers,
        **texts.add_suffix("_text"),
        finite=True,
        first_use=False,
        experiment=PAPERS[name].cited,
        profile="paper",
        censored=censored,
        status=status,
        statuses=status,
        runs=1,
        used=1,
    )
