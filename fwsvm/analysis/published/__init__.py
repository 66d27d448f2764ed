"""The papers' printed numbers, as cells.

Each CSV file here is one printed table with its printed digits; the first lines name paper, table and source. `cells`
returns them with the columns of `fwsvm.analysis.cells`; ``<column>_text`` has the printed digits.
Papers by their number: 000 Nanculef et al. (SWAP), 002 Glasmachers and Dogan (AVSF), 003 Frandi et al. (FW
and MFW), 004 Zhang and Sen (SCS). 000 prints its results as figures only: it has no numbers here.
"""

import functools
from collections.abc import Collection, Iterable
from importlib.resources import files

import pandas as pd

from fwsvm.analysis.measures import MEASURED_COLUMNS
from fwsvm.errors import UsageError

TITLES = {
    "000": "Nanculef, Frandi, Sartori, Allende: A novel Frank-Wolfe algorithm",
    "002": "Glasmachers, Dogan: Accelerated linear SVM training with adaptive variable selection frequencies",
    "003": "Frandi, Nanculef, Gasparo, Lodi, Sartori: Training SVMs using Frank-Wolfe optimization methods",
    "004": "Zhang, Sen: The stochastic conjugate subgradient algorithm for kernel SVM",
}
#: The methods as the papers spell them.
METHOD_NAMES = {"cvm": "CVM", "fw": "FW", "mfw": "MFW", "swap": "SWAP", "swap-2o": "SWAP-2o", "avsf": "AVSF",
         "scs": "SCS", "liblinear": "liblinear", "wolfe": "Wolfe", "pegasos": "Pegasos"}  # fmt: skip
#: Marks the names of data sets that are made here; `MADE_HERE` explains it, below tables and pictures.
DAGGER = "†"
MADE_HERE = (
    f"{DAGGER} made here by seed, from larger sets of the series or generated: no published set, and counted in no "
    "test, and in no claim but those about growth with m and those of 002, which name it"
)
PRINTED_METHODS = {"baseline": "liblinear"}  # 002's name for it; the others differ from ours in case only


@functools.cache
def table(name: str) -> pd.DataFrame:
    """Return one printed table by its file's name (such as ``003-table2``), every entry as text."""
    with files(__package__).joinpath(f"{name}.csv").open(encoding="utf-8") as stream:
        return pd.read_csv(stream, comment="#", dtype=str, keep_default_na=False)


@functools.cache
def names() -> pd.DataFrame:
    """Return names.csv: lock name, series, the spellings that the papers print; how others are made, and for which."""
    return table("names")


@functools.cache
def _spellings() -> dict[str, str]:
    """Return the lock name of every spelling that the papers print."""
    pairs = zip(names()["printed"], names()["lock"], strict=True)
    return {spelling: lock for printed, lock in pairs for spelling in printed.split("|")}


@functools.cache
def _titles() -> dict[str, str]:
    """Return the first spelling of every lock name."""
    return {lock: spelling for spelling, lock in reversed(_spellings().items())}


def lock_name(printed: str) -> str:
    """Return the name in datasets.lock of a data set as a paper spells it."""
    if printed not in _spellings():
        raise UsageError(f"no paper prints a data set {printed}")
    return _spellings()[printed]


def title(lock: str) -> str:
    """Return the name our tables print for a data set: the papers', or its own if no paper has it."""
    return _titles().get(lock, lock)


def in_order(datasets: Iterable[str]) -> list[str]:
    """Return the distinct data sets in the papers' order, then the others as they come."""
    present = list(dict.fromkeys(datasets))
    known = [str(lock) for lock in names()["lock"] if lock in present]
    return known + [name for name in present if name not in known]


def smaller_than_published(cells: pd.DataFrame) -> list[str]:
    """Return a sentence on the data sets of which fewer rows were trained on than the papers have, if any."""
    sizes = {d: m for paper in ("002", "003", "004") for d, m in training_rows(paper).items()}
    rows = cells.groupby("dataset")["rows"].max()
    fewer = [
        f"{title(name)} {rows[name]:,.0f} of {sizes[name]:,.0f}"
        for name in in_order(cells["dataset"])
        if rows[name] < sizes.get(name, 0)
    ]
    return [f"fewer training rows than published: {', '.join(fewer)}"] if fewer else []


def series(name: str) -> list[str]:
    """Return the lock names of a series (adult, web, medium, protein, large, linear, uci) in order."""
    return [str(lock) for lock in names().loc[names()["series"] == name, "lock"]]


@functools.cache
def made_here() -> dict[str, str]:
    """Return the data sets that are made here by seed, each with the published one whose place it takes, or ''."""
    made = names()[names()["made"] != ""]
    return dict(zip(made["lock"], made["stands_for"], strict=True))


