"""The papers' printed numbers, as cells.

Each CSV file here is one printed table with its printed digits; the first lines name paper, table and source, and its
name begins with the paper's number. `cells` returns them with the columns of `fwsvm.analysis.cells`; ``<column>_text``
has the printed digits. Nanculef et al. print their results as figures only: they have no numbers here.
"""

import functools
from collections.abc import Collection, Iterable
from importlib.resources import files

import pandas as pd

from fwsvm.analysis.measures import MEASURED_COLUMNS
from fwsvm.errors import UsageError, nearest, shown
from fwsvm.papers import PAPERS, by_author

#: The methods as the papers spell them.
METHOD_NAMES = {
    "cvm": "CVM",
    "fw": "FW",
    "mfw": "MFW",
    "swap": "SWAP",
    "swap-2o": "SWAP-2o",
    "avsf": "AVSF",
    "scs": "SCS",
    "liblinear": "liblinear",
    "wolfe": "Wolfe",
    "pegasos": "Pegasos",
}
#: Marks the names of data sets that are made here; `MADE_HERE` explains it, below tables and pictures.
DAGGER = "†"
MADE_HERE = (
    f"{DAGGER} made here by seed, from larger sets of the series or generated: no published set, and counted in no "
    "test, and in no claim but those about growth with m and those of Glasmachers and Dogan, which name it"
)


def table(name: str) -> pd.DataFrame:
    """Return one printed table by its file's name (such as ``003-table2``), every entry as text."""
    return read_table("published", name)


@functools.cache
def read_table(folder: str, name: str) -> pd.DataFrame:
    """Return a CSV file of a folder of `fwsvm.analysis`, every entry as text."""
    with files("fwsvm.analysis").joinpath(folder, f"{name}.csv").open(encoding="utf-8") as stream:
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
    sizes = {d: m for paper in MAKERS for d, m in training_rows(paper).items()}
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


@functools.cache
def training_rows(paper: str) -> dict[str, float]:
    """Return the published number of training rows by lock name."""
    name = by_author(paper)
    sizes = table(f"{PAPERS[name].number}-table1")
    column = {"glasmachers": "instances_l", "zhang": "samples"}.get(name, "m")
    return {
        lock_name(name): float(count) for name, count in zip(sizes.iloc[:, 0], sizes[column], strict=True)
    }


@functools.cache
def cells(paper: str) -> pd.DataFrame:
    """Return what the paper prints as cells; UsageError for a paper without numbers."""
    name = by_author(paper)
    if name not in MAKERS:
        hint = nearest(name, MAKERS, f"those that have are {', '.join(MAKERS)}")
        cited = PAPERS[name].cited if name in PAPERS else shown(paper)
        raise UsageError(f"{cited}: no printed numbers here; {hint}")
    frame = MAKERS[name]()
    frame["dataset"] = frame["dataset"].map(lock_name)
    numbers = ["C", "tolerance", "lambda", "degree", "coef0", "gamma_set", "time_limit", "max_iterations"]
    numbers += [*MEASURED_COLUMNS, *(f"{column}_sd" for column in MEASURED_COLUMNS)]
    frame = frame.reindex(columns=list(dict.fromkeys([*frame, *numbers])))
    for column, unit in (("test_accuracy", 0.01), ("train_seconds", 1), ("steps", 1)):
        texts = frame.get(f"{column}_text", pd.Series("", frame.index)).fillna("")
        frame[f"{column}_text"] = texts
        frame[column] = pd.to_numeric(texts.str.rstrip("*").replace("", None)) * unit
    frame[numbers] = frame[numbers].astype(float)
    frame["test_accuracy_sd"] /= 100
    censored = frame["train_seconds_text"].str.endswith("*")
    lacking = frame["train_seconds"].isna() & frame["test_accuracy"].isna()
    status = pd.Series("converged", frame.index).mask(censored | lacking, "time_limit")
    return frame.assign(
        **dict.fromkeys(("search", "stop", "width_rule", "protocol", "minimised", "void", "parameters"), ""),
        classes=float("nan"),
        subproblems=float("nan"),
        finite=True,
        first_use=False,
        experiment=PAPERS[name].cited,
        profile="paper",
        rows=frame["dataset"].map(training_rows(name)),
        censored=censored,
        status=status,
        statuses=status,
        runs=1,
        used=1,
    )


def _frandi() -> pd.DataFrame:
    accuracy, time = (table(f"003-table{number}").set_index("dataset") for number in (2, 3))
    rbf = [
        pd.DataFrame(
            {
                "method": method.lower(),
                "kernel": "rbf",
                "test_accuracy_text": accuracy[f"{method}_acc"],
                "test_accuracy_sd": accuracy[f"{method}_std"],
                "train_seconds_text": time[f"{method}_time"],
                "train_seconds_sd": time[f"{method}_std"],
            }
        ).reset_index()
        for method in ("CVM", "FW", "MFW")
    ]
    table8 = table("003-table8")
    columns = {
        "accuracy": "test_accuracy_text",
        "std_accuracy": "test_accuracy_sd",
        "std_time": "train_seconds_sd",
    }
    quadratic = table8.rename(columns=columns).assign(
        method=table8["algorithm"].str.lower(),
        kernel="quadratic",
        train_seconds_text=[f"{float(seconds):.3g}" for seconds in table8["time_s"]],  # printed as 6.32E+01
    )
    return pd.concat([*rbf, quadratic.drop(columns=["algorithm", "time_s"])], ignore_index=True)


def _glasmachers() -> pd.DataFrame:
    tables = [table(f"002-table{number}").assign(tolerance=eps) for number, eps in ((2, 0.01), (3, 0.001))]
    columns = {"problem": "dataset", "seconds": "train_seconds_text", "steps": "steps_text"}
    both = pd.concat(tables, ignore_index=True).rename(columns=columns)
    methods = both.pop("solver").str.lower().replace("baseline", "liblinear")
    return both.assign(method=methods, kernel="linear")


def _zhang() -> pd.DataFrame:
    printed = table("004-table1")
    each = [
        pd.DataFrame(
            {
                "dataset": printed["dataset"],
                "method": method,
                "kernel": "",
                "test_accuracy_text": printed[f"{method}_acc"].map(_per_cent),
                "train_seconds_text": printed[f"{method}_time_s"],
            }
        )[printed[f"{method}_acc"] != ""]
        for method in ("wolfe", "pegasos", "scs")
    ]
    return pd.concat(each, ignore_index=True)


def _per_cent(fraction: str) -> str:
    """Return a printed fraction (0.833) as per cent to the same last digit (83.3)."""
    return f"{100 * float(fraction):.{max(0, len(fraction) - 4)}f}" if fraction else ""


MAKERS = {"glasmachers": _glasmachers, "frandi": _frandi, "zhang": _zhang}