def without_made_here(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of data sets that count in comparisons of methods; all if no run on such a set finished."""
    counted = cells[~cells["dataset"].isin(made_here())]
    return counted if counted["used"].any() else cells


def standing_in(datasets: Collection[str]) -> dict[str, str]:
    """Return which of these data sets stand for published ones that are not among them, and for which."""
    return {name: of for name, of in made_here().items() if name in datasets and of and of not in datasets}


def training_rows(paper: str) -> dict[str, float]:
    """Return the published number of training rows by lock name."""
    sizes = table(f"{paper}-table1")
    first, count = (
        ("problem", "instances_l") if paper == "002" else ("dataset", "samples" if paper == "004" else "m")
    )
    return {lock_name(row[first]): float(row[count]) for _, row in sizes.iterrows()}


@functools.cache
def cells(paper: str) -> pd.DataFrame:
    """Return what the paper prints as cells; UsageError for a paper without numbers."""
    makers = {"002": _cells_002, "003": _cells_003, "004": _cells_004}
    if paper not in makers:
        raise UsageError(
            f"paper {paper} has no printed numbers here; those that have are {', '.join(makers)}"
        )
    frame = pd.DataFrame(makers[paper]())
    rows = training_rows(paper)
    for column in ("test_accuracy", "train_seconds", "steps"):
        texts = frame[f"{column}_text"] if f"{column}_text" in frame else pd.Series("", index=frame.index)
        frame[f"{column}_text"] = texts.fillna("")
        digits = frame[f"{column}_text"].str.rstrip("*")
        numbers = pd.to_numeric(digits.where(digits != ""))
        frame[column] = numbers / 100 if column == "test_accuracy" else numbers
    for column in (
        "C",
        "tolerance",
        "lambda",
        *MEASURED_COLUMNS,
        *(f"{name}_sd" for name in MEASURED_COLUMNS),
    ):
        if column not in frame:
            frame[column] = float("nan")
    frame["experiment"] = f"paper {paper}"
    frame["profile"] = "paper"
    frame["rows"] = frame["dataset"].map(rows)
    unfinished = frame["train_seconds"].isna() & frame["test_accuracy"].isna()
    frame["censored"] = frame["train_seconds_text"].str.endswith("*")
    frame["status"] = "converged"
    frame.loc[frame["censored"] | unfinished, "status"] = "time_limit"
    frame["statuses"] = frame["status"]
    frame["runs"] = frame["used"] = 1
    for column in ("search", "stop", "width_rule", "protocol"):
        frame[column] = ""
    for column in ("degree", "coef0", "gamma_set", "time_limit", "max_iterations"):
        frame[column] = float("nan")
    return frame


def _cells_003() -> list[dict[str, object]]:
    accuracy, time = table("003-table2").set_index("dataset"), table("003-table3").set_index("dataset")
    rbf = [
        {
            "dataset": lock_name(str(dataset)),
            "method": method.lower(),
            "kernel": "rbf",
            "test_accuracy_text": accuracy.loc[dataset, f"{method}_acc"],
            "test_accuracy_sd": float(accuracy.loc[dataset, f"{method}_std"]) / 100,
            "train_seconds_text": time.loc[dataset, f"{method}_time"],
            "train_seconds_sd": float(time.loc[dataset, f"{method}_std"]),
        }
        for dataset in accuracy.index
        for method in ("CVM", "FW", "MFW")
    ]
    quadratic = [
        {
            "dataset": lock_name(row["dataset"]),
            "method": row["algorithm"].lower(),
            "kernel": "quadratic",
            "test_accuracy_text": row["accuracy"],
            "test_accuracy_sd": float(row["std_accuracy"]) / 100,
            "train_seconds_text": f"{float(row['time_s']):.3g}",  # printed as 6.32E+01
            "train_seconds_sd": float(row["std_time"]),
        }
        for _, row in table("003-table8").iterrows()
    ]
    return rbf + quadratic


def _cells_002() -> list[dict[str, object]]:
    return [
        {
            "dataset": lock_name(row["problem"]),
            "method": PRINTED_METHODS.get(row["solver"], row["solver"].lower()),
            "kernel": "linear",
            "C": float(row["C"]),
            "tolerance": tolerance,
            "train_seconds_text": row["seconds"],
            "steps_text": row["steps"],
        }
        for name, tolerance in (("002-table2", 0.01), ("002-table3", 0.001))
        for _, row in table(name).iterrows()
    ]


def _cells_004() -> list[dict[str, object]]:
    return [
        {
            "dataset": lock_name(row["dataset"]),
            "method": method,
            "kernel": "",
            "test_accuracy_text": _per_cent(row[f"{method}_acc"]),
            "train_seconds_text": row[f"{method}_time_s"],
        }
        for _, row in table("004-table1").iterrows()
        for method in ("wolfe", "pegasos", "scs")
        if row[f"{method}_acc"]
    ]


def _per_cent(fraction: str) -> str:
    """Return a printed fraction (0.833) as per cent to the same last digit (83.3)."""
    return f"{100 * float(fraction):.{max(0, len(fraction) - 4)}f}"
